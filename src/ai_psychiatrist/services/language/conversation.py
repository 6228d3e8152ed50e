"""What the turns of a conversation say, each read after those before it.

How often a symptom is there is mostly told after it, and often only when somebody asks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ai_psychiatrist.domain.evidence import Polarity, Timeframe
from ai_psychiatrist.services.language.concepts import Status
from ai_psychiatrist.services.language.frequency import (
    HowOften,
    asks_how_often,
    days_asked_of,
    goes_on,
    how_often,
    how_often_alone,
)
from ai_psychiatrist.services.language.mentions import Mention, TopicAnchor, mentions_in
from ai_psychiatrist.services.language.questions import (
    NOTHING,
    Asking,
    ConceptQuestion,
    question_in,
)

_MOST_EXCHANGES: Final = 2
"""Through how many questions that name nothing a topic stays open."""
_OF_THE_SYMPTOM: Final = frozenset({Asking.SYMPTOM, Asking.OPEN})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Topic:
    """The one concept that was last spoken of as a symptom."""

    concept: str
    is_told: bool
    """Whether the participant's own words tell of it for sure: an answer, or by its name."""
    exchanges: int = 0
    """Through how many questions it has stayed open."""


class Conversation:
    """Reads the turns of a conversation in their order."""

    def __init__(self) -> None:
        self.asked: set[str] = set()
        """The concepts that were asked for so far."""
        self.named: set[str] = set()
        """Those of them that were asked for by their names."""
        self._question = NOTHING
        self._topic: _Topic | None = None
        self._span = ""

    def ask(self, words: str) -> None:
        """Hear what an interviewer says."""
        self._span = days_asked_of(words) or self._span
        self._question = replace(question_in(words), span=self._span)
        self.asked |= self._question.asked.keys()
        self.named |= self._question.named

    def answer(self, words: str) -> tuple[Mention, ...]:
        """Read what a participant says."""
        question, self._question = self._question, NOTHING
        mentions = mentions_in(words, question)
        topic = self._topic
        self._topic = _topic_after(topic, question, mentions)
        told = None if topic is None else _how_often(topic, words, question, mentions)
        if topic is None or told is None:
            return mentions
        said = Mention(
            concept=topic.concept,
            status=Status.AFFIRMED,
            is_stated=topic.is_told,
            start=told.start,
            end=told.end,
            frequency=told.frequency,
            timeframe=Timeframe.UNSTATED,
            is_answer=True,
        )
        return (*mentions, said)


def _how_often(
    topic: _Topic, words: str, question: ConceptQuestion, mentions: Sequence[Mention]
) -> HowOften | None:
    """Return the frequency that an answer gives for the symptom mentioned before it."""
    if not question.asked.keys() <= {topic.concept}:
        return None
    if any(one.concept == topic.concept and one.polarity is Polarity.DENIED for one in mentions):
        return None
    if asks_how_often(question.words):
        return how_often(words, question.words, question.span)
    is_more = topic.is_told and not mentions and goes_on(question.words)
    return how_often_alone(words) if is_more else None


def _topic_after(
    before: _Topic | None, question: ConceptQuestion, mentions: Sequence[Mention]
) -> _Topic | None:
    """Return what the next question may go on about."""
    affirmed = [
        one
        for one in mentions
        if one.polarity is Polarity.AFFIRMED
        and one.timeframe is not Timeframe.PAST
        and (one.anchor.is_tied or (one.is_stated and one.anchor is not TopicAnchor.ASIDE))
    ]
    # What is only inferred from a doing is no topic beside what is stated.
    told = {one.concept for one in affirmed if one.is_stated} or {one.concept for one in affirmed}
    if question.asked and told:
        told &= question.asked.keys()
        if not told:
            return None
    if told:
        is_sure = any(one.anchor is not TopicAnchor.UNASKED for one in affirmed)
        return _Topic(concept=told.pop(), is_told=is_sure) if len(told) == 1 else None
    if question.asked:
        return _asked_alone(question, mentions)
    if before is None or before.exchanges == _MOST_EXCHANGES:
        return None
    return replace(before, exchanges=before.exchanges + 1)


def _asked_alone(question: ConceptQuestion, mentions: Sequence[Mention]) -> _Topic | None:
    """Return what was asked for, where nothing was read from the answer to it."""
    concept, asking = next(iter(question.asked.items()))
    is_read = any(one.concept == concept for one in mentions)
    if len(question.asked) > 1 or is_read or asking not in _OF_THE_SYMPTOM:
        return None
    return _Topic(concept=concept, is_told=False)
