"""Keys for tests, and a clock that they move."""

from pathlib import Path

from ai_psychiatrist.access.access_file import FILE_NAME
from ai_psychiatrist.access.entrance import Entrance
from ai_psychiatrist.access.keys import MadeKey, WantedKey
from ai_psychiatrist.domain.access import Scope

WARD = WantedKey(name="ward", tenant="clinic-1", scopes=frozenset({Scope.READ, Scope.ASSESS}))


class Clock:
    """Moves when it is told to."""

    def __init__(self) -> None:
        self.now = 1_800_000_000

    def __call__(self) -> int:
        """Return the time."""
        return self.now


def key_for(
    state_dir: Path, *scopes: Scope, tenant: str = "local", name: str = "caller"
) -> MadeKey:
    """Make a key for a server whose state is kept in a folder."""
    entrance = Entrance(state_dir / FILE_NAME)
    try:
        wanted = WantedKey(name=name, tenant=tenant, scopes=frozenset(scopes))
        return entrance.keys.create(wanted)
    finally:
        entrance.close()


def revoke(state_dir: Path, made: MadeKey) -> None:
    """Revoke a key, as another process does while a server runs."""
    entrance = Entrance(state_dir / FILE_NAME)
    try:
        entrance.keys.revoke(made.key.id)
    finally:
        entrance.close()
