"""The one decoder of JSON that is not trusted: as the standard has it, within limits."""

import json
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Generic, NoReturn, TypeAlias, TypeVar

import orjson

from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.validation.reply.limits import (
    Effort,
    ParseLimits,
    refuse_broken_text,
    rejected,
)

Value = TypeVar("Value")


class NotJson(ValueError):
    """The text is no JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed(Generic[Value]):
    """A JSON value, and how it was read."""

    value: Value = field(repr=False)
    repaired: bool
    """Whether its syntax had to be repaired."""
    written: bytes | None = field(default=None, repr=False, compare=False)
    """The value written anew, where that is known: compact, in the same order of keys."""


ParsedObject: TypeAlias = Parsed[dict[str, object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonSpan:
    """How far JSON goes in a text."""

    end: int
    """After the value, or where the text stops being JSON."""
    is_whole: bool


def decode(text: str, limits: ParseLimits) -> object:
    """Return the JSON value that a text is.

    Raises `NotJson` when it is none, and `OutputRejected` when it breaks a limit.
    """
    try:
        value: object = json.loads(
            text,
            object_pairs_hook=partial(object_of, limits=limits),
            parse_constant=float if limits.keeps_non_finite else _refuse_constant,
            parse_float=float if limits.keeps_non_finite else _finite,
        )
    except RecursionError:
        raise rejected(RejectionCode.TOO_DEEP) from None
    except json.JSONDecodeError:
        raise NotJson from None
    except ValueError:
        # A number of more digits than the interpreter converts.
        raise rejected(RejectionCode.UNREPAIRABLE) from None
    if is_deeper(value, limits.max_depth):
        raise rejected(RejectionCode.TOO_DEEP)
    if "\\u" in text:
        refuse_broken_text(json.dumps(value, ensure_ascii=False))
    return value


def decode_quickly(content: bytes, limits: ParseLimits) -> ParsedObject | None:
    """Return the object that a line is, `None` where `decode` has to say what it holds.

    The fast parser rounds whole numbers beyond 64 bits and drops all but the last of equal keys.
    Written anew, an object has one colon for each key beside those inside its strings. The line has
    at least as many of both, so an equal count means that no key was dropped.
    """
    value = decode_loosely(content)
    try:
        written = orjson.dumps(value)
    except orjson.JSONEncodeError:
        return None
    is_flat = content.count(b"{") + content.count(b"[") <= limits.max_depth
    if not value or (not is_flat and is_deeper(value, limits.max_depth)):
        return None
    if written != content:
        if _LONG_NUMBER in content.translate(_AS_ZERO):
            return None
        if content.count(b":") != written.count(b":") or _ESCAPED_COLON.search(content):
            return None
    return Parsed(value=value, repaired=False, written=written)


def decode_loosely(content: bytes) -> dict[str, object]:
    """Return what the fast parser makes of a line, empty when that is no object."""
    try:
        value = orjson.loads(content)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


_AS_ZERO: Final = bytes(48 if 48 <= code <= 57 else code for code in range(256))
_LONG_NUMBER: Final = b"0" * 19
"""From 19 digits on a whole number may be beyond 64 bits."""
_ESCAPED_COLON: Final = re.compile(rb"\\u003[aA]")
_SOLE_KEY: Final = "unit_id"
"""It never occurs twice in an object, whatever counts of other keys: a unit would be lost."""


def object_of(members: list[tuple[str, object]], limits: ParseLimits) -> dict[str, object]:
    """Return an object of its members; raises `OutputRejected` for a key that may not recur."""
    value = dict(members)
    if len(value) == len(members):
        return value
    if limits.voids_repeated_keys:
        counts = Counter(name for name, _ in members)
        return {name: said if counts[name] == 1 else math.nan for name, said in value.items()}
    if not limits.keeps_last_key or sum(name == _SOLE_KEY for name, _ in members) > 1:
        raise rejected(RejectionCode.DUPLICATE_KEY)
    return value


def is_deeper(value: object, levels: int) -> bool:
    """Return whether objects and lists are nested in more than so many levels."""
    layer = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        if not layer:
            return False
        layer = [
            inner
            for outer in layer
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return bool(layer)


# What the numbers are worth does not matter for how far a value goes.
_DECODER: Final = json.JSONDecoder(parse_int=len, parse_float=len)


def json_span(text: str, start: int, effort: Effort) -> JsonSpan:
    """Return how far JSON goes from a bracket on; raises `OutputRejected` where it is too deep."""
    length = _FIRST_LENGTH
    while (span := _span_in(text[start : start + length])) is None and start + length < len(text):
        effort.spend(length)
        length *= 4
    end = len(text) if span is None else start + span.end
    effort.spend(effort.TOKEN + end - start)
    return JsonSpan(end=end, is_whole=span is not None and span.is_whole)


# The library counts the lines before each fault, so a text is given to it in growing pieces: else
# a reply of many faults would take time by the square of its length.
_FIRST_LENGTH: Final = 4_096
_LONGEST_MARK: Final = 16


def _span_in(piece: str) -> JsonSpan | None:
    """Return how far JSON goes from the beginning of a piece on, `None` where it needs more."""
    try:
        return JsonSpan(end=_DECODER.raw_decode(piece)[1], is_whole=True)
    except json.JSONDecodeError as error:
        is_cut = error.msg.startswith("Unterminated") or error.pos > len(piece) - _LONGEST_MARK
        return None if is_cut else JsonSpan(end=max(error.pos, 1), is_whole=False)
    except RecursionError:
        raise rejected(RejectionCode.TOO_DEEP) from None


def _refuse_constant(_: str) -> NoReturn:
    raise rejected(RejectionCode.NOT_FINITE)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise rejected(RejectionCode.NOT_FINITE)
    return value
