"""The units of a run, and what each of them is asked about; nothing of it changes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from sqlalchemy import func, select

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.store.database import Value
from ai_psychiatrist.store.run_rows import RunRows, own
from ai_psychiatrist.store.run_schema import adding, inputs, units

_DIGEST_LENGTH: Final = 32
_SOURCE: Final = ""
"""In the place of a step: no step has this name."""
_REMEMBERED: Final = 16
"""Units whose contexts are kept at hand, about as many as are worked on at a time."""

_IDS: Final = select(units.c.unit_id, units.c.unit).where(own(units)).order_by(units.c.unit)
_UNIT: Final = select(units).where(own(units, "unit_id"))
_BY_NUMBER: Final = select(units.c.unit_id).where(own(units, "unit"))
_NEXT: Final = select(func.coalesce(func.max(units.c.unit), 0) + 1).where(own(units))
_INPUT: Final = select(inputs).where(own(inputs, "unit", "step"))
_ADD_UNIT: Final = adding(units, "unit_id", unit=_NEXT.scalar_subquery())
_ADD_INPUT: Final = adding(inputs, "unit", "step")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A unit of a run."""

    number: int
    """In the run, from 1."""
    context_digest: str
    context: bytes | None = field(repr=False)
    """What it began with; `None` when the run keeps none."""


class RunUnits:
    """The units of one run; any thread may call it."""

    def __init__(self, rows: RunRows, *, steps: Sequence[str], keeps_raw: bool) -> None:
        self._rows, self._steps, self._keeps_raw = rows, steps, keeps_raw
        # Every call of a unit asks for it, and it never changes.
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._read)

    def add(self, unit_id: str, *, context_digest: str, context: bytes | None = None) -> None:
        """Add a unit after those there are; one that is there already is left as it is.

        `context`: what the unit's steps are asked about, in the run's own encoding. Raises
        `InputError` when the id is there with another context.
        """
        row: dict[str, Value] = {
            "unit_id": unit_id,
            "context_digest": context_digest,
            "context": self._sealed(context, units.name, unit_id),
        }
        if self._rows.run_each(_ADD_UNIT, [row]):
            # One that is added again after its transaction was broken off may have another context.
            self._remembered.cache_clear()
        elif self.get(unit_id).context_digest != context_digest:
            raise _other_input(unit_id)

    def ids(self) -> list[str]:
        """Return the ids of all units in the order in which they came."""
        return [row.unit_id for row in self._rows.all(_IDS)]

    def add_input(self, unit_id: str, step: str, context: bytes) -> None:
        """Add what a step is asked about, where that is more than what the unit began with.

        Raises `InputError` when the unit is unknown or has another input there.
        """
        self.require_step(step)
        number = self.get(unit_id).number
        digest = keyed_digest(context.decode("utf-8", "backslashreplace"), length=_DIGEST_LENGTH)
        row: dict[str, Value] = {
            "unit": number,
            "step": step,
            "context_digest": digest,
            "context": self._sealed(context, inputs.name, number, step),
        }
        if self._rows.run_each(_ADD_INPUT, [row]):
            return
        there = self._rows.all(_INPUT, of_unit=number, of_step=step)[0]
        if there.context_digest != digest and self.step_context(unit_id, step) != context:
            raise _other_input(unit_id)

    def add_source(self, unit_id: str, content: bytes) -> None:
        """Add what a unit is made from, for who has no dataset; what is there stays as it is."""
        number = self.get(unit_id).number
        row: dict[str, Value] = {
            "unit": number,
            "step": _SOURCE,
            "context_digest": "",
            "context": self._sealed(content, inputs.name, number, _SOURCE),
        }
        self._rows.run_each(_ADD_INPUT, [row])

    def source(self, unit_id: str) -> bytes | None:
        """Return what a unit is made from, `None` where the run has none."""
        number = self.get(unit_id).number
        row = self._rows.one(_INPUT, of_unit=number, of_step=_SOURCE)
        return None if row is None else self._opened(row.context, inputs.name, number, _SOURCE)

    def id_of(self, number: int) -> str:
        """Return which unit has a number in the run; raises `InputError` when there is none."""
        row = self._rows.one(_BY_NUMBER, of_unit=number)
        if row is None:
            raise InputError(f"the run has no unit {number}", field="unit_id")
        return str(row.unit_id)

    def numbers(self) -> dict[str, int]:
        """Return the number of each unit in the run, in their order."""
        return {row.unit_id: row.unit for row in self._rows.all(_IDS)}

    def step_context(self, unit_id: str, step: str) -> bytes | None:
        """Return what a step was asked about: its own input, else the unit's context.

        `None` when there is neither or the run keeps none.
        """
        unit = self.get(unit_id)
        row = self._rows.one(_INPUT, of_unit=unit.number, of_step=step)
        if row is None:
            return unit.context
        return self._opened(row.context, inputs.name, unit.number, step)

    def get(self, unit_id: str) -> Unit:
        """Return what is kept of a unit; raises `InputError` when there is none."""
        return self._remembered(unit_id)

    def require_step(self, step: str) -> None:
        """Raise `InputError` for a step that is none of the run's."""
        if step not in self._steps:
            msg = f"the run has no step {step!r}; its steps are {', '.join(self._steps)}"
            raise InputError(msg, field="step")

    def _read(self, unit_id: str) -> Unit:
        row = self._rows.one(_UNIT, of_unit_id=unit_id)
        if row is None:
            raise InputError(f"the run has no unit {unit_id!r}", field="unit_id")
        context = self._opened(row.context, units.name, unit_id)
        return Unit(number=row.unit, context_digest=row.context_digest, context=context)

    def _sealed(self, context: bytes | None, *place: str | int) -> bytes | None:
        if context is None or not self._keeps_raw:
            return None
        return self._rows.seal(context, *place)

    def _opened(self, stored: object, *place: str | int) -> bytes | None:
        return None if stored is None else self._rows.open(stored, *place)


def _other_input(unit_id: str) -> InputError:
    msg = f"unit {unit_id!r} is in the run with another input; start a new run"
    return InputError(msg, field="unit_id")
