"""Rescue an answer whose values have the wrong type or spelling, with a record of every change.

A value that fits the schema keeps what it says: at most 5.0 becomes 5 where an integer is wanted.
"""

from dataclasses import dataclass, field
from typing import Final

import orjson

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.validation.checks.coercion.choices import DEFAULT, CoercionProfile
from ai_psychiatrist.validation.checks.coercion.schema_node import read_schema
from ai_psychiatrist.validation.checks.coercion.walk import CoercionNotes, walk
from ai_psychiatrist.validation.checks.schema.compiled import CompiledSchema
from ai_psychiatrist.validation.checks.schema.references import SchemaInvalid
from ai_psychiatrist.validation.checks.verdict import Coercion, UnitError
from ai_psychiatrist.validation.reply.parse import parse_object

WRAPPER: Final = "response"
"""The field that may hold the whole answer; where the schema names it, it never does."""
MAX_PASSES: Final = 4
"""A schema that still asks for changes after these contradicts itself, and nothing is changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coerced:
    """An answer after coercion, and what was changed in it."""

    value: dict[str, object]
    coercions: tuple[Coercion, ...] = ()
    errors: tuple[UnitError, ...] = ()
    """What is not accepted, though it may fit the schema: floats that are huge integers."""
    is_sound: bool = field(default=False, compare=False)
    """Whether the answer is known to fit the schema."""


class Coercer:
    """Changes answers as a schema asks.

    It never changes its argument in place, and a second run over its result changes nothing.
    """

    def __init__(
        self,
        schema: CompiledSchema,
        profile: CoercionProfile = DEFAULT,
        *,
        required: frozenset[str] = frozenset(),
    ) -> None:
        """`required`: fields that an answer has to have beside those that the schema requires."""
        self._schema, self._profile = schema, profile
        self._required = required | schema.required_names()
        self._may_be_wrapped = not schema.at((WRAPPER,))
        try:
            self._asked = read_schema(schema, profile)
        except RecursionError:
            problem = "leads through too many references, one behind the other"
            raise SchemaInvalid(schema.name, pointer="", keyword="", problem=problem) from None

    def coerce(self, value: dict[str, object]) -> Coerced:
        """Return an answer that fits the schema as it is, or as far as it can be made to fit.

        One that is nested too deeply to be walked through is given back as it is.
        """
        is_sound = self._schema.is_valid(value)
        if not self._profile.is_enabled:
            return Coerced(value=value, is_sound=is_sound)
        is_wrapped = WRAPPER in value and not self._required <= value.keys()
        is_sound = is_sound and not (is_wrapped and self._may_be_wrapped)
        if is_sound and (self._asked is None or not _may_hold_whole_floats(value)):
            return Coerced(value=value, is_sound=True)
        notes = CoercionNotes()
        try:
            changed = self._settled(value if is_sound else self._unwrapped(value, notes), notes)
        except RecursionError:
            return Coerced(value=value, is_sound=is_sound)
        return Coerced(
            value=changed,
            coercions=tuple(notes.coercions),
            errors=tuple(dict.fromkeys(notes.errors)),
            is_sound=is_sound,
        )

    def _unwrapped(self, value: dict[str, object], notes: CoercionNotes) -> dict[str, object]:
        """Return an answer without the wrappers around it.

        With all that an answer has to have beside it, `response` is one field more. A field beside
        the wrapper wins over one of the same name inside it.
        """
        while self._may_be_wrapped:
            held = value.get(WRAPPER)
            outer = {name: inner for name, inner in value.items() if name != WRAPPER}
            inner = {} if outer and self._required <= outer.keys() else _object_in(held)
            if not inner:
                break
            value = {**outer, **inner, **outer}
            is_text = isinstance(held, str)
            notes.coercions.append(
                Coercion(
                    parts=(WRAPPER,),
                    before="(text)" if is_text else "(wrapped object)",
                    after="(object)",
                    before_type="string" if is_text else "object",
                    after_type="object",
                )
            )
        return value

    def _settled(self, value: dict[str, object], notes: CoercionNotes) -> dict[str, object]:
        """Change a value until nothing changes; one that never settles comes back as it was."""
        before, kept = value, CoercionNotes()
        for number in range(MAX_PASSES):
            found = CoercionNotes()
            changed = walk(self._asked, value, (), found)
            if not found.coercions:
                notes.coercions += kept.coercions
                notes.errors += found.errors
                return value
            if not isinstance(changed, dict) or (number and repr(changed) == repr(value)):
                break
            kept.extend(found)
            value = changed
        return before


def _object_in(held: object) -> dict[str, object]:
    """Return the answer that a wrapper holds, empty when it holds none."""
    if not isinstance(held, str):
        return held if isinstance(held, dict) else {}
    try:
        return parse_object(held).value
    except OutputRejected:
        return {}


def _may_hold_whole_floats(value: dict[str, object]) -> bool:
    """Return whether a value may hold a float such as 5.0; asked of its text, `False` is certain.

    Walking through the value takes several times as long.
    """
    try:
        written = orjson.dumps(value)
    except orjson.JSONEncodeError:
        return True
    # One character is looked for in a fraction of the time that two take.
    return (b"." in written and b".0" in written) or _EXPONENT in written


_EXPONENT: Final = orjson.dumps(1e300).strip(b"0123456789")
