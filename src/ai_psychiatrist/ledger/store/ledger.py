"""The one store of a run: its units, every model call, every attempt; nothing in it changes."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from itertools import count, takewhile
from operator import attrgetter
from pathlib import Path
from typing import Self

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.ledger.keys.vault import Vault
from ai_psychiatrist.ledger.store import queries
from ai_psychiatrist.ledger.store.batch_book import BatchBook
from ai_psychiatrist.ledger.store.call_book import CallBook
from ai_psychiatrist.ledger.store.database import Database, Row, Value, Values
from ai_psychiatrist.ledger.store.ledger_file import (
    FILE_NAME,
    RunTerms,
    create_database,
    open_database,
)
from ai_psychiatrist.ledger.store.places import PartPlace, at, refuse_unknown_step
from ai_psychiatrist.ledger.store.records import (
    AttemptRecord,
    CurrentRow,
    Origin,
    PartRow,
    QueuedUnit,
    StepCounts,
)
from ai_psychiatrist.ledger.store.rows import (
    attempt_values,
    read_attempt,
    read_current,
)
from ai_psychiatrist.ledger.store.unit_book import UnitBook
from ai_psychiatrist.store.cipher import Cipher
from ai_psychiatrist.store.lock import run_lock
from ai_psychiatrist.validation.config.retry_limits import RetryLimits


class Ledger:
    """A run's ledger; any thread may call it, and writing happens one transaction at a time.

    Every method may raise `LedgerUnusable`, and those that read words `ConfigurationError` when
    they were encrypted with another key.
    """

    def __init__(
        self, folder: Path, database: Database, *, terms: RunTerms, cipher: Cipher | None
    ) -> None:
        self.folder = folder
        self.steps = terms.steps
        self.keeps_raw = terms.keeps_raw
        self.about: Mapping[str, str] = terms.about
        self._database = database
        self._vault = Vault(cipher=cipher, keeps_raw=terms.keeps_raw)
        self.units = UnitBook(database, self._vault, steps=terms.steps)
        self.calls = CallBook(database, self._vault, self.units)
        self.batches = BatchBook(database, self._vault)

    @classmethod
    def create(
        cls,
        folder: Path,
        *,
        steps: Sequence[str],
        keeps_raw: bool = True,
        cipher: Cipher | None = None,
        about: Mapping[str, str] | None = None,
    ) -> Self:
        """Make the ledger of a new run; raises `InputError` when the folder holds one already.

        Without raw text, contexts, replies and answers are left out, and of errors their texts.
        """
        terms = RunTerms(steps=tuple(steps), keeps_raw=keeps_raw, about=dict(about or {}))
        database = create_database(folder, terms, cipher)
        return cls(folder, database, terms=terms, cipher=cipher)

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        cipher: Cipher | None = None,
        is_read_only: bool = False,
        drops_raw: bool = False,
    ) -> Self:
        """Open the ledger of a run.

        `drops_raw`: write no raw text from here on, though the run keeps some. Raises `InputError`
        when there is none, and `ConfigurationError` when it needs another key or a newer version of
        this program.
        """
        database, terms = open_database(folder, cipher, is_read_only=is_read_only)
        terms = replace(terms, keeps_raw=terms.keeps_raw and not drops_raw)
        return cls(folder, database, terms=terms, cipher=cipher)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def lock(self) -> AbstractContextManager[None]:
        """Hold the run for this process; raises `RunBusy` when another one holds it."""
        return run_lock(self.folder)

    def transaction(self) -> AbstractContextManager[None]:
        """Make everything that is written inside happen, or nothing of it."""
        return self._database.transaction()

    def request(self, unit_id: str, step: str, *, round: int = 0) -> None:  # noqa: A002
        """Note that a step is asked for a unit; asking again changes nothing."""
        refuse_unknown_step(step, self.steps)
        if not self._database.execute(queries.REQUEST, at(unit_id, step, round)):
            self.units.require(unit_id)

    def record(self, attempts: Iterable[AttemptRecord]) -> None:
        """Append attempts in one transaction; one that is there already is left as it is.

        Raises `InputError`, and appends none, when a unit was not requested or the same attempt
        is there with another outcome.
        """
        with self.transaction():
            for attempt in attempts:
                values = attempt_values(attempt, vault=self._vault)
                if not self._database.execute(queries.RECORD, values):
                    self._refuse_other_attempt(attempt)

    def history(self, unit_id: str, step: str, *, round: int = 0) -> list[AttemptRecord]:  # noqa: A002
        """Return all attempts of a unit at a step, the first one first."""
        rows = self._database.fetch(queries.HISTORY, at(unit_id, step, round))
        return [read_attempt(row, vault=self._vault) for row in rows]

    def rounds(self, unit_id: str, step: str) -> Iterator[list[AttemptRecord]]:
        """Yield the attempts of a unit at a step for one round after the other."""
        histories = (self.history(unit_id, step, round=number) for number in count())
        return takewhile(bool, histories)

    def has_any_of(self, origin: Origin) -> bool:
        """Return whether any attempt was made in this way."""
        return bool(self._database.fetch(queries.ANY_OF_ORIGIN, {"origin": origin}))

    def current(self, step: str) -> Iterator[CurrentRow]:
        """Yield the last attempt of every unit and round that has one, in the units' order.

        What is written meanwhile does not show; a second answer to a unit never counts.
        """
        return self._streamed(queries.CURRENT, step)

    def failed(self, step: str) -> Iterator[CurrentRow]:
        """Yield those of `current` that did not pass."""
        return self._streamed(queries.CURRENT_FAILED, step)

    def last(self, unit_id: str, step: str, *, round: int = 0) -> CurrentRow | None:  # noqa: A002
        """Return the last attempt of one unit at a step, `None` when there is none."""
        rows = self._database.fetch(queries.CURRENT_OF_UNIT, at(unit_id, step, round))
        return read_current(rows[0], vault=self._vault) if rows else None

    def counts(self, step: str) -> StepCounts:
        """Count where a step's units are, each number by itself."""
        refuse_unknown_step(step, self.steps)
        values = {"step": step}
        with self.transaction():
            ((requested,),) = self._database.fetch(queries.REQUESTED, values)
            ((pending,),) = self._database.fetch(queries.PENDING, values)
            outcomes = dict(map(tuple, self._database.fetch(queries.OUTCOMES, values)))
        return StepCounts(
            requested=requested,
            pending=pending,
            valid=outcomes.pop(None, 0),
            failed=sum(outcomes.values()),
            by_stage=outcomes,
        )

    def counts_by_step(self) -> dict[str, StepCounts]:
        """Return the counts of every step in the steps' order."""
        return {step: self.counts(step) for step in self.steps}

    def is_sound(self) -> bool:
        """Return whether the file is whole, its units have no gaps, and every account balances."""
        ((verdict,),) = self._database.fetch(queries.SOUND)
        ((units, first, last),) = self._database.fetch(queries.GAPS)
        are_in_order = units == 0 or (first == 1 and last == units)
        balances = all(counts.balances for counts in self.counts_by_step().values())
        return verdict == "ok" and are_in_order and balances

    def rows(
        self, place: PartPlace, *, first: int, last: int, digest: Callable[[bytes], str] | None
    ) -> Iterator[PartRow]:
        """Yield all of a part's units from the `first` to the `last`, for `take_rows` of the whole.

        `digest`: makes the digest of a unit's context anew, where the whole has them under another
        key. Raises `ConfigurationError` for contexts that were encrypted with another key.
        """
        wanted: dict[str, Value] = {"first": first, "last": last, **asdict(place)}
        for table, query in queries.ROWS_OF_PART.items():
            for row in self._database.stream(query, wanted):
                is_unit = table == "units"
                yield PartRow(table, self._unit_values(row, digest) if is_unit else tuple(row))

    def _unit_values(self, row: Row, digest: Callable[[bytes], str] | None) -> tuple[Value, ...]:
        values = dict(row)
        place = f"context:{row['unit_id']}"
        context = self._vault.take_raw(row["context"], place=place)
        if digest is not None and context is not None:
            values["context_digest"] = digest(context)
        return tuple(values.values())

    def take_rows(self, rows: Iterable[PartRow]) -> None:
        """Write rows of parts in the order of their units, all or none.

        Raises `InputError` for units that are here already.
        """
        by_table: dict[str, list[PartRow]] = {table: [] for table in queries.PUT_ROW}
        for row in rows:
            by_table[row.table].append(row)
        with self.transaction():
            for table, several in by_table.items():
                several.sort(key=attrgetter("place"))
                values = (row.values for row in several)
                shared = len(several) - self._database.execute_each(queries.PUT_ROW[table], values)
                if shared:
                    msg = f"{shared} units are in more than one part"
                    raise InputError(msg, field="RUN")

    def take_batches(self, part: "Ledger", place: PartPlace) -> None:
        """Copy what is known of a part's batches; its units are here."""
        with self._database.attached(part.folder / FILE_NAME, queries.OTHER), self.transaction():
            for statement in queries.TAKE_OVER_BATCHES:
                self._database.execute(statement, asdict(place))

    def queue(
        self, step: str, limits: RetryLimits, *, includes_failed: bool = True
    ) -> list[QueuedUnit]:
        """Return what a step still has to be asked for, in the units' order.

        That is what has no attempt yet, and failed units whose attempts are not used up.
        """
        refuse_unknown_step(step, self.steps)
        values: Values = {"step": step, "includes_failed": includes_failed, **asdict(limits)}
        return [QueuedUnit(*row) for row in self._database.fetch(queries.QUEUE, values)]

    def _streamed(self, query: str, step: str) -> Iterator[CurrentRow]:
        refuse_unknown_step(step, self.steps)
        for row in self._database.stream(query, {"step": step}):
            yield read_current(row, vault=self._vault)

    def _refuse_other_attempt(self, attempt: AttemptRecord) -> None:
        history = self.history(attempt.unit_id, attempt.step, round=attempt.round)
        there = next((kept for kept in history if kept.attempt == attempt.attempt), None)
        if there is None:
            msg = f"unit {attempt.unit_id!r} was not requested at step {attempt.step!r}"
            raise InputError(msg, field="unit_id")
        is_same_answer = not self.keeps_raw or there.raw == attempt.raw
        if (there.origin, there.stage) != (attempt.origin, attempt.stage) or not is_same_answer:
            msg = f"attempt {attempt.attempt} of unit {attempt.unit_id!r} is recorded otherwise"
            raise InputError(msg, field="attempt")
