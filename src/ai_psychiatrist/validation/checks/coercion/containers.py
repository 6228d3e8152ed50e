"""Run the steps of an object's fields, a list's items, and the branches of a schema."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.validation.checks.coercion.notes import (
    CoercionNotes,
    Parts,
    Step,
    all_types,
    in_turn,
)
from ai_psychiatrist.validation.checks.schema.messages import json_type

Check = Callable[[object], bool]

_OBJECT: Final = frozenset({dict})
_ARRAY: Final = frozenset({list})
_ABSENT: Final = object()


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

    def steps_of(name: str) -> list[Step]:
        matching = [step for matches, step in patterns if matches(name)]
        if name not in known and not matching:
            matching = [rest]
        return [step for step in (named.get(name), *matching) if step is not None]

    def run(value: object, parts: Parts, notes: CoercionNotes) -> object:
        if not isinstance(value, dict):
            return value
        changed: dict[str, object] | None = None
        for name, held in value.items():
            new = _run(in_turn(steps_of(name)), held, (*parts, name), notes)
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
            if step is None or type(item) not in step.types:
                continue
            new = step.run(item, (*parts, position), notes)
            if new is not item:
                changed = list(value) if changed is None else changed
                changed[position] = new
        return value if changed is None else changed

    return Step(types=_ARRAY, run=run)


def conditional_step(check: Check, then: Step | None, other: Step | None) -> Step:
    """Return the step that runs one of two as a check of the value says."""

    def run(value: object, parts: Parts, notes: CoercionNotes) -> object:
        return _run(then if check(value) else other, value, parts, notes)

    return Step(types=all_types((then, other)), run=run)


def branch_step(branches: Sequence[Branch], types: frozenset[type], *, most: int) -> Step:
    """Return the step of alternatives: that of the first which the value fits.

    A value that fits none is changed as the first branch asks that it fits then, provided that at
    most `most` fit it afterwards; with 0 it is left as it is. An object or a list that cannot be
    made to fit is changed as far as possible where only one branch takes objects or lists.
    """

    def run(value: object, parts: Parts, notes: CoercionNotes) -> object:
        for branch in branches:
            if branch.fits(value):
                return _run(branch.step, value, parts, notes)
        return _tried(branches, most, value, parts, notes) if most else value

    return Step(types=types, run=run)


def _tried(
    branches: Sequence[Branch], most: int, value: object, parts: Parts, notes: CoercionNotes
) -> object:
    for branch in branches:
        trial = notes.trial()
        new = _run(branch.step, value, parts, trial)
        if new is value or not branch.fits(new):
            continue
        if sum(other.fits(new) for other in branches) <= most:
            notes.extend(trial)
            return new
    meant = [branch for branch in branches if json_type(value) in branch.types]
    if isinstance(value, (dict, list)) and len(meant) == 1:
        return _run(meant[0].step, value, parts, notes)
    return value


def _run(step: Step | None, value: object, parts: Parts, notes: CoercionNotes) -> object:
    if step is None or type(value) not in step.types:
        return value
    return step.run(value, parts, notes)
