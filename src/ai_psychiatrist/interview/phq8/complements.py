"""Days that are not said outright.

Those of two weeks apart, those that the good ones leave, and those that a denial turns round.
"""

import re
from collections.abc import Sequence
from functools import partial
from typing import Final

from ai_psychiatrist.domain.interview_items import Unclear
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.beside import OTHERS_DENIED
from ai_psychiatrist.interview.phq8.clauses import Clause, has, unknown
from ai_psychiatrist.interview.phq8.denials import is_no, is_trouble, is_well_said, signs
from ai_psychiatrist.interview.phq8.expressions import Manner, week_in
from ai_psychiatrist.interview.phq8.found_expressions import ANY, Found
from ai_psychiatrist.interview.phq8.reading_words import symptom
from ai_psychiatrist.interview.phq8.readings import ALL, EVERY_DAY, NO_DAY, Days

_ALL_BUT: Final = re.compile(
    r"(?:all|every \w+|each \w+)(?: of \w+| days| nights)? (?:but|except|bar)"
)
_MAY_BE_BAD: Final = frozenset({None, Unclear.NEGATED})
"""Days that stand beside good ones may be denied: "five I didn't"."""
_PARTS_OF_ALL: Final = 2
_UNKNOWN: Final = ALL
_WEEKS: Final = 2
_SINCE: Final = re.compile(r"(?<!\S)since$|^(?:since then|after that)(?!\S)")
_NOT_OPPOSED: Final = frozenset({Item.DEPRESSED, Item.FAILURE})
"""Who was not happy or proud on the other days need not have been low on them."""
_NOT_SO_THAT_WEEK: Final = re.compile(r"^not (?:in|on|during) | not$")
_MAY_BE_YES: Final = re.compile(r"(?:fine|ok|okay|good|great|all right|alright)")
_DID_I: Final = re.compile(r" (?:did|have|was|had) i ")
_SINGLE: Final = ("a single ", "one single ", "even one ", "for one ")
_TOLD: Final = re.compile(
    r" (?:(?:in|over|for|during|of|these|those|the|this|last|past|two|weeks|fortnight) )*"
    r"(?:that|which|when|where)(?= (?:i|my|it|we)\b)"
)
_NO_SUCH_DAY: Final = re.compile(r"(?:day|night|morning|evening|afternoon)s?$")
_WHEN: Final = re.compile(r" (?:that|which|when|where|on|did|in|i|im|my|it|was|were|any)(?!\S)")
_COULD: Final = re.compile(r" (?:when |that )?i (?:could|managed)$")
_EXCEPT: Final = re.compile(
    r"(?:except|except for|apart from|bar|save|save for|other than|but)(?: on| for)* $"
)
_FINE: Final = re.compile(r"(?<!\S)fine(?!\S)")


def days_of_weeks(asked: Item, clauses: Sequence[Clause], said: Sequence[Found]) -> Days:
    """Return the sum of what is said of the one week and of the other, or any days."""
    named = [one for one in said if one.week]
    weeks = {one.week: one.days for one in named}
    if len(named) == 1 and named[0].days.low == named[0].days.high:
        # Who names the days of one week has named all.
        silent = {"other"} if named[0].is_named else _weeks_without(asked, clauses) - weeks.keys()
        weeks |= dict.fromkeys(silent, NO_DAY)
    is_told_else = any(
        one.unclear is not None
        and not one.week
        and not one.is_vague
        and not is_well_said(asked, one.clause.spoken)
        for one in said
    )
    is_known = not is_told_else and all(weeks[one.week] == one.days for one in named)
    if not is_known or len(weeks) != _WEEKS:
        return _UNKNOWN
    first, second = weeks.values()
    total = first.plus(second)
    is_more_told = any(
        not one.week and one.unclear is None and not one.days.meets(total) for one in said
    )
    return _UNKNOWN if is_more_told else total


def _weeks_without(asked: Item, clauses: Sequence[Clause]) -> set[str]:
    """Return the weeks that are said to have been well, without a count."""
    return {
        week
        for clause in clauses
        if (not clause.expressions or is_well_said(asked, clause.spoken))
        and (week := "since" if _SINCE.search(clause.spoken) else week_in(clause.spoken))
        and (
            is_well_said(asked, clause.spoken)
            or has(clause.spoken, "no")
            or _NOT_SO_THAT_WEEK.search(clause.spoken)
        )
    }


def days_of_the_rest(asked: Item, clauses: Sequence[Clause], said: Found) -> Days:
    """Return the days that good ones leave, or any days where nothing says that the rest was bad.

    All were good, or only so many, or the others are called bad.
    """
    good, clause = said.days, said.clause
    around, before = clause.around(), clauses[max(0, clause.number - 1)].around()
    if clause.is_bare and not _MAY_BE_YES.fullmatch(before):
        around = f"{before} {around}"
    is_all = good == EVERY_DAY and (is_well_said(asked, around) or has(around, "first_person"))
    is_only = has(around, "counts_good") or (
        asked not in _NOT_OPPOSED and good.low == good.high and has(clause.spoken, "only_so_many")
    )
    is_denied = is_well_said(asked, around) and any(
        OTHERS_DENIED.fullmatch(one.spoken) for one in clauses
    )
    following = (*clauses[1:], None)
    is_bad = any(map(partial(_is_rest_bad, asked), clauses, following))
    if is_all or is_only or is_denied or is_bad:
        return good.rest
    return _UNKNOWN


def _is_rest_bad(asked: Item, clause: Clause, following: Clause | None) -> bool:
    words = clause.spoken
    if following and has(words, "otherwise") and not unknown(words, "otherwise", "filler"):
        # "Six days were fine. The rest, no."
        if is_no(following.spoken):
            return True
        clause, words = following, f"{words} {following.spoken}"
    is_counted = any(one.manner is not Manner.NUMBER for one in clause.expressions)
    if is_counted or not has(words, "otherwise") or is_well_said(asked, words):
        return False
    if is_trouble(asked, words):
        return True
    if any(has(words, key) for key in ("so_so", "no", "cannot_tell")):
        return False
    says_more = unknown(words, "otherwise", "filler", "no_otherwise")
    return bool(says_more)


def with_bad_days_for_good(found: Sequence[Found]) -> list[Found]:
    """Return the bad days alone where good ones are counted beside them, or all but so many."""
    good = [one for one in found if one.is_good]
    others = [one for one in found if not one.is_good and not one.is_vague]
    if len(good) != 1 or good[0].days.low != good[0].days.high:
        return list(found)
    bad = good[0].days.rest
    if not others and _ALL_BUT.match(good[0].words):
        # "I was fine for all but three days."
        return [good[0].with_days(bad)]
    is_told = [one.days == bad and one.unclear in _MAY_BE_BAD for one in others]
    if not any(is_told):
        return list(found)
    # "Nine nights I slept, five I didn't."
    return [
        one.with_days(bad) if is_bad else one for one, is_bad in zip(others, is_told, strict=True)
    ]


def bad_days_of_all(asked: Item, said: list[Found]) -> list[Found]:
    """Return the bad days alone where two counts, of good and of bad days, make up all days."""
    counts = [one.days.low for one in said]
    if len(counts) != _PARTS_OF_ALL or sum(counts) != ALL.high or 0 in counts:
        return said
    bad = [one for one in said if one.is_counted and not is_well_said(asked, one.clause.around())]
    if len(bad) == _PARTS_OF_ALL:
        bad = [one for one in bad if is_trouble(asked, one.clause.around())]
    return bad if len(bad) == 1 else said


def in_both_weeks(clauses: Sequence[Clause], said: list[Found]) -> list[Found]:
    """Return named days as those of both weeks, where that is said: "Tuesday, both weeks"."""
    if not any(has(clause.spoken, "both_weeks") for clause in clauses):
        return said
    return [
        one.with_days(Days(low=one.days.high, high=one.days.high))
        if one.is_named and one.is_counted
        else one
        for one in said
    ]


def turned_days(item: Item, one: Found) -> Days | None:
    """Return the days of an expression that other words turn round, `None` where none do.

    "Not one day that was good" is every day, "no day that was bad" is none, and "nothing pleased me
    except two days" all but two.
    """
    before, _, after = one.around.partition("§")
    words = one.words
    if one.days == NO_DAY and _DID_I.match(after) and is_well_said(item, after):
        # "Not once did I feel like doing anything."
        return EVERY_DAY
    if has(before, "not") and words.startswith(_SINGLE) and (told := _TOLD.match(after)):
        # "There hasn't been a single night that I slept through."
        return EVERY_DAY if is_well_said(item, after[told.end() :]) else NO_DAY
    if one.days == NO_DAY and _NO_SUCH_DAY.search(words) and _WHEN.match(after):
        return _days_of_no_such_day(item, after)
    if _EXCEPT.search(before) and is_well_said(item, _EXCEPT.sub("", before)):
        # "Slept fine apart from two nights."
        return one.days if one.manner in {Manner.COUNTED, Manner.NUMBER} else None
    return _days_after_a_denial(item, before, one) if has(before, "not") else None


def _days_of_no_such_day(item: Item, after: str) -> Days | None:
    """Return every day for "no evening when I could read", none for "no evening I was down"."""
    if is_well_said(item, after) or _COULD.match(after):
        return EVERY_DAY
    return NO_DAY if symptom(item).search(signs(item, after)) else None


def _days_after_a_denial(item: Item, before: str, one: Found) -> Days | None:
    words, said = one.words, signs(item, before)
    is_bad = symptom(item).search(said) is not None
    is_fine = _FINE.search(said) is not None
    is_not_even = one.days == NO_DAY and words.startswith("not ") and is_fine
    is_not_once = words == "once" and (is_fine or not unknown(before, "not", "filler"))
    if is_not_even or is_not_once:
        # "I wasn't down, not even one day", "never once".
        return NO_DAY
    is_none = is_fine or is_no(before)
    if words.startswith((*ANY, *_SINGLE)):
        # "Couldn't concentrate any day", "wasn't tired a single day".
        return EVERY_DAY if is_bad else (NO_DAY if is_none else None)
    if one.manner is not Manner.COUNTED or not _EXCEPT.search(before):
        return None
    if is_bad:
        # "Couldn't eat except on three days."
        return one.days.rest
    return one.days if is_none else None
