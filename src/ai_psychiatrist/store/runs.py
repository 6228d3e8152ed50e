"""The store of a run: what its steps are asked for and what came of it; nothing in it changes."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import count, takewhile
from pathlib import Path
from typing import Any, Final, Self

from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Integer,
    Select,
    Subquery,
    Text,
    and_,
    bindparam,
    exists,
    func,
    insert,
    not_,
    or_,
    select,
    text,
)

from ai_psychiatrist import __version__
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.store.cipher import Cipher
from ai_psychiatrist.store.database import Found, Value
from ai_psychiatrist.store.errors import LedgerUnusable, refusing_damage
from ai_psychiatrist.store.lock import run_lock
from ai_psychiatrist.store.run_batches import RunBatches
from ai_psychiatrist.store.run_calls import RunCalls
from ai_psychiatrist.store.run_file import RunTerms, create_file, open_file
from ai_psychiatrist.store.run_records import (
    RETRYABLE_STAGES,
    AttemptRecord,
    CurrentRow,
    Origin,
    QueuedUnit,
    StepCounts,
)
from ai_psychiatrist.store.run_rows import RunRows, is_of, now, own
from ai_psychiatrist.store.run_schema import adding, attempts, requests, units
from ai_psychiatrist.store.run_units import RunUnits
from ai_psychiatrist.validation.config.retry_limits import RetryLimits

_IN_THE_CLEAR: Final = ("attempt", "step", "round", "stage", "ruleset_digest", "schema_digest")
_TALLIES: Final = ("attempts", "newest", "provider_failures", "other_failures")
_NOTES: Final = ("errors", "warnings", "coercions")
_WITHOUT_WORDS: Final = frozenset({"path", "pointer", "rule", "before_type", "after_type"})

_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

_REQUEST: Final = insert(requests).from_select(
    ["tenant", "run", "unit", "step", "round"],
    select(
        units.c.tenant,
        units.c.run,
        units.c.unit,
        bindparam("of_step", type_=Text),
        bindparam("of_round", type_=Integer),
    ).where(
        own(units, "unit_id"),
        not_(exists().where(is_of(requests), own(requests, "step", "round"))),
    ),
)
_RECORD: Final = adding(attempts, "step", "unit", "round", "attempt")
_REQUESTED: Final = (
    select(requests.c.unit)
    .join_from(requests, units, is_of(requests))
    .where(own(requests, "step", "round"), own(units, "unit_id"))
)
_ATTEMPTS: Final = select(attempts, units.c.unit_id).join_from(attempts, units, is_of(attempts))
_HISTORY: Final = _ATTEMPTS.where(own(attempts, "step", "round"), own(units, "unit_id")).order_by(
    attempts.c.attempt
)
_QUICK_CHECK: Final = text("PRAGMA quick_check(1)")
_ANY_OF_ORIGIN: Final = select(attempts.c.unit).where(own(attempts, "origin")).limit(1)

# A second answer to a unit is kept and never counts.
_COUNTS: Final = func.coalesce(attempts.c.stage, "") != FailureStage.DUPLICATE.value
_IS_NO_CHECK: Final = attempts.c.origin != Origin.REVALIDATE.value
_BY_PROVIDER: Final = attempts.c.stage == FailureStage.PROVIDER.value
_IS_RETRYABLE: Final = attempts.c.stage.in_([stage.value for stage in RETRYABLE_STAGES])


def _tallied(*which: ColumnElement[bool]) -> Subquery:
    """Return how often each unit and round was tried at a step."""
    return (
        select(
            attempts.c.unit,
            attempts.c.round,
            func.count().filter(_COUNTS).label("attempts"),
            func.max(attempts.c.attempt).filter(_COUNTS).label("last"),
            func.max(attempts.c.attempt).label("newest"),
            func.count().filter(_BY_PROVIDER, _IS_NO_CHECK).label("provider_failures"),
            func.count()
            .filter(_IS_RETRYABLE, not_(_BY_PROVIDER), _IS_NO_CHECK)
            .label("other_failures"),
        )
        .where(own(attempts, "step"), *which)
        .group_by(attempts.c.unit, attempts.c.round)
        .subquery()
    )


def _is_last(tally: Subquery) -> ColumnElement[bool]:
    return and_(
        own(attempts, "step"),
        attempts.c.unit == tally.c.unit,
        attempts.c.round == tally.c.round,
        attempts.c.attempt == tally.c.last,
    )


def _current(tally: Subquery) -> Select[Any]:
    """Return the last attempts at a step, with their tallies, in the units' order."""
    counted = (tally.c[name] for name in _TALLIES)
    return (
        _ATTEMPTS.add_columns(*counted)
        .join(tally, _is_last(tally))
        .order_by(attempts.c.unit, attempts.c.round)
    )


_TALLY: Final = _tallied()
_CURRENT: Final = _current(_TALLY)
_FAILED: Final = _CURRENT.where(attempts.c.stage.is_not(None))
_UNIT: Final = select(units.c.unit).where(own(units, "unit_id")).scalar_subquery()
_IS_OF_ONE: Final = own(attempts, "round") & (attempts.c.unit == _UNIT)
# Said of both, or every unit of the step would be looked at.
_LAST: Final = _current(_tallied(_IS_OF_ONE)).where(_IS_OF_ONE)
_OUTCOMES: Final = (
    select(attempts.c.stage, func.count().label("units"))
    .join_from(attempts, _TALLY, _is_last(_TALLY))
    .group_by(attempts.c.stage)
    .order_by(attempts.c.stage)
)
_ASKED: Final = select(func.count()).where(own(requests, "step"))
_PENDING: Final = _ASKED.where(
    not_(
        exists().where(
            own(attempts, "step"),
            attempts.c.unit == requests.c.unit,
            attempts.c.round == requests.c.round,
            _COUNTS,
        )
    )
)
_IS_LEFT: Final = and_(
    bindparam("of_includes_failed", type_=Boolean),
    _IS_RETRYABLE,
    _TALLY.c.provider_failures < bindparam("of_provider_attempts", type_=BigInteger),
    _TALLY.c.other_failures < bindparam("of_validation_attempts", type_=BigInteger),
)
_QUEUE: Final = (
    select(units.c.unit_id, requests.c.round)
    .join_from(requests, units, is_of(requests))
    .outerjoin(_TALLY, and_(_TALLY.c.unit == requests.c.unit, _TALLY.c.round == requests.c.round))
    .outerjoin(attempts, _is_last(_TALLY))
    .where(own(requests, "step"), or_(_TALLY.c.last.is_(None), _IS_LEFT))
    .order_by(requests.c.unit, requests.c.round)
)


class RunStore:
    """What one run keeps; any thread may call it, and writing happens one transaction at a time.

    Every method may raise `LedgerUnusable`, and those that read words `ConfigurationError` when
    they were encrypted with another key.
    """

    def __init__(self, folder: Path, rows: RunRows, terms: RunTerms) -> None:
        self.folder = folder
        self.steps = terms.steps
        self.keeps_raw = terms.keeps_raw
        self.about = terms.about
        self.rows = rows
        self.is_shared = rows.is_shared
        """Whether other processes work on the run as well."""
        self.units = RunUnits(rows, steps=terms.steps, keeps_raw=terms.keeps_raw)
        self.calls = RunCalls(rows, self.units, keeps_raw=terms.keeps_raw)
        self.batches = RunBatches(rows, self.units)

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
        """Make the file of a new run; raises `InputError` when the folder holds one already.

        Without raw text, contexts, replies and answers are left out, and of errors their texts.
        """
        terms = RunTerms(steps=tuple(steps), keeps_raw=keeps_raw, about=dict(about or {}))
        return cls(folder, create_file(folder, terms, cipher), terms)

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        cipher: Cipher | None = None,
        is_read_only: bool = False,
        drops_raw: bool = False,
    ) -> Self:
        """Open the file of a run.

        `drops_raw`: write no raw text from here on, though the run keeps some. Raises `InputError`
        when there is none, and `ConfigurationError` when it needs another key or another version of
        this program.
        """
        rows, terms = open_file(folder, cipher, is_read_only=is_read_only)
        terms = replace(terms, keeps_raw=terms.keeps_raw and not drops_raw)
        return cls(folder, rows, terms)

    def close(self) -> None:
        """Close the file."""
        if not self.rows.is_shared:
            self.rows.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def lock(self) -> AbstractContextManager[None]:
        """Hold the run for this process; raises `RunBusy` when another one holds it."""
        return run_lock(self.folder)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make everything that is written inside happen, or nothing of it."""
        with self.rows.transaction():
            yield

    def request(self, unit_id: str, step: str, *, round: int = 0) -> None:  # noqa: A002
        """Note that a step is asked for a unit; asking again changes nothing."""
        self.units.require_step(step)
        if not self.rows.run_each(_REQUEST, [{"unit_id": unit_id, "step": step, "round": round}]):
            # It was asked for before, or there is no such unit.
            self.units.get(unit_id)

    def record(self, records: Iterable[AttemptRecord]) -> None:
        """Append attempts in one transaction; one that is there already is left as it is.

        Raises `InputError`, and appends none, when a unit was not requested or the same attempt
        is there with another outcome.
        """
        with self.rows.transaction():
            for record in records:
                place = _place(record.unit_id, record.step, record.round)
                found = self.rows.one(_REQUESTED, **place)
                if found is None:
                    msg = f"unit {record.unit_id!r} was not requested at step {record.step!r}"
                    raise InputError(msg, field="unit_id")
                if not self.rows.run_each(_RECORD, [self._row(record, found.unit)]):
                    self._refuse_other(record)

    def history(self, unit_id: str, step: str, *, round: int = 0) -> list[AttemptRecord]:  # noqa: A002
        """Return all attempts of a unit at a step, the first one first."""
        rows = self.rows.all(_HISTORY, **_place(unit_id, step, round))
        return [self._read(row) for row in rows]

    def rounds(self, unit_id: str, step: str) -> Iterator[list[AttemptRecord]]:
        """Yield the attempts of a unit at a step for one round after the other."""
        histories = (self.history(unit_id, step, round=number) for number in count())
        return takewhile(bool, histories)

    def has_any_of(self, origin: Origin) -> bool:
        """Return whether any attempt was made in this way."""
        return self.rows.one(_ANY_OF_ORIGIN, of_origin=origin.value) is not None

    def current(self, step: str, *, is_failed: bool = False) -> Iterator[CurrentRow]:
        """Yield the last attempt of every unit and round that has one, in the units' order.

        What is written meanwhile does not show; a second answer to a unit never counts.
        `is_failed`: those alone that did not pass.
        """
        self.units.require_step(step)
        found = self.rows.stream(_FAILED if is_failed else _CURRENT, of_step=step)
        return map(self._read_current, found)

    def last(self, unit_id: str, step: str, *, round: int = 0) -> CurrentRow | None:  # noqa: A002
        """Return the last attempt of one unit at a step, `None` when there is none."""
        row = self.rows.one(_LAST, **_place(unit_id, step, round))
        return None if row is None else self._read_current(row)

    def counts(self, step: str) -> StepCounts:
        """Count where a step's units are, each number by itself."""
        self.units.require_step(step)
        with self.rows.transaction(writes=False):
            ((requested,),) = self.rows.all(_ASKED, of_step=step)
            ((pending,),) = self.rows.all(_PENDING, of_step=step)
            outcomes = {row.stage: row.units for row in self.rows.all(_OUTCOMES, of_step=step)}
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

    def require_whole(self) -> None:
        """Raise `LedgerUnusable` for a file of SQLite with a damaged page or an odd account."""
        (found,) = self.rows.all(_QUICK_CHECK)
        balances = all(counts.balances for counts in self.counts_by_step().values())
        if found[0] != "ok" or not balances:
            what = "it is damaged"
            raise LedgerUnusable(what)

    def queue(
        self, step: str, limits: RetryLimits, *, includes_failed: bool = True
    ) -> list[QueuedUnit]:
        """Return what a step still has to be asked for, in the units' order.

        That is what has no attempt yet, and failed units whose attempts are not used up.
        """
        self.units.require_step(step)
        rows = self.rows.all(
            _QUEUE,
            of_step=step,
            of_includes_failed=includes_failed,
            of_provider_attempts=limits.provider_attempts,
            of_validation_attempts=limits.validation_attempts,
        )
        return [QueuedUnit._make(row) for row in rows]

    def _row(self, record: AttemptRecord, unit: int) -> dict[str, Value]:
        notes = {name: list(getattr(record, name)) for name in _NOTES}
        if not self.keeps_raw:
            notes = {name: list(map(_without_words, each)) for name, each in notes.items()}
        words = {**notes, "raw": record.raw if self.keeps_raw else None, "output": record.output}
        # Models send halves of surrogate pairs, which are kept as they are.
        body = _JSON.encode(words).encode("utf-8", "surrogatepass")
        return {
            **{name: getattr(record, name) for name in _IN_THE_CLEAR},
            "unit": unit,
            "stage": None if record.stage is None else str(record.stage),
            "origin": record.origin.value,
            "code_version": __version__,
            "recorded_at": now(),
            "body": self.rows.seal(
                body, attempts.name, record.step, unit, record.round, record.attempt
            ),
        }

    def _read(self, row: Found) -> AttemptRecord:
        with refusing_damage():
            place = row.step, row.unit, row.round, row.attempt
            body = self.rows.open(row.body, attempts.name, *place)
            words = json.loads(body.decode("utf-8", "surrogatepass"))
            values: dict[str, Any] = {name: getattr(row, name) for name in _IN_THE_CLEAR}
            if any(isinstance(value, bytes) for value in values.values()):
                raise TypeError
            values |= words | {name: tuple(words[name]) for name in _NOTES}
            return AttemptRecord(unit_id=row.unit_id, origin=Origin(row.origin), **values)

    def _read_current(self, row: Found) -> CurrentRow:
        return CurrentRow(
            record=self._read(row),
            attempts=row.attempts,
            recorded_at=row.recorded_at,
            newest_attempt=row.newest,
            provider_failures=row.provider_failures,
            other_failures=row.other_failures,
        )

    def _refuse_other(self, attempt: AttemptRecord) -> None:
        history = self.history(attempt.unit_id, attempt.step, round=attempt.round)
        there = next(kept for kept in history if kept.attempt == attempt.attempt)
        is_same_answer = not self.keeps_raw or there.raw == attempt.raw
        if (there.origin, there.stage) != (attempt.origin, attempt.stage) or not is_same_answer:
            msg = f"attempt {attempt.attempt} of unit {attempt.unit_id!r} is recorded otherwise"
            raise InputError(msg, field="attempt")


def _place(unit_id: str, step: str, number: int) -> dict[str, Value]:
    return {"of_unit_id": unit_id, "of_step": step, "of_round": number}


def _without_words(note: Mapping[str, object]) -> dict[str, object]:
    return {name: v if name in _WITHOUT_WORDS else "not kept" for name, v in note.items()}
