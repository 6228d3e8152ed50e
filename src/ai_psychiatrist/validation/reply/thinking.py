"""Leave out of a reply what is not its answer: thinking, and the marks of chat templates."""

import re
from itertools import islice
from typing import Final

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.validation.reply.json_decoder import json_span
from ai_psychiatrist.validation.reply.limits import Effort, rejected

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
            "The reply ends before the answer. Think less, then give the answer.",
        )
    return _trimmed("\n".join((*said, reply[start:])))


def _trimmed(text: str) -> str:
    return text.strip().lstrip("\ufeff").lstrip()


_CHANNEL: Final = "<|channel|>"
_FINAL_CHANNEL: Final = re.compile(
    r"<\|channel\|>\s?final\s?(?:<\|constrain\|>\s?\w{1,20})?\s?<\|message\|>"
)
# Where a server has dropped the marks, their words stand in the text: assistantfinal{"score": 1}
_BARE_CHANNEL: Final = re.compile(r"\s*+(?:assistant)?(?:analysis|commentary)(?=[A-Z\s])")
_BARE_FINAL: Final = re.compile(
    r"(?P<role>assistant|(?<!\w))final(?:\s?json)?(?P<gap>\s*+)(?=\{|<answer>|```)"
)
_BLOCK: Final = re.compile(r"<answer>(?:(?!</?answer>).)*+</answer>|```[^`]*+```", re.DOTALL)
_ONLY_WORDS: Final = re.compile(r"[ \t\r]*+(?:\n[^{}\[\]<`\"]*+)?")
_GOES_ON: Final = re.compile(r"[\w,]\s*+\Z")
_MOST_BEFORE: Final = 64

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
    else:
        reply = reply[_bare_final(reply) :]
    before = _BEFORE.match(reply)
    start = before.end() if before else 0
    end = _end_of_words(reply, start)
    if _NEXT_TURN.search(reply, start, end):
        raise rejected(RejectionCode.SEVERAL_ANSWERS)
    return reply[start:end]


def _bare_final(reply: str) -> int:
    """Return where the one answer begins that follows the word of a final channel, else 0.

    The word stands after the role's, at the beginning, or after another channel's text; anywhere
    else it is one of the sentence, such as: in the final {"score": 1} analysis
    """
    found = list(islice(_BARE_FINAL.finditer(reply), 2))
    if len(found) != 1 or not _is_one_answer(reply, found[0].end()):
        return 0
    before = reply[max(0, found[0].start() - _MOST_BEFORE) : found[0].start()]
    is_after_text = _BARE_CHANNEL.match(reply) and not (found[0]["gap"] and _GOES_ON.search(before))
    is_channel = found[0]["role"] or not before.strip() or is_after_text
    return found[0].end() if is_channel else 0


def _is_one_answer(reply: str, start: int) -> bool:
    """Return whether one object or block begins here, and at most words on other lines follow."""
    if reply[start] == "{":
        span = json_span(reply, start, Effort(len(reply)))
        end = span.end if span.is_whole else None
    else:
        block = _BLOCK.match(reply, start)
        end = block.end() if block else None
    return end is not None and bool(_ONLY_WORDS.fullmatch(reply, end, _end_of_words(reply, end)))


def _end_of_words(reply: str, start: int) -> int:
    """Return where the marks begin with which a reply ends."""
    runs = (run.start() for run in _AFTER.finditer(reply, start) if run.end() == len(reply))
    return next(runs, len(reply))


def tagged_block(reply: str, tag: str) -> str | None:
    """Return the text of the last `<tag>…</tag>` block, or `None` when there is none.

    The innermost block counts, so a tag that is merely mentioned before the answer is passed over.
    """
    folded = _lower_same_length(reply)
    opening, closing = f"<{tag.lower()}>", f"</{tag.lower()}>"
    end = folded.rfind(closing)
    if end < 0:
        return None
    start = folded.rfind(opening, 0, end)
    return None if start < 0 else reply[start + len(opening) : end].strip()


def has_unclosed_tag(reply: str, tag: str) -> bool:
    """Return whether the last `<tag>` is never closed, as in a reply that was cut off."""
    folded = _lower_same_length(reply)
    return folded.rfind(f"<{tag.lower()}>") > folded.rfind(f"</{tag.lower()}>")


def _lower_same_length(text: str) -> str:
    """Lower-case ASCII only, so that offsets stay those of the text."""
    return text.translate(_ASCII_LOWER)


_ASCII_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
