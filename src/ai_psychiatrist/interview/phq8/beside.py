"""What stands beside an expression of frequency, and whether it forbids to take it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from ai_psychiatrist.domain.interview_items import Unclear
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.clauses import Clause, has, unknown, without
from ai_psychiatrist.interview.phq8.day_counts import ALL, EVERY_DAY, NO_DAY, Days
from ai_psychiatrist.interview.phq8.expressions import Expression, Manner
from ai_psychiatrist.interview.phq8.reading_words import (
    alternatives,
    names,
    symptom,
    table,
    whole_words,
    wording,
)

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
_DUTY: Final = re.compile(
    r" (?:duty|duties|shifts?|class|classes|lessons?|lectures?|meetings?|service|feeds?|walk|run)\b"
)
"""With these a day is no day: "after every night duty"."""
_BY_OTHERS: Final = re.compile(
    r" (?:since|when|while|whilst|after|before|because of|thanks to|on account of) "
)
"""After a frequency they bring in what others did, and the frequency is no one else's."""
_ADDRESS: Final = re.compile(
    r"(?<=§) (?:my )?(?:dear |good |old )?(?:friend|dear|love|brother|sister|son|mate)$"
)
_NO_SUCH_DAY: Final = re.compile(r"(?:day|night|morning|evening|afternoon)s?$")
_WHEN: Final = re.compile(r" (?:that|which|when|where|on|did|in|i|im|my|it|was|were|any)(?!\S)")
_EXCEPT: Final = re.compile(
    r"(?:except|except for|apart from|bar|save|save for|other than|but)(?: on| for)* $"
)
_ANY: Final = ("any ", "on any ")
_SINGLE: Final = ("a single ", "one single ", "even one ", "for one ")
_JUST: Final = ("just ", "only ", "maybe ", "perhaps ", "apart ", "except ", "bar ")
_NOT_REALLY: Final = re.compile(r"(?:no )?not really §")
_COULD: Final = re.compile(r" (?:when |that )?i (?:could|managed)$")
_IS_NO: Final = re.compile(r"§ (?:no|not)$")
_OWN_AFTER: Final = re.compile(r"(?:and|so|but) (?:i|im|ive|id)(?!\S).*§")
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
        known = ["number_filler", "cannot_tell", "correction"]
        if len(clause.expressions) == 1:
            # "Good on four, bad on the rest."
            known += ["well", "bad"]
        return one.days.high <= ALL.high and not unknown(around, *known)
    is_other = (
        _is_asked(clause, around)
        or (_WHOLE.match(said) and _FRAME.search(around))
        or (said.startswith("half") and _PART.search(around))
        or (is_rare and (_EACH.search(around) or has(clause.spoken, "no_otherwise")))
        or (said == "once" and _NOT_ONCE_ONLY.match(after))
        or (_QUANTIFIER.fullmatch(said) and not _may_stand_after_a_quantifier(after))
        or after.startswith(" mind")
        or _DUTY.match(after)
        or (said.startswith(_ANY) and not has(around.partition("§")[0], "not"))
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
        if one.week or has(self._dated(told), "other_time"):
            yield Unclear.OTHER_TIME
        if self._is_under_a_condition(around):
            yield Unclear.CONDITION
        if self._is_negated(around) or self._may_deny_twice() or self._is_not_every(around):
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

    def _is_negated(self, around: str) -> bool:
        if self._is_at_most(around):
            return False
        if around.startswith("no §") and self.number and self.clauses[self.number - 1].expressions:
            # "Twice, no, thrice" without the second pause.
            return False
        before = self.clause.spoken[: self.one.start - self.clause.start]
        if self.clause.words_of(self.one) == "once" and has(around.partition("§")[0], "not"):
            # "Haven't slept through once" is every night, "couldn't sleep once" is one.
            return True
        return has(around, "negated") or (
            self.one.manner is not Manner.NUMBER and before.endswith("never ")
        )

    def _is_at_most(self, around: str) -> bool:
        """As in "not really, just the one Sunday", without the pause."""
        is_just = self.clause.words_of(self.one).startswith(_JUST)
        return is_just and _NOT_REALLY.match(around) is not None

    def _dated(self, told: str) -> str:
        """Return the clause without a beginning that lies before the two weeks."""
        words = without(told, "no_other_time")
        if self.one.manner is Manner.COUNTED and not self.one.week:
            # Whatever they came before or after, so many they were.
            words = without(words, "counted_around")
        is_long = any(has(clause.spoken, "long_ago") for clause in self.clauses)
        return without(words, "since") if is_long else words

    def _is_of_another(self, around: str, told: str) -> bool:
        former = self.former
        told = without(_ADDRESS.sub("", told), "no_person")
        if self._is_of_own_and_others(around):
            return False
        goes_on = former is not None and not former.ends_sentence
        if former is not None and goes_on and not has(around, "first_person"):
            said = around if has(around, "no") else f"{former.around()} {around}"
            told = without(_ADDRESS.sub("", said), "no_person")
        person = wording("beside", "other_person").search(told)
        own = wording("beside", "first_person").search(told)
        if person is None or (own is not None and own.start() < person.start()):
            return False
        return not (self.item is Item.MOVING and has(told, "noticed"))

    def _is_of_own_and_others(self, around: str) -> bool:
        """Whether another person only comes in after the frequency is said of the own trouble."""
        before, _, after = around.partition("§")
        if _OWN_AFTER.search(around):
            return True
        if has(before, "other_person"):
            return False
        if _BY_OTHERS.match(after) or has(before, "not"):
            return True
        return symptom(self.item).search(signs(self.item, before)) is not None

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
        if self._is_at_most(around):
            return False
        if self.one.days.high <= 1 and self.one.manner is Manner.COUNTED:
            return has(signs(self.item, around.partition("§")[0]), "not")
        return self.one.days.low == ALL.high and _NOT_EVERY.search(around) is not None

    def _is_of_well_days(self, around: str, *, is_none: bool) -> bool:
        is_counted = self.one.manner is Manner.COUNTED
        words = f"{self.clause.words_of(self.one)} {around}" if is_counted else around
        if is_well_said(self.item, words) or (is_counted and _IS_NO.search(around)):
            return True
        former = self.former
        is_label = former is not None and self.clause.is_bare and former.stop != "."
        if former is not None and self.clause.is_bare and has(former.around(), "counts_good"):
            return True
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
        around = around.replace("¤", "some")
        if has(around, "not") or symptom(self.item).search(around) or has(around, "excess"):
            return False
        is_own = has(around, "first_person") or names(self.item).search(around) is not None
        is_of_things = has(around, "other_thing") and not is_own
        return is_of_things or has(around, "activity") or has(around, "neutral")


def turned(item: Item, clause: Clause, one: Expression) -> Days | None:
    """Return the days where what follows turns them round, `None` where nothing does.

    "Not one day that was good" is every day, "no day that was bad" is none, and "nothing pleased me
    except two days" all but two.
    """
    before, _, after = clause.around(one).partition("§")
    words = clause.words_of(one)
    if one.days == NO_DAY and _NO_SUCH_DAY.search(words) and _WHEN.match(after):
        is_well = is_well_said(item, after) or _COULD.match(after) is not None
        return EVERY_DAY if is_well else _none_if(symptom(item).search(signs(item, after)))
    if not has(before, "not"):
        return None
    said = signs(item, before)
    is_bad = symptom(item).search(said) is not None
    is_none = " fine " in f" {said} " or (has(before, "no") and not unknown(before, "no", "filler"))
    if words.startswith((*_ANY, *_SINGLE)):
        return EVERY_DAY if is_bad else _none_if(is_none)
    if one.manner is not Manner.COUNTED or not _EXCEPT.search(before):
        return None
    if is_bad:
        return Days(low=ALL.high - one.days.high, high=ALL.high - one.days.low)
    return one.days if is_none else None


def _none_if(is_none: object) -> Days | None:
    return NO_DAY if is_none else None


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
    return whole_words(rf"{_no()} (?:(?!and |but |so |because )[^\s§¤¶,]+ ){{0,5}}?{well}")


@cache
def _trouble_denied(item: Item) -> re.Pattern[str]:
    return whole_words(rf"{_no()} (?:[^\s§¤¶,]+ ){{0,2}}?{symptom(item).pattern}")


def _no() -> str:
    return alternatives(table("beside")["not"])
