"""What the expressions of frequency in an answer come to for each item."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from ai_psychiatrist.domain.interview_items import AnswerQuote, Unclear
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.beside import Beside, is_frequency, is_well_said, turned
from ai_psychiatrist.interview.phq8.clauses import (
    THIS,
    Clause,
    clauses_of,
    has,
    pauses,
    unknown,
    without,
)
from ai_psychiatrist.interview.phq8.complements import (
    Found,
    days_of_the_rest,
    days_of_weeks,
)
from ai_psychiatrist.interview.phq8.day_counts import ALL, Days
from ai_psychiatrist.interview.phq8.denials import is_denial, is_no, is_trouble
from ai_psychiatrist.interview.phq8.expressions import Expression, Manner
from ai_psychiatrist.interview.phq8.reading_words import names, own_symptom, symptom
from ai_psychiatrist.interview.phq8.readings import AnswerReading, ReadingKind
from ai_psychiatrist.interview.phq8.spoken_answer import SpokenAnswer

_NOTHING: Final = AnswerReading(kind=ReadingKind.NONE)
_MOST_FOUND: Final = 3
_MOST_EXPRESSIONS: Final = 24
"""Whoever says more of them says several things; each is looked at with its whole clause."""
_LAST_OPTION: Final = 4
_DROPPED: Final = frozenset(
    {Unclear.NEGATED, Unclear.OTHER_TIME, Unclear.OTHER_PERSON, Unclear.GOOD_DAYS}
)
"""Beside another expression they leave that as it is."""


class AnswerTaken:
    """An answer taken apart into clauses and expressions."""

    def __init__(self, asked: Item, answer: SpokenAnswer) -> None:
        self._asked = asked
        self._answer = answer
        self._clauses = clauses_of(answer.spoken)
        self._items: list[frozenset[Item]] = []
        for clause in self._clauses:
            self._items.append(self._items_of(clause))
        count = sum(len(clause.expressions) for clause in self._clauses)
        self._is_only_one = count == 1
        self.is_too_much = count > _MOST_EXPRESSIONS
        self._found = () if self.is_too_much else tuple(self._frequencies())

    def _frequencies(self) -> Iterator[Found]:
        is_scale = any(has(clause.around(), "scale") for clause in self._clauses)
        for number, clause in enumerate(self._clauses):
            for one in clause.expressions:
                if is_scale and one.manner is Manner.NUMBER:
                    continue
                if is_frequency(clause, one):
                    beside = Beside(item=self._asked, clauses=self._clauses, number=number, one=one)
                    days = turned(self._asked, clause, one)
                    yield Found(
                        one=one if days is None else replace(one, days=days),
                        clause=number,
                        words=clause.words_of(one),
                        unclear=beside.forbids() if days is None else None,
                    )

    def _items_of(self, clause: Clause) -> frozenset[Item]:
        """Return which items a clause speaks of; one that only says how often goes on."""
        around = clause.around()
        named = self._named_in(around)
        if len(named) > 1 and clause.expressions:
            beside = next(part for part in around.split(" and ") if THIS in part)
            named = self._named_in(beside) or named
        number = len(self._items)
        goes_on = clause.is_bare or clause.spoken.startswith(("that ", "this ", "it "))
        if not named and number and goes_on and not self._clauses[number - 1].expressions:
            return self._items[number - 1]
        return named or frozenset({self._asked})

    def _named_in(self, words: str) -> frozenset[Item]:
        named = {item for item in Item if names(item).search(words)}
        is_asked = own_symptom(self._asked).search(words) is not None
        return frozenset(named | ({self._asked} if is_asked else set()))

    @property
    def has_frequency(self) -> bool:
        """Whether it says of anything how often it was."""
        return bool(self._found)

    @property
    def items(self) -> tuple[Item, ...]:
        """The item that was asked about, and those that frequencies are said of."""
        of_others = {item for one in self._found for item in self._items[one.clause]}
        return (self._asked, *(item for item in Item if item in of_others - {self._asked}))

    def reading(self, item: Item) -> AnswerReading:
        """Return what is said of an item."""
        found = [
            one
            for one in self._found
            if item in self._items[one.clause]
            and (one.unclear is None or not one.may_say_something_else)
        ]
        if not found:
            return self._without_frequency() if item is self._asked else _NOTHING
        if any(has(_compared(clause), "comparison") for clause in self._clauses):
            return self._unclear(Unclear.COMPARISON, found)
        reasons = [one.unclear for one in found if one.unclear is not None]
        forbidding = [reason for reason in reasons if reason not in _DROPPED]
        if forbidding:
            return self._unclear(forbidding[0], found)
        said = self._after_last_correction(found)
        if any(one.one.week for one in said):
            return self._of_weeks(said)
        stating = _stating(said)
        if not stating:
            return self._of_well_days(said)
        return self._settled(item, said, stating, is_corrected=len(said) < len(found))

    def _settled(
        self, item: Item, said: list[Found], stating: list[Found], *, is_corrected: bool
    ) -> AnswerReading:
        days = self._left_open(stating)
        score = _score_of(days, stating)
        first = stating[0].one
        if score is None:
            is_two = days.low > days.high and len(stating) > 1
            return self._unclear(Unclear.TWO_VALUES if is_two else Unclear.RANGE, said)
        reason = next(self._reasons(score, said, stating, is_corrected=is_corrected), None)
        if reason is not None:
            return self._unclear(reason, said)
        if len(self._found) == 1 and self._is_option(first):
            return replace(self._unclear(Unclear.OPTION_NUMBER, said), score=score)
        is_anchor = first.is_anchor and self._is_only_one and self._says_no_more(item)
        return self._read(score, stating, ReadingKind.ANCHOR if is_anchor else ReadingKind.READ)

    def _reasons(
        self, score: int, said: list[Found], stating: list[Found], *, is_corrected: bool
    ) -> Iterator[Unclear]:
        """Yield why one score is not enough."""
        is_now_and_then_so = sum("sometimes" in one.words for one in said) > 1
        since = self._clauses[said[0].clause if is_corrected else 0 :]
        if is_now_and_then_so or any(has(one.around(), "open_ended") for one in since):
            yield Unclear.RANGE
        is_counted = any(one.one.manner is Manner.COUNTED or one.is_named for one in stating)
        if not is_counted and any(self._is_well_elsewhere(clause) for clause in self._clauses):
            yield Unclear.CONDITION
        well = {one.one.days for one in said if one.unclear is Unclear.GOOD_DAYS}
        counted_well = [
            one.one.days
            for one in said
            if one.unclear is Unclear.GOOD_DAYS and one.one.manner is Manner.COUNTED
        ]
        if any(days.low + stating[0].one.days.low > ALL.high for days in counted_well):
            yield Unclear.TWO_VALUES
        if stating[0].one.days in well:
            # "Some days good, some days bad."
            yield Unclear.GOOD_DAYS
        if not is_counted and any(one.unclear is Unclear.NEGATED and one.is_named for one in said):
            # "Nearly every day, not at weekends."
            yield Unclear.NEGATED
        if well and all(one.one.manner is Manner.NUMBER for one in stating):
            yield Unclear.GOOD_DAYS
        if self._is_in_doubt(said, is_corrected=is_corrected):
            yield Unclear.VAGUE
        is_few = any(
            one.one.manner is Manner.VAGUE and one.one.days.high < stating[0].one.days.low
            for one in said
        )
        if is_few or self._is_taken_back(said, stating):
            yield Unclear.TWO_VALUES
        if self._contradicts(score, stating, is_corrected=is_corrected):
            yield Unclear.TWO_VALUES

    def _is_well_elsewhere(self, clause: Clause) -> bool:
        around = clause.around()
        is_other = not clause.expressions and has(around, "elsewhere")
        return is_other and (is_well_said(self._asked, around) or is_denial(self._asked, around))

    def _left_open(self, stating: list[Found]) -> Days:
        """Return the days that all expressions leave, or either where an "or" stands between."""
        days = stating[0].one.days
        for before, one in pairwise(stating):
            said = " ".join(pauses(self._between(before, one)))
            is_either = has(said, "either") and not unknown(said, "either", "filler")
            days = days.or_else(one.one.days) if is_either else days.within(one.one.days)
        return days

    def _after_last_correction(self, found: list[Found]) -> list[Found]:
        """Return what was said since something was last taken back."""
        last = found[-1]
        is_count = last.unclear is None and last.one.manner in {Manner.COUNTED, Manner.NUMBER}
        if is_count and has(self._clauses[last.clause].spoken, "in_all"):
            return [last]
        for at in range(len(found) - 1, 0, -1):
            between = self._between(found[at - 1], found[at])
            is_stated = found[at].one.manner not in {Manner.VAGUE, Manner.LOOSE}
            if is_stated and (has(between, "correction") or any(map(is_no, pauses(between)))):
                return found[at:]
        return found

    def _between(self, before: Found, one: Found) -> str:
        return self._answer.spoken[before.one.end : one.one.start]

    def _is_taken_back(self, said: list[Found], stating: list[Found]) -> bool:
        """Whether words at the end take back what was said, or put something in its place."""
        end = stating[-1].one.end
        after = self._answer.spoken[end:]
        is_more_said = any(
            one.one.start > end and one.one.manner is not Manner.LOOSE for one in said
        )
        return has(after if is_more_said else without(after, "weak"), "correction")

    def _is_in_doubt(self, said: list[Found], *, is_corrected: bool) -> bool:
        """Whether it is not meant, or the person cannot tell and wavers."""
        if any(has(clause.around(), "doubt") for clause in self._clauses):
            return True
        unsure = [at for at, one in enumerate(self._clauses) if has(one.spoken, "cannot_tell")]
        return bool(unsure) and (
            is_corrected
            or any(one.unclear is Unclear.NEGATED for one in said)
            or any(
                self._clauses[one.clause].stop == "?" and one.clause < unsure[-1] for one in said
            )
            or any(
                one.one.manner is Manner.VAGUE and not has(one.words, "cannot_tell") for one in said
            )
        )

    def _contradicts(self, score: int, stating: list[Found], *, is_corrected: bool) -> bool:
        """Whether other words say that there was nothing, or that there was something."""
        start = stating[0].one.start
        others = [
            clause.around()
            for number, clause in enumerate(self._clauses)
            if not clause.expressions
            and not self._is_no_to_another(number)
            and not has(self._answer.spoken[clause.end : max(clause.end, start)], "correction")
            and not (clause.end < start and is_corrected)
            and not (clause.start > start and self._is_after_that(clause, stating))
        ]
        if score:
            is_denied = any(
                is_denial(self._asked, around) and not has(around, "otherwise") for around in others
            )
            is_at_most = any(has(one.spoken, "at_most") for one in self._clauses)
            return is_denied and (score > 1 or not is_at_most)
        if any(one.one.manner is Manner.COUNTED for one in stating):
            return False
        is_habit = any(
            one.one.manner is Manner.LOOSE and one.one.days.low > 1 for one in self._found
        )
        return is_habit or any(
            self._is_own_trouble(around) or has(around, "yes") for around in others
        )

    def _is_no_to_another(self, number: int) -> bool:
        """Whether a "no" begins what is said of another item."""
        following = self._items[number + 1 : number + 2]
        is_of_another = any(self._asked not in items for items in following)
        return is_of_another and is_no(self._clauses[number].around())

    def _is_after_that(self, clause: Clause, stating: list[Found]) -> bool:
        """Whether the counted days were over by then."""
        first = stating[0].one
        is_over = first.manner is not Manner.LOOSE and first.days.low < ALL.high
        return is_over and (
            has(clause.around(), "after_that")
            or self._answer.spoken[: clause.start].rstrip().endswith("then")
        )

    def _is_own_trouble(self, around: str) -> bool:
        is_label = own_symptom(self._asked).fullmatch(around) is not None
        is_others = has(around, "other_person") and not has(around, "first_person")
        return is_trouble(self._asked, around) and not is_label and not is_others

    def _of_weeks(self, said: list[Found]) -> AnswerReading:
        score = days_of_weeks(self._asked, self._clauses, said).score
        return self._unclear(Unclear.OTHER_TIME, said) if score is None else self._read(score, said)

    def _of_well_days(self, said: list[Found]) -> AnswerReading:
        reason = next((one.unclear for one in said if one.unclear is not None), Unclear.VAGUE)
        if len(said) > 1 or reason is not Unclear.GOOD_DAYS:
            return self._unclear(reason, said)
        score = days_of_the_rest(self._asked, self._clauses, said[0]).score
        return self._unclear(reason, said) if score is None else self._read(score, said)

    def _is_option(self, one: Expression) -> bool:
        is_alone = " " not in self._answer.spoken[one.start : one.end]
        is_bare = not any(unknown(clause.around(), "number_filler") for clause in self._clauses)
        is_offered = 1 <= one.days.low == one.days.high <= _LAST_OPTION
        return one.manner is Manner.NUMBER and is_alone and is_bare and is_offered

    def _says_no_more(self, item: Item) -> bool:
        known = ("filler", "yes", "no", "bad")
        return not any(
            symptom(item).sub("", unknown(clause.around(), *known)).strip()
            for clause in self._clauses
        )

    def _without_frequency(self) -> AnswerReading:
        clauses = [(at, one) for at, one in enumerate(self._clauses) if one.stop != "?"]
        for at, clause in clauses:
            if has(_compared(clause), "comparison") or has(clause.spoken, "habit"):
                return self._unclear(Unclear.COMPARISON, (), at)
            if has(without(clause.around(), "no_condition"), "only_under"):
                return self._unclear(Unclear.CONDITION, (), at)
        said = [(at, clause.around()) for at, clause in clauses]
        denied = [at for at, around in said if is_denial(self._asked, around)]
        there = [
            at
            for at, around in said
            if is_trouble(self._asked, around) or (has(around, "yes") and at not in denied)
        ]
        if not denied and not there:
            return _NOTHING
        is_open = any(around.startswith("or ") for _, around in said)
        if there or is_open:
            return self._unclear(Unclear.VAGUE, (), (there or denied)[0])
        return AnswerReading(
            kind=ReadingKind.READ, score=0, quote=self._quote(denied[0], denied[0])
        )

    def _read(
        self, score: int, said: list[Found], kind: ReadingKind = ReadingKind.READ
    ) -> AnswerReading:
        quote = self._quote(said[0].clause, said[-1].clause)
        return AnswerReading(kind=kind, score=score, quote=quote)

    def _unclear(
        self, reason: Unclear, found: Sequence[Found], clause: int | None = None
    ) -> AnswerReading:
        places = [one.clause for one in found if one.unclear is reason]
        places += [one.clause for one in found] if clause is None else [clause]
        return AnswerReading(
            kind=ReadingKind.UNCLEAR,
            unclear=reason,
            quote=self._quote(places[0], places[0]),
            found=tuple(
                self._answer.quote(one.one.start, one.one.end) for one in found[:_MOST_FOUND]
            ),
        )

    def _quote(self, first: int, last: int) -> AnswerQuote:
        return self._answer.quote(self._clauses[first].start, self._clauses[last].end)


def _compared(clause: Clause) -> str:
    return without(clause.around(), "no_comparison")


def _stating(said: list[Found]) -> list[Found]:
    """Return the expressions that count: a count goes before a habit, "always" or "sometimes"."""
    allowed = [one for one in said if one.unclear is None]
    for manners in ({Manner.COUNTED, Manner.SHARE, Manner.NUMBER}, {Manner.LOOSE}):
        stating = [one for one in allowed if one.one.manner in manners]
        if stating:
            return stating
    return []


def _score_of(days: Days, stating: list[Found]) -> int | None:
    """Return the score of what is left open, or the one of all; two counts are no one score."""
    counts = {one.one.days for one in stating if one.one.manner is Manner.COUNTED}
    scores = {one.one.days.score for one in stating}
    if days.score is not None or len(counts) > 1 or len(scores) > 1:
        return days.score
    return scores.pop()
