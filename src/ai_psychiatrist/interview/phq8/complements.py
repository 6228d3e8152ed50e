"""Days that are not said outright: of two weeks apart, and those that the good ones leave."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.interview_items import Unclear
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.beside import is_well_said
from ai_psychiatrist.interview.phq8.clauses import NAMED, Clause, has, unknown
from ai_psychiatrist.interview.phq8.day_counts import ALL, EVERY_DAY, NO_DAY, Days
from ai_psychiatrist.interview.phq8.denials import is_trouble
from ai_psychiatrist.interview.phq8.expressions import Expression, Manner, week_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An expression, where it stands, and what forbids to take it."""

    one: Expression
    clause: int
    words: str
    unclear: Unclear | None

    @property
    def is_named(self) -> bool:
        """Whether it names days of the week."""
        return NAMED.search(self.words) is not None

    @property
    def may_say_something_else(self) -> bool:
        """Whether the words may be no frequency at all: "on Tuesday", "a lot"."""
        is_day = self.one.manner is Manner.LOOSE and self.is_named
        return is_day or self.one.manner is Manner.VAGUE


_UNKNOWN: Final = ALL
_WEEKS: Final = 2
_SINCE: Final = re.compile(r"(?<!\S)since$|^(?:since then|after that)(?!\S)")
_NOT_OPPOSED: Final = frozenset({Item.DEPRESSED, Item.FAILURE})
"""Who was not happy or proud on the other days need not have been low on them."""
_MAY_BE_YES: Final = re.compile(r"(?:fine|ok|okay|good|great|all right|alright)")


def days_of_weeks(asked: Item, clauses: Sequence[Clause], said: Sequence[Found]) -> Days:
    """Return the sum of what is said of the one week and of the other, or any days."""
    named = [one for one in said if one.one.week]
    weeks = {one.one.week: one.one.days for one in named}
    if len(named) == 1 and named[0].one.manner is Manner.COUNTED:
        # Who names the days of one week has named all.
        silent = {"other"} if named[0].is_named else _weeks_without(asked, clauses) - weeks.keys()
        weeks |= dict.fromkeys(silent, NO_DAY)
    is_known = all(
        one.unclear in {None, Unclear.OTHER_TIME} and weeks[one.one.week] == one.one.days
        for one in named
    )
    if not is_known or len(weeks) != _WEEKS:
        return _UNKNOWN
    first, second = weeks.values()
    total = Days(low=first.low + second.low, high=first.high + second.high)
    for other in said:
        days = other.one.days
        left = days.within(total)
        if other.unclear is None and days not in weeks.values() and left.low > left.high:
            return _UNKNOWN
    return total


def _weeks_without(asked: Item, clauses: Sequence[Clause]) -> set[str]:
    """Return the weeks that are said to have been well, without a count."""
    return {
        week
        for clause in clauses
        if not clause.expressions
        and (week := "since" if _SINCE.search(clause.spoken) else week_in(clause.spoken))
        and not is_trouble(asked, clause.spoken)
        and (is_well_said(asked, clause.spoken) or has(clause.spoken, "no"))
    }


def days_of_the_rest(asked: Item, clauses: Sequence[Clause], said: Found) -> Days:
    """Return the days that good ones leave, or any days where nothing says that the rest was bad.

    All were good, or only so many, or the others are called bad.
    """
    good, clause = said.one.days, clauses[said.clause]
    around, before = clause.around(), clauses[max(0, said.clause - 1)].around()
    if clause.is_bare and not _MAY_BE_YES.fullmatch(before):
        around = f"{before} {around}"
    is_all = good == EVERY_DAY and (is_well_said(asked, around) or has(around, "first_person"))
    is_only = has(around, "counts_good") or (
        asked not in _NOT_OPPOSED
        and said.one.manner is Manner.COUNTED
        and has(clause.spoken, "only_so_many")
    )
    if is_all or is_only or any(_is_rest_bad(asked, one) for one in clauses):
        return Days(low=ALL.high - good.high, high=ALL.high - good.low)
    return _UNKNOWN


def _is_rest_bad(asked: Item, clause: Clause) -> bool:
    words = clause.spoken
    if clause.expressions or not has(words, "otherwise") or is_well_said(asked, words):
        return False
    if any(has(words, key) for key in ("so_so", "no", "cannot_tell")):
        return False
    says_more = unknown(words, "otherwise", "filler", "no_otherwise")
    return is_trouble(asked, words) or bool(says_more)
