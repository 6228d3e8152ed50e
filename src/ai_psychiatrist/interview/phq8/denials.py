"""Words that say of a difficulty that it was there or not, without how often."""

import re
from functools import cache
from typing import Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.clauses import has, unknown, without
from ai_psychiatrist.interview.phq8.reading_words import (
    alternatives,
    names,
    own_symptom,
    symptom,
    table,
    whole_words,
    wording,
)

TWO_SIDED: Final = frozenset({Item.SLEEP, Item.APPETITE, Item.MOVING})
"""Too much and too little: who denies the one says nothing of the other."""
_OF_SOMETHING_ELSE: Final = (
    "condition",
    "other_time",
    "other_person",
    "comparison",
    "habit",
    "cannot_tell",
    "activity",
    "so_so",
    "wish",
)

_NEITHER: Final = re.compile(r"(?<!\S)neither .+ nor ")
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
        if _NEITHER.search(around):
            return True
        return item not in TWO_SIDED and not has(around, "degree")
    is_own = names(item).search(around) or wording("well", item.value).search(around)
    return is_own is not None and (has(said, "well") or has(around, "first_person"))


def is_well_alone(around: str) -> bool:
    """Return whether words only say that all was well, of whatever is asked about."""
    return has(around, "well") and not unknown(around, "well", "filler", "no", "correction")


def is_well_said(item: Item, words: str) -> bool:
    """Return whether words say that all was well."""
    said = signs(item, words)
    return (
        has(said, "well")
        or has(said, "able")
        or wording("well", item.value).search(said) is not None
    )


def is_of_others(words: str) -> bool:
    """Return whether words speak of other people, and not of the person as well."""
    named = has(without(words, "no_person"), "other_person")
    return named and not has(words, "first_person")


def is_of_another_time(words: str) -> bool:
    """Return whether words speak of a time that is not asked about."""
    return has(without(words, "no_other_time"), "other_time")


def signs(item: Item, around: str) -> str:
    """Return words in which what is denied stands for its opposite: "not tired" for "fine"."""
    around = wording("beside", "poor_state").sub(" bad ", around)
    words = wording("beside", "no_trouble").sub(" fine ", without(around, "well_aside"))
    words = _well_denied(item).sub(" bad ", words)
    return _trouble_denied(item).sub(" fine ", words)


@cache
def _well_denied(item: Item) -> re.Pattern[str]:
    well = alternatives(
        [*table("beside")["well"], *table("beside")["able"], *table("well")[item.value]]
    )
    return whole_words(rf"{_no()} (?:(?!and |but |so |because )[^\s§¤¶,]+ ){{0,5}}?{well}")


@cache
def _trouble_denied(item: Item) -> re.Pattern[str]:
    return whole_words(rf"{_no()} (?:[^\s§¤¶,]+ ){{0,3}}?{symptom(item).pattern}")


def _no() -> str:
    return alternatives(table("beside")["not"])
