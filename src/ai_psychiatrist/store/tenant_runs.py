"""Runs of datasets that a tenant keeps in its database, and their units in the queue of all."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from sqlalchemy import ColumnElement, delete, func, insert, select, text, update

from ai_psychiatrist.domain.errors import ArtifactMismatch, InputError
from ai_psychiatrist.store.database import TenantDatabase, own
from ai_psychiatrist.store.job_rows import next_turn
from ai_psychiatrist.store.jobs import JobRef
from ai_psychiatrist.store.keys import TenantKeys
from ai_psychiatrist.store.run_file import RunTerms, read_terms, write_terms
from ai_psychiatrist.store.run_rows import RunRows
from ai_psychiatrist.store.run_schema import RUNS, units
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.store.schema import queue, run_files

_ERASING: Final = text("SELECT set_config('store.erasing', :of_run, true)")
_FILE_PLACE: Final = "file"


class RunProgress(NamedTuple):
    """How many units of a run are in the queue."""

    waiting: int
    running: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantRuns:
    """Those of a tenant; a run has a key of its own, so that its words go with it.

    Every method may raise `StoreUnusable`.
    """

    database: TenantDatabase
    keys: TenantKeys = field(repr=False)

    def create(
        self, run: str, folder: Path, terms: RunTerms, *, files: Mapping[str, bytes]
    ) -> RunStore:
        """Make a run of a new id with its files, and return its store.

        `folder`: of what is read of it; `files`: at least one.
        """
        with self.database.writing():
            self.keys.subject(None, new_id=run)
            # With its first file: a key that opens nothing is removed by a sweep.
            self.keep_files(run, files)
            rows = self._rows(run)
            write_terms(rows, terms)
        return RunStore(folder, rows, terms)

    def open(self, run: str, folder: Path) -> RunStore:
        """Return the store of a run; raises `InputError` where there is none, or not any more."""
        try:
            rows = self._rows(run)
        except ArtifactMismatch:
            msg = f"the database has no run {run}: it was erased, or DATABASE_URL names another one"
            raise InputError(msg, field="RUN") from None
        return RunStore(folder, rows, read_terms(rows))

    def keep_files(self, run: str, files: Mapping[str, bytes]) -> None:
        """Keep small files of a run, each in the place of the one of its name before."""
        seal = self.keys.seal(run)
        with self.database.writing():
            for name, content in files.items():
                self.database.run(delete(run_files).where(own(run_files, run=run, name=name)))
                body = seal.put(content, run, _FILE_PLACE, name)
                self.database.add(run_files, {"run": run, "name": name, "body": body})

    def file(self, run: str, name: str) -> bytes | None:
        """Return one file of a run, `None` where there is none; raises as `files` does."""
        row = self.database.one(select(run_files.c.body).where(own(run_files, run=run, name=name)))
        return None if row is None else self.keys.seal(run).take(row.body, run, _FILE_PLACE, name)

    def change_file(self, run: str, name: str, change: Callable[[bytes | None], bytes]) -> None:
        """Put what is made of a file in its place, while no other process does."""
        with self.database.writing():
            self.keep_files(run, {name: change(self.file(run, name))})

    def files(self, run: str) -> dict[str, bytes]:
        """Return the files of a run by name; raises `ArtifactMismatch` for one that is erased."""
        seal = self.keys.seal(run)
        rows = self.database.all(select(run_files).where(own(run_files, run=run)))
        return {row.name: seal.take(row.body, run, _FILE_PLACE, row.name) for row in rows}

    def enqueue(self, run: str, numbers: Sequence[int], *, asked_by: str) -> None:
        """Put the units with these numbers into the queue, unless they are there.

        Runs and callers take turns: a run does not hold up who comes after it.
        """
        with self.database.writing() as connection:
            queued = self.database.all(select(queue.c.unit).where(own(queue, run=run)))
            known, at = {row.unit for row in queued}, self.database.now()
            first = next_turn(self.database, asked_by)
            rows = [
                {
                    "tenant": self.database.tenant,
                    "id": f"{run}/{unit}",
                    "run": run,
                    "unit": unit,
                    "asked_by": asked_by,
                    "turn": turn,
                    "at": at,
                }
                for turn, unit in enumerate((one for one in numbers if one not in known), first)
            ]
            if rows:
                connection.execute(insert(queue), rows)

    def has_units(self, run: str) -> bool:
        """Return whether there is such a run, and it was asked for anything."""
        return self.database.one(select(units.c.unit).where(own(units, run=run))) is not None

    def progress(self, run: str) -> RunProgress:
        """Return how many units of a run wait, and how many a process is at."""
        counts = func.count(queue.c.turn).label("rows"), func.count(queue.c.runner).label("running")
        (row,) = self.database.all(select(*counts).where(own(queue, run=run)))
        return RunProgress(row.rows - row.running, row.running)

    def withdraw(self, run: str) -> int:
        """Take the units of a run that wait out of the queue; returns how many."""
        return self.database.run(delete(queue).where(own(queue, run=run, runner=None)))

    def end(self, job: JobRef, runner: str) -> bool:
        """Take a unit out of the queue, inside the transaction that writes down its outcome.

        Returns whether it was still that process's.
        """
        with self.database.writing(is_alone=False):
            return self.database.run(delete(queue).where(_claimed(job.id, runner))) > 0

    def put_back(self, job: JobRef, runner: str) -> None:
        """Let a unit wait again that its process has to leave; it counts as never taken."""
        freed = update(queue).where(_claimed(job.id, runner)).values(taken=queue.c.taken - 1)
        with self.database.writing(is_alone=False):
            self.database.run(freed, runner=None)

    def take_from(self, runner: str, *, but: Container[str] = ()) -> None:
        """Let units wait again that a process has claimed, all `but` what it still does."""
        with self.database.writing():
            claimed = own(queue, runner=runner) & queue.c.run.is_not(None)
            for row in self.database.all(select(queue.c.id).where(claimed)):
                if row.id not in but:
                    self.database.run(update(queue).where(_claimed(row.id, runner)), runner=None)

    def erase(self, run: str) -> bool:
        """Destroy a run's key, then all that it opened; returns whether there was such a run."""
        is_known = self.keys.has_all([run])
        self.keys.forget(run)
        self.keys.wipe()
        with self.database.writing() as connection:
            connection.execute(_ERASING, {"of_run": run})
            for table in (queue, run_files, *reversed(RUNS.sorted_tables)):
                self.database.run(delete(table).where(own(table, run=run)))
        return is_known

    def _rows(self, run: str) -> RunRows:
        return RunRows(
            database=self.database.database,
            tenant=self.database.tenant,
            run=run,
            cipher=self.keys.seal(run).cipher,
            is_shared=True,
        )


def _claimed(job_id: str, runner: str) -> ColumnElement[bool]:
    return own(queue, id=job_id, runner=runner)
