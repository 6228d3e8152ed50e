"""Messages of rules: a text with places such as `{score}`, `{x:.2f}` or `{items[0][score]}`."""

import json
import re
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.validation.expressions.expression import EvaluationFailed, FieldRead, Scope

MAX_VALUE: Final = 200
"""Characters of one value in a message."""
MAX_WIDTH: Final = 100

_PART: Final = re.compile(r"\{\{|\}\}|\{[^{}]*\}|[^{}]+|[{}]")
_PLACE: Final = re.compile(
    r"\{\s*(?!__)(?P<name>[^\W\d]\w*)(?P<keys>(?:\[[^\[\]]*\])*)\s*"
    r"(?::(?P<spec>(?:.?[<>^])?[+\- ]?0?(?P<width>\d{1,3})?,?(?:\.\d{1,2})?[sdfeg%]?))?\}",
    re.DOTALL,
)
_KEY: Final = re.compile(r"\[([^\[\]]*)\]")

_UNSHOWN: Final = (
    *(EvaluationFailed, LookupError, TypeError, ValueError, ArithmeticError, RecursionError),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    read: FieldRead
    spec: str
    verbatim: str

    def shown(self, scope: Scope) -> str:
        """Return the value of a unit, or the place as it is written where there is none."""
        try:
            shown = _formatted(_value(self.read, scope), self.spec)
        except _UNSHOWN:
            return self.verbatim
        return shown if len(shown) <= MAX_VALUE else shown[: MAX_VALUE - 1] + "…"


class MessageTemplate:
    """A message with places for values; a place that names nothing stays as it is written.

    Doubled braces stand for single ones.
    """

    __slots__ = ("_parts", "verbatim")

    def __init__(self, text: str) -> None:
        self._parts = tuple(map(_part, _PART.findall(text)))
        self.verbatim = tuple(
            part for part in self._parts if isinstance(part, str) and part[0] + part[-1] == "{}"
        )
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
        return "".join(part if isinstance(part, str) else part.shown(scope) for part in self._parts)


def _part(text: str) -> str | _Place:
    if text in {"{{", "}}"}:
        return text[0]
    place = _PLACE.fullmatch(text)
    if place is None or int(place["width"] or 0) > MAX_WIDTH:
        return text
    keys = tuple(map(_key, _KEY.findall(place["keys"])))
    read = FieldRead(name=place["name"], keys=keys)
    return _Place(read=read, spec=place["spec"] or "", verbatim=text)


def _key(text: str) -> str | int:
    if re.fullmatch(r"-?[0-9]{1,9}", text):
        return int(text)
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if is_quoted else text


def _value(read: FieldRead, scope: Scope) -> object:
    value: object = scope.names
    for key in (read.name, *read.keys):
        if isinstance(value, dict):
            value = value[key if key in value else str(key)]
        elif isinstance(value, list) and isinstance(key, int):
            value = value[key]
        else:
            raise LookupError
    return value


def _formatted(value: object, spec: str) -> str:
    if not spec:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError
    return format(value, spec)
