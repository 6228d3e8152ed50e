"""Places beside the file of the queue: locks that the system frees when a process ends."""

import time
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.private_files import make_folder, write_whole
from ai_psychiatrist.jobs.dbos.names import slot_name
from ai_psychiatrist.store.errors import RunBusy
from ai_psychiatrist.store.lock import run_lock

FOLDER_NAME: Final = "jobs.workers"

_MACHINE_NAME: Final = "machine"
_IDS: Final = (Path("/proc/sys/kernel/random/boot_id"), Path("/etc/machine-id"))
_FRESH_SECONDS: Final = 60.0
_OTHER_MACHINE: Final = (
    "a worker of another machine uses this file of the queue, and SQLite cannot be shared so; "
    "set JOBS_DATABASE_URL to a PostgreSQL database"
)


class FileSlots:
    """Folders with a lock in each, and a note of the machine that took it."""

    def __init__(self, queue_file: Path) -> None:
        self._folder = queue_file.parent / FOLDER_NAME
        self._held = ExitStack()
        self._own: Path | None = None
        self._machine = machine_ids()

    async def take(self, number: int) -> bool:
        """Take a free place for as long as this is open; return whether it was free.

        Raises `ConfigurationError` where a worker of another machine is at work.
        """
        self._refuse_other_machines()
        place = self._place(number)
        make_folder(place)
        try:
            self._held.enter_context(run_lock(place))
        except RunBusy:
            return False
        self._own = place
        self._sign()
        return True

    @asynccontextmanager
    async def tried(self, number: int) -> AsyncIterator[bool]:
        """Hold a place inside the block; yields whether it is free."""
        place = self._place(number)
        if place == self._own:
            yield False
            return
        make_folder(place)
        with ExitStack() as held:
            try:
                held.enter_context(run_lock(place))
            except RunBusy:
                yield False
                return
            yield True

    async def check(self) -> None:
        """Say again whose machine this is; the system never takes the lock away."""
        self._sign()

    async def close(self) -> None:
        """Leave the place."""
        if self._own is not None:
            (self._own / _MACHINE_NAME).unlink(missing_ok=True)
            self._own = None
        self._held.close()

    def _place(self, number: int) -> Path:
        return self._folder / slot_name(number)

    def _sign(self) -> None:
        if self._own is not None:
            write_whole(self._own / _MACHINE_NAME, ["\n".join(self._machine).encode("ascii")])

    def _refuse_other_machines(self) -> None:
        """Locks of other machines are not seen on every file system: their notes are."""
        for note in self._folder.glob(f"*/{_MACHINE_NAME}"):
            with suppress(FileNotFoundError):
                is_other = not set(self._machine) & set(note.read_text("ascii").split("\n"))
                if is_other and abs(time.time() - note.stat().st_mtime) < _FRESH_SECONDS:
                    raise ConfigurationError(_OTHER_MACHINE)


def machine_ids() -> tuple[str, ...]:
    """Return what tells this machine from others: programs in containers of it share the first."""
    found = []
    for path in _IDS:
        with suppress(OSError):
            found.append(path.read_text("ascii").strip())
    return tuple(one for one in found if one)
