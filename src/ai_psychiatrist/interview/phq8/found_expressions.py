"""Expressions of frequency that are found in an answer, and which of them say how often."""

import re
from dataclasses import dataclass, replace
from typing import Final

from ai_psychiatrist.domain.interview_items import Unclear
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.clauses import NAMED, Clause, has, unknown
from ai_psychiatrist.interview.phq8.expressions import Expression, Manner
from ai_psychiatrist.interview.phq8.reading_words import symptom
from ai_psychiatrist.interview.phq8.readings import ALL, Days

_QUANTIFIER: Final = re.compile(
    r"(?:a few|few|several|half|most|a couple|a handful|all|every|none|no|zero|once|hardly|barely)"
)
"""Before another noun these count something else: "a few drinks"."""
_NOT_ONCE_ONLY: Final = re.compile(
    r" (?:i|im|ive|id|the|my|we|you|its|it|that|upon|again|they|he|she|a)(?!\S)"
)
_FORMERLY: Final = re.compile(
    r"(?<!\S)(?:i|he|she|we|they) § (?:had|was|did|knew|went|felt|took|got|heard|saw|read)(?!\S)"
)
_A_WEEK: Final = re.compile(
    r"(?:^|(?<!\S)(?:for|about|nearly|almost|maybe|yes|yeah|probably|roughly|like|lasted|was|is|its"
    r"|just|only|over|say|a|of|so|good|around|up|least|most|that|it) )§"
)
_EACH: Final = re.compile(r"(?:each|every|single) §")
_WHOLE: Final = re.compile(r"(?:the |all )?(?:whole|entire|full|fortnight)")
_INCLUDED: Final = re.compile(r"(?<!\S)includ(?:es|ed|ing)(?: the| those| these)? §")
_DUTY: Final = re.compile(
    r" (?:duty|duties|shifts?|class|classes|lessons?|lectures?|meetings?|service|feeds?|walk|run)\b"
)
"""With these a day is no day: "after every night duty"."""
ANY: Final = ("any ", "on any ")
_OTHERS: Final = re.compile(r"(?:(?:all )?(?:the|my) )?(?:other|remaining) ")
_FRAME: Final = re.compile(r"(?:in|over|during|of|across) §")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found(Expression):
    """An expression that says how often, the clause it stands in, and what forbids to take it."""

    clause: Clause
    unclear: Unclear | None = None

    @property
    def words(self) -> str:
        """The words of it as they are spoken."""
        return self.clause.words_of(self)

    @property
    def around(self) -> str:
        """The clause with a sign in its place."""
        return self.clause.around(self)

    @property
    def is_counted(self) -> bool:
        """Whether it counts or names days."""
        return self.manner is Manner.COUNTED

    @property
    def is_number(self) -> bool:
        """Whether it counts days or is a number that may count them."""
        return self.manner in {Manner.COUNTED, Manner.NUMBER}

    @property
    def is_vague(self) -> bool:
        """Whether it leaves any score open."""
        return self.manner is Manner.VAGUE

    @property
    def is_good(self) -> bool:
        """Whether it counts days without the difficulty."""
        return self.unclear is Unclear.GOOD_DAYS

    @property
    def is_named(self) -> bool:
        """Whether it names days of the week."""
        return NAMED.search(self.words) is not None

    @property
    def is_rest(self) -> bool:
        """Whether it counts the other days."""
        return _OTHERS.match(self.words) is not None

    @property
    def may_say_something_else(self) -> bool:
        """Whether the words may be no frequency at all: "on Tuesday", "a lot"."""
        is_day = self.manner is Manner.LOOSE and self.is_named
        return is_day or self.is_vague

    def with_days(self, days: Days) -> "Found":
        """Return it as a free count of other days than it says."""
        return replace(self, days=days, manner=Manner.COUNTED, unclear=None)


def is_frequency(item: Item, clause: Clause, one: Expression) -> bool:
    """Return whether an expression says how often, and not something else that is worded so."""
    around, said = clause.around(one), clause.words_of(one)
    after = clause.spoken[one.end - clause.start :]
    is_rare = one.days.high <= 1
    if one.manner is Manner.NUMBER:
        if around == "at §":
            # An hour of the clock.
            return False
        known = ["number_filler", "cannot_tell", "correction"]
        if len(clause.expressions) == 1:
            # "Good on four, bad on the rest."
            known += ["well", "bad"]
            around = symptom(item).sub("", around)
        return one.days.high <= ALL.high and not unknown(around, *known)
    is_other = (
        _is_asked(clause, around)
        # "In the whole two weeks".
        or (_WHOLE.match(said) and _FRAME.search(around))
        or (is_rare and (_EACH.search(around) or has(clause.spoken, "no_otherwise")))
        # "Once I had", "I once knew", "all of them were kind", "a few drinks".
        or (said == "once" and (_FORMERLY.search(around) or _NOT_ONCE_ONLY.match(after)))
        or (said in {"a week", "one week"} and not _A_WEEK.search(around))
        or (said in {"all of them", "all of it"} and bool(unknown(around, "filler", "yes", "bad")))
        or (_QUANTIFIER.fullmatch(said) and not _may_stand_after_a_quantifier(after))
        # "Never mind", "that includes the weekends", "never more than", "after every night duty".
        or after.startswith(" mind")
        or _INCLUDED.search(around)
        or (is_rare and after.startswith(" more than"))
        or _DUTY.match(after)
        # "Any day now", which denies nothing.
        or (said.startswith(ANY) and not has(around.partition("§")[0], "not"))
    )
    return not is_other


def _is_asked(clause: Clause, around: str) -> bool:
    if clause.stop != "?":
        return False
    return has(around, "asks") or (has(around, "question") and not clause.is_bare)


def _may_stand_after_a_quantifier(after: str) -> bool:
    word = next(iter(after.split()), "")
    return word not in {"a", "an", "of"} and not unknown(word, "filler", "yes", "correction")
