"""Take from a model's reply what is no part of its answer, and refuse what is no text."""

import re
from typing import Final

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode

_NAMES: Final = "think|thinking|thought|reasoning"
_OPEN: Final = re.compile(rf"<(?:{_NAMES})>", re.IGNORECASE)
_CLOSE: Final = re.compile(rf"</(?:{_NAMES})>", re.IGNORECASE)


def refuse_broken_text(text: str) -> None:
    """Raise `OutputRejected` for lone surrogates, which can be neither sent nor shown."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise OutputRejected(
            RejectionCode.UNREPAIRABLE,
            "The reply holds half a character. Write each character whole, without \\u escapes.",
        ) from None


def end_of_thinking(reply: str) -> int:
    """Return the offset after the last closing thinking tag, 0 when there is none."""
    return max((closing.end() for closing in _CLOSE.finditer(reply)), default=0)


def without_thinking(reply: str) -> str:
    """Return the reply after its last closing thinking tag, opening tags without an end dropped.

    A model that opens a thinking block and never closes it may still have answered inside it, so
    its text is kept for the search of the answer.
    """
    return _OPEN.sub("", reply[end_of_thinking(reply) :]).strip().lstrip("\ufeff")
