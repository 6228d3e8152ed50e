"""What stands beside an expression of frequency, and whether it forbids to take it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.clauses import Clause, has, unknown, without
from ai_psychiatrist.interview.phq8.day_counts import ALL
from ai_psychiatrist.interview.phq8.expressions import Expression, Manner
from ai_psychiatrist.interview.phq8.reading_words import (
    alternatives,
    names,
    symptom,
    table,
    whole_words,
    wording,
)


class Unclear(StrEnum):
    """Why an answer that speaks of how often has no score."""

    RANGE = "range"
    TWO_VALUES = "two_values"
    COMPARISON = "comparison"
    GOOD_DAYS = "good_days"
    CONDITION = "condition"
    OTHER_TIME = "other_time"
    OTHER_PERSON = "other_person"
    NEGATED = "negated"
    VAGUE = "vague"
    OPTION_NUMBER = "option_number"
    """A bare 1 to 4: a count of days, or the number of an offered answer."""


TWO_SIDED: Final = frozenset({Item.SLEEP, Item.APPETITE, Item.MOVING})
"""Too much and too little: who denies the one says nothing of the other."""
_QUANTIFIER: Final = re.compile(
    r"(?:a few|few|several|half|most|a couple|a handful|all|every|none|no|zero|once|hardly|barely)"
)
"""Before another noun these count something else: "a few drinks"."""
_NOT_ONCE_ONLY: Final = re.compile(
    r" (?:i|im|ive|id|the|my|we|you|its|it|that|upon|again|they|he|she|a)(?!\S)"
)
_EACH: Final = re.compile(r"(?:each|every|single) §")
_PART: Final = re.compile(r"(?:first|second|other|last|latter|better|worse) §")
_WHOLE: Final = re.compile(r"(?:the |all )?(?:whole|entire|full|fortnight)")
_FRAME: Final = re.compile(r"(?:in|over|during|of|across) §")
_NOT_EVERY: Final = re.compile(
    r"(?<!\S)(?:not|dont|didnt|isnt|wasnt|havent|doesnt|hasnt)(?: \w+){1,4} §"
)


def is_frequency(clause: Clause, one: Expression) -> bool:
    """Return whether an expression says how often, and not something else that is worded so."""
    around, said = clause.around(one), clause.words_of(one)
    after = clause.spoken[one.end - clause.start :]
    is_rare = one.days.high <= 1
    if one.manner is Manner.NUMBER:
        known = ("number_filler", "cannot_tell", "correction")
        return one.days.high <= ALL.high and not unknown(around, *known)
    is_other = (
        _is_asked(clause, around)
        or (_WHOLE.match(said) and _FRAME.search(around))
        or (said.startswith("half") and _PART.search(around))
        or (is_rare and (_EACH.search(around) or has(clause.spoken, "no_otherwise")))
        or (said == "once" and _NOT_ONCE_ONLY.match(after))
        or (_QUANTIFIER.fullmatch(said) and not _may_stand_after_a_quantifier(after))
        or after.startswith(" mind")
    )
    return not is_other


def _is_asked(clause: Clause, around: str) -> bool:
    if clause.stop != "?":
        return False
    return has(around, "asks") or (has(around, "question") and not clause.is_bare)


def _may_stand_after_a_quantifier(after: str) -> bool:
    word = next(iter(after.split()), "")
    return word not in {"a", "an", "of"} and not unknown(word, "filler", "yes", "correction")


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """An expression among the clauses of an answer about an item."""

    item: Item
    clauses: tuple[Clause, ...]
    number: int
    """Which clause it stands in."""
    one: Expression

    @property
    def clause(self) -> Clause:
        """The clause that it stands in."""
        return self.clauses[self.number]

    @property
    def former(self) -> Clause | None:
        """The clause before, where that says nothing of how often."""
        former = self.clauses[self.number - 1] if self.number else None
        return None if former is None or former.expressions else former

    def forbids(self) -> Unclear | None:
        """Return why the expression may not be taken, `None` where it may."""
        return next(self._reasons(), None)

    def _reasons(self) -> Iterator[Unclear]:
        around, one = self.clause.around(self.one), self.one
        told = self._told(around)
        is_none = one.days.high <= 1 and one.manner is not Manner.COUNTED
        if has(self.clause.spoken, "habit"):
            yield Unclear.COMPARISON
        if self._is_of_another(around, told):
            yield Unclear.OTHER_PERSON
        if one.week or has(without(told, "no_other_time"), "other_time"):
            yield Unclear.OTHER_TIME
        if self._is_under_a_condition(around):
            yield Unclear.CONDITION
        if has(around, "negated") or self._may_deny_twice() or self._is_not_every(around):
            yield Unclear.NEGATED
        if self._is_of_well_days(around, is_none=is_none):
            yield Unclear.GOOD_DAYS
        if self._says_more_than_none(around) if is_none else self._is_doing(around):
            yield Unclear.VAGUE

    def _told(self, around: str) -> str:
        """Return the clause; one that only says how often goes on from the clause before."""
        former = self.former
        if former is None or former.stop == "?" or not self.clause.is_bare or has(around, "now"):
            return around
        return f"{former.around()} {around}"

    def _is_of_another(self, around: str, told: str) -> bool:
        former = self.former
        goes_on = former is not None and not former.ends_sentence
        if former is not None and goes_on and not has(around, "first_person"):
            told = told if has(around, "no") else f"{former.around()} {around}"
        person = wording("beside", "other_person").search(told)
        own = wording("beside", "first_person").search(told)
        if person is None or (own is not None and own.start() < person.start()):
            return False
        return not (self.item is Item.MOVING and has(told, "noticed"))

    def _is_under_a_condition(self, around: str) -> bool:
        """Whether a condition makes fewer days of many; of counted ones it only tells which."""
        is_of_many = self.one.days.low > ALL.high // 2 - 1 or self.one.days.high <= 1
        is_share = is_of_many and self.one.manner is not Manner.COUNTED
        key = "condition" if is_share else "hypothetical"
        if has(without(around, "no_condition"), key):
            return True
        return any(
            not other.expressions
            and wording("beside", key).match(without(other.around(), "no_condition"))
            for other in self._beside_in_the_sentence()
        )

    def _beside_in_the_sentence(self) -> Iterator[Clause]:
        if not self.clause.ends_sentence and self.number + 1 < len(self.clauses):
            yield self.clauses[self.number + 1]
        if self.number and not self.clauses[self.number - 1].ends_sentence:
            yield self.clauses[self.number - 1]

    def _may_deny_twice(self) -> bool:
        """Whether a "not on any day" goes on after a "haven't", which makes it every day."""
        former = self.former
        said = self.clause.words_of(self.one)
        if former is None or former.ends_sentence or not said.startswith("not"):
            return False
        return has(without(former.around(), "no", "correction"), "not")

    def _is_not_every(self, around: str) -> bool:
        """Whether "not good every day" may leave days, or "not one day" may be every day."""
        if self.one.days.high <= 1 and self.one.manner is Manner.COUNTED:
            return has(signs(self.item, around.partition("§")[0]), "not")
        return self.one.days.low == ALL.high and _NOT_EVERY.search(around) is not None

    def _is_of_well_days(self, around: str, *, is_none: bool) -> bool:
        is_counted = self.one.manner is Manner.COUNTED
        words = f"{self.clause.words_of(self.one)} {around}" if is_counted else around
        if is_well_said(self.item, words):
            return True
        former = self.former
        is_label = former is not None and self.clause.is_bare and former.stop != "."
        return (
            not is_none and is_label and is_well_said(self.item, former.around() if former else "")
        )

    def _says_more_than_none(self, around: str) -> bool:
        """Whether a "never" has words beside it that may turn it round: "never sleep"."""
        rest = unknown(around, "filler", "no", "yes", "bad", "correction", "either")
        if self.item not in TWO_SIDED:
            rest = symptom(self.item).sub("", rest)
        return bool(rest.strip())

    def _is_doing(self, around: str) -> bool:
        """Whether it is said how often something is done that is no difficulty."""
        if has(around, "not") or symptom(self.item).search(around) or has(around, "excess"):
            return False
        is_own = has(around, "first_person") or names(self.item).search(around) is not None
        is_of_things = has(around, "other_thing") and not is_own
        return is_of_things or has(around, "activity") or has(around, "neutral")


def is_well_said(item: Item, words: str) -> bool:
    """Return whether words say that all was well."""
    said = signs(item, words)
    return (
        has(said, "well")
        or has(said, "able")
        or wording("well", item.value).search(said) is not None
    )


def signs(item: Item, around: str) -> str:
    """Return words in which what is denied stands for its opposite: "not tired" for "fine"."""
    words = _well_denied(item).sub(" bad ", without(around, "well_aside"))
    return _trouble_denied(item).sub(" fine ", words)


@cache
def _well_denied(item: Item) -> re.Pattern[str]:
    well = alternatives(
        [*table("beside")["well"], *table("beside")["able"], *table("well")[item.value]]
    )
    return whole_words(rf"{_no()} (?:[^\s§¤¶,]+ ){{0,3}}?{well}")


@cache
def _trouble_denied(item: Item) -> re.Pattern[str]:
    return whole_words(rf"{_no()} (?:[^\s§¤¶,]+ ){{0,2}}?{symptom(item).pattern}")


def _no() -> str:
    return alternatives(table("beside")["not"])
