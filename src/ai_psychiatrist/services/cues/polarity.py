"""Whether the clause that a quote is cut from affirms or denies a symptom."""

from functools import lru_cache
from typing import Final

from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.services.cues.clauses import clauses_around
from ai_psychiatrist.services.cues.cue import Cue
from ai_psychiatrist.services.cues.lexicon import hits_of, word_set, words_of
from ai_psychiatrist.services.cues.valence import Reading, read_clause

_NEGATIONS: Final = frozenset({Cue.NEGATOR, Cue.WEAK_NEGATOR, Cue.DETERMINER, Cue.ANSWER_NO})
_LONGEST_ANSWER: Final = 12
"""How many words and commas a bare answer has at most."""


def polarity_of(words: str, start: int, end: int) -> Polarity:
    """Read the polarity of `words[start:end]` from the whole clauses it lies in.

    Phrases inside the span decide; where it holds none, those of its clauses do. So
    "feel hopeless", cut from "I don't feel hopeless", is denied.
    """
    inside: set[Polarity] = set()
    beside: set[Polarity] = set()
    plain: list[Polarity] = []
    for clause in clauses_around(words, start, end):
        text = words[clause.start : clause.end]
        answer = answer_of(text)
        if answer is not None:
            plain.append(answer)
            continue
        reading = read_clause(text)
        for vote in reading.votes:
            is_inside = clause.start + vote.start < end and clause.start + vote.end > start
            (inside if is_inside else beside).add(vote.polarity)
        if not reading.votes:
            plain.append(_plain_polarity(reading))
    return _one_of(inside or beside) or _one_of(set(plain) - {Polarity.UNCLEAR}) or Polarity.UNCLEAR


@lru_cache(maxsize=512)
def answer_of(clause: str) -> Polarity | None:
    """Read a clause that is only an answer ("not really", "yeah"); `None` when it says more."""
    texts, fillers = words_of(clause).texts, word_set("answers", "words")
    if not texts or len(texts) > _LONGEST_ANSWER:
        return None
    hits = {hit.first: hit for hit in hits_of(clause, "polarity")}
    found: set[str] = set()
    at = 0
    while at < len(texts):
        hit = hits.get(at)
        if hit is not None and hit.cue in {Cue.HEDGE, Cue.ANSWER_YES, Cue.ANSWER_NO}:
            found.add(hit.cue)
            at = hit.last + 1
            continue
        if texts[at] not in fillers:
            return None
        if hit is not None:
            found.add(hit.cue)
        at += 1
    return _answer_polarity(found)


def _answer_polarity(found: set[str]) -> Polarity | None:
    if found & _NEGATIONS:
        return Polarity.DENIED
    if Cue.ANSWER_YES in found:
        return Polarity.AFFIRMED
    return Polarity.UNCLEAR if Cue.HEDGE in found else None


def _plain_polarity(reading: Reading) -> Polarity:
    if reading.has_open_negation or not reading.is_english:
        return Polarity.UNCLEAR
    return Polarity.AFFIRMED


def _one_of(polarities: set[Polarity]) -> Polarity | None:
    if not polarities:
        return None
    return polarities.pop() if len(polarities) == 1 else Polarity.UNCLEAR
