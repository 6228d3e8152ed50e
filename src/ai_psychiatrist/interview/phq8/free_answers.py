"""Read a free answer to a question that counts days, without a model.

A score is given only where every word of the answer is known, and all of them together leave one.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ai_psychiatrist.domain.interview_items import AnswerQuote, UnansweredReason
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.answer_clauses import AnswerClause, answer_clauses
from ai_psychiatrist.interview.phq8.day_counts import ALL, ANY_DAY, NEARLY_EVERY_DAY, NO_DAY, Days
from ai_psychiatrist.interview.phq8.phrases import (
    Phrase,
    PhraseKind,
    agreement,
    phrases_in,
    refusal_wording,
)

MOST_CHARACTERS: Final = 4_000
_ASIDE: Final = frozenset({PhraseKind.UNKNOWN, PhraseKind.NUMBER, PhraseKind.FILLER})
_OPEN: Final = frozenset(
    {PhraseKind.UNKNOWN, PhraseKind.NUMBER, PhraseKind.UNCLEAR, PhraseKind.ALWAYS}
)


class ReadingKind(StrEnum):
    """What an answer came to."""

    SCORE = "score"
    AMBIGUOUS = "ambiguous"
    """It speaks to the question and leaves more than one score open."""
    DECLINED = "declined"
    OFF_TOPIC = "off_topic"
    UNREADABLE = "unreadable"
    """It holds no words, or too many."""


_REASONS: Final = {
    ReadingKind.AMBIGUOUS: UnansweredReason.AMBIGUOUS_ANSWER,
    ReadingKind.DECLINED: UnansweredReason.DECLINED,
    ReadingKind.OFF_TOPIC: UnansweredReason.OFF_TOPIC,
    ReadingKind.UNREADABLE: UnansweredReason.UNREADABLE_ANSWER,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReading:
    """What an answer says; a score, 0–3, and its words only with the kind `SCORE`."""

    kind: ReadingKind
    score: int | None = None
    quote: AnswerQuote | None = None

    @property
    def reason(self) -> UnansweredReason | None:
        """Why there is no score."""
        return _REASONS.get(self.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    clause: AnswerClause
    phrases: tuple[Phrase, ...]

    def has(self, kind: PhraseKind) -> bool:
        return any(phrase.kind is kind for phrase in self.phrases)

    @property
    def ends_in_correction(self) -> bool:
        spoken = [phrase.kind for phrase in self.phrases if phrase.kind is not PhraseKind.FILLER]
        return spoken[-1:] == [PhraseKind.CORRECTION]


def read_answer(item: Item, text: str, *, was_declined: bool = False) -> AnswerReading:
    """Read an answer; any wording of the question counts the days on which a difficulty was there.

    `was_declined`: whether the item was refused before; then a bare "no" may be a refusal too.
    Deterministic, for any text.
    """
    clauses = answer_clauses(text) if len(text) <= MOST_CHARACTERS else ()
    if not clauses:
        return AnswerReading(kind=ReadingKind.UNREADABLE)
    is_refused = any(_is_refusal(item, clause) for clause in clauses)
    if is_refused or (was_declined and _may_refuse_again(item, clauses)):
        return AnswerReading(kind=ReadingKind.DECLINED)
    said = [_Said(clause=clause, phrases=phrases_in(item, clause.spoken)) for clause in clauses]
    kinds = {phrase.kind for one in said for phrase in one.phrases}
    if kinds <= _ASIDE and PhraseKind.UNKNOWN in kinds:
        return AnswerReading(kind=ReadingKind.OFF_TOPIC)
    if PhraseKind.ALWAYS in kinds and kinds <= {
        PhraseKind.ALWAYS,
        PhraseKind.YES,
        PhraseKind.FILLER,
    }:
        score = NEARLY_EVERY_DAY.score
        return _scored(text, score, clauses[0], clauses[-1])
    if kinds & _OPEN or any(map(_is_of_topic_alone, said)):
        return AnswerReading(kind=ReadingKind.AMBIGUOUS)
    return _settled(text, said)


def is_agreement(text: str) -> bool:
    """Return whether a reply says yes to what was understood, and nothing else."""
    clauses = answer_clauses(text) if len(text) <= MOST_CHARACTERS else ()
    return bool(clauses) and all(
        agreement().fullmatch(one.spoken) and not one.is_question for one in clauses
    )


def _is_refusal(item: Item, clause: AnswerClause) -> bool:
    if refusal_wording("within").search(clause.spoken):
        return True
    rest, refusals = refusal_wording("whole").subn("", clause.spoken)
    return refusals > 0 and _kinds(item, rest) <= {PhraseKind.FILLER, PhraseKind.YES}


def _may_refuse_again(item: Item, clauses: tuple[AnswerClause, ...]) -> bool:
    """Whether an answer says no more than a "no", which may refuse again as well as deny."""
    again = refusal_wording("again")
    return any(again.search(clause.spoken) for clause in clauses) and all(
        _kinds(item, again.sub("", clause.spoken)) <= {PhraseKind.FILLER} for clause in clauses
    )


def _kinds(item: Item, rest: str) -> set[PhraseKind]:
    """Return what is left to say by the words that remain of a clause."""
    return {phrase.kind for phrase in phrases_in(item, " ".join(rest.split()))}


def _settled(text: str, said: list[_Said]) -> AnswerReading:
    """Go through the clauses from left to right and keep what all of them leave open."""
    days, carrying, is_corrected = ALL, None, False
    for number, one in enumerate(said):
        is_more_to_come = any(later.has(PhraseKind.DAYS) for later in said[number + 1 :])
        if _is_plain_no(one) and days.low > 0 and is_more_to_come:
            # "Two days, no, every day."
            is_corrected = True
            continue
        if one.clause.is_question and (one.has(PhraseKind.DAYS) or one.has(PhraseKind.WELL)):
            return AnswerReading(kind=ReadingKind.AMBIGUOUS)
        is_corrected |= one.has(PhraseKind.CORRECTION)
        if one.has(PhraseKind.DAYS):
            # What was said before a correction does not stand; one without a number is still open.
            days, is_corrected = (ALL if is_corrected else days), one.ends_in_correction
            carrying = one.clause
        days = days.within(_left_open(one))
    score = days.score
    if carrying is None or score is None or is_corrected:
        return AnswerReading(kind=ReadingKind.AMBIGUOUS)
    return _scored(text, score, carrying, carrying)


def _scored(text: str, score: int | None, first: AnswerClause, last: AnswerClause) -> AnswerReading:
    quote = AnswerQuote(text=text[first.start : last.end], start=first.start, end=last.end)
    return AnswerReading(kind=ReadingKind.SCORE, score=score, quote=quote)


def _is_of_topic_alone(said: _Said) -> bool:
    """Whether it names what is asked about, and not the difficulty: "I sleep every night"."""
    return said.has(PhraseKind.TOPIC) and not (
        said.has(PhraseKind.TROUBLE) or said.clause.is_question
    )


def _is_plain_no(said: _Said) -> bool:
    return said.clause.spoken in {"no", "nope", "nah"} and not said.clause.is_question


def _left_open(said: _Said) -> Days:
    if said.clause.is_question:
        return ALL
    left = ALL
    for phrase in said.phrases:
        left = left.within(phrase.days or ALL)
    has_days = said.has(PhraseKind.DAYS)
    if said.has(PhraseKind.WELL):
        # "Not at all happy" turns round what it names.
        return Days(low=1, high=0) if has_days else NO_DAY
    is_there = said.has(PhraseKind.YES) or (said.has(PhraseKind.TROUBLE) and not has_days)
    return left.within(ANY_DAY) if is_there else left
