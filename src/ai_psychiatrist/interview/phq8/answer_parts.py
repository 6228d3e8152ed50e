"""An answer taken apart: its clauses, the items that they speak of, and how often it was."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Final

from ai_psychiatrist.domain.interview_items import AnswerQuote, Unclear
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.beside import Beside
from ai_psychiatrist.interview.phq8.clauses import (
    THIS,
    Clause,
    clauses_of,
    has,
    is_label,
    pauses,
    unknown,
)
from ai_psychiatrist.interview.phq8.complements import turned_days
from ai_psychiatrist.interview.phq8.denials import is_no, is_trouble
from ai_psychiatrist.interview.phq8.expressions import Manner
from ai_psychiatrist.interview.phq8.found_expressions import Found, is_frequency
from ai_psychiatrist.interview.phq8.reading_words import (
    items_spoken_of,
    own_symptom,
    wording,
)
from ai_psychiatrist.interview.phq8.readings import ALL, NO_DAY
from ai_psychiatrist.interview.phq8.spoken_answer import SpokenAnswer

_MOST_EXPRESSIONS: Final = 24
"""Whoever says more of them says several things; each is looked at with its whole clause."""
_BEGINNING: Final = re.compile(
    r"^(?:(?:and|but|so|well|i|im|ive|it|its|was|am|is|been|feel|felt|feeling|always|really|very"
    r"|pretty|the|my|no) )*"
)
_GOES_ON: Final = ("that ", "this ", "it ")
_OPPOSING: Final = ("but", "though", "although", "however", "except", "whereas", "while")
_SAID_BEFORE: Final = re.compile(
    r"(?<!\S)(?:i|ive|id) (?:just |first |had )?(?:said|put|wrote|told you|answered)"
    r"(?: it was| its| it is)? §"
)
_NOT_ABOUT_IT: Final = frozenset({Unclear.VAGUE, Unclear.CONDITION})


class AnswerParts:
    """An answer taken apart into clauses and expressions of frequency."""

    def __init__(self, asked: Item, answer: SpokenAnswer) -> None:
        self.asked = asked
        self.spoken = answer.spoken
        self.clauses = clauses_of(answer.spoken)
        self._answer = answer
        words = (clause.around() for clause in self.clauses)
        self._names_asked = any(asked in items_spoken_of(one, [asked]) for one in words)
        self._items: list[frozenset[Item]] = []
        for clause in self.clauses:
            self._items.append(self._items_spoken_of(clause))
        count = sum(len(clause.expressions) for clause in self.clauses)
        self.has_one_expression = count == 1
        self.has_too_many_expressions = count > _MOST_EXPRESSIONS
        self.found = () if self.has_too_many_expressions else tuple(self._frequencies())

    @property
    def items(self) -> tuple[Item, ...]:
        """The item that was asked about, and those that frequencies are said of."""
        of_others = {item for one in self.found for item in self.items_of(one.clause)}
        return (self.asked, *(item for item in Item if item in of_others - {self.asked}))

    def items_of(self, clause: Clause) -> frozenset[Item]:
        """Return the items that a clause speaks of."""
        return self._items[clause.number]

    def between(self, before: Found, one: Found) -> str:
        """Return what is said between two expressions."""
        return self.spoken[before.end : one.start]

    def is_opposed(self, one: Found) -> bool:
        """Whether an expression's clause begins with a "but"."""
        return self.spoken[: one.clause.start].rstrip().endswith(_OPPOSING)

    def is_answer(self, one: Found) -> bool:
        """Whether an expression is alone in its clause, or with the difficulty asked about."""
        around = one.clause.around()
        if one.days == NO_DAY and has(around, "not"):
            return True
        rest = unknown(around, "filler", "yes", "either", "correction").split()
        may_be_unknown = 0 if one.clause.number or has(around, "first_person") else 1
        return len(rest) <= may_be_unknown or is_trouble(self.asked, around)

    def quote(self, first: Clause | Found, last: Clause | Found) -> AnswerQuote:
        """Return the typed words from one clause or expression to another."""
        return self._answer.quote(first.start, last.end)

    def _frequencies(self) -> Iterator[Found]:
        is_scale = any(has(clause.around(), "scale") for clause in self.clauses)
        for clause in self.clauses:
            for one in clause.expressions:
                is_of_scale = is_scale and one.manner is Manner.NUMBER
                if is_of_scale or not is_frequency(self.asked, clause, one):
                    continue
                found = Found(
                    clause=clause, **{of.name: getattr(one, of.name) for of in fields(one)}
                )
                turned = turned_days(self.asked, found)
                beside = Beside(item=self._item_of(clause), clauses=self.clauses, one=found)
                yield (
                    replace(found, unclear=beside.forbids())
                    if turned is None
                    else replace(found, days=turned)
                )

    def _item_of(self, clause: Clause) -> Item:
        items = self.items_of(clause)
        return self.asked if self.asked in items or len(items) > 1 else next(iter(items))

    def _items_spoken_of(self, clause: Clause) -> frozenset[Item]:
        """Return which items a clause speaks of; one that only says how often goes on."""
        around = clause.around()
        named = items_spoken_of(around, [self.asked]) or self._of_another(around)
        named = named or frozenset(item for item in Item if is_label(item, around))
        if len(named) > 1 and clause.expressions:
            # "Tired every day and off my food."
            beside = next(part for part in around.split(" and ") if THIS in part)
            named = items_spoken_of(beside, [self.asked]) or named
        goes_on = clause.is_bare or clause.spoken.startswith(_GOES_ON)
        if not named and clause.number and goes_on:
            former = self.clauses[clause.number - 1]
            named = frozenset() if former.expressions else self.items_of(former)
        return named or frozenset({self.asked})

    def _of_another(self, words: str) -> frozenset[Item]:
        """Return the other item whose difficulty words begin with, where the asked one is named.

        "Low every day, tired not so often" speaks of two items.
        """
        said = _BEGINNING.sub("", words)
        others = {item for item in Item if own_symptom(item).match(said)}
        return frozenset(others) if self._names_asked else frozenset()


def stating(said: Sequence[Found]) -> list[Found]:
    """Return the expressions that count: a count goes before a habit, "always" or "sometimes"."""
    allowed = [one for one in said if one.unclear is None]
    for manners in ({Manner.COUNTED, Manner.SHARE, Manner.NUMBER}, {Manner.LOOSE}):
        found = [one for one in allowed if one.manner in manners]
        if found:
            return found
    return []


def of_the_difficulty(parts: AnswerParts, found: Sequence[Found]) -> list[Found]:
    """Return the expressions without those that add nothing to the others.

    How often something else is done, that the other days were free of it, or a count again. All are
    returned where none states how often, or none that does would be left.
    """
    found = _without_unrelated_rest(found)
    states = stating(found)
    if not states:
        return found
    answered = {
        one.clause.sentence for one in found if one.unclear is None and parts.is_answer(one)
    }
    has_count = states[0].manner is not Manner.LOOSE
    kept: list[Found] = []
    for one in found:
        is_beside = (
            _is_done(one)
            or _was_said_before(one, found)
            or _is_free_rest(one)
            or _is_part(parts, one, kept)
            or _is_said_again(one, kept)
            or _is_aside(parts, one, answered)
            or (has_count and _tells_which(one))
        )
        if not is_beside:
            kept.append(one)
    return kept if stating(kept) else found


def since_last_correction(parts: AnswerParts, found: Sequence[Found]) -> list[Found]:
    """Return what was said since something was last taken back: "two days, no wait, eight"."""
    last = found[-1]
    is_total = has(last.clause.spoken, "in_all")
    if last.unclear is None and last.is_number and is_total:
        # "Three one week, four the other, so seven in all."
        return [last]
    for at in range(len(found) - 1, 0, -1):
        one = found[at]
        is_stated = not one.is_good and one.manner not in {Manner.VAGUE, Manner.LOOSE}
        if is_stated and _is_taken_back(parts.between(found[at - 1], one)):
            return list(found[at:])
    return list(found)


def _without_unrelated_rest(found: Sequence[Found]) -> list[Found]:
    """Drop counts of the other days that do not make all days with another count."""
    counts = {one.days.low for one in found if one.is_counted}
    related = [
        one for one in found if not one.is_rest or not counts.isdisjoint(_left_by(one.days.low))
    ]
    return related or list(found)


def _left_by(days: int) -> set[int]:
    """Return what other days leave of two weeks, and of each of two weeks."""
    return {ALL.high - days, ALL.high - 2 * days}


def _is_taken_back(between: str) -> bool:
    return has(between, "correction") or any(map(is_no, pauses(between)))


def _is_done(one: Found) -> bool:
    """Whether something is done so often that is no difficulty: "I swim twice a week"."""
    return one.unclear is Unclear.VAGUE and one.days.high > 1


def _was_said_before(one: Found, found: Sequence[Found]) -> bool:
    """As in "I said not at all, but it was several days"."""
    is_told = _SAID_BEFORE.search(one.around) is not None
    return is_told and any(after.start > one.start and after.days != one.days for after in found)


def _is_free_rest(one: Found) -> bool:
    """As in "four days, the others not at all"."""
    return one.days == NO_DAY and has(one.clause.spoken, "otherwise")


def _is_part(parts: AnswerParts, one: Found, kept: Sequence[Found]) -> bool:
    """Whether a later count is a part of the first, which is a sentence of its own.

    "Nine days. Five of them were after the funeral."
    """
    whole = kept[0] if kept else one
    is_alone = whole.clause.is_bare and whole.clause.ends_sentence and not whole.clause.number
    is_fewer = whole.is_counted and one.is_number and one.days.high < whole.days.low
    is_later = one.clause.sentence > whole.clause.sentence
    return is_alone and is_fewer and is_later and not _is_taken_back(parts.between(whole, one))


def _is_said_again(one: Found, kept: Sequence[Found]) -> bool:
    """As in "six of the days. Six"."""
    return one.is_number and any(before.words.startswith(f"{one.words} ") for before in kept)


def _is_aside(parts: AnswerParts, one: Found, answered: set[int]) -> bool:
    """Whether another sentence has the answer, and this one tells something about it.

    "Tired on five days. I had two early shifts."
    """
    may_be_beside = one.unclear is None or one.unclear in _NOT_ABOUT_IT
    if not answered or not may_be_beside or parts.is_answer(one):
        return False
    words = one.clause.spoken
    is_instead = parts.is_opposed(one) or has(words, "correction")
    is_instead = is_instead or wording("question", "another").search(words) is not None
    return one.clause.sentence not in answered and not is_instead


def _tells_which(one: Found) -> bool:
    """As in "four nights, always when it rained"."""
    return one.manner is Manner.LOOSE and one.unclear in _NOT_ABOUT_IT
