"""How a key is written: `aip_<id>_<secret>`."""

import re
import secrets
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

_WRITTEN: Final = re.compile(r"aip_([0-9a-f]{12})_([A-Za-z0-9_-]{43})", re.ASCII)
_ID_BYTES: Final = 6
_SECRET_BYTES: Final = 32
START: Final = "aip_"
"""What every key begins with, so that one that leaked is found by a search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyText:
    """A key as its holder has it."""

    id: str
    """Tells nothing of the secret; it may be logged and listed."""
    secret: str = field(repr=False)

    @property
    def secret_hash(self) -> bytes:
        """What is kept of the secret; a slow digest is for passwords, which can be guessed."""
        return sha256(self.secret.encode()).digest()

    def written(self) -> str:
        """Return the text that its holder keeps."""
        return f"{START}{self.id}_{self.secret}"


def make_key() -> KeyText:
    """Return a key that nobody has yet."""
    return KeyText(id=secrets.token_hex(_ID_BYTES), secret=secrets.token_urlsafe(_SECRET_BYTES))


def read_key(text: str) -> KeyText | None:
    """Return the key that a text is, if it is written as one."""
    found = _WRITTEN.fullmatch(text)
    return found and KeyText(id=found[1], secret=found[2])
