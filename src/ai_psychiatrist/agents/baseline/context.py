"""What a short answer is about, by the interviewer's question before it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ai_psychiatrist.agents.baseline.phrases import item_phrases
from ai_psychiatrist.agents.baseline.stretch import Stretch, clauses_in, whole
from ai_psychiatrist.domain.evidence import Frequency, Polarity
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.cues.polarity import answer_of

_QUESTION_CHARACTERS: Final = 600
_SHORT_ANSWER_CHARACTERS: Final = 200
_SHORT_ANSWER_WORDS: Final = 14
_OPEN: Final = frozenset("how hows what whats tell describe".split())
_ACKNOWLEDGING: Final = frozenset("okay ok alright perfect great that thats sounds sure".split())
_OPENING_WORDS: Final = 8
_MOST_ITEMS: Final = 2
"""A question that names more items than this is about none of them."""
_QUESTION_CLAUSES: Final = 3
_ASKING: Final = _OPEN | frozenset(
    "any do does did are is have has had can could were was been ever".split()
)
"""With one of these a sentence begins that asks, though no question mark is written."""


class Asking(StrEnum):
    """What "yes" to a question says."""

    SYMPTOM = "symptom"
    OPEN = "open"
    """How it is: the answer has to say."""
    WELLNESS = "wellness"
    """A bare "no" would be read as a denial, and is none; so only fuller answers count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The items that a question is about."""

    items: tuple[Item, ...]
    asking: Asking


def question_in(words: str) -> Question | None:
    """Read what the last question in an interviewer's words is about."""
    tail = words[-_QUESTION_CHARACTERS:]
    for clause in reversed(clauses_in(tail)[-_QUESTION_CLAUSES:]):
        if "?" not in tail[clause.start :] and not _begins_with(clause, _ASKING):
            continue
        items = tuple(
            item
            for item, table in item_phrases().items()
            if any(hit.cue == "question" for hit in table.question.find(clause.words))
        )
        if items:
            return (
                None if len(items) > _MOST_ITEMS else Question(items=items, asking=_asking(clause))
            )
    return None


def _begins_with(span: Stretch, words: frozenset[str]) -> bool:
    return not words.isdisjoint(span.words.texts[:3])


def _asking(question: Stretch) -> Asking:
    if {vote.polarity for vote in question.reading.votes} == {Polarity.AFFIRMED}:
        return Asking.SYMPTOM
    return Asking.OPEN if _begins_with(question, _OPEN) else Asking.WELLNESS


def answer_in(words: str, asking: Asking) -> Stretch | None:
    """Return the answer that a participant's words begin with, if they begin with one."""
    span = _answering_span(words)
    if span is None or span.polarity is Polarity.UNCLEAR:
        return None
    if asking is Asking.WELLNESS and _begins_with(span, _ACKNOWLEDGING):
        return None
    clauses = clauses_in(span.text)
    said = [clause for clause in clauses if answer_of(clause.text) is None]
    # What follows "it dips, but" is not the answer.
    is_told = bool(said) and bool(said[0].reading.votes)
    is_answered = asking is Asking.SYMPTOM and (
        len(said) < len(clauses) or span.frequency is not Frequency.UNSTATED
    )
    return span if is_told or is_answered else None


def _answering_span(words: str) -> Stretch | None:
    span = whole(words)
    if len(words) <= _SHORT_ANSWER_CHARACTERS and len(span.words.texts) <= _SHORT_ANSWER_WORDS:
        return span if words else None
    first = clauses_in(words)[0]
    return first if len(first.words.texts) <= _OPENING_WORDS else None
