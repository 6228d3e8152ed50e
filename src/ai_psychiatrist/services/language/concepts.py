"""The phrases of all tables among the words of a text, and which of them name a concept."""

from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from typing import Final

from ai_psychiatrist.services.language.memory import remembered
from ai_psychiatrist.services.language.phrases import Hit, MatchedText, Matcher
from ai_psychiatrist.services.language.spoken import spoken
from ai_psychiatrist.services.language.vocabulary import concept_tables, lists, word_table

_NAMING: Final = ("symptom", "well", "function", "topic", "look_alike")
_ASKING: Final = ("asks_symptom", "asks_well", "asks_open")
_ASKED: Final = "?"
"""Ends the subject of the phrases that only a question names a concept by."""
_NAMED: Final = "!"
"""Ends the subject of the words that name a concept by themselves."""
_LAPSED: Final = "~"
"""Ends the subject of a habit of before, and of what says that it is no more."""


class Status(StrEnum):
    """What is said of a concept."""

    AFFIRMED = "affirmed"
    DENIED = "denied"
    OTHER = "other"
    """It is somebody else's."""
    HYPOTHETICAL = "supposed"
    """It is wished for, feared, or might be."""
    UNCLEAR = "unclear"


@remembered(512)
def match_concepts(text: str) -> MatchedText:
    """Find the phrases of a text."""
    return _matcher().match(spoken(text))


def is_instruction(text: str) -> bool:
    """Return whether a text tells a reader or a program what to do with it."""
    return any(hit.cue == "instruction.to_reader" for hit in match_concepts(text).hits)


def concept_of(hit: Hit) -> str:
    """Return what a phrase says or asks something about."""
    return hit.subject.removesuffix(_ASKED)


def named_at(matched: MatchedText, concept: str) -> list[int]:
    """Return at which words a text names a concept; words in another sense do not name it."""
    named = [hit for hit in matched.hits if hit.cue == f"{concept}{_NAMED}.named"]
    phrases = _look_alikes(matched, concept) if named else []
    return [hit.first for hit in named if not _is_within(hit, phrases)]


def habits_of(matched: MatchedText) -> dict[str, Hit]:
    """Return concept → the words that tell of a habit of before: "I used to paint"."""
    return {hit.subject.removesuffix(_LAPSED): hit for hit in matched.hits if hit.kind == "habit"}


def is_given_up(matched: MatchedText, concept: str, after: int = -1) -> bool:
    """Return whether words after some word say that a habit is no more: "haven't touched it"."""
    return any(hit.cue == f"{concept}{_LAPSED}.lapse" and hit.first > after for hit in matched.hits)


def looks_alike(matched: MatchedText, hit: Hit, concept: str) -> bool:
    """Return whether words stand in a phrase that only looks as if it spoke of a concept."""
    return _is_within(hit, _look_alikes(matched, concept))


def _look_alikes(matched: MatchedText, concept: str) -> list[Hit]:
    """Return the phrases that only look as if they spoke of a concept.

    A phrase that opens a question is one only where a participant says it back.
    """
    found = [hit for hit in matched.hits if hit.cue == f"{concept}.look_alike"]
    asking = {hit.first for hit in matched.hits if hit.cue == "ask.opening"} if found else set()
    return [hit for hit in found if hit.first not in asking]


def _is_within(hit: Hit, phrases: Sequence[Hit]) -> bool:
    return any(other.first <= hit.first and hit.last <= other.last for other in phrases)


def says_something(hit: Hit) -> bool:
    """Return whether a phrase says something of a concept, and does not only look like it."""
    return hit.subject in concept_tables() and hit.kind != "look_alike"


def is_part_of_another(hit: Hit, hits: Sequence[Hit]) -> bool:
    """Return whether a longer phrase of another concept holds this one: "enjoy my food"."""
    return any(
        other.first <= hit.first
        and hit.last <= other.last
        and other.last - other.first > hit.last - hit.first
        and says_something(other)
        and other.subject != concept_of(hit)
        for other in hits
    )


@cache
def _matcher() -> Matcher:
    return Matcher(_tables(), lists())


def _tables() -> dict[str, list[str]]:
    """Return "subject.kind" → phrases."""
    tables: dict[str, list[str]] = {}
    for section, subject in (("cues", "cue"), ("modality", "modality"), ("quality", "quality")):
        for kind, entries in word_table("assertion", section).items():
            tables[f"{subject}.{kind}"] = entries
    for concept, table in concept_tables().items():
        for kind in _NAMING:
            tables[f"{concept}.{kind}"] = table.get(kind, [])
        for kind in _ASKING:
            tables[f"{concept}{_ASKED}.{kind}"] = table.get(kind, [])
        for kind in ("habit", "lapse"):
            tables[f"{concept}{_LAPSED}.{kind}"] = table.get(kind, [])
        tables[f"{concept}{_NAMED}.named"] = table["named"]
    instructions = word_table("assertion", "instructions")
    tables |= {f"instruction.{kind}": entries for kind, entries in instructions.items()}
    answers = word_table("assertion", "answers")
    tables |= {f"{kind}.opening": answers[kind] for kind in ("ask", "tag", "suppose")}
    tables["elsewhere.asking"] = answers["elsewhere"]
    tables |= {f"answer.{kind}": answers[kind] for kind in ("yes", "no", "taken_up")}
    tables |= {f"how_often.{kind}": answers[kind] for kind in ("asked_often", "more", "whole")}
    return tables
