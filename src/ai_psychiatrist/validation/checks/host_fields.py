"""What a host knows of a unit, and the fields it adds to an answer: not the model's to give."""

from collections.abc import Callable, Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, Self, TypeAlias

from ai_psychiatrist.validation.checks.verdict import UnitError

UNIT_ID: Final = "unit_id"
METADATA: Final = "_metadata"
RAW_TEXT: Final = "_raw_text"
RETRY_COUNT: Final = "retry_count"

SET_ASIDE: Final = frozenset({UNIT_ID, METADATA, RAW_TEXT})
"""Taken out of an answer before the schema sees it."""

ALWAYS_PROTECTED: Final = frozenset({UNIT_ID, RETRY_COUNT})
"""Names that an answer never overrides for the rules; nor does it any that begins with `_`."""

HostFunctions: TypeAlias = Mapping[str, Callable[..., object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitSurroundings:
    """What belongs to a unit apart from its answer."""

    inputs: Mapping[str, object]
    """The context together with what names the unit."""
    meta: Mapping[str, object]
    """`unit_id`, `retry_count` and `_metadata`, as far as they are known."""
    host: HostFunctions
    """Functions that rules may call in addition to the fixed table."""

    @classmethod
    def of(
        cls,
        context: Mapping[str, object] | None,
        meta: Mapping[str, object] | None,
        host: HostFunctions | None = None,
    ) -> Self:
        """Return what is known of a unit; `context`: earlier steps' output and its own fields."""
        known = meta or {}
        named = {name: known[name] for name in (UNIT_ID, RETRY_COUNT, METADATA) if name in known}
        return cls(inputs={**(context or {}), **named}, meta=known, host=host or {})


class InjectedFields:
    """The fields of one step's answers that a host adds, knows, or lets no answer override."""

    def __init__(
        self, known_fields: frozenset[str], *, protected: frozenset[str], is_closed: bool = False
    ) -> None:
        """`known_fields`: those of an answer that schema or checks name; `is_closed`: no others."""
        self.protected = ALWAYS_PROTECTED | protected
        # What the context has of these counts, so that an answer need not fail for repeating it.
        self._repeated = protected - known_fields if is_closed else frozenset[str]()
        self._names = SET_ASIDE if RETRY_COUNT in known_fields else SET_ASIDE | {RETRY_COUNT}
        self._injected = tuple(sorted(known_fields & SET_ASIDE))

    def strip(self, value: dict[str, object], inputs: Mapping[str, object]) -> dict[str, object]:
        """Return the answer alone; the argument itself when it holds nothing else."""
        names = self._names | (self._repeated & inputs.keys())
        if names.isdisjoint(value):
            return value
        return {name: inner for name, inner in value.items() if name not in names}

    def restore(self, value: dict[str, object], meta: Mapping[str, object]) -> dict[str, object]:
        """Put back what the schema asks for of a host's fields."""
        if not self._injected:
            return value
        return value | {name: meta[name] for name in self._injected if name in meta}

    def clashes(self, value: Mapping[str, object], around: UnitSurroundings) -> list[UnitError]:
        """Return a warning for each field of the host that an answer gives another value."""
        found: list[UnitError] = []
        asked, named = (one.get(UNIT_ID) for one in (around.meta, value))
        is_other = named != asked and str(named) != str(asked)
        if UNIT_ID in value and UNIT_ID in around.meta and is_other:
            message = "the answer names another unit than the one that was asked, which counts"
            found.append(UnitError(parts=(UNIT_ID,), rule="unit_id_mismatch", message=message))
        taken = {
            name: value[name] for name in (RETRY_COUNT, *sorted(self._repeated)) if name in value
        }
        return found + self.overridden(taken, around.inputs)

    def overridden(
        self, answer: Mapping[str, object], inputs: Mapping[str, object]
    ) -> list[UnitError]:
        """Return a warning for each protected name to which the answer gives another value."""
        return [
            UnitError(
                parts=(name,),
                rule="protected_name",
                message=f"the answer gives {name!r} another value than the input, which counts",
            )
            for name in ([] if inputs.keys().isdisjoint(answer) else answer)
            if name in inputs
            and _is_protected(name, self.protected)
            and _differ(answer[name], inputs[name])
        ]

    def protected_in(self, inputs: Mapping[str, object]) -> frozenset[str]:
        """Return the names for which the input counts."""
        hidden = [name for name in inputs if name.startswith("_")]
        return self.protected.union(hidden) if hidden else self.protected


def host_names_of_line(names: Iterable[str], known: AbstractSet[str]) -> list[str]:
    """Return the names that are a host's on a line: of these also any that begins with `_`."""
    return [
        name
        for name in names
        if (name[:1] == "_" or name in ALWAYS_PROTECTED)
        and (name not in known or name in SET_ASIDE)
    ]


def accumulated(
    context: Mapping[str, object], answer: Mapping[str, object], *, protected: Collection[str]
) -> dict[str, object]:
    """Return the context of the next step: the answer counts, but for protected names.

    Of a host's names an answer adds none.
    """
    found = {
        name: value
        for name, value in answer.items()
        if not _is_protected(name, protected) or (name in protected and name not in context)
    }
    return {**context, **found}


def _is_protected(name: str, protected: Collection[str]) -> bool:
    return name in protected or name in ALWAYS_PROTECTED or name.startswith("_")


def _differ(one: object, other: object) -> bool:
    """Tell values apart that are equal in Python alone, such as 1 and true."""
    return one != other or type(one) is not type(other)
