"""Read a free answer to a question that counts days, without a model.

A score is given only where the words leave no other one open.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.day_counts import ANY, NONE, Scores
from ai_psychiatrist.interview.phq8.phrases import found, frame
from ai_psychiatrist.interview.phq8.said import Kind, Said
from ai_psychiatrist.interview.phq8.statement import is_refusal, read_stretch
from ai_psychiatrist.interview.phq8.stretches import Stretch, stretches_of
from ai_psychiatrist.interview.phq8.turns import cut_at_turns, without_headings

_MOST_CHARACTERS: Final = 4_000


class ReadingKind(StrEnum):
    """What an answer came to."""

    SCORE = "score"
    AMBIGUOUS = "ambiguous"
    """It speaks to the question and leaves more than one score open."""
    DECLINED = "declined"
    OFF_TOPIC = "off_topic"
    UNREADABLE = "unreadable"
    """It holds no words, or too many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSpan:
    """Characters of the answer, start inclusive, end exclusive."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReading:
    """What an answer says; a score, 0–3, and its words only with the kind `SCORE`."""

    kind: ReadingKind
    score: int | None = None
    quote: AnswerSpan | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    scores: Scores
    span: AnswerSpan
    kind: Kind


def read_answer(item: Item, question: str, text: str) -> AnswerReading:
    """Read an answer; any wording of the question counts the days on which a difficulty was there.

    Deterministic, for any text. `question`: as it was put.
    """
    del question
    if len(text) > _MOST_CHARACTERS:
        return AnswerReading(kind=ReadingKind.UNREADABLE)
    stretches = stretches_of(text)
    if not stretches:
        return AnswerReading(kind=ReadingKind.UNREADABLE)
    if any(map(is_refusal, stretches)):
        return AnswerReading(kind=ReadingKind.DECLINED)
    cut = cut_at_turns(stretches)
    read = [(stretch, read_stretch(item, text, stretch)) for stretch in cut]
    return _Settling().settle(without_headings(item, read))


class _Settling:
    """Goes through the stretches from left to right and keeps what still stands."""

    def __init__(self) -> None:
        self._claims: list[_Claim] = []
        self._is_taken_back = False
        self._is_taken_back_weakly = False
        self._is_withdrawn = False
        self._is_doubtful = False
        self._before: tuple[Stretch, Said] | None = None

    def settle(self, read: list[tuple[Stretch, Said]]) -> AnswerReading:
        for stretch, said in read:
            self._take(stretch, said)
        return self._outcome([said for _, said in read])

    def _take(self, stretch: Stretch, said: Said) -> None:
        self._turn(said)
        match said.kind:
            case Kind.DOUBT:
                self._is_doubtful = True
            case Kind.VAGUE if stretch.words.texts[0] == "or":
                self._is_doubtful = True
            case Kind.UNKNOWN if stretch.is_contrast and self._has_no():
                self._is_doubtful = True
            case Kind.NO | Kind.CLAIM | Kind.WELL | Kind.TROUBLE | Kind.YES | Kind.BARE:
                self._claim(stretch, said)
            case Kind.UNKNOWN if said.scores != ANY and not self._has_no():
                self._is_doubtful = True
            case _:
                pass
        self._before = (stretch, said)

    def _turn(self, said: Said) -> None:
        """Take back what was said before, as far as this does."""
        if said.is_correction and self._before is not None:
            self._is_taken_back_weakly = said.is_weak and not self._is_taken_back
            self._is_taken_back, self._is_doubtful = True, False
        if said.is_return and not self._claims:
            self._is_doubtful, self._before = False, None
        was_interjected = self._before is not None and self._before[1].is_interjection
        is_elsewhere = said.is_placed_elsewhere and was_interjected
        denied = [claim for claim in self._claims if claim.scores <= said.denied]
        if said.is_withdrawal or is_elsewhere or denied:
            self._is_withdrawn = self._is_taken_back = True

    def _has_no(self) -> bool:
        return bool(self._claims) and all(claim.scores == NONE for claim in self._claims)

    def _claim(self, stretch: Stretch, said: Said) -> None:
        scores, start = said.scores, stretch.start
        if stretch.is_question:
            return
        if said.kind is Kind.WELL and found(frame("exception"), stretch.words) and self._claims:
            return
        if said.kind is Kind.BARE and self._before is not None:
            before_stretch, before = self._before
            if before.kind is Kind.OTHER:
                self._is_doubtful |= stretch.opens_sentence
                return
            if before.kind is Kind.UNKNOWN:
                self._is_doubtful = True
            if before.kind is Kind.WELL:
                start = before_stretch.start
                scores = NONE if said.scores == frozenset({3}) else ANY
                self._is_doubtful = self._is_doubtful or scores == ANY
        if self._is_taken_back and said.kind in {Kind.NO, Kind.CLAIM, Kind.WELL, Kind.BARE}:
            if self._is_taken_back_weakly and self._claims:
                self._is_doubtful |= self._has_no() != (scores == NONE)
            self._claims.clear()
            self._is_withdrawn &= said.is_interjection
            # "Actually no, most days": the number to come may take the place of this "no".
            self._is_taken_back = said.kind is Kind.NO
        elif self._was_no_between() and (said.kind in {Kind.CLAIM, Kind.BARE} or said.is_full_no):
            self._claims.clear()
        span = AnswerSpan(start=start, end=stretch.end)
        self._claims.append(_Claim(scores=scores, span=span, kind=said.kind))

    def _was_no_between(self) -> bool:
        return len(self._claims) >= 2 and self._claims[-1].kind is Kind.NO

    def _outcome(self, said: list[Said]) -> AnswerReading:
        kinds = {one.kind for one in said}
        if self._is_doubtful or self._is_withdrawn:
            return AnswerReading(kind=ReadingKind.AMBIGUOUS)
        if not self._claims:
            return AnswerReading(kind=_without_claims(kinds))
        left = frozenset.intersection(*(claim.scores for claim in self._claims))
        carrying = [claim for claim in self._claims if len(claim.scores) == 1]
        if len(left) != 1 or not carrying:
            return AnswerReading(kind=ReadingKind.AMBIGUOUS)
        return AnswerReading(
            kind=ReadingKind.SCORE, score=next(iter(left)), quote=carrying[-1].span
        )


def _without_claims(kinds: set[Kind]) -> ReadingKind:
    aside = {Kind.OTHER, Kind.UNKNOWN}
    # "My dog had puppies, five of them": the count is of what was said before it.
    is_off_topic = kinds & aside and kinds <= {*aside, Kind.BARE}
    return ReadingKind.OFF_TOPIC if is_off_topic else ReadingKind.AMBIGUOUS
