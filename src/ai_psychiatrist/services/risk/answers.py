"""What a turn answers to a question about a danger.

Denied only by a plain denial, past only where it is long ago and said to be over; whatever else is
answered is read at once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ai_psychiatrist.domain.risk import RiskCategory, RiskKind, RiskLevel, RiskPolarity
from ai_psychiatrist.services.language.clauses import Clause
from ai_psychiatrist.services.language.matcher import MatchedText
from ai_psychiatrist.services.language.spoken import every_word
from ai_psychiatrist.services.risk.questions import DangerQuestion
from ai_psychiatrist.services.risk.replies import DangerReply, Reply, opening_reply
from ai_psychiatrist.services.risk.statement import level_of
from ai_psychiatrist.services.risk.vocabulary import match_replies, reply_words

OPENING_CHARACTERS: Final = 100
"""How much of a turn is its opening, which answers first."""
_READ_CLAUSES: Final = 12
"""How many clauses of a turn may tell a time, or name a means."""
_THOUGHTS: Final = frozenset({RiskKind.WISH_TO_BE_DEAD, RiskKind.NONSPECIFIC_THOUGHTS})
_ACTS: Final = frozenset(
    {
        RiskKind.METHOD,
        RiskKind.INTENT,
        RiskKind.PLAN,
        RiskKind.PREPARATION,
        RiskKind.ATTEMPT,
        RiskKind.INTERRUPTED_OR_ABORTED_ATTEMPT,
    }
)
"""Who tells something where one of these is asked for, tells of it."""
_SHORT: Final = 5
"""In words; an answer as short as this fills in what was asked for: "my stepdad", "the river"."""
_SUICIDE: Final = frozenset({RiskCategory.SUICIDAL_IDEATION, RiskCategory.SELF_HARM})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a turn answers; offsets are characters of the turn's words."""

    kind: RiskKind
    polarity: RiskPolarity
    level: RiskLevel
    start: int
    end: int
    is_told: bool
    """Whether it says something by itself, and not only tells a story."""
    is_taken_back: bool
    """Whether a plain denial is left with a condition, an exception or a means beside it."""
    is_long_over: bool
    """Whether it dates something as distant, and says that it is over since."""


def answer_to(question: DangerQuestion, words: str, clauses: Sequence[Clause]) -> Answer | None:
    """Read a turn as the answer; `None` when it answers nothing."""
    opening = [clause for clause in clauses if words[clause.start : clause.end].strip()]
    reply = opening_reply(words, opening, _plain_words(question)) if opening else None
    if reply is None or reply.said is DangerReply.NOT_UNDERSTOOD:
        return None
    if (
        reply.said is DangerReply.UNTOLD
        and not question.is_about_safety
        and _fills_in(question, words)
    ):
        reply = replace(reply, said=DangerReply.YES)
    if reply.said is DangerReply.OVER and _goes_on(words, opening):
        reply = replace(reply, said=DangerReply.YES)
    polarity = _polarity(question, reply)
    is_over = _is_long_over(question, words, opening)
    if polarity is not RiskPolarity.DENIED and is_over:
        polarity = RiskPolarity.PAST
    start = (
        opening[0].start + len(words[opening[0].start :]) - len(words[opening[0].start :].lstrip())
    )
    return Answer(
        kind=question.kind,
        polarity=polarity,
        level=_level(question, reply, polarity, _texts(words, opening)),
        start=start,
        end=max(reply.end, start + 1),
        is_told=reply.said not in {DangerReply.UNTOLD, DangerReply.WELL},
        is_taken_back=reply.is_taken_back,
        is_long_over=is_over,
    )


def _fills_in(question: DangerQuestion, words: str) -> bool:
    """Whether an answer that says neither yes nor no names what was asked for."""
    spoken = every_word(words[:OPENING_CHARACTERS]).texts
    return len(spoken) <= _SHORT or not question.words.isdisjoint(reply_words("asking_what"))


def _is_long_over(question: DangerQuestion, words: str, clauses: Sequence[Clause]) -> bool:
    """Return whether a turn says that it is over, and it or the question dates it as distant."""
    matched = _matched(words, clauses)
    is_distant = question.is_distant or any(matched.among("distant"))
    is_finished = any(matched.among("finished"))
    return is_distant and is_finished and not _goes_on(words, clauses)


def _goes_on(words: str, clauses: Sequence[Clause]) -> bool:
    """Whether a turn says that it is so still, or again."""
    matched = _matched(words, clauses)
    finished = list(matched.among("finished"))
    return any(
        not any(one.first <= hit.first <= one.last for one in finished)
        for hit in matched.among("going_on")
    )


def _matched(words: str, clauses: Sequence[Clause]) -> MatchedText:
    read = clauses[:_READ_CLAUSES]
    return match_replies(words[read[0].start : read[-1].end])


def _plain_words(question: DangerQuestion) -> frozenset[str]:
    acts = frozenset() if question.kind in _THOUGHTS else reply_words("acts")
    return question.words | acts


def _polarity(question: DangerQuestion, reply: Reply) -> RiskPolarity:
    if question.is_about_safety:
        return _of_safety(reply)
    match reply.said:
        case DangerReply.NO:
            return RiskPolarity.DENIED
        case DangerReply.YES if question.is_leading:
            return RiskPolarity.UNCLEAR
        case DangerReply.YES if question.is_supposed:
            return RiskPolarity.HYPOTHETICAL
        case DangerReply.YES:
            return RiskPolarity.AFFIRMED
        case _:
            return RiskPolarity.UNCLEAR


def _of_safety(reply: Reply) -> RiskPolarity:
    if reply.said is DangerReply.WELL or (reply.said is DangerReply.YES and reply.is_plain):
        return RiskPolarity.DENIED
    if reply.said in {DangerReply.NO, DangerReply.ALMOST_NO, DangerReply.OVER}:
        return RiskPolarity.AFFIRMED
    return RiskPolarity.UNCLEAR


def _level(
    question: DangerQuestion, reply: Reply, polarity: RiskPolarity, texts: Iterable[str]
) -> RiskLevel:
    if polarity not in {RiskPolarity.AFFIRMED, RiskPolarity.HYPOTHETICAL, RiskPolarity.UNCLEAR}:
        return level_of(polarity, question.level)
    is_of_self = question.kind.category in _SUICIDE
    urgent = reply_words("means") if is_of_self else reply_words("violence")
    if polarity is RiskPolarity.HYPOTHETICAL and not is_of_self:
        urgent = frozenset()
    is_act = (
        question.kind in _ACTS and reply.said is DangerReply.UNTOLD and not question.is_about_safety
    )
    if is_act or not urgent.isdisjoint(texts):
        return RiskLevel.HIGH
    if polarity is RiskPolarity.HYPOTHETICAL or reply.said in {
        DangerReply.ALMOST_NO,
        DangerReply.UNTOLD,
        DangerReply.OVER,
    }:
        return RiskLevel.HIGH if polarity is RiskPolarity.AFFIRMED else RiskLevel.MODERATE
    return question.level


def _texts(words: str, clauses: Sequence[Clause]) -> frozenset[str]:
    read = clauses[:_READ_CLAUSES]
    return frozenset(every_word(words[read[0].start : read[-1].end]).texts)
