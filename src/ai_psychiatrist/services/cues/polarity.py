"""Whether the clause that a quote is cut from affirms or denies a symptom."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.services.cues.clauses import Clause, clauses_around, clauses_of
from ai_psychiatrist.services.cues.cue import Cue, Vote
from ai_psychiatrist.services.cues.lexicon import hits_of, word_set, words_of
from ai_psychiatrist.services.cues.valence import Reading, read_clause

_NEGATIONS: Final = frozenset({Cue.NEGATOR, Cue.WEAK_NEGATOR, Cue.DETERMINER, Cue.ANSWER_NO})
_LONGEST_ANSWER: Final = 12
"""How many words and commas a bare answer has at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _ClauseReading:
    """What one clause says; offsets are characters of the words it was cut from."""

    start: int
    end: int
    votes: tuple[Vote, ...]
    plain: Polarity | None
    """What the clause says as a whole when no phrase of it votes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnReading:
    """The clauses of one turn, read once and then asked about any number of spans."""

    clauses: tuple[_ClauseReading, ...]

    def polarity_of(self, start: int, end: int) -> Polarity:
        """Read the polarity of characters `start` to `end` of the turn's words."""
        first = bisect_right(self.clauses, start, key=lambda clause: clause.end)
        after = bisect_left(self.clauses, max(end, start + 1), key=lambda clause: clause.start)
        return _polarity_in(self.clauses[first:after], start, end)


def read_turn(words: str) -> TurnReading:
    """Read all clauses of a turn; linear in its length."""
    return TurnReading(clauses=tuple(_read(words, clause) for clause in clauses_of(words)))


def polarity_of(words: str, start: int, end: int) -> Polarity:
    """Read the polarity of `words[start:end]` from the whole clauses it lies in.

    Phrases inside the span decide; where it holds none, those of its clauses do. So
    "feel hopeless", cut from "I don't feel hopeless", is denied.
    """
    clauses = clauses_around(words, start, end)
    return _polarity_in([_read(words, clause) for clause in clauses], start, end)


def _read(words: str, clause: Clause) -> _ClauseReading:
    text = words[clause.start : clause.end]
    votes: tuple[Vote, ...] = ()
    plain = answer_of(text)
    if plain is None:
        reading = read_clause(text)
        votes = tuple(vote.moved(clause.start) for vote in reading.votes)
        plain = None if votes else _plain_polarity(reading)
    return _ClauseReading(start=clause.start, end=clause.end, votes=votes, plain=plain)


def _polarity_in(clauses: Sequence[_ClauseReading], start: int, end: int) -> Polarity:
    inside: set[Polarity] = set()
    beside: set[Polarity] = set()
    for clause in clauses:
        for vote in clause.votes:
            (inside if vote.start < end and vote.end > start else beside).add(vote.polarity)
    plain = {clause.plain for clause in clauses if clause.plain is not None}
    return _one_of(inside or beside) or _one_of(plain - {Polarity.UNCLEAR}) or Polarity.UNCLEAR


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
