"""Match a text to one of the allowed values of an enum, and give that value in its own spelling."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BeforeValidator

from ai_psychiatrist.validation.checks.coercion.text_values import (
    means_no_value,
    number_of,
    truth_of,
)
from ai_psychiatrist.validation.file_model import FileModel, Names, Text, invalid, otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class CoercionProfile:
    """Which changes are made, and which spellings of enum values are read."""

    is_enabled: bool = True
    enum_prefixes: tuple[str, ...] = ()
    """Prefixes of which one is cut from a text before it is compared, such as `shadow `."""
    enum_split: str | None = None
    """A separator; of the parts around it the first that matches counts, such as ` | `."""


DEFAULT: Final = CoercionProfile()
STRICT: Final = CoercionProfile(is_enabled=False)


class _Written(FileModel):
    profile: Annotated[
        Literal["strict", "default"],
        otherwise("coerce_profile", "`profile` is 'strict' or 'default'"),
    ] = "default"
    enum_prefixes: Names = ()
    enum_split: Text | None = None


def _read(given: object) -> CoercionProfile:
    if isinstance(given, CoercionProfile):
        return given
    read = _Written.model_validate(given)
    if read.profile == "default":
        return CoercionProfile(enum_prefixes=read.enum_prefixes, enum_split=read.enum_split)
    if read.enum_prefixes or read.enum_split is not None:
        raise invalid("coerce_profile", "the strict profile coerces nothing: it has no settings")
    return STRICT


WrittenProfile: TypeAlias = Annotated[CoercionProfile, BeforeValidator(_read)]
"""A profile as a pipeline file writes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The allowed value that a text stands for."""

    value: object


def is_same(one: object, other: object) -> bool:
    """Return whether two values are equal as JSON: 2 is 2.0, and neither is true or "2"."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    return one == other


class Choices:
    """The allowed values of an enum.

    Case and surrounding spaces do not count. One of the profile's prefixes may be cut from a text;
    of a text with its separator the first part that matches counts. A text that fits two values
    fits none.
    """

    def __init__(self, values: Sequence[object], profile: CoercionProfile) -> None:
        self._texts: dict[str, list[str]] = {}
        for value in values:
            if isinstance(value, str):
                self._texts.setdefault(_folded(value), []).append(value)
        self._exact = frozenset(value for value in values if isinstance(value, str))
        self._others = tuple(value for value in values if not isinstance(value, str))
        self._prefixes = profile.enum_prefixes
        self._separator = profile.enum_split

    def has(self, value: object) -> bool:
        """Return whether a value is one of the allowed ones as it stands."""
        if isinstance(value, str):
            return value in self._exact
        return any(is_same(value, other) for other in self._others)

    def match(self, text: str) -> Choice | None:
        """Return the one allowed value that a text stands for."""
        parts = [text]
        if self._separator and self._separator in text:
            parts += text.split(self._separator)
        for part in parts:
            for candidate in (part, *self._without_prefix(part)):
                if choice := self._match_whole(candidate):
                    return choice
        return None

    def _without_prefix(self, text: str) -> list[str]:
        stripped = text.strip()
        return [
            stripped[len(prefix) :]
            for prefix in self._prefixes
            if stripped[: len(prefix)].casefold() == prefix.casefold()
        ]

    def _match_whole(self, text: str) -> Choice | None:
        spellings = self._texts.get(_folded(text), [])
        if spellings:
            exact = [spelling for spelling in spellings if spelling == text.strip()]
            return _only(exact or spellings)
        return _only(self._matching_others(text))

    def _matching_others(self, text: str) -> list[object]:
        read: Final = [value for value in (number_of(text), truth_of(text)) if value is not None]
        matching = [other for other in self._others if any(is_same(other, value) for value in read)]
        if not self._texts and None in self._others and means_no_value(text):
            matching.append(None)
        return matching


def _only(values: Sequence[object]) -> Choice | None:
    return Choice(value=values[0]) if len(values) == 1 else None


def _folded(text: str) -> str:
    return text.strip().casefold()
