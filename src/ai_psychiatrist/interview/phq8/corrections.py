"""Recognise an answer that may correct an earlier one and does not name which.

A correction inside of one answer ("a few days, no wait, most days") is read with the answer.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.answer_clauses import AnswerClause, answer_clauses
from ai_psychiatrist.interview.phq8.free_answers import MOST_CHARACTERS
from ai_psychiatrist.interview.phq8.phrases import (
    Phrase,
    PhraseKind,
    correction_wording,
    item_wording,
    phrases_in,
)
from ai_psychiatrist.services.language.frequency import NUMBERS

_FREQUENCY: Final = frozenset({PhraseKind.DAYS, PhraseKind.NUMBER, PhraseKind.ALWAYS})
_COUNT: Final = re.compile(rf"(?:\d+|{'|'.join(NUMBERS)})\b")
_ANSWERING: Final = _FREQUENCY | {PhraseKind.UNCLEAR}
"""What a person may take back in the same answer."""
_BARE_NO: Final = frozenset({"no", "nope", "nah", "naw"})
_STARRED: Final = re.compile(r"\s*\*(?=\w)[^*]*\Z")
"""As corrections are typed in chats: "*three days"."""
_NO_ANSWER: Final = _BARE_NO | {"not"}
_MAY_ANSWER: Final = frozenset({"more like", "closer to", "make it", "make that"})
"""They may begin an answer of its own as well."""
_SENTENCE_ENDS: Final = frozenset(".!?;\n…")
_LEAST_DAYS: Final = 2
"""After a bare "no" fewer days deny what was asked: "no, one day at most"."""


class Meant(StrEnum):
    """Which of two questions a reply names by its place."""

    EARLIER = "earlier"
    CURRENT = "current"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
    """Words that take something back, in a clause; characters of its spoken words."""

    clause: int
    start: int
    end: int
    words: str


def correction_start(current: Item, earlier: Item, text: str) -> int | None:
    """Return where the corrected words begin in an answer, `None` where it is no correction.

    `current`: the item that was asked about. `earlier`: the one that was answered before. Any
    words that may speak of the earlier one count; an answer that names the current one alone does
    not. 0 where the words cannot be told apart from the rest.
    """
    clauses = answer_clauses(text) if len(text) <= MOST_CHARACTERS else ()
    if not clauses:
        return None
    answer = _Answer(current, text, clauses)
    if answer.names(current) and not answer.names(earlier):
        return None
    if answer.speaks_of_another_question or _STARRED.match(text):
        return 0
    return answer.start_at_head() if answer.is_corrected_at_head else answer.start_elsewhere()


def is_corrected_at_head(current: Item, text: str) -> bool:
    """Return whether an answer takes something back before it says anything to take back."""
    clauses = answer_clauses(text) if len(text) <= MOST_CHARACTERS else ()
    if not clauses:
        return False
    return _Answer(current, text, clauses).is_plainly_corrected_at_head


def named_items(text: str, among: Iterable[Item]) -> tuple[Item, ...]:
    """Return which of some items a text names."""
    spoken = _spoken(answer_clauses(text[:MOST_CHARACTERS]))
    return tuple(item for item in among if item_wording(item).search(spoken))


def meant_by_place(text: str) -> Meant | None:
    """Return which question a reply names by its place, `None` for none or both."""
    spoken = _spoken(answer_clauses(text[:MOST_CHARACTERS]))
    found = [meant for meant in Meant if correction_wording(meant.value).search(spoken)]
    return found[0] if len(found) == 1 else None


def only_names_a_question(item: Item, text: str) -> bool:
    """Return whether a reply says nothing beside which question is meant, and how often.

    `item`: the one that it is taken to name.
    """
    naming = [item_wording(item), *map(correction_wording, ("earlier", "current", "beside"))]
    said = _FREQUENCY | {PhraseKind.FILLER, PhraseKind.YES, PhraseKind.CORRECTION}
    for clause in answer_clauses(text[:MOST_CHARACTERS]):
        spoken = clause.spoken
        for wording in naming:
            spoken = wording.sub("", spoken)
        if any(phrase.kind not in said for phrase in phrases_in(item, " ".join(spoken.split()))):
            return False
    return True


def frequencies_in(item: Item, text: str) -> tuple[Phrase, ...]:
    """Return the frequencies and numbers of a reply."""
    return tuple(
        phrase
        for clause in answer_clauses(text[:MOST_CHARACTERS])
        for phrase in _frequencies(phrases_in(item, clause.spoken))
    )


class _Answer:
    """An answer taken apart by the words that take something back."""

    def __init__(self, item: Item, text: str, clauses: tuple[AnswerClause, ...]) -> None:
        self._item = item
        self._text = text
        self._clauses = clauses
        self._marks = tuple(_marks(clauses))
        self._rest = [phrases_in(item, spoken) for spoken in _without(clauses, self._marks)]
        first = self._first_answer()
        self._marks_at_head = tuple(one for one in self._marks if (one.clause, one.start) < first)

    @property
    def speaks_of_another_question(self) -> bool:
        """Whether it names another question by its place, beside a frequency."""
        reference = correction_wording("reference")
        is_named = any(reference.search(clause.spoken) for clause in self._clauses)
        return is_named and self._has_answer()

    def names(self, item: Item) -> bool:
        """Whether it names an item beside the words that take something back."""
        return any(
            item_wording(item).search(spoken) for spoken in _without(self._clauses, self._marks)
        )

    @property
    def is_corrected_at_head(self) -> bool:
        """Whether it takes something back before it says anything that it could take back."""
        return bool(self._marks_at_head) and self._has_content()

    @property
    def is_plainly_corrected_at_head(self) -> bool:
        """Whether that is done by words that do nothing else: "wait", and not "actually"."""
        weak = correction_wording("weak")
        return self.is_corrected_at_head and not all(
            weak.fullmatch(mark.words) or mark.words in _MAY_ANSWER for mark in self._marks_at_head
        )

    def start_at_head(self) -> int:
        """Return where it goes on after the words at its head that take something back."""
        after = self._after_head()
        if after is None:
            return 0
        return after + (_start_after_bare_no(self._item, self._text[after:]) or 0)

    def start_elsewhere(self) -> int | None:
        """Return where a frequency begins after a bare no, 0 where its end takes something back."""
        after_no = _start_after_bare_no(self._item, self._text)
        if after_no is not None:
            return after_no
        return 0 if self._is_taken_back_after_an_answer() or self._has_contrast() else None

    def _after_head(self) -> int | None:
        last = self._marks_at_head[-1]
        clause = self._clauses[last.clause]
        if last.end < len(clause.spoken):
            return clause.place_of(last.end)
        return next((one.start for one in self._clauses[last.clause + 1 :]), None)

    def _first_answer(self) -> tuple[int, int]:
        """Return the clause and the character in it where it first says something to take back."""
        marked = {(mark.clause, at) for mark in self._marks for at in range(mark.start, mark.end)}
        for number, clause in enumerate(self._clauses):
            at = 0
            for phrase in phrases_in(self._item, clause.spoken):
                is_said = phrase.kind in _ANSWERING and phrase.words not in _NO_ANSWER
                if is_said and (number, at) not in marked:
                    return number, at
                at += len(phrase.words) + 1
        return len(self._clauses), 0

    def _has_answer(self) -> bool:
        """Whether it says how often by more than a bare no."""
        return any(
            phrase.words not in _BARE_NO
            for phrases in self._rest
            for phrase in _frequencies(phrases)
        )

    def _has_content(self) -> bool:
        """Whether something is put in the place of what is taken back, or plainly nothing is."""
        after = self._after_head()
        if after is not None and frequencies_in(self._item, self._text[after:]):
            return True
        is_weak = all(
            correction_wording("weak").fullmatch(mark.words) for mark in self._marks_at_head
        )
        if is_weak or correction_wording("cannot_tell").search(_spoken(self._clauses)):
            return False
        kinds = {phrase.kind for phrases in self._rest for phrase in phrases}
        says_no_more = kinds <= {PhraseKind.FILLER} and not self._clauses[-1].is_question
        is_taken_back = any(
            correction_wording("taken_back").search(clause.spoken) for clause in self._clauses
        )
        return says_no_more or is_taken_back or PhraseKind.UNCLEAR in kinds

    def _has_contrast(self) -> bool:
        """Whether it sets one frequency against another: "five days, not three"."""
        said = [phrase for phrases in self._rest for phrase in phrases]
        denied = [
            after
            for before, after in pairwise(said)
            if before.words == "not" and _COUNT.match(after.words)
        ]
        return bool(denied) and len(_frequencies(said)) > len(denied)

    def _is_taken_back_after_an_answer(self) -> bool:
        """Whether a further sentence, or the end, takes back what may be an earlier answer."""
        if not self._has_answer():
            return False
        last = len(self._clauses) - 1
        for number, clause in enumerate(self._clauses):
            found = correction_wording("after").search(clause.spoken)
            is_at_end = found is not None and number == last and found.end() == len(clause.spoken)
            if is_at_end or (found is not None and self._begins_sentence(number)):
                return True
        tail = correction_wording("tail").search(self._clauses[last].spoken)
        return tail is not None and tail.end() == len(self._clauses[last].spoken)

    def _begins_sentence(self, number: int) -> bool:
        before = self._text[self._clauses[number - 1].end : self._clauses[number].start]
        return number > 0 and not _SENTENCE_ENDS.isdisjoint(before)


def _spoken(clauses: Iterable[AnswerClause]) -> str:
    return " ".join(clause.spoken for clause in clauses)


def _start_after_bare_no(item: Item, text: str) -> int | None:
    """Return where the frequency begins of words such as "no, most days"."""
    clauses = answer_clauses(text)
    phrases = [phrase for clause in clauses for phrase in phrases_in(item, clause.spoken)]
    said = [phrase for phrase in phrases if phrase.kind is not PhraseKind.FILLER]
    often = [phrase for phrase in said if phrase.words not in _BARE_NO]
    is_often = bool(often) and all(
        phrase.kind is PhraseKind.ALWAYS
        or (phrase.days is not None and phrase.days.low >= _LEAST_DAYS)
        for phrase in often
    )
    if not is_often or said[0].words not in _BARE_NO:
        return None
    first = often[0].words
    return next(
        clause.place_of(clause.spoken.find(first)) for clause in clauses if first in clause.spoken
    )


def _marks(clauses: tuple[AnswerClause, ...]) -> Iterator[_Mark]:
    for number, clause in enumerate(clauses):
        for found in correction_wording("head").finditer(clause.spoken):
            yield _Mark(clause=number, start=found.start(), end=found.end(), words=found[0])


def _without(clauses: tuple[AnswerClause, ...], marks: tuple[_Mark, ...]) -> list[str]:
    """Return the words of the clauses without those that take something back."""
    left = [clause.spoken for clause in clauses]
    for mark in reversed(marks):
        spoken = left[mark.clause]
        left[mark.clause] = f"{spoken[: mark.start]} {spoken[mark.end :]}"
    return [" ".join(spoken.split()) for spoken in left]


def _frequencies(phrases: Iterable[Phrase]) -> tuple[Phrase, ...]:
    return tuple(phrase for phrase in phrases if phrase.kind in _FREQUENCY)
