"""Read a free answer to a question that counts days, without a model.

Expressions of frequency are found. The words around them are passed over, unless they forbid to
take the expression for how often the difficulty was there.
"""

from typing import Final

from ai_psychiatrist.domain.interview_items import Unclear
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.answer_parts import AnswerParts
from ai_psychiatrist.interview.phq8.clauses import pauses, unknown
from ai_psychiatrist.interview.phq8.reading_words import wording
from ai_psychiatrist.interview.phq8.readings import AnswerReading, ReadingKind
from ai_psychiatrist.interview.phq8.settling import Settlement
from ai_psychiatrist.interview.phq8.spoken_answer import spoken_answer
from ai_psychiatrist.services.language.concepts import is_instruction

__all__ = [
    "MOST_CHARACTERS",
    "AnswerReading",
    "ReadingKind",
    "Unclear",
    "is_agreement",
    "is_denial",
    "is_refusal",
    "may_refuse_again",
    "read_answer",
    "readings_by_item",
]
MOST_CHARACTERS: Final = 4_000
_UNREADABLE: Final = AnswerReading(kind=ReadingKind.UNREADABLE)


def read_answer(item: Item, text: str) -> AnswerReading:
    """Read what an answer says of an item; any wording of its question counts the bad days.

    Deterministic, for any text.
    """
    return readings_by_item(item, text)[item]


def readings_by_item(asked: Item, text: str) -> dict[Item, AnswerReading]:
    """Read what an answer says of the item that was asked about, and of any other beside it.

    Words that name no item belong to the one that was asked about.
    """
    if len(text) > MOST_CHARACTERS:
        return {asked: _UNREADABLE}
    answer = spoken_answer(text)
    if not any(map(str.isalnum, answer.spoken)):
        return {asked: _UNREADABLE}
    if is_instruction(text):
        return {asked: AnswerReading(kind=ReadingKind.UNCLEAR, unclear=Unclear.VAGUE)}
    parts = AnswerParts(asked, answer)
    if parts.has_too_many_expressions:
        return {asked: AnswerReading(kind=ReadingKind.UNCLEAR, unclear=Unclear.TWO_VALUES)}
    read = {item: Settlement(parts, item).reading() for item in parts.items}
    if is_refusal(text) and not parts.found:
        # "No, I don't want to answer" denies nothing.
        read[asked] = AnswerReading(kind=ReadingKind.NONE)
    return read


def is_agreement(text: str) -> bool:
    """Return whether a reply says yes to what was understood, and nothing else."""
    return _is_whole(text, "agreement")


def is_denial(text: str) -> bool:
    """Return whether a reply says no to what was understood, and nothing else."""
    return _is_whole(text, "denial")


def is_refusal(text: str) -> bool:
    """Return whether an answer refuses the question; "I'd rather not get up" does not."""
    if len(text) > MOST_CHARACTERS:
        return False
    for clause in pauses(spoken_answer(text).spoken):
        if wording("refusal", "within").search(clause):
            return True
        rest, refusals = wording("refusal", "whole").subn("", clause)
        if refusals and not unknown(rest, "filler", "yes", "no"):
            return True
    return False


def may_refuse_again(text: str) -> bool:
    """Return whether a reply says no more than a "no", which may refuse again as well as deny."""
    again = wording("refusal", "again")
    clauses = pauses(spoken_answer(text[:MOST_CHARACTERS]).spoken)
    return any(map(again.search, clauses)) and not any(
        unknown(again.sub("", clause), "filler") for clause in clauses
    )


def _is_whole(text: str, key: str) -> bool:
    if len(text) > MOST_CHARACTERS or "?" in text:
        return False
    clauses = pauses(spoken_answer(text).spoken)
    return bool(clauses) and all(map(wording("whole", key).fullmatch, clauses))
