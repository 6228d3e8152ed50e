"""A simulated participant: a hidden table of answers, and a way of speaking about it."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from random import Random
from typing import Final

from ai_psychiatrist.domain.interview import AnswerKind, Question, QuestionPurpose
from ai_psychiatrist.domain.phq8 import MAX_ITEM_SCORE, Item

_TEXTS: Final = Path(__file__).with_name("participant_answers.toml")
_UNWILLING: Final = 0.05
_UNWILLING_WHEN_REFUSING: Final = 0.5


class Style(StrEnum):
    """How a participant speaks."""

    ANCHORS = "anchors"
    """Chooses one of the four frequencies."""
    COLLOQUIAL = "colloquial"
    """Says it in own words."""
    EVASIVE = "evasive"
    """First goes round the question or leaves open how often, then says it."""
    CONTRADICTORY = "contradictory"
    """Takes a claim back in the same breath, or makes two that exclude each other, then says it."""
    OFF_TOPIC_FIRST = "off_topic_first"
    """First speaks of something else, then says it."""
    REFUSING = "refusing"
    """Does not want to speak of about half of the items."""
    MIXED = "mixed"
    """Any of these, item by item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTexts:
    """What participants say, as it was written down before anything read it."""

    colloquial: Mapping[Item, Mapping[int, tuple[str, ...]]]
    corrected: Mapping[Item, Mapping[int, tuple[str, ...]]]
    contradictory: tuple[str, ...]
    ambiguous: tuple[str, ...]
    evasive: tuple[str, ...]
    off_topic: tuple[str, ...]
    refusing: tuple[str, ...]
    risk: tuple[str, ...]


@cache
def answer_texts() -> AnswerTexts:
    """Read the texts."""
    tables = tomllib.loads(_TEXTS.read_text(encoding="utf-8"))

    def by_score(name: str) -> dict[Item, dict[int, tuple[str, ...]]]:
        return {
            item: {int(score): tuple(texts) for score, texts in tables[name][item].items()}
            for item in Item
        }

    def plain(name: str) -> tuple[str, ...]:
        return tuple(tables[name]["texts"])

    return AnswerTexts(
        colloquial=by_score("colloquial"),
        corrected=by_score("corrected"),
        contradictory=plain("contradictory"),
        ambiguous=plain("ambiguous"),
        evasive=plain("evasive"),
        off_topic=plain("off_topic"),
        refusing=plain("refusing"),
        risk=plain("risk"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What is so about one item, and how this participant will speak of it."""

    score: int
    is_willing: bool
    style: Style
    wastes_first_answer: bool
    """Whether the first answer cannot tell anybody the score."""

    def fewest_questions(self, *, asks_of_refused: int) -> int:
        """Return how many questions the item takes at least.

        `asks_of_refused`: how often an item is asked for that is refused every time.
        """
        if not self.is_willing:
            return asks_of_refused
        return 2 if self.wastes_first_answer else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One answer: the place of an anchor, the refusal that is offered, or words."""

    text: str = field(default="", repr=False)
    option_id: str | None = None
    is_plain: bool = False
    """Whether it states the true score."""
    is_danger: bool = False
    """Whether it states a danger."""


@dataclass(slots=True, kw_only=True)
class Participant:
    """Answers the questions of one interview; the same seed always says the same."""

    truths: Mapping[Item, Truth]
    draw: Random
    asked: dict[Item, int] = field(default_factory=dict)

    def answer(self, question: Question) -> Said:
        """Answer a question by the item that it names and the options that it shows."""
        assert question.item is not None
        truth = self.truths[question.item]
        if question.purpose is not QuestionPurpose.ASK:
            return self._reply(question, truth)
        ask = self.asked[question.item] = self.asked.get(question.item, 0) + 1
        if not truth.is_willing:
            return self._refusal(question)
        if ask == 1 and truth.wastes_first_answer:
            return Said(text=self.draw.choice(self._wasted(truth.style)))
        return self._plain(question, question.item, truth)

    def _reply(self, question: Question, truth: Truth) -> Said:
        """Say yes to what is true, and change nothing of what was noted."""
        by_kind = {option.kind: option for option in question.options}
        if question.purpose is QuestionPurpose.READ_BACK:
            is_right = truth.is_willing and by_kind[AnswerKind.CONFIRM].score == truth.score
            return Said(option_id=by_kind[AnswerKind.CONFIRM if is_right else AnswerKind.REJECT].id)
        if question.purpose in {QuestionPurpose.ONCE_MORE, QuestionPurpose.CONFIRM_STOP}:
            return Said(option_id=by_kind[AnswerKind.REJECT].id)
        if question.purpose is QuestionPurpose.WHICH_ITEM:
            about = next(one for one in question.options if one.item is question.item)
            return Said(option_id=about.id)
        if question.purpose is QuestionPurpose.REVIEW:
            return Said(option_id=by_kind[AnswerKind.CONFIRM].id)
        return Said(text="I have nothing to add.")

    def _refusal(self, question: Question) -> Said:
        offered = [option for option in question.options if option.kind is AnswerKind.DECLINE]
        if offered and self.draw.random() < 0.5:
            return Said(option_id=offered[0].id)
        return Said(text=self.draw.choice(answer_texts().refusing))

    def _wasted(self, style: Style) -> tuple[str, ...]:
        texts = answer_texts()
        match style:
            case Style.EVASIVE:
                return texts.evasive + texts.ambiguous
            case Style.CONTRADICTORY:
                return texts.contradictory
            case _:
                return texts.off_topic

    def _plain(self, question: Question, item: Item, truth: Truth) -> Said:
        if truth.style is Style.ANCHORS:
            anchors = [option for option in question.options if option.kind is AnswerKind.ANCHOR]
            return Said(option_id=anchors[truth.score].id, is_plain=True)
        texts = answer_texts()
        is_correcting = truth.style is Style.CONTRADICTORY and not truth.wastes_first_answer
        table = texts.corrected if is_correcting else texts.colloquial
        return Said(text=self.draw.choice(table[item][truth.score]), is_plain=True)


def draw_participant(style: Style, draw: Random) -> Participant:
    """Draw a participant: how low they are sets how often each difficulty is there."""
    lowness = draw.betavariate(1.1, 2.0)
    return Participant(
        truths={item: _truth(style, lowness, draw) for item in Item},
        draw=draw,
    )


def _truth(style: Style, lowness: float, draw: Random) -> Truth:
    often = min(0.97, max(0.03, draw.gauss(lowness, 0.2)))
    score = sum(draw.random() < often for _ in range(MAX_ITEM_SCORE))
    is_mixed = style is Style.MIXED
    own = draw.choice([one for one in Style if one is not Style.MIXED]) if is_mixed else style
    refuses = _UNWILLING_WHEN_REFUSING if own is Style.REFUSING else _UNWILLING
    wasting = {Style.EVASIVE: 1.0, Style.OFF_TOPIC_FIRST: 1.0, Style.CONTRADICTORY: 0.5}
    return Truth(
        score=score,
        is_willing=draw.random() >= refuses,
        style=own,
        wastes_first_answer=draw.random() < wasting.get(own, 0.0),
    )
