"""Make a value of JSON of what an expression gives, within a bound."""

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.validation.expressions.refusal import EvaluationFailed

MAX_SIZE: Final = 1_000_000
"""Elements, and characters of texts, of what a step knows at a time."""
MAX_DEPTH: Final = 100

_EMPTY: Final[dict[str, object]] = {}
_VIEWS: Final = (_EMPTY.keys(), _EMPTY.values(), _EMPTY.items())
_LISTED: Final = (list, tuple, range, *map(type, _VIEWS))


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonValue:
    """A value that shares nothing with what it was made of."""

    value: object = field(repr=False)
    size: int
    """Its elements and the characters of its texts."""
    has_text_keys: bool
    """Whether it is JSON in full: keys of objects may also be numbers."""


def json_value(value: object) -> JsonValue:
    """Return a copy of a value, with lists for tuples, ranges and the views of objects.

    Raises `EvaluationFailed` for a set, a number that is not finite, what is too large, or nested
    more than 100 levels deep.
    """
    copier = _Copier()
    copied = copier.copy(value, 0)
    return JsonValue(value=copied, size=copier.size, has_text_keys=copier.has_text_keys)


class _Copier:
    def __init__(self) -> None:
        self.size = 0
        self.has_text_keys = True

    def copy(self, value: object, depth: int) -> object:
        match value:
            case str():
                self._add(len(value) + 1)
            case float():
                self._add(1)
                if not math.isfinite(value):
                    raise EvaluationFailed("arithmetic", None)
            case int() | None:
                self._add(1)
            case dict():
                self._enter(value, depth)
                return {self._key(key): self.copy(value[key], depth + 1) for key in value}
            case _:
                return self._listed(value, depth)
        return value

    def _listed(self, value: object, depth: int) -> list[object]:
        if type(value) not in _LISTED or not isinstance(value, Collection):
            raise EvaluationFailed("wrong_type", None)
        self._enter(value, depth)
        return [self.copy(element, depth + 1) for element in value]

    def _enter(self, value: Collection[object], depth: int) -> None:
        self._add(len(value) + 1)
        if depth > MAX_DEPTH:
            raise EvaluationFailed("budget", None)

    def _key(self, key: object) -> object:
        if not isinstance(key, str | int | float | None):
            raise EvaluationFailed("wrong_type", None)
        self.has_text_keys = self.has_text_keys and isinstance(key, str)
        return self.copy(key, 0)

    def _add(self, size: int) -> None:
        self.size += size
        if self.size > MAX_SIZE:
            raise EvaluationFailed("budget", None)
