"""How an answer and what its host knows of the unit go together: fields that both may name."""

from collections.abc import Mapping
from typing import Final

from ai_psychiatrist.validation.checks.host_fields import (
    ALWAYS_PROTECTED,
    RETRY_COUNT,
    SET_ASIDE,
    UNIT_ID,
    accumulated,
    host_names,
    is_protected,
)
from ai_psychiatrist.validation.checks.unit_surroundings import UnitSurroundings
from ai_psychiatrist.validation.checks.verdict import UnitError

_NONE: Final[tuple[UnitError, ...]] = ()


class HostFields:
    """The fields of one step's answers that a host adds, knows, or lets no answer override."""

    def __init__(self, known_fields: frozenset[str], *, protected: frozenset[str]) -> None:
        """`known_fields`: those of an answer that schema or checks name."""
        self._protected = ALWAYS_PROTECTED | protected
        self._names = host_names(known_fields)
        self._injected = tuple(sorted(known_fields & SET_ASIDE))

    def accumulated(
        self, context: Mapping[str, object], answer: Mapping[str, object]
    ) -> dict[str, object]:
        """Return the context of the next step: this one's, and over it what an answer found."""
        return accumulated(context, answer, protected=self._protected)

    def left_out(self, value: dict[str, object]) -> dict[str, object]:
        """Return the answer alone; the argument itself when it holds nothing else."""
        if self._names.isdisjoint(value):
            return value
        return {name: inner for name, inner in value.items() if name not in self._names}

    def clashes(
        self, value: Mapping[str, object], around: UnitSurroundings
    ) -> tuple[UnitError, ...]:
        """Return a warning for each field of the host that an answer gives another value."""
        counted = {RETRY_COUNT: value[RETRY_COUNT]} if RETRY_COUNT in value else {}
        clashes = self.overridden(counted, around.inputs) if counted else _NONE
        return (*_unit_mismatch(value, around.meta), *clashes)

    def put_back(self, value: dict[str, object], meta: Mapping[str, object]) -> dict[str, object]:
        """Put back what the schema asks for of a host's fields."""
        if not self._injected:
            return value
        return value | {name: meta[name] for name in self._injected if name in meta}

    def overridden(
        self, answer: Mapping[str, object], inputs: Mapping[str, object]
    ) -> tuple[UnitError, ...]:
        """Return a warning for each protected name to which the answer gives another value."""
        if inputs.keys().isdisjoint(answer):
            return _NONE
        return tuple(
            UnitError(
                parts=(name,),
                rule="protected_name",
                message=f"the answer gives {name!r} another value than the input, which counts",
            )
            for name, value in answer.items()
            if name in inputs
            and is_protected(name, self._protected)
            and _differ(value, inputs[name])
        )

    def protected_in(self, inputs: Mapping[str, object]) -> frozenset[str]:
        """Return the names for which the input counts."""
        hidden = [name for name in inputs if name.startswith("_")]
        return self._protected.union(hidden) if hidden else self._protected


def _differ(one: object, other: object) -> bool:
    """Tell values apart that are equal in Python alone, such as 1 and true."""
    return one != other or type(one) is not type(other)


def _unit_mismatch(
    answer: Mapping[str, object], meta: Mapping[str, object]
) -> tuple[UnitError, ...]:
    if UNIT_ID not in answer or UNIT_ID not in meta or answer[UNIT_ID] == meta[UNIT_ID]:
        return ()
    if str(answer[UNIT_ID]) == str(meta[UNIT_ID]):
        return ()
    message = "the answer names another unit than the one that was asked, which counts"
    return (UnitError(parts=(UNIT_ID,), rule="unit_id_mismatch", message=message),)
