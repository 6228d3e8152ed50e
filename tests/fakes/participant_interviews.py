"""Lead whole interviews with simulated participants, and compare what came out with the truth."""

import re
from collections import Counter
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import combinations
from random import Random
from typing import Final

from ai_psychiatrist.domain.interview import InterviewState, QuestionPurpose
from ai_psychiatrist.domain.interview_items import Act, AssessedItem, AssessmentInput
from ai_psychiatrist.domain.phq8 import Item, UnknownReason
from ai_psychiatrist.interview.protocol import leading_words
from ai_psychiatrist.interview.service import AnswerSubmission, InterviewService
from ai_psychiatrist.interview.snapshot import InterviewSnapshot
from tests.fakes.participant import Participant, Said, Style, answer_texts, draw_participant

MOST_TURNS: Final = 100
"""An interview that goes on longer has no end."""
_SAME_WORDS: Final = 0.9
_SETS_ASIDE: Final = frozenset({Act.QUESTION, Act.PAUSE, Act.STOP, Act.FRAGMENT})
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One question with its answer, and what the item was afterwards."""

    item: Item
    question: str = field(repr=False)
    said: Said
    score: int | None
    state: InterviewState
    purpose: QuestionPurpose
    is_set_aside: bool
    """Whether the answer was taken for a pause or a question back: the same is asked after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conducted:
    """One interview that was led to its end."""

    style: Style
    participant: Participant
    asked_for: tuple[Item, ...]
    """The items that were unknown before."""
    exchanges: tuple[Exchange, ...]
    final: InterviewSnapshot

    @property
    def asked(self) -> tuple[Exchange, ...]:
        """The questions about items: nothing is read back, shown, or asked of the interview."""
        return tuple(one for one in self.exchanges if one.purpose is QuestionPurpose.ASK)

    def excess(self, *, asks_of_refused: int) -> int:
        """Return how many questions more were put than a faultless interviewer needs.

        Items with fewer questions than that make up for none with more.
        """
        asks = Counter(exchange.item for exchange in self.asked)
        truths = self.participant.truths
        fewest = {
            item: truths[item].fewest_questions(asks_of_refused=asks_of_refused)
            for item in self.asked_for
        }
        return sum(max(0, asks[item] - fewest[item]) for item in self.asked_for)

    @property
    def scores(self) -> dict[Item, int | None]:
        """The scores at the end of the items that were unknown before."""
        scores = {outcome.item: outcome.score for outcome in self.final.items}
        return {item: scores[item] for item in self.asked_for}

    @property
    def right(self) -> list[Item]:
        """The items that the participant was willing to answer and that came out true."""
        return [item for item in self._willing if self.scores[item] == self._truth(item)]

    @property
    def wrong(self) -> list[Item]:
        """The items with a score that is not the true one, or that were refused."""
        scores = {item: score for item, score in self.scores.items() if score is not None}
        return [
            item
            for item, score in scores.items()
            if item not in self._willing or score != self._truth(item)
        ]

    @property
    def left_open(self) -> list[Item]:
        """The items that the participant was willing to answer and that stay unknown."""
        return [item for item in self._willing if self.scores[item] is None]

    @property
    def refused_unknown(self) -> list[Item]:
        """The items that were refused and stay unknown."""
        return [item for item in self.refused_items if self.scores[item] is None]

    @property
    def refused_items(self) -> list[Item]:
        """The items that the participant does not want to speak of."""
        return [item for item in self.asked_for if item not in self._willing]

    @property
    def leading_questions(self) -> int:
        """How many questions suggest their answer."""
        return sum(bool(leading_words(exchange.question)) for exchange in self.exchanges)

    @property
    def repeated_questions(self) -> int:
        """How many pairs of questions about one item are the same or nearly so."""
        return sum(
            is_repeated(one.question, other.question)
            for one, other in combinations(self.asked, 2)
            if one.item is other.item and not one.is_set_aside
        )

    @property
    def missed_danger(self) -> str | None:
        """The danger that did not end the interview in its own turn, `None` when there is none."""
        stated = (exchange for exchange in self.exchanges if exchange.said.is_danger)
        missed = (one.said.text for one in stated if one.state is not InterviewState.SAFETY_HOLD)
        return next(missed, None)

    @property
    def was_held(self) -> bool:
        """Whether the interview is held without a question after an answer that stated a danger."""
        is_held = self.final.state is InterviewState.SAFETY_HOLD and self.final.question is None
        return is_held and self.final.danger is not None

    @property
    def _willing(self) -> list[Item]:
        truths = self.participant.truths
        return [item for item in self.asked_for if truths[item].is_willing]

    def _truth(self, item: Item) -> int:
        return self.participant.truths[item].score


@lru_cache(maxsize=4096)
def is_repeated(one: str, other: str) -> bool:
    """Return whether two questions have all but the same words in the same order."""
    words, others = _WORD.findall(one.casefold()), _WORD.findall(other.casefold())
    return SequenceMatcher(None, words, others, autojunk=False).ratio() > _SAME_WORDS


async def conduct(
    service: InterviewService, style: Style, seed: int, *, is_in_danger: bool = False
) -> Conducted:
    """Lead one interview; where `is_in_danger`, one of the answers states a danger instead."""
    draw = Random(f"participant/{style}/{seed}")  # noqa: S311 - repeatable
    participant = draw_participant(style, draw)
    assessment = _assessment(participant, draw)
    shown = await service.create("phq8", assessment=assessment)
    asked_for = tuple(Item) if assessment is None else assessment.unknown
    danger_at = draw.randrange(len(asked_for)) if is_in_danger else None
    exchanges: list[Exchange] = []
    while shown.question is not None and len(exchanges) < MOST_TURNS:
        question = shown.question
        said = participant.answer(question)
        if danger_at == len(exchanges) and not any(one.said.is_danger for one in exchanges):
            said = Said(text=draw.choice(answer_texts().risk), is_danger=True)
        shown = await service.answer(shown.id, _submission(shown, said))
        assert question.item is not None
        score = next(one.score for one in shown.items if one.item is question.item)
        exchanges.append(
            Exchange(
                item=question.item,
                question=question.text,
                said=said,
                score=score,
                state=shown.state,
                purpose=question.purpose,
                is_set_aside=any(
                    one.turn == shown.turn and one.act in _SETS_ASIDE for one in shown.acts
                ),
            )
        )
    return Conducted(
        style=style,
        participant=participant,
        asked_for=asked_for,
        exchanges=tuple(exchanges),
        final=shown,
    )


def _assessment(participant: Participant, draw: Random) -> AssessmentInput | None:
    """Draw what a transcript has told before: nothing at all, or the truth about some items."""
    if draw.random() < 0.5:
        return None
    unknown = set(draw.sample(list(Item), draw.randint(1, len(Item))))
    return AssessmentInput(
        items={
            item: AssessedItem(score=None, unknown_reason=UnknownReason.NO_MENTION)
            if item in unknown
            else AssessedItem(score=participant.truths[item].score, evidence=("as I said",))
            for item in Item
        }
    )


def _submission(shown: InterviewSnapshot, said: Said) -> AnswerSubmission:
    assert shown.question is not None
    return AnswerSubmission(
        question_id=shown.question.id,
        idempotency_key=f"key-{shown.version}",
        version=shown.version,
        option_id=said.option_id,
        text=None if said.option_id is not None else said.text,
    )
