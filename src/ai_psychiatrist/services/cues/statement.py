"""What one clause says: its votes, the answer that it is, or what it says without a cue."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.services.cues.cue import Cue, Vote
from ai_psychiatrist.services.cues.lexicon import Hit, hits_of, word_set, words_of
from ai_psychiatrist.services.cues.question import is_question
from ai_psychiatrist.services.cues.remembered import remembered
from ai_psychiatrist.services.cues.valence import read_clause

_NEGATIONS: Final = frozenset({Cue.NEGATOR, Cue.WEAK_NEGATOR, Cue.DETERMINER, Cue.ANSWER_NO})
_WHOLE_ANSWERS: Final = frozenset({Cue.HEDGE, Cue.ANSWER_YES, Cue.ANSWER_NO, Cue.MIXED})
_LONGEST_ANSWER: Final = 14
"""How many words and commas a bare answer has at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What one clause says; offsets are characters into it."""

    votes: tuple[Vote, ...] = ()
    answer: Polarity | None = None
    """What it says when it is nothing but an answer."""
    is_correction: bool = False
    """Whether it is an answer that takes back those before it: "well, actually, yes"."""
    opening: Polarity | None = None
    """What the "yes" or "no" says that it begins with."""
    is_question: bool = False
    is_doubtful: bool = False
    """Whether it hedges, supposes or asks, or is about somebody else."""
    is_plain: bool = False
    """Whether it tells something without any cue to its polarity."""


@remembered(512)
def statement_of(text: str) -> Statement:
    """Read one clause."""
    texts = words_of(text).texts
    answer = answer_of(text)
    if answer is not None and "?" not in text:
        return Statement(
            answer=answer, opening=_opening(texts), is_correction=_is_correction(texts)
        )
    reading = read_clause(text)
    asks = is_question(text, texts) and not _is_lament(text)
    return Statement(
        votes=reading.votes,
        opening=_opening(texts),
        is_question=asks,
        is_doubtful=asks or reading.is_doubtful,
        is_plain=not (asks or reading.votes or reading.has_open_negation)
        and (reading.is_english or bool(hits_of(text, "frequency"))),
    )


def _opening(texts: tuple[str, ...]) -> Polarity | None:
    first = texts[0] if texts else ""
    if first in word_set("question", "noes"):
        return Polarity.DENIED
    return Polarity.AFFIRMED if first in word_set("question", "yeses") else None


def answered(asked: set[Polarity], answer: Polarity) -> Polarity:
    """Return what an answer says to a question that names what is `asked`."""
    if asked == {Polarity.AFFIRMED}:
        return answer
    return _OPPOSITE[answer] if asked == {Polarity.DENIED} else Polarity.UNCLEAR


_OPPOSITE: Final = {
    Polarity.AFFIRMED: Polarity.DENIED,
    Polarity.DENIED: Polarity.AFFIRMED,
    Polarity.UNCLEAR: Polarity.UNCLEAR,
}


def _is_lament(text: str) -> bool:
    """Whether what looks like a question tells how it is: "what's the point?"."""
    return any(hit.cue == Cue.AFFIRMED for hit in hits_of(text, "polarity"))


def _is_correction(texts: tuple[str, ...]) -> bool:
    return not word_set("conditional", "corrections").isdisjoint(texts[:2])


@remembered(512)
def answer_of(clause: str) -> Polarity | None:
    """Read a clause that is only an answer ("not really", "most days"); `None`: it says more."""
    texts = words_of(clause).texts
    if not texts or len(texts) > _LONGEST_ANSWER:
        return None
    hits = {hit.first: hit for hit in hits_of(clause, "polarity")}
    found: list[str] = []
    at = 0
    while at < len(texts):
        hit = hits.get(at)
        if hit is not None and hit.cue in _WHOLE_ANSWERS:
            found.append(hit.cue)
            at = hit.last + 1
            continue
        how_often = _how_often_at(clause, at)
        if how_often is not None:
            found.append(_OFTEN)
            at = how_often.last + 1
            continue
        if texts[at] not in word_set("answers", "words"):
            return None
        if hit is not None:
            found.append(hit.cue)
        at += 1
    return _answer_polarity(found)


_OFTEN: Final = "often"


def _how_often_at(clause: str, at: int) -> Hit | None:
    """Return the phrase at a word that says how often something is there."""
    for hit in hits_of(clause, "frequency"):
        if hit.first == at and hit.cue not in {"not_at_all", "rarely"}:
            return hit
    return None


def _answer_polarity(found: list[str]) -> Polarity | None:
    says_no = [cue in _NEGATIONS for cue in found if cue in _NEGATIONS or cue == Cue.ANSWER_YES]
    turns = sum(one is not other for one, other in pairwise(says_no))
    if turns > 1 or Cue.MIXED in found:
        return Polarity.UNCLEAR
    if any(says_no):
        return Polarity.DENIED
    if says_no or _OFTEN in found:
        return Polarity.AFFIRMED
    return Polarity.UNCLEAR if Cue.HEDGE in found else None
