"""The batches that a run submitted to providers: what is in each, and what became of it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from sqlalchemy import bindparam, exists, func, not_, select, update

from ai_psychiatrist.domain.model_call import BatchAnswer
from ai_psychiatrist.store.database import Found, Value
from ai_psychiatrist.store.errors import refusing_damage
from ai_psychiatrist.store.run_rows import RunRows, is_of, now, own
from ai_psychiatrist.store.run_schema import adding, batch_calls, batches, calls, units
from ai_psychiatrist.store.run_units import RunUnits

BY_BATCHES: Final = "by_batches"
"""What a ledger says of itself whose run was begun by batches."""


class BatchEvent(StrEnum):
    """What became of a batch that was to be submitted."""

    SUBMITTED = "handed_in"
    """The provider took it, and its handle is kept."""
    SHORT = "short"
    """It had ended, and results were missing; it is looked at again."""
    ENDED = "ended"
    REFUSED = "refused"
    """The provider did not take it."""
    NOT_THERE = "not_there"
    """Its handle was not kept, and the provider has none like it."""
    GIVEN_UP = "given_up"
    """Nothing is known of it any more, and its calls may be submitted anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRow:
    """A batch that was to be submitted."""

    number: int
    model: str
    """As in the settings."""
    group: str
    """What its calls share, so that they could be submitted together; no secret."""
    calls: int
    recorded_at: datetime
    """When it was about to be submitted."""
    event: BatchEvent | None
    """What became of it last; `None` where that is not known."""
    handle: str | None = field(repr=False)
    """What its provider knows it by, as JSON; `None` when that was not kept."""
    short_looks: int
    """How often it had ended when it was looked at, and results were missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRequestRow:
    """One call of a batch."""

    custom_id: str
    unit_id: str
    attempt: int
    digest: str
    occurrence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmittedCall(BatchRequestRow):
    """One submission of a call, and what came of it by now."""

    counts: bool
    """Whether its batch ended, with a result for it or without."""
    answer: BatchAnswer | None


_OVER: Final = (
    BatchEvent.ENDED,
    BatchEvent.REFUSED,
    BatchEvent.NOT_THERE,
    BatchEvent.GIVEN_UP,
)
_ALL: Final = select(batches).where(own(batches)).order_by(batches.c.number)
_LAST: Final = select(func.max(batches.c.number)).where(own(batches))
_NOTE: Final = (
    update(batches)
    .where(own(batches, "number"))
    .values(
        event=bindparam("of_event"),
        short_looks=batches.c.short_looks + bindparam("of_short_looks"),
        handle=func.coalesce(bindparam("of_handle", type_=batches.c.handle.type), batches.c.handle),
    )
)
_ANSWER: Final = (
    update(batch_calls)
    .where(own(batch_calls, "custom_id"), batch_calls.c.status.is_(None))
    .values(status=bindparam("of_status"), body=bindparam("of_body", type_=batch_calls.c.body.type))
)
_CALLS: Final = (
    select(batch_calls, units.c.unit_id, batches.c.event)
    .join_from(batch_calls, units, is_of(batch_calls))
    .join(batches, batches.c.number == batch_calls.c.batch)
    .where(own(batch_calls))
    .order_by(batch_calls.c.number)
)
_OF_BATCH: Final = _CALLS.where(own(batch_calls, "batch"))
_OF_UNIT: Final = _CALLS.where(own(batch_calls, "attempt"), own(units, "unit_id"))
_WAITING: Final = _CALLS.where(
    batch_calls.c.status.is_(None), func.coalesce(batches.c.event, "").not_in(_OVER)
).with_only_columns(units.c.unit_id)
_CALL: Final = ("unit", "attempt", "digest", "occurrence")
_UNKEPT: Final = (
    select(units.c.unit_id, *(batch_calls.c[name] for name in _CALL))
    .join_from(batch_calls, units, is_of(batch_calls))
    .where(
        own(batch_calls),
        not_(exists().where(own(calls), *(calls.c[name] == batch_calls.c[name] for name in _CALL))),
    )
    .distinct()
)
_ADD_BATCH: Final = adding(batches)
_ADD_CALL: Final = adding(batch_calls)


class RunBatches:
    """The batches of one run; any thread may call it."""

    def __init__(self, rows: RunRows, run_units: RunUnits) -> None:
        self._rows, self._units = rows, run_units

    def intend(self, model: str, group: str, requests: Sequence[BatchRequestRow]) -> int:
        """Note what is about to be submitted, and return the batch's number."""
        with self._rows.transaction():
            batch: dict[str, Value] = {
                "model": model,
                "kin": group,
                "calls": len(requests),
                "recorded_at": now(),
                "event": None,
                "short_looks": 0,
                "handle": None,
            }
            self._rows.run_each(_ADD_BATCH, [batch])
            number = int(self._rows.all(_LAST)[0][0])
            rows: list[dict[str, Value]] = [
                {
                    "custom_id": one.custom_id,
                    "batch": number,
                    "unit": self._units.get(one.unit_id).number,
                    "attempt": one.attempt,
                    "digest": one.digest,
                    "occurrence": one.occurrence,
                    "status": None,
                    "body": None,
                }
                for one in requests
            ]
            self._rows.run_each(_ADD_CALL, rows)
        return number

    def note(
        self,
        number: int,
        event: BatchEvent | None,
        *,
        handle: str | None = None,
        short_looks: int = 0,
    ) -> None:
        """Keep what became of a batch. `handle`: what its provider knows it by, once it is known.

        `short_looks`: how often more it had ended, and results were missing.
        """
        sealed = self._sealed(handle, batches.name, number)
        row = {"number": number, "event": event, "short_looks": short_looks, "handle": sealed}
        self._rows.run_each(_NOTE, [row])

    def add_results(self, results: Iterable[BatchAnswer], number: int, event: BatchEvent) -> int:
        """Keep results and what became of their batch in one transaction.

        Returns how many are new: a second result of a call is left out.
        """
        with self._rows.transaction():
            count = sum(map(self._add_result, results))
            self.note(number, event, short_looks=event is BatchEvent.SHORT)
        return count

    def all(self) -> list[BatchRow]:
        """Return the batches that were ever about to be submitted, in that order."""
        with refusing_damage():
            return [
                BatchRow(
                    number=row.number,
                    model=row.model,
                    group=row.kin,
                    calls=row.calls,
                    recorded_at=datetime.fromisoformat(row.recorded_at),
                    event=None if row.event is None else BatchEvent(row.event),
                    handle=self._opened(row.handle, batches.name, row.number),
                    short_looks=row.short_looks,
                )
                for row in self._rows.all(_ALL)
            ]

    def waited_for(self) -> list[BatchRow]:
        """Return the batches that may still give results, in the order of their making."""
        return [batch for batch in self.all() if batch.event not in _OVER]

    def waiting_calls(self) -> int:
        """Return how many calls are in batches that may still give results."""
        return sum(batch.calls for batch in self.waited_for())

    def unkept(self) -> Counter[str]:
        """Return unit → how many of its calls were to be submitted and are not kept as made."""
        return Counter(row.unit_id for row in self._rows.all(_UNKEPT))

    def waiting_units(self) -> set[str]:
        """Return the units that have a call without a result in a batch that is waited for."""
        return {row.unit_id for row in self._rows.all(_WAITING)}

    def of_batch(self, number: int) -> list[SubmittedCall]:
        """Return the calls of a batch."""
        return list(map(self._call, self._rows.all(_OF_BATCH, of_batch=number)))

    def of_unit(self, unit_id: str, attempt: int) -> list[SubmittedCall]:
        """Return what was submitted for one attempt at a unit, in that order."""
        found = self._rows.all(_OF_UNIT, of_unit_id=unit_id, of_attempt=attempt)
        return list(map(self._call, found))

    def _add_result(self, result: BatchAnswer) -> int:
        body = self._sealed(result.body, batch_calls.name, result.custom_id)
        row = {"custom_id": result.custom_id, "status": result.status, "body": body}
        return self._rows.run_each(_ANSWER, [row])

    def _call(self, row: Found) -> SubmittedCall:
        answer = None
        if row.status is not None:
            body = self._opened(row.body, batch_calls.name, row.custom_id)
            answer = BatchAnswer(custom_id=row.custom_id, status=row.status, body=body)
        return SubmittedCall(
            custom_id=row.custom_id,
            unit_id=row.unit_id,
            attempt=row.attempt,
            digest=row.digest,
            occurrence=row.occurrence,
            counts=row.event == BatchEvent.ENDED,
            answer=answer,
        )

    def _sealed(self, text: str | None, *place: str | int) -> bytes | None:
        if text is None:
            return None
        return self._rows.seal(text.encode("utf-8", "surrogatepass"), *place)

    def _opened(self, stored: object, *place: str | int) -> str | None:
        if stored is None:
            return None
        with refusing_damage():
            return self._rows.open(stored, *place).decode("utf-8", "surrogatepass")
