"""Read a JSON object out of a reply: strictly first, and only then with repaired syntax.

Repair mends commas, brackets and the spelling of constants. It never touches a value: the repaired
object holds the keys, texts and numbers that the reply writes out, in their order, and no others.
"""

import json
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple, NoReturn

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.validation.reply.locate import (
    is_cut_off,
    is_one_object,
    json_candidates,
    object_around,
)
from ai_psychiatrist.validation.reply.sanitise import end_of_thinking, refuse_broken_text

MAX_DEPTH: Final = 32
MAX_REPAIR_CHARACTERS: Final = 65_536

_FEEDBACK: Final = {
    RejectionCode.NO_JSON: "No JSON object was found. Reply with one JSON object.",
    RejectionCode.NOT_AN_OBJECT: "The top level has to be a JSON object, not a list or a value.",
    RejectionCode.NOT_FINITE: "NaN and Infinity are no JSON. Use a number of the scale.",
    RejectionCode.TOO_DEEP: "The JSON is nested too deeply. Use the structure the task shows.",
    RejectionCode.DUPLICATE_KEY: "A key of the JSON object occurs twice. Give each key once.",
    RejectionCode.TRUNCATED: "The JSON object ends too early. Reply with all of it, briefer.",
    RejectionCode.UNREPAIRABLE: "The JSON is malformed. Reply with one valid JSON object.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseLimits:
    """What a JSON object may hold."""

    max_depth: int = MAX_DEPTH
    keeps_non_finite: bool = False
    """Whether NaN and infinite numbers are read, for a caller that names their places."""
    keeps_last_key: bool = False
    """Whether of a key that occurs twice the last value counts, not the whole object is refused."""


STRICT_LIMITS: Final = ParseLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedObject:
    """A JSON object of a reply, and whether its syntax had to be repaired."""

    value: dict[str, object]
    repaired: bool


def rejected(code: RejectionCode) -> OutputRejected:
    """Return the rejection of a reply that holds no usable JSON object."""
    return OutputRejected(code, _FEEDBACK[code])


def parse_object(reply: str, limits: ParseLimits = STRICT_LIMITS) -> ParsedObject:
    """Return the JSON object that a reply gives as its answer.

    Raises `OutputRejected` when there is no object, when it is cut off, nested beyond the limit,
    holds a key twice or a number that is not finite, or cannot be repaired without inventing or
    losing a value.
    """
    # A tag inside an object that is valid JSON is part of a string: it ends no thinking.
    start = end_of_thinking(reply)
    around = object_around(reply, start)
    if around is not None:
        with suppress(ValueError):
            return ParsedObject(value=_object(around, limits), repaired=False)
    candidates = list(dict.fromkeys(json_candidates(reply[start:])))
    for candidate in candidates:
        if candidate.startswith(("{", "[")):
            with suppress(ValueError):
                return ParsedObject(value=_object(candidate, limits), repaired=False)
        if is_cut_off(candidate):
            # What comes after it is an earlier draft.
            raise rejected(RejectionCode.TRUNCATED)
    return ParsedObject(value=_repair(candidates, limits), repaired=True)


def _object(text: str, limits: ParseLimits) -> dict[str, object]:
    value = _strict(text, limits)
    if not isinstance(value, dict):
        raise rejected(RejectionCode.NOT_AN_OBJECT)
    if "\\u" in text:
        refuse_broken_text(json.dumps(value, ensure_ascii=False))
    return value


def _strict(text: str, limits: ParseLimits) -> object:
    _refuse_depth(text, limits.max_depth)
    try:
        return json.loads(
            text,
            object_pairs_hook=dict if limits.keeps_last_key else _unique,
            parse_constant=float if limits.keeps_non_finite else _refuse_constant,
            parse_float=float if limits.keeps_non_finite else _finite,
        )
    except RecursionError:
        raise rejected(RejectionCode.TOO_DEEP) from None
    except json.JSONDecodeError:
        raise
    except ValueError:
        # A number of more digits than the interpreter converts.
        raise rejected(RejectionCode.UNREPAIRABLE) from None


def _refuse_constant(_: str) -> NoReturn:
    raise rejected(RejectionCode.NOT_FINITE)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise rejected(RejectionCode.NOT_FINITE)
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise rejected(RejectionCode.DUPLICATE_KEY)
    return value


_BRACKETS: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)


def _refuse_depth(text: str, max_depth: int) -> None:
    depth = 0
    for mark in _BRACKETS.finditer(text):
        if mark[0] in "[{":
            depth += 1
            if depth > max_depth:
                raise rejected(RejectionCode.TOO_DEEP)
        elif mark[0] in "]}":
            depth -= 1


def _repair(candidates: list[str], limits: ParseLimits) -> dict[str, object]:
    text = next(filter(is_one_object, candidates), None)
    if text is None:
        raise rejected(RejectionCode.NO_JSON)
    if len(text) > MAX_REPAIR_CHARACTERS:
        raise rejected(RejectionCode.UNREPAIRABLE)
    _refuse_depth(text, limits.max_depth)
    value = _repaired(text)
    if not isinstance(value, dict) or not value or not _holds_the_same(value, text):
        raise rejected(RejectionCode.UNREPAIRABLE)
    refuse_broken_text(json.dumps(value, ensure_ascii=False))
    return value


def _repaired(text: str) -> object:
    # Imported here: most replies never need the library.
    import json_repair  # noqa: PLC0415

    try:
        return json_repair.loads(text, skip_json_loads=True)
    except (ValueError, RecursionError, IndexError, KeyError, TypeError):
        raise rejected(RejectionCode.UNREPAIRABLE) from None


_MARKS: Final = re.compile(
    r'"((?:[^"\\]|\\.)*)(?:"|\Z)'
    r"|'((?:[^'\\]|\\.)*)(?:'|\Z)"
    r"|“([^”]*)(?:”|\Z)"
    r"|(?://|\#)[^\n]*|/\*(?:.*?\*/|.*\Z)"
    r"|([^\s,:{}\[\]\"'“]+)"
    r"|(:)",
    re.DOTALL,
)
_NUMBER: Final = re.compile(r"-?\d{1,300}(?:\.\d{1,300})?(?:[eE][+-]?\d{1,9})?")
_LONG_NUMBER: Final = re.compile(r"-?\d{301}")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_CONSTANTS: Final = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "None": None,
}


class _Leaf(NamedTuple):
    """A key or a value without parts."""

    kind: type
    """Tells 1 from 1.0 and true, which are equal in Python."""
    value: object
    is_key: bool


def _holds_the_same(value: object, text: str) -> bool:
    """Return whether a repaired value holds what the reply writes out, no more and no less."""
    return list(_leaves(value)) == _written(text)


def _written(text: str) -> list[_Leaf]:
    """Read keys and values off the text, whatever the brackets and commas between them."""
    leaves: list[_Leaf] = []
    for mark in _MARKS.finditer(text):
        if mark.lastindex is None:
            continue
        match mark.lastindex, mark[mark.lastindex]:
            case 5, _:
                leaves[-1:] = [leaf._replace(is_key=True) for leaf in leaves[-1:]]
            case 4, word:
                leaves.append(_leaf(_bare(word)))
            case _, words:
                leaves.append(_leaf(_ESCAPE.sub(_unescaped, words)))
    return leaves


def _bare(word: str) -> object:
    if _LONG_NUMBER.match(word):
        raise rejected(RejectionCode.UNREPAIRABLE)
    if _NUMBER.fullmatch(word):
        return float(word) if set(word) & set(".eE") else int(word)
    return _CONSTANTS.get(word, word)


def _unescaped(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    if escape[2] in _ESCAPED:
        return _ESCAPED[escape[2]]
    return escape[2] if escape[2] in "\"'\\/" else escape[0]


def _leaves(value: object) -> Iterator[_Leaf]:
    match value:
        case dict():
            for key, inner in value.items():
                yield _leaf(key, is_key=True)
                yield from _leaves(inner)
        case list():
            for inner in value:
                yield from _leaves(inner)
        case _:
            yield _leaf(value)


def _leaf(value: object, *, is_key: bool = False) -> _Leaf:
    return _Leaf(type(value), value, is_key)
