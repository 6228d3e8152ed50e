"""Where the store of a run is: a file in the run's folder, or the database of the service."""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.infrastructure.given_files import read_regular, reason_of
from ai_psychiatrist.infrastructure.private_files import write_whole
from ai_psychiatrist.store.cipher import Cipher
from ai_psychiatrist.store.run_file import (
    FILE_NAME,
    RunTerms,
    create_file,
    holds_run,
    make_private_folder,
)
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.store.tenant_runs import TenantRuns

RECORD_NAME: Final = "run.json"
POINTER_NAME: Final = "database.json"
"""In the folder of a run that is in the database: which one it is."""
_MOST_POINTER_BYTES: Final = 1_024


class RunPlace(Protocol):
    """Makes and opens the stores of runs."""

    def create(self, folder: Path, terms: RunTerms, *, record: bytes) -> RunStore:
        """Make the store of a new run. `record`: what it is made with, as its file has it."""

    def open(self, folder: Path, *, drops_raw: bool = False) -> RunStore:
        """Open the store of a run; raises `InputError` where there is none."""

    def clear_half_begun(self, folder: Path, kind: str) -> None:
        """Remove what a start that was killed left of a run of a kind without any unit."""

    def keep_files(self, run: RunStore, files: Mapping[str, bytes]) -> None:
        """Keep what lies in the run's folder for those who have no folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFiles:
    """Runs whose stores are files in their folders."""

    cipher: Cipher | None = field(default=None, repr=False)
    """`None`: words are written as they are."""

    def create(
        self,
        folder: Path,
        terms: RunTerms,
        *,
        record: bytes,  # noqa: ARG002  the folder has it
    ) -> RunStore:
        """Make the file; raises `InputError` when there is one."""
        return RunStore(folder, create_file(folder, terms, self.cipher), terms)

    def open(self, folder: Path, *, drops_raw: bool = False) -> RunStore:
        """Open the file; raises `InputError` where there is none."""
        return RunStore.open(folder, cipher=self.cipher, drops_raw=drops_raw)

    def clear_half_begun(self, folder: Path, kind: str) -> None:
        """Remove a file of ours without any unit."""
        if not holds_run(folder):
            return
        with RunStore.open(folder, cipher=self.cipher) as run:
            is_empty = run.about.get("kind") == kind and not run.units.ids()
        if is_empty:
            for path in folder.glob(f"{FILE_NAME}*"):
                path.unlink()

    def keep_files(self, run: RunStore, files: Mapping[str, bytes]) -> None:
        """Do nothing: the folder has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseRuns:
    """Runs whose stores are in the database; a file in the folder says which each one is."""

    runs: TenantRuns

    def create(self, folder: Path, terms: RunTerms, *, record: bytes) -> RunStore:
        """Make the run; raises `InputError` for one that keeps no texts."""
        _refuse_without_texts(keeps_raw=terms.keeps_raw)
        make_private_folder(folder)
        run = str(uuid.uuid4())
        # First, so that what a killed start leaves in the database is found again.
        write_pointer(folder, run)
        return self.runs.create(run, folder, terms, files={RECORD_NAME: record})

    def open(self, folder: Path, *, drops_raw: bool = False) -> RunStore:
        """Open the run that the folder names; raises `InputError` where there is none."""
        run = run_in_database(folder)
        if run is None:
            msg = f"{folder} holds no run of the database: leave out --database"
            raise InputError(msg, field="--database")
        _refuse_without_texts(keeps_raw=not drops_raw)
        return self.runs.open(run, folder)

    def clear_half_begun(self, folder: Path, kind: str) -> None:  # noqa: ARG002  of ours alone
        """Remove from the database a run without any unit; raises `InputError` for a whole one."""
        run = run_in_database(folder)
        if run is None:
            return
        if self.runs.has_units(run):
            msg = (
                f"{folder} shows the run {run} of the database, but its run.json is gone: "
                f"`evaluate status {folder} --run {run}` brings it back"
            )
            raise InputError(msg, field="--out")
        self.runs.erase(run)
        (folder / POINTER_NAME).unlink()

    def record(self, folder: Path) -> bytes | None:
        """Return what the run that a folder shows is made with, `None` where it shows none.

        The database knows more of it than the folder: which models answered the workers. Raises
        `InputError` for a run that was erased.
        """
        run = run_in_database(folder)
        if run is None:
            return None
        self.runs.open(run, folder)
        return self.runs.file(run, RECORD_NAME)

    def keep_files(self, run: RunStore, files: Mapping[str, bytes]) -> None:
        """Keep files for workers, and for who reads the run on another machine."""
        self.runs.keep_files(run.rows.run, files)


def _refuse_without_texts(*, keeps_raw: bool) -> None:
    if not keeps_raw:
        msg = "--database keeps the texts for the workers: leave out --no-raw"
        raise InputError(msg, field="--no-raw")


def write_pointer(folder: Path, run: str) -> None:
    """Write into a folder which run of the database it shows."""
    write_whole(folder / POINTER_NAME, [json.dumps({"run": run}).encode() + b"\n"])


def run_in_database(folder: Path) -> str | None:
    """Return which run of the database a folder shows, `None` for one with a file of its own.

    Raises `InputError` for a file that does not say it.
    """
    path = folder / POINTER_NAME
    try:
        content = read_regular(path, most_bytes=_MOST_POINTER_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason_of(error)}", field="RUN") from None
    try:
        return str(uuid.UUID(json.loads(content)["run"]))
    except (ValueError, LookupError, TypeError, AttributeError):
        raise InputError(f"{path} is damaged: it names no run", field="RUN") from None
