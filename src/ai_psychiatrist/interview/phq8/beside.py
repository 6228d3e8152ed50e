"""What stands beside an expression of frequency, and whether it forbids to take it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.interview_items import Unclear
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.clauses import Clause, has, is_label, unknown, without
from ai_psychiatrist.interview.phq8.denials import TWO_SIDED, is_of_others, is_well_said, signs
from ai_psychiatrist.interview.phq8.expressions import Manner
from ai_psychiatrist.interview.phq8.found_expressions import Found, is_frequency
from ai_psychiatrist.interview.phq8.reading_words import labels, names, symptom, wording
from ai_psychiatrist.interview.phq8.readings import ALL, NO_DAY

_BAD: Final = re.compile(r"(?<!\S)bad(?!\S)")
_EXCEPTED: Final = re.compile(r" (?:except|bar|apart|but|save|minus|other than) ")
_UNITS: Final = re.compile(r"(?<!\S)(?:hours?|hrs|minutes|mins|kilos|kg|pounds|cups)(?!\S)")
_BY_OTHERS: Final = re.compile(
    r" (?:since|when|while|whilst|after|before|because of|thanks to|on account of) "
)
"""After a frequency they bring in what others did, and the frequency is no one else's."""
_TOGETHER: Final = re.compile(r" (?:(?:when|that|where|which|on which) )?we ")
_LABEL: Final = re.compile(
    r"^(?:and |so |but )?(?:for |as for |about )?(?:the |my )?"
    r"(?=\w+ (?:is|was|its|thats|it was) §$)"
    r"| (?:is|was|its|thats|it was) §$|^§ (?:for|on|with) (?:the |my )?"
)
_NOT_THEN: Final = re.compile(
    r"§ (?:i )?(?:dont|didnt|wasnt|havent|am not|was not|do not|did not)"
    r"(?: (?:feel|have|get|had|felt))?(?: (?:it|that|so|them|this|any))?$"
)
OTHERS_DENIED: Final = re.compile(
    r"(?:and |but )?not (?:so )?(?:on |for )?(?:the |any of the )?(?:rest|others|other \w+)"
    r"|(?:and |but )?(?:(?:on|for) )?(?:all )?"
    r"(?:(?:the )?(?:rest|others|other \w+|remaining \w+)|§)"
    r"(?: of (?:the )?\w+)? ?(?:i |it )?"
    r"(?:didnt|dont|wasnt|werent|couldnt|hadnt|havent|did not|was not|could not|not|no)"
    r"(?: (?:do|want|ok|fine|so|at all)(?: to)?)?"
)
"""What other days were not is what is said of the days before: "six nights I slept, eight no"."""
_TIMES: Final = re.compile(r"(?<!\S)(?:times|x|occasions)$")
_OF_OTHERS_AFTER: Final = re.compile(
    r"(?<=\S) (?:once|¤|§|when|while|until|till|after)"
    r" (?:he|hed|hes|she|shed|shes|they|theyd|the|my) .*"
)
_ADDRESS: Final = re.compile(
    r"(?<=§) (?:my )?(?:dear |good |old )?(?:friend|dear|love|brother|sister|son|mate)$"
)
_JUST: Final = ("just ", "only ", "maybe ", "perhaps ", "apart ", "except ", "bar ")
_NOT_REALLY: Final = re.compile(r"(?:no )?not really §")
_IS_NO: Final = re.compile(r"§ (?:no|not)$")
_NO_MORE: Final = re.compile(r"^(?:no|not) more than ")
_OWN_AFTER: Final = re.compile(
    r"(?:and|so|but) (?:i|im|ive|id)(?!\S).*§|§ (?:when|where|that|on which) (?:i|im|ive|id)(?!\S)"
)
_NOT_EVERY: Final = re.compile(
    r"(?<!\S)(?:not|dont|didnt|isnt|wasnt|havent|doesnt|hasnt)(?: \w+){1,4} §"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """An expression among the clauses of an answer about an item."""

    item: Item
    clauses: tuple[Clause, ...]
    one: Found

    @property
    def clause(self) -> Clause:
        """The clause that it stands in."""
        return self.one.clause

    @property
    def former(self) -> Clause | None:
        """The clause before, where that says nothing of how often."""
        former = self.clauses[self.clause.number - 1] if self.clause.number else None
        if former is None or any(
            one.manner is not Manner.VAGUE and is_frequency(self.item, former, one)
            for one in former.expressions
        ):
            return None
        return former

    def forbids(self) -> Unclear | None:
        """Return why the expression may not be taken, `None` where it may."""
        return next(self._reasons(), None)

    def _reasons(self) -> Iterator[Unclear]:
        around, one = self.one.around, self.one
        told = self._told(around)
        is_none = one.days.high <= 1 and one.manner is not Manner.COUNTED
        if has(self.clause.spoken, "habit"):
            yield Unclear.COMPARISON
        # "How many hours? Five."
        if one.manner is Manner.NUMBER and self.former and _UNITS.search(self.former.spoken):
            yield Unclear.VAGUE
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
        if self._says_more_than_none(around) if is_none else self._is_doing(around, told):
            yield Unclear.VAGUE

    def _told(self, around: str) -> str:
        """Return the clause; one that only says how often goes on from the clause before."""
        former = self.former
        if former is None or former.stop == "?" or not self.clause.is_bare or has(around, "now"):
            return around
        if former.ends_sentence and self.one.manner is Manner.COUNTED:
            return around
        return f"{former.around()} {around}"

    def _is_negated(self, around: str) -> bool:
        if self._is_at_most(around):
            return False
        if around.startswith("no §") and self.one.days == NO_DAY:
            return False
        if (
            around.startswith("no §")
            and self.clause.number
            and self.clauses[self.clause.number - 1].expressions
        ):
            # "Twice, no, thrice" without the second pause.
            return False
        before = self.clause.spoken[: self.one.start - self.clause.start]
        if self.one.words == "once" and has(around.partition("§")[0], "not"):
            # "Haven't slept through once" is every night, "couldn't sleep once" is one.
            return True
        return has(without(around, "correction"), "negated") or (
            self.one.manner is not Manner.NUMBER and before.endswith("never ")
        )

    def _is_at_most(self, around: str) -> bool:
        """As in "not really, just the one Sunday", without the pause."""
        is_just = self.one.words.startswith(_JUST)
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
        if self.one.days == NO_DAY or _EXCEPTED.search(self.one.words):
            # Whoever comes in afterwards is only told of.
            return is_of_others(around.partition("§")[0])
        former = None if has(around, "first_person") else self.former
        if former is not None and former.ends_sentence:
            former = None
        if former is not None and is_of_others(former.around()):
            # "My brother, mind you, every night."
            return not self._is_noticed(former.around())
        if self._is_of_own_and_others(around):
            return False
        if former is not None:
            told = f"{former.around()} {around}"
        elif has(around, "own_turn"):
            told = around
        told = without(_ADDRESS.sub("", told), "no_person")
        person = wording("beside", "other_person").search(told)
        own = wording("beside", "first_person").search(told)
        if person is None or (own is not None and own.start() < person.start()):
            return False
        return not self._is_noticed(told)

    def _is_noticed(self, words: str) -> bool:
        """Whether others notice how the person moves, which is what is asked for."""
        return self.item is Item.MOVING and has(words, "noticed")

    def _is_of_own_and_others(self, around: str) -> bool:
        """Whether another person comes only after the frequency of the participant's trouble."""
        before, _, after = around.partition("§")
        if _OWN_AFTER.search(around):
            return True
        if has(before, "other_person"):
            return False
        if _TOGETHER.match(after):
            return True
        if _BY_OTHERS.match(after) or has(before, "not"):
            return True
        return symptom(self.item).search(signs(self.item, before)) is not None

    def _is_under_a_condition(self, around: str) -> bool:
        """Whether a condition makes fewer days of many; of counted ones it only tells which."""
        is_of_many = self.one.days.low > ALL.high // 2 - 1 or self.one.days.high <= 1
        is_share = is_of_many and self.one.manner is not Manner.COUNTED
        key = "condition" if is_share else "hypothetical"
        words = without(around, "no_condition")
        if has(words, "wish") or has(words, key):
            return True
        return any(
            not other.expressions
            and wording("beside", key).match(without(other.around(), "no_condition"))
            for other in self._beside_in_the_sentence()
        )

    def _beside_in_the_sentence(self) -> Iterator[Clause]:
        if not self.clause.ends_sentence and self.clause.number + 1 < len(self.clauses):
            yield self.clauses[self.clause.number + 1]
        if self.clause.number and not self.clauses[self.clause.number - 1].ends_sentence:
            yield self.clauses[self.clause.number - 1]

    def _may_deny_twice(self) -> bool:
        """Whether a "not on any day" goes on after a "haven't", which makes it every day."""
        former = self.former
        said = self.one.words
        if former is None or former.ends_sentence or not said.startswith("not"):
            return False
        return _BAD.search(signs(self.item, former.around())) is not None

    def _is_not_every(self, around: str) -> bool:
        """Whether "not good every day" may leave days, or "not one day" may be every day."""
        if self._is_at_most(around):
            return False
        if self.one.days.high == 1 and self.one.manner is Manner.COUNTED:
            return has(signs(self.item, around.partition("§")[0]), "not")
        return self.one.days.low == ALL.high and _NOT_EVERY.search(around) is not None

    def _is_of_well_days(self, around: str, *, is_none: bool) -> bool:
        is_counted = self.one.manner is Manner.COUNTED
        # "No more than one bad night" does not say that nights were not bad.
        counted = _NO_MORE.sub("", self.one.words)
        words = f"{counted} {around}" if is_counted else around
        is_of_the_others = self._denies(self.clause.number)
        before = self.clauses[self.clause.number - 1].around() if is_of_the_others else ""
        if self._is_label(around) or is_well_said(self.item, before):
            return False
        if _NOT_THEN.search(around) or self._denies(self.clause.number + 1):
            # "Four days I didn't."
            return True
        if self.one.words.startswith(("leaves", "leaving")):
            # "Slept well on ten nights, which leaves four."
            return False
        words = _OF_OTHERS_AFTER.sub("", words)
        if is_well_said(self.item, words) or (is_counted and _IS_NO.search(around)):
            return True
        former = self.former
        if former is None or not self.clause.is_bare:
            return False
        # "Ask me for the good nights: four", "I was fine, five days".
        goes_on = not is_none and former.stop != "." and not is_label(self.item, former.around())
        return has(former.around(), "counts_good") or (
            goes_on and is_well_said(self.item, former.around())
        )

    def _denies(self, number: int) -> bool:
        """Whether a clause denies of other days what the one before says, which is no trouble."""
        if not 0 < number < len(self.clauses):
            return False
        before = self.clauses[number - 1]
        is_denying = OTHERS_DENIED.fullmatch(self.clauses[number].around()) is not None
        is_bad = symptom(self.item).search(signs(self.item, before.around())) is not None
        return is_denying and bool(before.expressions) and not (is_bad or before.is_bare)

    def _is_label(self, around: str) -> bool:
        """Whether the clause only names the item around the expression: "concentrating was § "."""
        named = _LABEL.sub("", around)
        if self.item is Item.CONCENTRATING and self.one.days == NO_DAY:
            named = named.removesuffix(" §")
        return named != around and labels(self.item).fullmatch(named) is not None

    def _says_more_than_none(self, around: str) -> bool:
        """Whether a "never" has words beside it that may turn it round: "never sleep"."""
        rest = unknown(around, "filler", "no", "yes", "bad", "correction", "either")
        if has(around, "bad"):
            rest = names(self.item).sub("", rest)
        if self.item not in TWO_SIDED:
            rest = symptom(self.item).sub("", rest)
        return bool(rest.strip())

    def _is_doing(self, around: str, told: str) -> bool:
        """Whether it is said how often something is done that is no difficulty."""
        around = around.replace("¤", "some")
        is_of_events = _TIMES.search(self.one.words) is not None
        if has(around, "not") or symptom(self.item).search(around) or has(around, "excess"):
            return False
        is_own = has(around, "first_person") or names(self.item).search(around) is not None
        is_of_things = has(told, "other_thing") and not is_own
        is_of_events = is_of_events and not (
            self.clause.is_bare or has(self.clause.spoken, "in_all")
        )
        return is_of_events or is_of_things or has(around, "activity") or has(around, "neutral")
