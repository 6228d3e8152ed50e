"""The model calls that a run keeps; what is kept stays as it is."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sqlalchemy import ColumnElement, and_, case, func, not_, or_, select

from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.store.contents import call_bytes, call_in
from ai_psychiatrist.store.database import Value
from ai_psychiatrist.store.errors import refusing_damage
from ai_psychiatrist.store.run_records import CallUsage, KeptCall, StepUsage
from ai_psychiatrist.store.run_rows import RunRows, is_of, now, own
from ai_psychiatrist.store.run_schema import adding, batch_calls, calls, units
from ai_psychiatrist.store.run_units import RunUnits

_FIGURES: Final = (
    "digest",
    "occurrence",
    "agent",
    "model",
    "code",
    "http_status",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "duration_ms",
)
"""What of a call stands in the clear beside its body."""
_KEEP_ONCE: Final = adding(calls, "unit", "attempt", "digest", "occurrence")
_KEEP: Final = adding(calls)
_OF_ATTEMPT: Final = select(calls).where(own(calls, "unit", "attempt")).order_by(calls.c.number)
_MADE: Final = select(func.count()).where(own(calls))

_LENGTH_STEP: Final = 8_000
_SUBMITTED: Final = ("unit", "attempt", "digest", "occurrence")
_BATCHED: Final = (
    select(
        *(batch_calls.c[name] for name in _SUBMITTED),
        func.max(case((batch_calls.c.body.is_not(None), 1), else_=0)).label("is_made"),
    )
    .where(own(batch_calls))
    .group_by(*(batch_calls.c[name] for name in _SUBMITTED))
    .subquery()
)
_IS_COUNTED: Final = and_(calls.c.input_tokens.is_not(None), calls.c.output_tokens.is_not(None))
# A call that no batch made has no result of its own there, and costs nothing.
_IS_FREE: Final = or_(
    func.coalesce(calls.c.http_status, 0) >= 400,
    and_(
        func.coalesce(_BATCHED.c.is_made, 1) == 0,
        func.coalesce(calls.c.code, "") == FailureCode.TIMED_OUT.value,
    ),
)
_IS_BATCH: Final = func.coalesce(_BATCHED.c.is_made, 0)


def _tokens(name: str) -> ColumnElement[int]:
    return func.coalesce(func.sum(calls.c[name]).filter(_IS_COUNTED), 0)


# Prices step up with the length of a call, so that calls of one length are summed.
_LENGTH: Final = func.coalesce(calls.c.input_tokens, -1)
_USAGE: Final = (
    select(
        calls.c.agent,
        calls.c.model,
        _IS_BATCH,
        func.count(),
        func.count().filter(_IS_COUNTED, not_(_IS_FREE)),
        func.count().filter(_IS_FREE),
        *map(_tokens, _FIGURES[6:10]),
    )
    .select_from(
        calls.outerjoin(_BATCHED, and_(*(calls.c[name] == _BATCHED.c[name] for name in _SUBMITTED)))
    )
    .where(own(calls))
    .group_by(calls.c.agent, calls.c.model, _IS_BATCH, _LENGTH // _LENGTH_STEP)
    .order_by(calls.c.agent, calls.c.model, _IS_BATCH, func.min(_LENGTH))
)


_USAGE_BY_UNIT: Final = (
    select(
        units.c.unit_id,
        *(func.sum(calls.c[name]).label(name) for name in StepUsage._fields),
    )
    .join_from(calls, units, is_of(calls))
    .where(own(calls, "agent"))
    .group_by(units.c.unit_id)
)


class RunCalls:
    """The calls of one run; any thread may call it."""

    def __init__(self, rows: RunRows, units: RunUnits, *, keeps_raw: bool) -> None:
        self._rows, self._units, self._keeps_raw = rows, units, keeps_raw

    def keep(self, kept: Sequence[KeptCall]) -> None:
        """Keep finished calls in one transaction; one that is kept already stays as it is.

        Without its words a call may have to be paid again, and is kept again. They are on the disk
        when this returns. Raises `InputError` for a unit that the run does not have.
        """
        with self._rows.transaction():
            at = now()
            self._rows.run_each(
                _KEEP_ONCE if self._keeps_raw else _KEEP, [self._row(one, at) for one in kept]
            )

    def of_attempt(self, unit_id: str, attempt: int) -> list[ModelCall]:
        """Return the calls of one attempt of a unit in the order in which they were kept."""
        unit = self._units.get(unit_id)
        known = _text(unit.context)
        with refusing_damage():
            return [
                call_in(
                    self._rows.open(
                        row.body, calls.name, row.unit, row.attempt, row.digest, row.occurrence
                    ),
                    known=known,
                )
                for row in self._rows.all(_OF_ATTEMPT, of_unit=unit.number, of_attempt=attempt)
            ]

    def made(self) -> int:
        """Return how many calls the run keeps."""
        return int(self._rows.all(_MADE)[0][0])

    def usage(self) -> list[CallUsage]:
        """Return what the kept calls used, by agent, model and length of the call."""
        rows = self._rows.all(_USAGE)
        with refusing_damage():
            if any(isinstance(value, bytes) for row in rows for value in row):
                raise TypeError
            return [CallUsage._make(row) for row in rows]

    def usage_by_unit(self, agent: str) -> dict[str, StepUsage]:
        """Return unit → what its kept calls took that an agent, or a pipeline's step, made."""
        with refusing_damage():
            return {
                row.unit_id: StepUsage(
                    round(row.duration_ms, 3), row.input_tokens, row.output_tokens
                )
                for row in self._rows.all(_USAGE_BY_UNIT, of_agent=agent)
            }

    def _row(self, kept: KeptCall, at: str) -> dict[str, Value]:
        unit, call = self._units.get(kept.unit_id), kept.call
        if not self._keeps_raw:
            call = replace(call, reply=None, sent=())
        body = call_bytes(call, known=_text(unit.context))
        place = calls.name, unit.number, kept.attempt, call.digest, call.occurrence
        return {
            **{name: getattr(call, name) for name in _FIGURES},
            "code": None if call.code is None else call.code.value,
            "unit": unit.number,
            "attempt": kept.attempt,
            "recorded_at": at,
            "body": self._rows.seal(body, *place),
        }


def _text(context: bytes | None) -> str:
    with refusing_damage():
        return (context or b"").decode("utf-8", "surrogatepass")
