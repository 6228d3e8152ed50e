"""Rescue an answer whose values have the wrong type or spelling, with a record of every change.

A value that fits the schema keeps what it says: at most 5.0 becomes 5 where an integer is wanted.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import orjson

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.validation.checks.coercion.choices import DEFAULT, Choice, CoercionProfile
from ai_psychiatrist.validation.checks.coercion.schema_node import (
    Alternatives,
    SchemaNode,
    read_schema,
)
from ai_psychiatrist.validation.checks.coercion.text_values import (
    MAX_DIGITS,
    array_of,
    means_no_value,
    number_of,
    object_in,
    truth_of,
    whole_number_of,
    whole_of_float,
)
from ai_psychiatrist.validation.checks.schema.compiled import CompiledSchema
from ai_psychiatrist.validation.checks.schema.messages import json_type
from ai_psychiatrist.validation.checks.schema.references import SchemaInvalid
from ai_psychiatrist.validation.checks.verdict import Coercion, PathPart, UnitError
from ai_psychiatrist.validation.reply.parse import parse_object

WRAPPER: Final = "response"
"""The field that may hold the whole answer; where the schema names it, it never does."""
MAX_PASSES: Final = 4
"""A schema that still asks for changes after these contradicts itself, and nothing is changed."""

Parts: TypeAlias = tuple[PathPart, ...]

_JSON_START: Final = re.compile(r'\s*(?:\[\s*(?:["\[{\]]|-?[0-9])|\{\s*["}])')
_ABSENT: Final = object()


@dataclass(slots=True, kw_only=True)
class CoercionNotes:
    """The records of one walk through one value."""

    coercions: list[Coercion] = field(default_factory=list)
    errors: list[UnitError] = field(default_factory=list)
    wrapped: set[Parts] = field(default_factory=set)
    """Paths at which a single value was made a list, whose items are not made lists again."""

    def extend(self, other: "CoercionNotes") -> None:
        """Take over the records of a walk whose result is kept."""
        self.coercions += other.coercions
        self.errors += other.errors


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
        if is_sound and (not self._asked.changes or not _may_hold_whole_floats(value)):
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


def walk(node: SchemaNode, value: object, parts: Parts, notes: CoercionNotes) -> object:
    """Return what a schema makes of a value: the value itself where it has nothing to change.

    The value is never changed in place.
    """
    if type(value) not in node.changes:
        return value
    for part in node.parts:
        value = walk(part, value, parts, notes)
    if isinstance(value, str):
        value = _read_text(node, value, parts, notes)
    elif isinstance(value, float) and node.is_whole:
        value = _whole(value, parts, notes)
    if isinstance(value, dict):
        value = _fields(node, value, parts, notes)
    elif isinstance(value, list):
        value = _items(node, value, parts, notes)
    for check, then, other in node.conditions:
        value = walk(then if check(value) else other, value, parts, notes)
    for alternatives in node.alternatives:
        if type(value) in alternatives.changes:
            value = _by_alternatives(alternatives, value, parts, notes)
    return value


def _changed(before: object, read: Choice | None, parts: Parts, notes: CoercionNotes) -> object:
    if read is None:
        return before
    notes.coercions.append(Coercion.of(parts, before, read.value))
    return read.value


def _whole(value: float, parts: Parts, notes: CoercionNotes) -> object:
    """Write 5.0 as 5; a whole float of more than 15 digits is an error, being imprecise."""
    if not value.is_integer():
        return value
    whole = whole_of_float(value)
    if whole is None:
        message = f"expected integer of at most {MAX_DIGITS} digits, got a larger number"
        notes.errors.append(UnitError(parts=parts, rule="schema_type", message=message))
        return value
    return _changed(value, Choice(value=whole), parts, notes)


def _read_text(node: SchemaNode, text: str, parts: Parts, notes: CoercionNotes) -> object:
    """Read a text as another type where no text is wanted, or as one of the allowed values."""
    read = None
    if node.text_types:
        read = _scalar(text, node.text_types, may_be_absent=node.may_be_absent)
    if read is None and "array" in node.text_types:
        is_wrapped_already = bool(parts) and parts[:-1] in notes.wrapped
        read = _array(text, node.item_types, wraps=not is_wrapped_already)
        if read is not None and read.value == [text]:
            notes.wrapped.add(parts)
    if read is None and node.choices is not None and not node.choices.has(text):
        read = node.choices.match(text)
    return _changed(text, read, parts, notes)


def _scalar(text: str, types: frozenset[str], *, may_be_absent: bool) -> Choice | None:
    readings: Iterable[object] = (
        whole_number_of(text) if "integer" in types else None,
        number_of(text) if "number" in types else None,
        truth_of(text) if "boolean" in types else None,
    )
    for reading in readings:
        if reading is not None:
            return Choice(value=reading)
    if "null" in types and may_be_absent and means_no_value(text):
        return Choice(value=None)
    return None


def _array(text: str, item_types: frozenset[str], *, wraps: bool) -> Choice | None:
    """Read a list, or make one of a single value that may be an item.

    JSON that is broken off is no value, and neither is an empty text.
    """
    array = array_of(text)
    if array is not None:
        return Choice(value=array)
    single = object_in(text)
    if single is not None:
        return Choice(value=[single]) if "object" in item_types else None
    if not wraps or text.strip().lower() in {"", "null"} or _JSON_START.match(text):
        return None
    if "string" in item_types or _scalar(text, item_types, may_be_absent=False):
        return Choice(value=[text])
    return None


def _fields(
    node: SchemaNode, value: dict[str, object], parts: Parts, notes: CoercionNotes
) -> dict[str, object]:
    """Change fields: in the order of the schema, or of the value where unnamed ones have one."""
    changed = value
    for name in value if node.is_open else node.named:
        held = new = value.get(name, _ABSENT)
        for inner in node.of_field(name):
            if type(new) in inner.changes:
                new = walk(inner, new, (*parts, name), notes)
        if new is not held:
            changed = dict(value) if changed is value else changed
            changed[name] = new
    return changed


def _items(
    node: SchemaNode, value: list[object], parts: Parts, notes: CoercionNotes
) -> list[object]:
    first, changed = node.first_items, value
    for position, item in enumerate(value):
        inner = first[position] if position < len(first) else node.items
        new = walk(inner, item, (*parts, position), notes)
        if new is not item:
            changed = list(value) if changed is value else changed
            changed[position] = new
    return changed


def _by_alternatives(
    alternatives: Alternatives, value: object, parts: Parts, notes: CoercionNotes
) -> object:
    """Change a value as the first branch asks which it fits.

    One that fits none is changed as the first branch asks that it fits then, provided that not more
    fit it afterwards than may. An object or a list that cannot be made to fit is changed as far as
    possible where only one branch takes objects or lists.
    """
    branches = alternatives.branches
    for branch in branches:
        if branch.fits(value):
            return walk(branch.node, value, parts, notes)
    for branch in branches:
        trial = CoercionNotes(wrapped=notes.wrapped)
        new = walk(branch.node, value, parts, trial)
        if new is value or not branch.fits(new):
            continue
        if sum(other.fits(new) for other in branches) <= alternatives.most:
            notes.extend(trial)
            return new
    meant = [branch for branch in branches if json_type(value) in branch.types]
    if isinstance(value, (dict, list)) and len(meant) == 1:
        return walk(meant[0].node, value, parts, notes)
    return value
