"""What a short answer is about, by the interviewer's question before it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ai_psychiatrist.agents.baseline.phrases import phrases
from ai_psychiatrist.domain.evidence import Frequency, Polarity
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.cues.clauses import Clause, clauses_of
from ai_psychiatrist.services.cues.frequency import frequency_of
from ai_psychiatrist.services.cues.lexicon import words_of
from ai_psychiatrist.services.cues.polarity import answer_of, polarity_of
from ai_psychiatrist.services.cues.valence import read_clause

_QUESTION_CHARACTERS: Final = 600
_SHORT_ANSWER_WORDS: Final = 14
_OPEN: Final = frozenset("how hows what whats tell describe".split())
_ACKNOWLEDGING: Final = frozenset("okay ok alright perfect great that thats sounds sure".split())
_OPENING_WORDS: Final = 8
_MOST_ITEMS: Final = 2
"""A question that names more items than this is about none of them."""
_QUESTION_CLAUSES: Final = 3
_ASKING: Final = frozenset(
    "how hows what whats tell describe any do does did are is have has had can could were was been "
    "ever".split()
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The stretch of a turn that answers, in characters of its words."""

    span: Clause
    polarity: Polarity


def question_in(words: str) -> Question | None:
    """Read what the last question in an interviewer's words is about."""
    tail = words[-_QUESTION_CHARACTERS:]
    for clause in reversed(clauses_of(tail)[-_QUESTION_CLAUSES:]):
        text = tail[clause.start : clause.end]
        found = words_of(text)
        if "?" not in tail[clause.start :] and _ASKING.isdisjoint(found.texts[:3]):
            continue
        items = tuple(
            item
            for item, table in phrases().items.items()
            if any(hit.cue == "question" for hit in table.question.find(found))
        )
        if items:
            asking = _asking(text) if len(items) <= _MOST_ITEMS else None
            return None if asking is None else Question(items=items, asking=asking)
    return None


def _asking(question: str) -> Asking:
    polarities = {vote.polarity for vote in read_clause(question).votes}
    if polarities == {Polarity.AFFIRMED}:
        return Asking.SYMPTOM
    return Asking.WELLNESS if _OPEN.isdisjoint(words_of(question).texts[:3]) else Asking.OPEN


def answer_in(words: str, asking: Asking) -> Answer | None:
    """Read the answer that a participant's words begin with, if they begin with one."""
    span = _answering_span(words)
    if span is None:
        return None
    text = words[span.start : span.end]
    polarity = polarity_of(words, span.start, span.end)
    if polarity is Polarity.UNCLEAR:
        return None
    clauses = [text[clause.start : clause.end] for clause in clauses_of(text)]
    said = [clause for clause in clauses if answer_of(clause) is None]
    # What follows "it dips, but" is not the answer.
    is_told = bool(said) and bool(read_clause(said[0]).votes)
    if asking is Asking.WELLNESS and not _ACKNOWLEDGING.isdisjoint(words_of(text).texts[:3]):
        return None
    is_answered = asking is Asking.SYMPTOM and (
        any(answer_of(clause) is not None for clause in clauses)
        or frequency_of(words, span.start, span.end) is not Frequency.UNSTATED
    )
    return Answer(span=span, polarity=polarity) if is_told or is_answered else None


def _answering_span(words: str) -> Clause | None:
    clauses = clauses_of(words)
    if not clauses:
        return None
    length = len(words)
    is_short = length <= 200 and len(words_of(words).texts) <= _SHORT_ANSWER_WORDS
    if is_short:
        return Clause(start=0, end=length)
    first = words[clauses[0].start : clauses[0].end]
    return clauses[0] if len(words_of(first).texts) <= _OPENING_WORDS else None
