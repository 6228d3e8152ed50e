"""Leave out the marks of chat templates that leak into a reply, and what is not its answer."""

import re
from typing import Final

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.validation.reply.limits import rejected

_CHANNEL: Final = "<|channel|>"
_FINAL_CHANNEL: Final = re.compile(
    r"<\|channel\|>\s?final\s?(?:<\|constrain\|>\s?\w{1,20})?\s?<\|message\|>"
)
_ENDS: Final = (
    r"(?:<\|(?:im_end|end|eot_id|eom_id|end_of_text|endoftext|return)\|>"
    r"|<end_of_turn>|</s>|<eos>|<｜end▁of▁sentence｜>)"
)
_MARK: Final = (
    rf"(?:{_ENDS}|<\|(?:im_start|start|begin_of_text|start_header_id|end_header_id)\|>"
    r"|<start_of_turn>|<s>|<bos>|\[/?INST\]|<｜(?:Assistant|begin▁of▁sentence)｜>)"
)
_BEFORE: Final = re.compile(rf"\s*+{_MARK}(?:\s*+(?:{_MARK}|(?:assistant|model)\b))*+")
_AFTER: Final = re.compile(rf"(?:{_MARK}\s*+)++")
_NEXT_TURN: Final = re.compile(
    rf"{_ENDS}\s*+(?:<\|(?:im_start|start|start_header_id)\|>|<start_of_turn>|\[INST\])"
)


def own_turn(reply: str) -> str:
    """Return the reply without the marks of a chat template around it.

    Raises `OutputRejected` when it holds further turns, for it is not clear which of them is the
    model's own, and when a reply of channels has none that is final.
    """
    if _CHANNEL in reply:
        final = max(_FINAL_CHANNEL.finditer(reply), key=re.Match.start, default=None)
        if final is None:
            raise OutputRejected(
                RejectionCode.TRUNCATED,
                "The reply ends before the final channel. Give the answer there.",
            )
        reply = reply[final.end() :]
    before = _BEFORE.match(reply)
    start = before.end() if before else 0
    end = _end_of_words(reply, start)
    if _NEXT_TURN.search(reply, start, end):
        raise rejected(RejectionCode.SEVERAL_ANSWERS)
    return reply[start:end]


def _end_of_words(reply: str, start: int) -> int:
    """Return where the marks begin with which a reply ends."""
    runs = (run.start() for run in _AFTER.finditer(reply, start) if run.end() == len(reply))
    return next(runs, len(reply))
