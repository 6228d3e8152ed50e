"""Collect what a coercion changed, and what it refused to change."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ai_psychiatrist.validation.checks.verdict import Coercion, PathPart, UnitError, type_name

Parts = tuple[PathPart, ...]


@dataclass(slots=True, kw_only=True)
class CoercionNotes:
    """The records of one pass over one value."""

    coercions: list[Coercion] = field(default_factory=list)
    errors: list[UnitError] = field(default_factory=list)
    wrapped: set[Parts] = field(default_factory=set)
    """Places where a single value was made a list; it is not made a list in a list after that."""

    def trial(self) -> "CoercionNotes":
        """Return notes for a try that may be dropped."""
        return CoercionNotes(wrapped=self.wrapped)

    def changed(self, parts: Parts, before: object, after: object) -> None:
        """Record that a value was read as another."""
        self.coercions.append(
            Coercion(
                parts=parts,
                before=before,
                after=after,
                before_type=type_name(before),
                after_type=type_name(after),
            )
        )

    def extend(self, other: "CoercionNotes") -> None:
        """Take over the records of a pass that is kept."""
        self.coercions += other.coercions
        self.errors += other.errors


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A change that a schema may ask for at one place.

    `run` is only called with values of `types`; it returns the value itself when there is nothing
    to change, and never changes it in place.
    """

    types: frozenset[type]
    run: Callable[[object, Parts, CoercionNotes], object]


def in_turn(steps: list[Step]) -> Step | None:
    """Return one step that runs several, each on what the one before it gave."""
    if len(steps) < 2:
        return steps[0] if steps else None
    together = tuple(steps)

    def run(value: object, parts: Parts, notes: CoercionNotes) -> object:
        for step in together:
            if type(value) in step.types:
                value = step.run(value, parts, notes)
        return value

    return Step(types=all_types(steps), run=run)


def all_types(steps: Iterable[Step | None]) -> frozenset[type]:
    """Return the types of values with which any of the steps is called."""
    return frozenset[type]().union(*(step.types for step in steps if step is not None))
