"""What a free answer comes to for the item that it is about: a score, or why there is none."""

from dataclasses import dataclass

from ai_psychiatrist.domain.interview_items import AnswerQuote, UnansweredReason
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.free_answers import (
    ReadingKind,
    is_refusal,
    may_refuse_again,
    read_answer,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsRead:
    """A score, 0–3, with its words, or why there is none."""

    score: int | None
    reason: UnansweredReason | None
    quote: AnswerQuote | None


def words_read(item: Item, text: str, *, was_declined: bool = False) -> WordsRead:
    """Read a free answer. `was_declined`: then a bare "no" may refuse once more."""
    read = read_answer(item, text)
    if was_declined and may_refuse_again(text):
        return _without_score(UnansweredReason.DECLINED)
    if read.kind in {ReadingKind.ANCHOR, ReadingKind.READ}:
        return WordsRead(score=read.score, reason=None, quote=read.quote)
    if is_refusal(text):
        return _without_score(UnansweredReason.DECLINED)
    match read.kind:
        case ReadingKind.UNCLEAR:
            return _without_score(UnansweredReason.AMBIGUOUS_ANSWER)
        case ReadingKind.NONE:
            return _without_score(UnansweredReason.OFF_TOPIC)
        case _:
            return _without_score(UnansweredReason.UNREADABLE_ANSWER)


def _without_score(reason: UnansweredReason) -> WordsRead:
    return WordsRead(score=None, reason=reason, quote=None)
