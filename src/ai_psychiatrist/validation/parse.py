"""Read a JSON object out of a reply: strictly first, and only then with repaired syntax.

Repair mends commas, quotes and brackets around values. It never supplies one: each text and number
of the repaired object has to stand in the reply as it is.
"""

import json
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NoReturn

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.validation.locate import json_candidates
from ai_psychiatrist.validation.sanitise import without_thinking

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
class ParsedObject:
    """A JSON object of a reply, and whether its syntax had to be repaired."""

    value: dict[str, object]
    repaired: bool


def rejected(code: RejectionCode) -> OutputRejected:
    """Return the rejection of a reply that holds no usable JSON object."""
    return OutputRejected(code, _FEEDBACK[code])


def parse_object(reply: str) -> ParsedObject:
    """Return the JSON object that a reply gives as its answer.

    Raises `OutputRejected` when there is no object, when it is cut off, nested beyond 32 levels,
    holds a key twice or a number that is not finite, or cannot be repaired without inventing or
    losing a value.
    """
    whole = reply.strip()
    if whole.startswith("{"):
        # Before thinking tags are looked for: a valid reply may hold one inside a string.
        with suppress(ValueError):
            return ParsedObject(value=_object(whole), repaired=False)
    candidates = list(dict.fromkeys(json_candidates(without_thinking(reply))))
    for candidate in candidates:
        if candidate.startswith(("{", "[")):
            with suppress(ValueError):
                return ParsedObject(value=_object(candidate), repaired=False)
    return ParsedObject(value=_repair(candidates), repaired=True)


def _object(text: str) -> dict[str, object]:
    value = _strict(text)
    if not isinstance(value, dict):
        raise rejected(RejectionCode.NOT_AN_OBJECT)
    return value


def _strict(text: str) -> object:
    _refuse_depth(text)
    try:
        return json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
    except RecursionError:
        raise rejected(RejectionCode.TOO_DEEP) from None


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


def _refuse_depth(text: str) -> None:
    depth = 0
    for mark in _BRACKETS.finditer(text):
        if mark[0] in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise rejected(RejectionCode.TOO_DEEP)
        elif mark[0] in "]}":
            depth -= 1


def _repair(candidates: list[str]) -> dict[str, object]:
    objects = [text for text in candidates if text.startswith("{")]
    if not objects:
        raise rejected(RejectionCode.NO_JSON)
    text = next((text for text in objects if text.endswith("}")), None)
    if text is None:
        raise rejected(RejectionCode.TRUNCATED)
    if len(text) > MAX_REPAIR_CHARACTERS:
        raise rejected(RejectionCode.UNREPAIRABLE)
    _refuse_depth(text)
    value = _repaired(text)
    if not isinstance(value, dict) or not value or not _holds_the_same(value, text):
        raise rejected(RejectionCode.UNREPAIRABLE)
    return value


def _repaired(text: str) -> object:
    # Imported here: most replies never need the library.
    import json_repair  # noqa: PLC0415

    try:
        return json_repair.loads(text, skip_json_loads=True)
    except (ValueError, RecursionError, IndexError, KeyError, TypeError):
        raise rejected(RejectionCode.UNREPAIRABLE) from None


_LITERAL: Final = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_NUMBER: Final = re.compile(r"(?<=[:\[,\s])-?\d+(?:\.\d+)?(?=\s*[,}\]\n])")
_WORDS: Final = {True: ("true", "True"), False: ("false", "False"), None: ("null", "None")}


def _holds_the_same(value: object, text: str) -> bool:
    """Return whether a repaired value holds what the reply writes out, no more and no less."""
    leaves = list(_leaves(value))
    plain = _unescaped(text)
    numbers = set(_NUMBER.findall(text))
    if not all(_is_written(leaf, plain, numbers) for leaf in leaves):
        return False
    kept = "\0".join(leaf for leaf in leaves if isinstance(leaf, str))
    return all(_unescaped(literal) in kept for literal in _LITERAL.findall(text))


def _unescaped(text: str) -> str:
    return text.replace('\\"', '"').replace("\\n", "\n").replace("\\'", "'")


def _is_written(leaf: object, text: str, numbers: set[str]) -> bool:
    match leaf:
        case bool() | None:
            return any(word in text for word in _WORDS[leaf])
        case int() | float():
            return str(leaf) in numbers
        case "":
            return '""' in text or "''" in text
        case str():
            return leaf in text
        case _:
            return False


def _leaves(value: object) -> Iterator[object]:
    match value:
        case dict():
            for key, inner in value.items():
                yield key
                yield from _leaves(inner)
        case list():
            for inner in value:
                yield from _leaves(inner)
        case _:
            yield value
