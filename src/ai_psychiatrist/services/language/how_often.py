"""How often a symptom is there, told apart from it: "most days", "four or five of them"."""

from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.evidence import Frequency
from ai_psychiatrist.services.language.assertion import ClauseReading, Status
from ai_psychiatrist.services.language.clause_reading import read_clause
from ai_psychiatrist.services.language.clauses import clauses_of
from ai_psychiatrist.services.language.concepts import match_concepts, says_something
from ai_psychiatrist.services.language.counted_days import counted_days
from ai_psychiatrist.services.language.frequency import occurrences_in
from ai_psychiatrist.services.language.matcher import MatchedText
from ai_psychiatrist.services.language.questions import answer_opening
from ai_psychiatrist.services.language.vocabulary import words

_ASKED: Final = "how_often.asked_often"
_ANSWER_CLAUSES: Final = 3
"""Among how many clauses of an answer it stands."""
_LONGEST_ADDITION: Final = 40
"""In characters: of a clause that says only how often,"""
_LONGEST_BACKWARD: Final = 80
"""and of one that opens with "it" or its like."""
_BACKWARD_BY: Final = 2
"""By which word it does."""
_TOLD: Final = frozenset({Status.AFFIRMED, Status.DENIED})
_OFTEN: Final = {
    often.value: often
    for often in (
        Frequency.SEVERAL_DAYS,
        Frequency.MORE_THAN_HALF,
        Frequency.NEARLY_EVERY_DAY,
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HowOften:
    """A frequency, and the characters of the clause that tells it."""

    frequency: Frequency
    start: int
    end: int


def asks_how_often(asked: str) -> bool:
    """Return whether the last words of an interviewer ask how often what was told is there.

    "Do you drink coffee every day?" asks for something else.
    """
    clause = _last_clause(asked)
    matched = match_concepts(clause)
    asking = next((hit.first for hit in matched.hits if hit.cue == _ASKED), None)
    if asking is not None:
        # "Joking aside, how often is it bad?"
        return _is_bare(matched, asking)
    return bool(occurrences_in(clause)) and _is_bare(matched)


def _is_bare(matched: MatchedText, first: int = 0) -> bool:
    """Return whether words from one on hold nothing but how often, and what goes on about that."""
    named = {
        at
        for hit in matched.hits
        if says_something(hit) or hit.subject in {"how_often", "quality"}
        for at in range(hit.first, hit.last + 1)
    }
    return all(
        at in named or word in words("asking_on") or word.isdecimal()
        for at, word in enumerate(matched.texts)
        if at >= first
    )


def goes_on(asked: str) -> bool:
    """Return whether the last words of an interviewer ask for more of the same."""
    return any(hit.cue == "how_often.more" for hit in match_concepts(_last_clause(asked)).hits)


def how_often(said: str, asked: str) -> HowOften | None:
    """Return how often something is there by the answer to a question for just that."""
    answer = clauses_of(said)[:_ANSWER_CLAUSES]
    for clause in answer:
        frequency = _stated(said[clause.start : clause.end], asked)
        if frequency is not None:
            return HowOften(frequency=frequency, start=clause.start, end=clause.end)
    return _agreed_with(said[: next((one.end for one in answer), 0)], asked)


def _agreed_with(answer: str, asked: str) -> HowOften | None:
    """Return the frequency that a question offers, if the answer is yes."""
    offered, read = _often_in(_last_clause(asked)), read_clause(answer)
    cues = {hit.cue for hit in (*read.matched.hits, *match_concepts(_last_clause(asked)).hits)}
    if len(offered) != 1 or not cues.isdisjoint({"quality.good", _ASKED}):
        return None
    return (
        HowOften(frequency=offered[0], start=0, end=len(answer))
        if answer_opening(read).says
        else None
    )


def how_often_alone(said: str) -> HowOften | None:
    """Return how often something is there where nobody asked, and nothing else is told first."""
    end = next((one.end for one in clauses_of(said)), 0)
    if not says_only_how_often(said[:end]):
        return None
    frequency = _stated(said[:end])
    return None if frequency is None else HowOften(frequency=frequency, start=0, end=end)


def says_only_how_often(text: str) -> bool:
    """Return whether a clause tells nothing but how often that is what was told before it."""
    length = len(text.strip())
    if length > _LONGEST_BACKWARD or not (occurrences_in(text) or counted_days(text)):
        return False
    read = read_clause(text)
    is_backward = not words("backward").isdisjoint(read.matched.texts[:_BACKWARD_BY])
    if length > _LONGEST_ADDITION and not is_backward:
        return False
    return not _is_telling(read) and words("speaker").isdisjoint(read.matched.texts)


def _is_telling(read: ClauseReading) -> bool:
    return any(found.status in _TOLD for found in read.findings)


def _stated(text: str, asked: str = "") -> Frequency | None:
    matched = match_concepts(text)
    # "Most days are fine" counts the days without the symptom.
    if any(hit.cue == "quality.good" for hit in matched.hits):
        return None
    if stated := _often_in(text):
        return stated[0]
    is_whole = any(hit.cue == "how_often.whole" for hit in matched.hits)
    return Frequency.NEARLY_EVERY_DAY if is_whole else counted_days(text, asked)


def _often_in(text: str) -> list[Frequency]:
    return [_OFTEN[one.cue] for one in occurrences_in(text) if one.cue in _OFTEN]


def _last_clause(asked: str) -> str:
    texts = [asked[one.start : one.end] for one in clauses_of(asked)]
    return next((text for text in reversed(texts) if text.strip()), "")
