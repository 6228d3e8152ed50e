"""Recognise an answer that may correct an earlier one, and read which question is meant.

A correction inside of one answer ("a few days, no wait, most days") is read with the answer.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.clauses import NAMED, clauses_of, has, unknown
from ai_psychiatrist.interview.phq8.expressions import Expression, Manner, expressions_in
from ai_psychiatrist.interview.phq8.free_answers import (
    AnswerReading,
    read_answer,
    readings_by_item,
)
from ai_psychiatrist.interview.phq8.reading_words import (
    alternatives,
    labels,
    table,
    whole_words,
    wording,
)
from ai_psychiatrist.interview.phq8.replies import MOST_CHARACTERS
from ai_psychiatrist.interview.phq8.spoken_answer import SpokenAnswer, spoken_answer

_STARRED: Final = re.compile(r"\s*\*(?=\w)[^*]*\Z")
"""As corrections are typed in chats: "*three days"."""
_SENTENCE: Final = re.compile(r"(?:(?!(?<!\S)[.?](?!\S)).)+")
_STOPS: Final = re.compile(r"[\s.,!?;:…]*")
_WORD: Final = re.compile(r"[^\s.,?]")
_COUNTED: Final = frozenset({Manner.COUNTED, Manner.NUMBER})
_WRONG: Final = re.compile(
    r"(?i)\b(?:wrong(?:ly)?|mistake(?:n)?|incorrect(?:ly)?|error|lie|right|true|correct|accurate)\b"
)
_TOLD: Final = re.compile(
    r"(?i)\b(?<!as i )(?<!like i )(?:said|told you|put|answered|entered)\W+(?:you )?"
    r"(?:\w+\W+){1,5}$"
)
"""Before a quote ends: it is the answer of before that is told."""
_ONE: Final = re.compile(r" (?:one|question|answer)\b")
"""After the name of an item: "the sleep one"."""
_LEAST_DAYS: Final = 2
"""After a bare "no" fewer days deny what was asked: "no, one day at most"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack:
    """An answer that takes something back which it does not say itself."""

    start: int
    """Where what is put in its place begins; 0 where it cannot be told apart from the rest."""
    is_plain: bool
    """Whether it begins by taking back, with words that do nothing else: "wait"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawn:
    """An item whose answer a message takes back; characters of the message, end exclusive."""

    item: Item
    start: int
    end: int


def taken_back(current: Item, earlier: Item, text: str) -> TakenBack | None:
    """Return how an answer corrects an earlier one, `None` where it does not.

    `current`: the item that was asked about; an answer that names it alone is about it. `earlier`:
    the item that was answered before.
    """
    if len(text) > MOST_CHARACTERS or named_items(text, [current, earlier]) == (current,):
        return None
    answer = spoken_answer(text)
    said = expressions_in(answer.spoken)
    at_head = _at_head(answer, said)
    speaks_of_another = bool(said) and wording("question", "another").search(answer.spoken)
    if speaks_of_another or _STARRED.match(text):
        return TakenBack(start=0, is_plain=at_head is not None and at_head.is_plain)
    if at_head is not None:
        return at_head
    start = _after_bare_no(answer, said)
    if start is None and (_is_taken_back_at_end(answer, said) or _has_contrast(answer, said)):
        start = 0
    return None if start is None else TakenBack(start=start, is_plain=False)


def withdrawn_items(asked: Item, text: str, answered: Sequence[Item]) -> tuple[Withdrawn, ...]:
    """Return the answers that a message takes back and puts nothing in the place of.

    `answered`: the items that it may take back, the one answered last at the end. As in "I was
    wrong about sleep", "the one before should have been every day".
    """
    if len(text) > MOST_CHARACTERS:
        return ()
    others = [one for one in answered if one is not asked]
    answer = spoken_answer(text)
    placed = _placed(asked, answer, others)
    if not placed and not any(labels(item).search(answer.spoken) for item in others):
        return ()
    read = readings_by_item(asked, text)
    found = {
        one.item: one
        for one in (*placed, *_withdrawn(answer, others))
        if one in placed or _takes_back_all(text, read.get(one.item), one)
    }
    return tuple(one for one in found.values() if not _is_replaced(asked, one, text[one.end :]))


def named_items(text: str, among: Iterable[Item]) -> tuple[Item, ...]:
    """Return which of some items a text names."""
    spoken = spoken_answer(text[:MOST_CHARACTERS]).spoken
    return tuple(item for item in among if labels(item).search(spoken))


def topic_at_head(text: str) -> tuple[Item, int] | None:
    """Return the item that a message says it is about, and where what it says of it begins.

    As in "yes, but about interest, it was every day"; `None` where it begins otherwise.
    """
    answer = spoken_answer(text[:MOST_CHARACTERS])
    for item in Item:
        head = _topic(item).match(answer.spoken)
        if head is not None and _WORD.search(answer.spoken, head.end()):
            return item, answer.typed_from(head.end())
    return None


def item_at_place(text: str, listed: Sequence[Item]) -> Item | None:
    """Return which of the items of a list a text names by their number: "number five"."""
    spoken = spoken_answer(text[:MOST_CHARACTERS]).spoken
    found = [item for at, item in enumerate(listed) if _number(at, is_listed=True).search(spoken)]
    return found[0] if len(found) == 1 else None


def item_spoken_about(text: str, among: Iterable[Item]) -> Item | None:
    """Return which of some items words say they are about: "I'd rather not talk about sleep"."""
    spoken = spoken_answer(text[:MOST_CHARACTERS]).spoken
    return next((item for item in among if whole_words(_about(item)).search(spoken)), None)


def item_meant(text: str, earlier: Sequence[Item], current: Item) -> Item | None:
    """Return which item a reply names, by its name or its place, and says nothing beside.

    `None` where it names none or several, or says more than which and how often.
    """
    spoken = spoken_answer(text[:MOST_CHARACTERS]).spoken
    named = set(named_items(text, (*earlier, current)))
    if len(earlier) == 1 and wording("question", "earlier").search(spoken):
        named.add(earlier[0])
    if wording("question", "current").search(spoken):
        named.add(current)
    if len(named) != 1:
        return None
    (item,) = named
    places = (wording("question", key) for key in ("earlier", "current", "beside"))
    for naming in (labels(item), *places):
        spoken = naming.sub(" ", spoken)
    says_more = any(
        unknown(clause.around(), "filler", "yes", "correction") for clause in clauses_of(spoken)
    )
    return None if says_more else item


def _is_replaced(asked: Item, withdrawn: Withdrawn, after: str) -> bool:
    """Whether another answer follows: "about sleep, I was wrong. Three days."."""
    is_of_asked = named_items(after, [asked]) or wording("question", "this_one").search(
        spoken_answer(after).spoken
    )
    return not is_of_asked and _has_score(read_answer(withdrawn.item, after))


def _takes_back_all(text: str, read: AnswerReading | None, withdrawn: Withdrawn) -> bool:
    """Whether nothing is said of the item, or only what is taken back: "I said five, wrongly"."""
    if read is None or read.quote is None or not _has_score(read):
        return True
    is_wrong = _WRONG.search(text, read.quote.end, withdrawn.end) is not None
    is_told = _TOLD.search(text[: read.quote.end]) is not None
    return withdrawn.start <= read.quote.start and (is_wrong or is_told)


def _has_score(read: AnswerReading | None) -> bool:
    return read is not None and read.is_read


def _placed(asked: Item, answer: SpokenAnswer, earlier: Sequence[Item]) -> list[Withdrawn]:
    """Return the answer that a sentence takes back by its place: "the first one was wrong"."""
    places = {
        wording("question", key): item
        for key, item in zip(("before", "two_before"), reversed(earlier), strict=False)
    }
    in_order = sorted({asked, *earlier}, key=list(Item).index)
    places |= {_number(at): item for at, item in enumerate(in_order) if item is not asked}
    found = []
    for sentence in _SENTENCE.finditer(answer.spoken):
        mark = wording("takes_back", "beside_place").search(answer.spoken, *sentence.span())
        named = next(
            (
                item
                for place, item in reversed(places.items())
                if place.search(answer.spoken, *sentence.span())
            ),
            None,
        )
        if mark is not None and named is not None and not labels(asked).search(sentence[0]):
            words = answer.quote(_word_from(answer.spoken, sentence.start()), sentence.end())
            found.append(
                Withdrawn(item=named, start=words.start, end=_line_end(answer.text, words.end))
            )
    return found


@cache
def _number(at: int, *, is_listed: bool = False) -> re.Pattern[str]:
    """Return what names the question of a number, from 0. `is_listed`: of a list in sight.

    Elsewhere "number two" may as well be an answer.
    """
    ordinal, number = (table("question")[key][at] for key in ("ordinals", "numbers"))
    alone = "" if is_listed else " on (?:the|your|that) list"
    return whole_words(
        rf"(?:the |my |that )?(?:{ordinal}) (?:question|one)|(?:q|question) ?(?:{number})"
        rf"|(?:number|no|item) (?:{number}){alone}"
    )


def _line_end(text: str, end: int) -> int:
    """Return the end of a message that was sent as its own line, else that of the sentence."""
    if "\n" not in text[:end]:
        return _past_stops(text, end)
    line = text.find("\n", end)
    return len(text) if line < 0 else line


def _past_stops(text: str, end: int) -> int:
    stop = _STOPS.match(text, end)
    return stop.end() if stop else end


def _withdrawn(answer: SpokenAnswer, items: Sequence[Item]) -> Iterator[Withdrawn]:
    clauses = clauses_of(answer.spoken)
    for sentence in _SENTENCE.finditer(answer.spoken):
        marks = (wording("takes_back", key) for key in ("answer", "told"))
        found = (one.search(answer.spoken, *sentence.span()) for one in marks)
        mark = next((one for one in found if one), None)
        turn = wording("takes_back", "turns_to").search(answer.spoken, *sentence.span())
        for item in items if mark or turn else ():
            name = labels(item).search(answer.spoken, *sentence.span())
            if mark is None and name is not None and _ONE.match(answer.spoken, name.end()):
                mark = turn
            if mark is None or name is None:
                continue
            first, last = min(mark.start(), name.start()), max(mark.end(), name.end())
            before = [one for one in clauses if one.end <= first]
            touched = [one for one in clauses if one.end > first and one.start < last]
            start = answer.quote(before[-1].start, before[-1].end).end if before else 0
            end = answer.quote(touched[0].start, touched[-1].end).end
            yield Withdrawn(item=item, start=start, end=_past_stops(answer.text, end))


@cache
def _topic(item: Item) -> re.Pattern[str]:
    before, after = (alternatives(table("topic")[key]) for key in ("before", "after"))
    head = rf"[\s,.]*(?:{before}[\s,.]+)*{_about(item)}"
    return re.compile(rf"{head}(?: {after})?\s*(?:[,.]|(?= it ))")


def _about(item: Item) -> str:
    about = alternatives(table("topic")["about"])
    return rf"(?={about} )(?:{about} )?(?:the |my )?{labels(item).pattern}"


def _at_head(answer: SpokenAnswer, said: Sequence[Expression]) -> TakenBack | None:
    """Return how an answer takes something back before it says anything to take back."""
    spoken, first = answer.spoken, said[0].start if said else len(answer.spoken)
    marks = [
        (key, mark)
        for key in ("whole", "plain", "weak")
        for mark in wording("takes_back", key).finditer(spoken, 0, first)
    ]
    if not marks or not _is_bare(spoken[: min(mark.start() for _, mark in marks)]):
        return None
    keys, end = {key for key, _ in marks}, max(mark.end() for _, mark in marks)
    is_plain = keys != {"weak"}
    is_said = bool(said) and (is_plain or said[0].manner is not Manner.VAGUE)
    if not (is_said or "whole" in keys):
        return None
    no = wording("takes_back", "bare_no").match(spoken, _word_from(spoken, end))
    return TakenBack(start=answer.typed_from(no.end() if no else end), is_plain=is_plain)


def _after_bare_no(answer: SpokenAnswer, said: Sequence[Expression]) -> int | None:
    """Return where the frequency begins of words such as "no, most days"."""
    is_often = said and all(
        one.manner is not Manner.VAGUE and one.days.low >= _LEAST_DAYS for one in said
    )
    begins_so = wording("takes_back", "bare_no").match(answer.spoken)
    if not is_often or not begins_so or has(answer.spoken, "correction"):
        return None
    return answer.typed_from(said[0].start) if _is_bare(answer.spoken) else None


def _is_bare(spoken: str) -> bool:
    """Whether words say nothing beside how often and no."""
    without_no = wording("takes_back", "bare_no").sub(" ", spoken)
    return not any(unknown(one.around(), "filler") for one in clauses_of(without_no))


def _is_taken_back_at_end(answer: SpokenAnswer, said: Sequence[Expression]) -> bool:
    """Whether an answer ends with taking back what may be an earlier one: "three days, sorry"."""
    ends = wording("takes_back", "after").finditer(answer.spoken, said[-1].end) if said else ()
    return any(_word_from(answer.spoken, one.end()) == len(answer.spoken) for one in ends)


def _has_contrast(answer: SpokenAnswer, said: Sequence[Expression]) -> bool:
    """Whether it sets one frequency against a count: "five days, not three"."""
    denied = [
        one
        for one in said
        if one.manner in _COUNTED
        and one.days.low >= _LEAST_DAYS
        and not NAMED.search(answer.spoken, one.start, one.end)
        and answer.spoken[: one.start].endswith(("not ", "not on "))
    ]
    return 0 < len(denied) < len(said)


def _word_from(spoken: str, at: int) -> int:
    found = _WORD.search(spoken, at)
    return found.start() if found else len(spoken)
