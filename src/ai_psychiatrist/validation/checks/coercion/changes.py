"""Changes that a schema may ask for: of a field, an item, or by a branch; with their records."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.validation.checks.schema.messages import json_type
from ai_psychiatrist.validation.checks.verdict import Coercion, PathPart, UnitError, type_name

Parts = tuple[PathPart, ...]
Check = Callable[[object], bool]

_OBJECT: Final = frozenset({dict})
_ARRAY: Final = frozenset({list})
_ABSENT: Final = object()


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


def run_step(step: Step | None, value: object, parts: Parts, notes: CoercionNotes) -> object:
    """Return what a step makes of a value; the value itself where it has nothing to change."""
    if step is None or type(value) not in step.types:
        return value
    return step.run(value, parts, notes)


def in_turn(steps: Iterable[Step | None]) -> Step | None:
    """Return one step that runs several, each on what the one before it gave."""
    together = [step for step in steps if step is not None]
    if len(together) < 2:
        return together[0] if together else None

    def run(value: object, parts: Parts, notes: CoercionNotes) -> object:
        for step in together:
            value = run_step(step, value, parts, notes)
        return value

    return Step(types=all_types(together), run=run)


def all_types(steps: Iterable[Step | None]) -> frozenset[type]:
    """Return the types of values with which any of the steps is called."""
    return frozenset[type]().union(*(step.types for step in steps if step is not None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One alternative of `anyOf` or `oneOf`."""

    fits: Check
    step: Step | None
    types: frozenset[str]
    """The types that it lets through."""


def named_fields_step(named: Mapping[str, Step]) -> Step:
    """Return the step of an object; it runs for every unit, so it asks for types before calling."""
    fields = tuple((name, step.types, step.run) for name, step in named.items())

    def run(value: object, parts: Parts, notes: CoercionNotes) -> object:
        if not isinstance(value, dict):
            return value
        changed: dict[str, object] | None = None
        for name, types, change in fields:
            held = value.get(name, _ABSENT)
            if type(held) in types:
                new = change(held, (*parts, name), notes)
                if new is not held:
                    changed = dict(value) if changed is None else changed
                    changed[name] = new
        return value if changed is None else changed

    return Step(types=_OBJECT, run=run)


def all_fields_step(
    known: frozenset[str],
    named: Mapping[str, Step],
    patterns: Sequence[tuple[Check, Step | None]],
    rest: Step | None,
) -> Step:
    """Return the step of an object whose fields are not all named by the schema."""

    def step_of(name: str) -> Step | None:
        matching = [step for matches, step in patterns if matches(name)]
        if name not in known and not matching:
            matching = [rest]
        return in_turn([named.get(name), *matching])

    def run(value: object, parts: Parts, notes: CoercionNotes) -> object:
        if not isinstance(value, dict):
            return value
        changed: dict[str, object] | None = None
        for name, held in value.items():
            new = run_step(step_of(name), held, (*parts, name), notes)
            if new is not held:
                changed = dict(value) if changed is None else changed
                changed[name] = new
        return value if changed is None else changed

    return Step(types=_OBJECT, run=run)


def items_step(first: Sequence[Step | None], rest: Step | None) -> Step:
    """Return the step of a list: one for each of the first items, and one for the rest."""

    def run(value: object, parts: Parts, notes: CoercionNotes) -> object:
        if not isinstance(value, list):
            return value
        changed: list[object] | None = None
        for position, item in enumerate(value):
            step = first[position] if position < len(first) else rest
            new = run_step(step, item, (*parts, position), notes)
            if new is not item:
                changed = list(value) if changed is None else changed
                changed[position] = new
        return value if changed is None else changed

    return Step(types=_ARRAY, run=run)


def conditional_step(check: Check, then: Step | None, other: Step | None) -> Step:
    """Return the step that runs one of two as a check of the value says."""

    def run(value: object, parts: Parts, notes: CoercionNotes) -> object:
        return run_step(then if check(value) else other, value, parts, notes)

    return Step(types=all_types((then, other)), run=run)


def branch_step(branches: Sequence[Branch], types: frozenset[type], *, most: int) -> Step:
    """Return the step of alternatives: that of the first which the value fits.

    A value that fits none is changed as the first branch asks that it fits then, provided that at
    most `most` fit it afterwards. An object or a list that cannot be made to fit is changed as far
    as possible where only one branch takes objects or lists.
    """

    def run(value: object, parts: Parts, notes: CoercionNotes) -> object:
        for branch in branches:
            if branch.fits(value):
                return run_step(branch.step, value, parts, notes)
        return _tried(branches, most, value, parts, notes)

    return Step(types=types, run=run)


def _tried(
    branches: Sequence[Branch], most: int, value: object, parts: Parts, notes: CoercionNotes
) -> object:
    for branch in branches:
        trial = notes.trial()
        new = run_step(branch.step, value, parts, trial)
        if new is value or not branch.fits(new):
            continue
        if sum(other.fits(new) for other in branches) <= most:
            notes.extend(trial)
            return new
    meant = [branch for branch in branches if json_type(value) in branch.types]
    if isinstance(value, (dict, list)) and len(meant) == 1:
        return run_step(meant[0].step, value, parts, notes)
    return value
