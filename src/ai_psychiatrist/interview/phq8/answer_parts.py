"""An answer taken apart: its clauses, the items that they speak of, and how often it was."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ai_psychiatrist.domain.interview_items import AnswerQuote
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.beside import Beside
from ai_psychiatrist.interview.phq8.clauses import THIS, Clause, clauses_of, has, unknown
from ai_psychiatrist.interview.phq8.complements import turned_days
from ai_psychiatrist.interview.phq8.day_counts import NO_DAY
from ai_psychiatrist.interview.phq8.denials import is_trouble
from ai_psychiatrist.interview.phq8.expressions import Expression, Manner
from ai_psychiatrist.interview.phq8.found_expressions import Found, is_frequency
from ai_psychiatrist.interview.phq8.reading_words import names, own_symptom
from ai_psychiatrist.interview.phq8.spoken_answer import SpokenAnswer

_MOST_EXPRESSIONS: Final = 24
"""Whoever says more of them says several things; each is looked at with its whole clause."""
_BEGINNING: Final = re.compile(
    r"^(?:(?:and|but|so|well|i|im|ive|it|its|was|am|is|been|feel|felt|feeling|always|really|very"
    r"|pretty|the|my|no) )*"
)
_GOES_ON: Final = ("that ", "this ", "it ")
_OPPOSING: Final = ("but", "though", "although", "however", "except", "whereas", "while")


class AnswerParts:
    """An answer taken apart into clauses and expressions of frequency.

    Clauses are known by their number from 0 on.
    """

    def __init__(self, asked: Item, answer: SpokenAnswer) -> None:
        self.asked = asked
        self.clauses = clauses_of(answer.spoken)
        self._answer = answer
        words = (clause.around() for clause in self.clauses)
        self._names_asked = any(asked in self._named_in(one) for one in words)
        self._items: list[frozenset[Item]] = []
        for number, clause in enumerate(self.clauses):
            self._items.append(self._items_spoken_of(number, clause))
        count = sum(len(clause.expressions) for clause in self.clauses)
        self.has_one_expression = count == 1
        self.has_too_many_expressions = count > _MOST_EXPRESSIONS
        self.found = () if self.has_too_many_expressions else tuple(self._frequencies())

    @property
    def spoken(self) -> str:
        """The whole answer as it is spoken."""
        return self._answer.spoken

    @property
    def items(self) -> tuple[Item, ...]:
        """The item that was asked about, and those that frequencies are said of."""
        of_others = {item for one in self.found for item in self._items[one.clause]}
        return (self.asked, *(item for item in Item if item in of_others - {self.asked}))

    def items_of(self, number: int) -> frozenset[Item]:
        """Return the items that a clause speaks of."""
        return self._items[number]

    def clause_of(self, one: Found) -> Clause:
        """Return the clause that an expression stands in."""
        return self.clauses[one.clause]

    def sentence_of(self, number: int) -> int:
        """Return the number of the sentence that a clause belongs to."""
        return sum(clause.ends_sentence for clause in self.clauses[:number])

    def between(self, before: Found, one: Found) -> str:
        """Return what is said between two expressions."""
        return self.spoken[before.expression.end : one.expression.start]

    def is_opposed(self, one: Found) -> bool:
        """Whether an expression's clause begins with a "but"."""
        return self.spoken[: self.clause_of(one).start].rstrip().endswith(_OPPOSING)

    def is_answer(self, one: Found) -> bool:
        """Whether an expression is alone in its clause, or with the difficulty asked about."""
        around = self.clause_of(one).around()
        if one.days == NO_DAY and has(around, "not"):
            return True
        rest = unknown(around, "filler", "yes", "either", "correction").split()
        may_be_unknown = 0 if one.clause or has(around, "first_person") else 1
        return len(rest) <= may_be_unknown or is_trouble(self.asked, around)

    def quote(self, first: int, last: int) -> AnswerQuote:
        """Return the typed words from one clause to another."""
        return self._answer.quote(self.clauses[first].start, self.clauses[last].end)

    def quote_of(self, one: Found) -> AnswerQuote:
        """Return the typed words of an expression."""
        return self._answer.quote(one.expression.start, one.expression.end)

    def _frequencies(self) -> Iterator[Found]:
        is_scale = any(has(clause.around(), "scale") for clause in self.clauses)
        for number, clause in enumerate(self.clauses):
            for one in clause.expressions:
                is_of_scale = is_scale and one.manner is Manner.NUMBER
                if not is_of_scale and is_frequency(self.asked, clause, one):
                    yield self._found(number, clause, one)

    def _found(self, number: int, clause: Clause, one: Expression) -> Found:
        turned = turned_days(self.asked, clause, one)
        if turned is not None:
            turned_one = replace(one, days=turned)
            return Found(
                expression=turned_one, clause=number, words=clause.words_of(one), unclear=None
            )
        beside = Beside(item=self._item_of(number), clauses=self.clauses, number=number, one=one)
        return Found(
            expression=one, clause=number, words=clause.words_of(one), unclear=beside.forbids()
        )

    def _item_of(self, number: int) -> Item:
        items = self._items[number]
        return self.asked if self.asked in items or len(items) > 1 else next(iter(items))

    def _items_spoken_of(self, number: int, clause: Clause) -> frozenset[Item]:
        """Return which items a clause speaks of; one that only says how often goes on."""
        around = clause.around()
        named = self._named_in(around) or self._of_another(around)
        if len(named) > 1 and clause.expressions:
            # "Tired every day and off my food."
            beside = next(part for part in around.split(" and ") if THIS in part)
            named = self._named_in(beside) or named
        goes_on = clause.is_bare or clause.spoken.startswith(_GOES_ON)
        if not named and number and goes_on and not self.clauses[number - 1].expressions:
            return self._items[number - 1]
        return named or frozenset({self.asked})

    def _of_another(self, words: str) -> frozenset[Item]:
        """Return the other item whose difficulty words begin with, where the asked one is named.

        "Low every day, tired not so often" speaks of two items.
        """
        said = _BEGINNING.sub("", words)
        others = {item for item in Item if own_symptom(item).match(said)}
        return frozenset(others) if self._names_asked else frozenset()

    def _named_in(self, words: str) -> frozenset[Item]:
        named = {item for item in Item if names(item).search(words)}
        is_asked = own_symptom(self.asked).search(words) is not None
        return frozenset(named | ({self.asked} if is_asked else set()))
