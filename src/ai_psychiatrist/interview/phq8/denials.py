"""Words that say of a difficulty that it was there or not, without how often."""

import re
from typing import Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.beside import TWO_SIDED, is_well_said, signs
from ai_psychiatrist.interview.phq8.clauses import has, unknown, without
from ai_psychiatrist.interview.phq8.reading_words import names, own_symptom, symptom, wording

_OF_SOMETHING_ELSE: Final = (
    "condition",
    "other_time",
    "other_person",
    "comparison",
    "habit",
    "cannot_tell",
    "activity",
)

_LEADING_NO: Final = re.compile(r"(?:nah|nope|no|naw|nay) ")


def is_no(words: str) -> bool:
    """Return whether words say no, and nothing else."""
    return has(words, "no") and not unknown(words, "no", "filler")


def is_trouble(item: Item, around: str) -> bool:
    """Return whether words say that an item's difficulty was there."""
    return not is_no(around) and symptom(item).search(signs(item, around)) is not None


def is_denial(item: Item, around: str) -> bool:
    """Return whether words say that there was no such difficulty, or that all was well."""
    if not has(around, "no") or has(around, "yes"):
        return _is_well(item, around)
    if symptom(item).search(signs(item, around)):
        return False
    after = _LEADING_NO.match(around)
    if after is not None and is_well_said(item, around[after.end() :]):
        return True
    rest = names(item).sub("", unknown(around, "no", "filler", "bad"))
    return not symptom(item).sub("", rest).strip()


def _is_well(item: Item, around: str) -> bool:
    words = without(around, "no_condition")
    if any(has(words, key) for key in _OF_SOMETHING_ELSE):
        return False
    said = signs(item, around)
    if symptom(item).search(said) or not is_well_said(item, around):
        return False
    if own_symptom(item).search(around):
        return item not in TWO_SIDED and not has(around, "degree")
    is_own = names(item).search(around) or wording("well", item.value).search(around)
    return is_own is not None and (has(said, "well") or has(around, "first_person"))
