"""Take from a model's reply what is no part of its answer: excess bytes and thinking aloud."""

import re
from typing import Final

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode

_NAMES: Final = "think|thinking|thought|reasoning"
_OPEN: Final = re.compile(rf"<(?:{_NAMES})>", re.IGNORECASE)
_CLOSE: Final = re.compile(rf"</(?:{_NAMES})>", re.IGNORECASE)


def refuse_oversized(reply: str, *, max_bytes: int) -> None:
    """Raise `OutputRejected` for a reply of more than `max_bytes` bytes of UTF-8."""
    if len(reply) <= max_bytes // 4 or len(reply.encode("utf-8", "replace")) <= max_bytes:
        return
    raise OutputRejected(
        RejectionCode.REPLY_TOO_LARGE,
        "The reply is far too long. Give only what the task asks for.",
    )


def without_thinking(reply: str) -> str:
    """Return the reply after its last closing thinking tag, opening tags without an end dropped.

    A model that opens a thinking block and never closes it may still have answered inside it, so
    its text is kept for the search of the answer.
    """
    start = max((closing.end() for closing in _CLOSE.finditer(reply)), default=0)
    return _OPEN.sub("", reply[start:]).strip().lstrip("\ufeff")
