"""Rescue an answer whose values have the wrong type or spelling, with a record of every change.

A value that fits the schema keeps what it says: at most 5.0 becomes 5 where an integer is wanted.
"""

from dataclasses import dataclass, field
from typing import Final

import orjson

from ai_psychiatrist.validation.checks.coercion.leaves import (
    DEFAULT,
    STRICT,
    CoercionProfile,
    LeafRequest,
    choice_step,
    reading_step,
    whole_number_step,
)
from ai_psychiatrist.validation.checks.coercion.notes import CoercionNotes, Step, in_turn
from ai_psychiatrist.validation.checks.coercion.steps import StepCompiler
from ai_psychiatrist.validation.checks.coercion.unwrapping import WRAPPER, WrapperRule
from ai_psychiatrist.validation.checks.schema.compiled import CompiledSchema, SchemaInvalid
from ai_psychiatrist.validation.checks.schema.references import Schema
from ai_psychiatrist.validation.checks.schema.type_names import required_names, schemas_at
from ai_psychiatrist.validation.checks.verdict import Coercion, UnitError
from ai_psychiatrist.validation.reply.json_decoder import DIGITS_AS_ZERO

__all__ = ["DEFAULT", "STRICT", "Coerced", "Coercer", "CoercionProfile"]

MAX_PASSES: Final = 4
"""A schema that still asks for changes after these contradicts itself, and nothing is changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coerced:
    """An answer after coercion, and what was changed in it."""

    value: dict[str, object]
    coercions: tuple[Coercion, ...] = ()
    errors: tuple[UnitError, ...] = ()
    """Values that fit the schema and still are not accepted: floats that are huge integers."""
    is_sound: bool = field(default=False, compare=False)
    """Whether the answer is known to fit the schema."""


class Coercer:
    """Changes answers as a schema asks.

    It never changes its argument in place, and a second run over its result changes nothing.
    """

    def __init__(
        self,
        schema: CompiledSchema | Schema,
        profile: CoercionProfile = DEFAULT,
        *,
        required: frozenset[str] = frozenset(),
    ) -> None:
        """`required`: fields that an answer has to have beside those that the schema requires."""
        self._schema = (
            schema
            if isinstance(schema, CompiledSchema)
            else CompiledSchema(schema, name="coercion")
        )
        self._profile = profile
        document, references = self._schema.document, self._schema.references
        self._wrapper = WrapperRule(
            required=required_names(references, document) | required,
            is_declared=any(True for _ in schemas_at(references, document, (WRAPPER,))),
        )
        try:
            self._whole_numbers = StepCompiler(
                self._schema, whole_number_step, tries_branches=False
            ).compile()
            self._every_step = StepCompiler(self._schema, self._leaf, tries_branches=True).compile()
        except RecursionError:
            problem = "leads through too many references, one behind the other"
            raise SchemaInvalid(
                self._schema.name, pointer="", keyword="", problem=problem
            ) from None

    def coerce(self, value: dict[str, object]) -> Coerced:
        """Return an answer that fits the schema as it is, or as far as it can be made to fit.

        One that is nested too deeply to be walked through is given back as it is.
        """
        is_sound = self._schema.is_valid(value)
        if not self._profile.is_enabled:
            return Coerced(value=value, is_sound=is_sound)
        is_sound = is_sound and not self._is_wrapped(value)
        if is_sound and (self._whole_numbers is None or not _may_hold_whole_floats(value)):
            return Coerced(value=value, is_sound=True)
        notes = CoercionNotes()
        try:
            changed = value if is_sound else self._settled(self._unwrapped(value, notes), notes)
            return self._finished(changed, notes, is_sound=is_sound)
        except RecursionError:
            return Coerced(value=value, is_sound=is_sound)

    def _is_wrapped(self, value: dict[str, object]) -> bool:
        """Return whether an answer that fits the schema lacks what its wrapper may hold."""
        is_short = WRAPPER in value and not self._wrapper.required <= value.keys()
        return is_short and not self._wrapper.is_declared

    def _leaf(self, request: LeafRequest) -> Step | None:
        steps = (
            reading_step(request),
            whole_number_step(request),
            choice_step(request, self._profile),
        )
        return in_turn([step for step in steps if step is not None])

    def _unwrapped(self, value: dict[str, object], notes: CoercionNotes) -> dict[str, object]:
        while (inner := self._wrapper.unwrapped(value)) is not None:
            is_text = isinstance(value[WRAPPER], str)
            value = inner
            notes.coercions.append(
                Coercion(
                    parts=(WRAPPER,),
                    before="(text)" if is_text else "(object)",
                    after="(object)",
                    before_type="string" if is_text else "object",
                    after_type="object",
                )
            )
        return value

    def _settled(self, value: dict[str, object], notes: CoercionNotes) -> dict[str, object]:
        """Run the steps until nothing changes; a value that never settles comes back as it was."""
        before, kept = value, CoercionNotes()
        for number in range(MAX_PASSES):
            found = CoercionNotes()
            changed = _run(self._every_step, value, found)
            if not found.coercions:
                notes.extend(kept)
                return value
            if number and repr(changed) == repr(value):
                break
            kept.extend(found)
            value = changed
        return before

    def _finished(
        self, value: dict[str, object], notes: CoercionNotes, *, is_sound: bool
    ) -> Coerced:
        notes.errors.clear()
        value = _run(self._whole_numbers, value, notes)
        return Coerced(
            value=value,
            coercions=tuple(notes.coercions),
            errors=tuple(dict.fromkeys(notes.errors)),
            is_sound=is_sound,
        )


def _may_hold_whole_floats(value: dict[str, object]) -> bool:
    """Return whether a value may hold a float such as 5.0; asked of its text, `False` is certain.

    Walking through the value takes several times as long.
    """
    try:
        written = orjson.dumps(value)
    except orjson.JSONEncodeError:
        return True
    zeros = written.translate(DIGITS_AS_ZERO)
    return b".0" in written or b"0e0" in zeros or b"0e+0" in zeros


def _run(step: Step | None, value: dict[str, object], notes: CoercionNotes) -> dict[str, object]:
    if step is None or dict not in step.types:
        return value
    changed = step.run(value, (), notes)
    return changed if isinstance(changed, dict) else value
