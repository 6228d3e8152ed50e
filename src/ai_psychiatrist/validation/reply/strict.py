"""Read JSON as the standard has it, within limits."""

import json
import math
import re
from dataclasses import dataclass
from typing import Final, NoReturn

from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.validation.reply.limits import ParseLimits, rejected
from ai_psychiatrist.validation.reply.sanitise import refuse_broken_text


class NotJson(ValueError):
    """The text is no JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """How far JSON goes in a text."""

    end: int
    """After the value, or where the text stops being JSON."""
    is_whole: bool


def strict_value(text: str, limits: ParseLimits) -> object:
    """Return the JSON value that a text is.

    Raises `NotJson` when it is none, and `OutputRejected` when it breaks a limit.
    """
    _refuse_depth(text, limits.max_depth)
    try:
        value: object = json.loads(
            text,
            object_pairs_hook=dict if limits.keeps_last_key else unique_keys,
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
    if "\\u" in text:
        refuse_broken_text(json.dumps(value, ensure_ascii=False))
    return value


# What the numbers are worth does not matter for how far a value goes.
_DECODER: Final = json.JSONDecoder(parse_int=len, parse_float=len)


def json_at(text: str, start: int) -> Stretch:
    """Return how far JSON goes from a bracket on; raises `OutputRejected` where it is too deep."""
    length = _FIRST_LENGTH
    while True:
        stretch = _json_in(text[start : start + length])
        if stretch is not None or start + length >= len(text):
            break
        length *= 4
    if stretch is None:
        return Stretch(end=len(text), is_whole=False)
    return Stretch(end=start + stretch.end, is_whole=stretch.is_whole)


# The library counts the lines before each fault, so a text is given to it in growing pieces: else
# a reply of many faults would take time by the square of its length.
_FIRST_LENGTH: Final = 4_096
_LONGEST_MARK: Final = 16


def _json_in(piece: str) -> Stretch | None:
    """Return how far JSON goes from the beginning of a piece on, `None` where it needs more."""
    try:
        return Stretch(end=_DECODER.raw_decode(piece)[1], is_whole=True)
    except json.JSONDecodeError as error:
        is_cut = error.msg.startswith("Unterminated") or error.pos > len(piece) - _LONGEST_MARK
        return None if is_cut else Stretch(end=max(error.pos, 1), is_whole=False)
    except RecursionError:
        raise rejected(RejectionCode.TOO_DEEP) from None


def unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object of its members; raises `OutputRejected` when a key occurs twice."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise rejected(RejectionCode.DUPLICATE_KEY)
    return value


def _refuse_constant(_: str) -> NoReturn:
    raise rejected(RejectionCode.NOT_FINITE)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise rejected(RejectionCode.NOT_FINITE)
    return value


_UP_TO_BRACKET: Final = re.compile(
    r'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+"?)*+([\[\]{}]|\Z)', re.DOTALL
)


def _refuse_depth(text: str, max_depth: int) -> None:
    depth = 0
    for bracket in _UP_TO_BRACKET.findall(text):
        if bracket in "[{":
            depth += bool(bracket)
            if depth > max_depth:
                raise rejected(RejectionCode.TOO_DEEP)
        else:
            depth -= 1
