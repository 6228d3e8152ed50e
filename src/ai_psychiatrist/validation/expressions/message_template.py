"""Messages of rules: a text with places such as `{score}`, `{x:.2f}` or `{items[0][score]}`."""

import json
import re
from dataclasses import dataclass
from typing import Final, TypeAlias

from ai_psychiatrist.validation.expressions.places import FieldRead
from ai_psychiatrist.validation.expressions.scope import Scope

MAX_VALUE: Final = 200
"""Characters of one value in a message."""
MAX_WIDTH: Final = 100

_PLACE: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
_FIELD: Final = re.compile(r"\s*([^\W\d]\w*)((?:\[[^\[\]]*\])*)\s*(?::(.*))?", re.DOTALL)
_KEY: Final = re.compile(r"\[([^\[\]]*)\]")
_SPEC: Final = re.compile(r"(?:.?[<>^])?[+\- ]?0?(\d{1,3})?,?(?:\.\d{1,2})?[sdfeg%]?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    read: FieldRead
    spec: str
    verbatim: str


_Part: TypeAlias = str | _Place


class MessageTemplate:
    """A message with places for values; a place that names nothing stays as it is written.

    Doubled braces stand for single ones.
    """

    __slots__ = ("_parts", "verbatim")

    def __init__(self, text: str) -> None:
        parts: list[_Part] = []
        verbatim: list[str] = []
        end = 0
        for found in _PLACE.finditer(text):
            parts.append(text[end : found.start()])
            end = found.end()
            place = None if found[1] is None else _place(found[1], found[0])
            if found[1] is not None and place is None:
                verbatim.append(found[0])
            parts.append(place or (found[0][0] if found[1] is None else found[0]))
        parts.append(text[end:])
        self._parts = tuple(part for part in parts if part)
        self.verbatim = tuple(verbatim)
        """Places that can never be filled: attributes, conversions, formats not offered."""

    @property
    def reads(self) -> tuple[FieldRead, ...]:
        """The places that the message shows."""
        return tuple(part.read for part in self._parts if isinstance(part, _Place))

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields that the message shows, each once."""
        return tuple(dict.fromkeys(read.name for read in self.reads))

    def format(self, scope: Scope) -> str:
        """Return the message for one unit; each value is cut at 200 characters."""
        return "".join(
            part if isinstance(part, str) else _shown(part, scope) for part in self._parts
        )


def _place(inside: str, verbatim: str) -> _Place | None:
    field = _FIELD.fullmatch(inside)
    if field is None or field[1].startswith("__"):
        return None
    spec = field[3] or ""
    allowed = _SPEC.fullmatch(spec)
    if allowed is None or int(allowed[1] or 0) > MAX_WIDTH:
        return None
    keys = tuple(map(_key, _KEY.findall(field[2])))
    return _Place(read=FieldRead(name=field[1], keys=keys), spec=spec, verbatim=verbatim)


def _key(text: str) -> str | int:
    if re.fullmatch(r"-?[0-9]{1,9}", text):
        return int(text)
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if is_quoted else text


def _shown(place: _Place, scope: Scope) -> str:
    try:
        value = _value(place.read, scope)
        shown = _formatted(value, place.spec) if place.spec else _written(value)
    except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError):
        return place.verbatim
    return shown if len(shown) <= MAX_VALUE else shown[: MAX_VALUE - 1] + "…"


def _value(read: FieldRead, scope: Scope) -> object:
    if read.name not in scope.names:
        raise LookupError
    value = scope.names[read.name]
    for key in read.keys:
        match value:
            case dict():
                value = value[key if key in value else str(key)]
            case list() if isinstance(key, int):
                value = value[key]
            case _:
                raise LookupError
    return value


def _formatted(value: object, spec: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError
    return format(value, spec)


def _written(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
