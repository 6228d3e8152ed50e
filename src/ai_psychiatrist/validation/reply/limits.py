"""The limits of a reply, and the feedback for a model that exceeds them."""

import re
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode

MAX_DEPTH: Final = 32

_FEEDBACK: Final = {
    RejectionCode.NO_JSON: "No JSON object was found. Reply with one JSON object.",
    RejectionCode.NOT_AN_OBJECT: "The top level has to be a JSON object, not a list or a value.",
    RejectionCode.NOT_FINITE: "NaN and Infinity are not JSON. Use a number of the scale.",
    RejectionCode.TOO_DEEP: "The JSON is nested too deeply. Use the structure that the task shows.",
    RejectionCode.DUPLICATE_KEY: "A key of the JSON object occurs twice. Give each key once.",
    RejectionCode.TRUNCATED: "The reply ends too early. Reply with all of it, more briefly.",
    RejectionCode.UNREPAIRABLE: "The JSON is malformed. Reply with one valid JSON object.",
    RejectionCode.SEVERAL_ANSWERS: (
        "There are several JSON objects, and it is not clear which one is the answer. "
        "Reply with one JSON object that has all of it."
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseLimits:
    """What a JSON object may hold."""

    max_depth: int = MAX_DEPTH
    keeps_non_finite: bool = False
    """Whether NaN and infinite numbers are read, for a caller that names their places."""
    keeps_last_key: bool = False
    """Whether of a key that occurs twice the last value counts, not the whole object is refused."""
    voids_repeated_keys: bool = False
    """Whether a key that occurs twice holds NaN, which no field takes, and the others count."""


STRICT_LIMITS: Final = ParseLimits()
PARTS_LIMITS: Final = ParseLimits(keeps_non_finite=True, voids_repeated_keys=True)
"""For a reply that is refused as a whole: a fault of one value is the fault of that value."""


def rejected(code: RejectionCode) -> OutputRejected:
    """Return the rejection of a reply that holds no usable JSON."""
    return OutputRejected(code, _FEEDBACK[code])


class Effort:
    """What the reading of one text may still cost, in units of about 50 ns.

    Each way to read is linear in what it reads. What has to be bounded is how often a hostile reply
    has the same characters read, and how many small things it consists of: a flood has no answer.
    """

    PLACE: Final = 500
    """A place where an answer may stand."""
    TOKEN: Final = 100
    """A value, a key or a gap of malformed JSON."""
    _AT_LEAST: Final = 1_000_000
    _BY_CHARACTER: Final = 3

    def __init__(self, characters: int) -> None:
        """`characters`: how long the text is."""
        self._left = self._AT_LEAST + self._BY_CHARACTER * characters

    def spend(self, units: int) -> None:
        """Take so much; raises `OutputRejected` when no more is left."""
        self._left -= units
        if self._left < 0:
            raise rejected(RejectionCode.SEVERAL_ANSWERS)


def refuse_broken_text(text: str) -> None:
    """Raise `OutputRejected` for lone surrogates, which can be neither sent nor shown."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise OutputRejected(
            RejectionCode.UNREPAIRABLE,
            "The reply has half a character. Write each character whole, without \\u escapes.",
        ) from None


HALF_CHARACTER: Final = "\ufdd0"
"""Stands for a lone surrogate; Unicode gives it to no character."""
_HALF: Final = re.compile(r"[\ud800-\udfff]")
_ESCAPED: Final = re.compile(
    r"\\u[dD][89aAbB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)


def marked_halves(text: str, *, has_escapes: bool) -> str:
    """Return a text with a mark in the place of each half of a character.

    `has_escapes`: whether it is JSON, which can write a character as an escape.
    """
    marked = _HALF.sub(HALF_CHARACTER, text)
    if not has_escapes:
        return marked
    return _ESCAPED.sub(lambda found: HALF_CHARACTER if found["half"] else found[0], marked)
