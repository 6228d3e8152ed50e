"""Leave out what a model thought before it answered: nothing inside thinking is an answer."""

import re
from typing import Final

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.validation.reply.chat_template import own_turn
from ai_psychiatrist.validation.reply.json_decoder import json_span
from ai_psychiatrist.validation.reply.limits import Effort

_NAMES: Final = "th(?:ink(?:ing)?|oughts?)|re(?:asoning|flection)|scratchpad"
_TAG: Final = re.compile(rf"<\s?/?(?i:{_NAMES})\s?>|\[/?THINK\]")
_TAG_OR_OBJECT: Final = re.compile(rf"{_TAG.pattern}|\{{(?=\s{{0,200}}[\"}}])")


def without_thinking(reply: str) -> str:
    """Return the reply without its thinking blocks.

    All that stands before a closing tag without an opening one was thought. Raises
    `OutputRejected` when the reply ends while the model still thinks. A tag inside a string of
    JSON is text.
    """
    reply = own_turn(reply)
    if _TAG.search(reply) is None:
        return _trimmed(reply)
    effort = Effort(len(reply))
    said: list[str] = []
    start = at = blind_until = 0
    is_thinking = False
    while mark := (_TAG if is_thinking else _TAG_OR_OBJECT).search(reply, at):
        at = mark.end()
        if mark[0] == "{":
            if mark.start() >= blind_until:
                span = json_span(reply, mark.start(), effort)
                at = span.end if span.is_whole else at
                blind_until = span.end
        elif "/" in mark[0]:
            # Without an opening tag, all before it was thought as well.
            said = said if is_thinking else []
            is_thinking, start = False, at
        elif is_thinking:
            continue
        else:
            said.append(reply[start : mark.start()])
            is_thinking = True
    if is_thinking:
        raise OutputRejected(
            RejectionCode.TRUNCATED,
            "The reply ends before the answer. Think less, and give the answer after it.",
        )
    return _trimmed("\n".join((*said, reply[start:])))


def _trimmed(text: str) -> str:
    return text.strip().lstrip("\ufeff").lstrip()
