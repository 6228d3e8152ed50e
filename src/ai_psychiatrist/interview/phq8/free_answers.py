"""Read a free answer to a question that counts days, without a model.

Expressions of frequency are found. The words around them are passed over, unless they forbid to
take the expression for how often the difficulty was there.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from ai_psychiatrist.domain.interview_items import Unclear
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.answer_parts import (
    AnswerParts,
    of_the_difficulty,
    since_last_correction,
    stating,
)
from ai_psychiatrist.interview.phq8.clauses import Clause, has, pauses, unknown, without
from ai_psychiatrist.interview.phq8.complements import (
    bad_days_of_all,
    days_of_the_rest,
    days_of_weeks,
    in_both_weeks,
    with_bad_days_for_good,
)
from ai_psychiatrist.interview.phq8.denials import (
    is_denial,
    is_of_another_time,
    is_of_others,
    is_trouble,
    is_well_alone,
    is_well_said,
)
from ai_psychiatrist.interview.phq8.expressions import Manner
from ai_psychiatrist.interview.phq8.found_expressions import Found
from ai_psychiatrist.interview.phq8.objections import ScoreInQuestion
from ai_psychiatrist.interview.phq8.reading_words import symptom
from ai_psychiatrist.interview.phq8.readings import EVERY_DAY, AnswerReading, Days, ReadingKind
from ai_psychiatrist.interview.phq8.replies import MOST_CHARACTERS, is_refusal
from ai_psychiatrist.interview.phq8.spoken_answer import spoken_answer
from ai_psychiatrist.services.language.concepts import is_instruction

__all__ = ["AnswerReading", "ReadingKind", "Unclear", "read_answer", "readings_by_item"]
_UNREADABLE: Final = AnswerReading(kind=ReadingKind.UNREADABLE)
_NOTHING: Final = AnswerReading(kind=ReadingKind.NONE)
_MOST_FOUND: Final = 3
_LAST_OPTION: Final = 4
_PASSED_OVER: Final = frozenset(
    {Unclear.NEGATED, Unclear.OTHER_TIME, Unclear.OTHER_PERSON, Unclear.GOOD_DAYS}
)
"""Beside another expression they leave that as it is."""
_ELSEWHERE: Final = frozenset({Unclear.OTHER_TIME, Unclear.OTHER_PERSON})
_SURE: Final = frozenset({Manner.COUNTED, Manner.SHARE, Manner.NUMBER})
_OPEN: Final = frozenset({Unclear.GOOD_DAYS, Unclear.NEGATED, Unclear.RANGE})
"""With these no score is likelier than another."""
_CONCLUDES: Final = re.compile(
    r"(?<!\S)so(?!\S)|(?<!\S)(?:i think|i guess|i suppose|i reckon|id say|id put)(?!\S)"
)
"""Beside one of the four answers at the end: "as often as anybody, so several days"."""
_FURTHER: Final = re.compile(r"(?<!\S)(?:plus|(?:a|on a|an) (?:further|extra)|another)(?: on)? $")


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


class Settlement:
    """What an answer comes to for one item."""

    def __init__(self, parts: AnswerParts, item: Item) -> None:
        self._parts = parts
        self._item = item
        self._asked = parts.asked
        self._clauses = parts.clauses

    def reading(self) -> AnswerReading:
        """Return what is said of the item."""
        found = [
            one
            for one in self._parts.found
            if self._item in self._parts.items_of(one.clause)
            and (one.unclear is None or not one.may_say_something_else)
        ]
        if not found:
            return self._without_frequency() if self._item is self._asked else _NOTHING
        if self._is_compared(found):
            return self._unclear(Unclear.COMPARISON, found)
        found = of_the_difficulty(self._parts, found)
        reasons = [one.unclear for one in found if one.unclear is not None]
        forbidding = [reason for reason in reasons if reason not in _PASSED_OVER]
        if forbidding:
            return self._unclear(forbidding[0], found)
        said = since_last_correction(self._parts, with_bad_days_for_good(found))
        if any(one.week for one in said):
            days = days_of_weeks(self._asked, self._clauses, said)
            return self._complement(days, Unclear.OTHER_TIME, said)
        if not stating(said):
            return self._without_own(said)
        return self._settled(said, is_corrected=len(said) < len(found))

    def _is_compared(self, found: Sequence[Found]) -> bool:
        """Whether a comparison says how it is, and no frequency beside it."""
        answering = {
            one.clause.number
            for one in found
            if one.unclear is None and one.is_counted and self._parts.is_answer(one)
        }
        return any(
            has(without(words, "relative") if answering - {number} else words, "comparison")
            for number, words in enumerate(map(self._compared, self._clauses))
        )

    def _compared(self, clause: Clause) -> str:
        """Return the words that may compare; "as keen as ever" denies the difficulty."""
        words = without(clause.around(), "no_comparison")
        return without(words, "as_ever") if is_well_said(self._asked, words) else words

    def _settled(self, said: Sequence[Found], *, is_corrected: bool) -> AnswerReading:
        states = bad_days_of_all(self._asked, stating(said))
        states = in_both_weeks(self._clauses, states)
        days = self._days_left_open(states)
        score = _score_of(days, states)
        if score is None:
            is_two = days.low > days.high and len(states) > 1
            return self._unclear(Unclear.TWO_VALUES if is_two else Unclear.RANGE, said)
        in_question = ScoreInQuestion(
            score=score, parts=self._parts, said=said, states=states, is_corrected=is_corrected
        )
        objection = in_question.objection()
        if objection is not None:
            return self._unclear(objection, said)
        if self._is_option(states[0]):
            return replace(self._unclear(Unclear.OPTION_NUMBER, said), score=score)
        is_anchor = states[0].is_anchor and self._parts.has_one_expression
        kind = ReadingKind.ANCHOR if is_anchor and self._says_no_more() else ReadingKind.READ
        return self._read(score, states[0].clause, states[-1].clause, kind)

    def _days_left_open(self, states: Sequence[Found]) -> Days:
        """Return the days that all expressions leave, or either where an "or" stands between."""
        days = states[0].days
        for before, one in pairwise(states):
            between = self._parts.between(before, one)
            said = " ".join(pauses(between))
            if _FURTHER.search(between) and _is_exact(before) and _is_exact(one):
                # "Two days I was low and a further three I was lower."
                days = days.plus(one.days)
            elif has(said, "either") and not unknown(said, "either", "filler"):
                days = days.or_else(one.days)
            else:
                days = days.within(one.days)
        return days

    def _is_option(self, one: Found) -> bool:
        """Whether a bare number may be that of an option that was offered."""
        is_alone = len(self._parts.found) == 1 and " " not in one.words
        is_bare = not any(unknown(clause.around(), "number_filler") for clause in self._clauses)
        is_offered = 1 <= one.days.low == one.days.high <= _LAST_OPTION
        return one.manner is Manner.NUMBER and is_alone and is_bare and is_offered

    def _says_no_more(self) -> bool:
        known = ("filler", "yes", "no", "bad")
        return not any(
            symptom(self._item).sub("", unknown(clause.around(), *known)).strip()
            for clause in self._clauses
        )

    def _without_own(self, said: Sequence[Found]) -> AnswerReading:
        """Return what is said where every expression is forbidden."""
        if self._item is self._asked and all(map(self._is_elsewhere, said)):
            # "My son is awake every night. I sleep fine."
            last = said[-1].clause
            read = self._without_frequency(
                [
                    one
                    for one in self._clauses
                    if one.number > last.number or one.sentence != last.sentence
                ]
            )
            if read.score == 0:
                return read
        return self._of_good_days(said)

    def _is_elsewhere(self, one: Found) -> bool:
        """Whether an expression is of others or of another time, and names no day."""
        return one.unclear in _ELSEWHERE and not one.is_vague and not one.is_named

    def _of_good_days(self, said: Sequence[Found]) -> AnswerReading:
        said = [one for one in said if not one.is_vague] or said
        reason = next((one.unclear for one in said if one.unclear is not None), Unclear.VAGUE)
        every = [one for one in said if one.days == EVERY_DAY]
        if every and all(one.is_good for one in said):
            # How many good days are told beside it is no less good.
            said = every[:1]
        if len(said) > 1 or reason is not Unclear.GOOD_DAYS:
            return self._unclear(reason, said)
        rest = days_of_the_rest(self._asked, self._clauses, said[0])
        return self._complement(rest, reason, said)

    def _complement(self, days: Days, reason: Unclear, said: Sequence[Found]) -> AnswerReading:
        """Return the score of days that are not said outright, or why there is none."""
        if days.score is None:
            return self._unclear(reason, said)
        return self._read(days.score, said[0].clause, said[-1].clause)

    def _without_frequency(self, may_deny: Sequence[Clause] | None = None) -> AnswerReading:
        """Return a denial as no day; `may_deny`: the clauses that may deny it, all by default."""
        said = [one for one in self._clauses if one.stop != "?"]
        # "No trouble there, I eat like I always have."
        likely = 0 if any(has(one.spoken, "no_trouble") for one in said) else None
        for one in said:
            if has(self._compared(one), "comparison") or has(one.spoken, "habit"):
                return replace(self._unclear(Unclear.COMPARISON, (), one), score=likely)
            if has(without(one.around(), "no_condition"), "only_under"):
                return self._unclear(Unclear.CONDITION, (), one)
        own = [
            one
            for one in said
            if not _is_elsewhere(one.around()) and self._asked in self._parts.items_of(one)
        ]
        is_all_well = all(
            is_well_alone(one.words) or is_denial(self._asked, one.words) for one in own
        )
        denied = [
            one
            for one in own
            if (may_deny is None or one in may_deny)
            and (is_all_well or is_denial(self._asked, one.words))
        ]
        there = [
            one
            for one in own
            if is_trouble(self._asked, one.words) or (has(one.words, "yes") and one not in denied)
        ]
        denied = [one for one in denied if not one.has_count]
        if not denied and not there:
            return _NOTHING
        is_unsure = any(has(without(one.spoken, "no"), "cannot_tell") for one in said)
        is_open = is_unsure or any(one.words.startswith("or ") for one in own)
        if there or is_open:
            return self._unclear(Unclear.VAGUE, (), (there or denied)[0])
        return self._read(0, denied[0], denied[0])

    def _read(
        self, score: int, first: Clause, last: Clause, kind: ReadingKind = ReadingKind.READ
    ) -> AnswerReading:
        quote = self._parts.quote(first, last)
        return AnswerReading(kind=kind, score=score, quote=quote)

    def _unclear(
        self, reason: Unclear, found: Sequence[Found], clause: Clause | None = None
    ) -> AnswerReading:
        places = [one.clause for one in found if one.unclear is reason]
        places += [one.clause for one in found] if clause is None else [clause]
        return AnswerReading(
            kind=ReadingKind.UNCLEAR,
            unclear=reason,
            score=None if reason in _OPEN else self._likely_score(found),
            quote=self._parts.quote(places[0], places[0]),
            found=tuple(self._parts.quote(one, one) for one in found[:_MOST_FOUND]),
        )

    def _likely_score(self, found: Sequence[Found]) -> int | None:
        """Return the one score that is said outright, whatever speaks against it."""
        last = found[-1].clause if found else None
        is_last = last is self._clauses[-1] and found[-1].is_anchor
        if last is not None and is_last and last.is_bare and _CONCLUDES.search(last.spoken):
            return found[-1].days.score
        sure = [one for one in found if one.unclear is None and one.manner in _SURE]
        answering = [one for one in sure if self._parts.is_answer(one)] or sure[:1]
        scores = {one.days.score for one in answering}
        return scores.pop() if len(scores) == 1 else None


def _score_of(days: Days, states: Sequence[Found]) -> int | None:
    """Return the score of what is left open, or the one of all; two counts are no one score."""
    counts = {one.days for one in states if one.is_counted}
    scores = {one.days.score for one in states}
    if days.score is not None or len(counts) > 1 or len(scores) > 1:
        return days.score
    return scores.pop()


def _is_exact(one: Found) -> bool:
    return one.is_number and one.days.low == one.days.high


def _is_elsewhere(around: str) -> bool:
    """Whether words speak of other people or of another time, and of nothing else."""
    return is_of_others(around) or (is_of_another_time(around) and not has(around, "now"))
