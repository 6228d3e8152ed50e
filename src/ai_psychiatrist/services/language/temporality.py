"""The times that one clause names, and whether it is told in the past tense."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from ai_psychiatrist.domain.evidence import Timeframe
from ai_psychiatrist.services.language.matcher import Hit, Matcher, every_phrase
from ai_psychiatrist.services.language.remembered import remembered
from ai_psychiatrist.services.language.spoken import Spoken, compared, every_word
from ai_psychiatrist.services.language.vocabulary import word_table

_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_REACH: Final = 6
"""Within how many words after "when" the verb stands."""
_SENTENCE_ENDS: Final = frozenset(".?!;…。！？\n")
_BY_RANK: Final = (
    (False, Timeframe.RECENT),
    (False, Timeframe.PAST),
    (True, Timeframe.RECENT),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """A time that a clause names, in characters of the clause."""

    start: int
    end: int
    timeframe: Timeframe
    is_weak: bool = False
    """Whether it gives way to any other: "I've been" to "last year"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseTime:
    """When a clause says that something was."""

    periods: tuple[Period, ...]
    timeframe: Timeframe | None
    """What its periods come to."""
    is_past_tense: bool
    looks_back: bool
    """Whether it dates what was said before it: "that was years ago"."""
    is_contrast: bool
    ends_sentence: bool


@remembered(256)
def clause_time(text: str) -> ClauseTime:
    """Read the times that a clause names, and how it is joined to those beside it."""
    words = every_word(text)
    texts = words.texts
    is_past_tense = not _words("past_tense").isdisjoint(texts)
    periods = (
        *_named(words, is_past_tense=is_past_tense),
        *_periods_by_event(words, is_past_tense=is_past_tense),
    )
    timeframe = timeframe_among(periods)
    opening = texts[1:2] if texts[:1] == ("but",) else texts[:1]
    return ClauseTime(
        periods=periods,
        timeframe=timeframe,
        is_past_tense=is_past_tense,
        looks_back=timeframe is Timeframe.PAST and not _words("looking_back").isdisjoint(opening),
        is_contrast=not _words("contrasts").isdisjoint(texts[:1]),
        ends_sentence=text.rstrip(" ")[-1:] in _SENTENCE_ENDS,
    )


def timeframe_among(periods: Iterable[Period]) -> Timeframe | None:
    """Return what several times come to: what is so now counts before what was."""
    found = {(period.is_weak, period.timeframe) for period in periods}
    for kind in _BY_RANK:
        if kind in found:
            return kind[1]
    return None


def _named(words: Spoken, *, is_past_tense: bool) -> Iterator[Period]:
    for hit in _matcher().find(words):
        timeframe = _timeframe_of_hit(words, hit, is_past_tense=is_past_tense)
        if timeframe is not None:
            yield Period(
                start=words.spans[hit.first][0],
                end=words.spans[hit.last][1],
                timeframe=timeframe,
                is_weak=hit.kind == "present_perfect",
            )


def _timeframe_of_hit(words: Spoken, hit: Hit, *, is_past_tense: bool) -> Timeframe | None:
    before, after = words.texts[: hit.first], hit.last + 1
    match hit.kind:
        case "recent" | "present_perfect":
            return Timeframe.RECENT
        case "used_to":
            return Timeframe.PAST if _is_past_habit(before) else None
        case "past_place":
            is_fronted = after == len(words.texts) and after in words.after_comma
            return Timeframe.PAST if is_fronted or is_past_tense else None
        case "past":
            is_ongoing = before[-1:] and before[-1] in _words("ongoing")
            return Timeframe.RECENT if is_ongoing else Timeframe.PAST
    return None


def _is_past_habit(before: tuple[str, ...]) -> bool:
    if before and before[-1] in _words("habit"):
        return False
    return _words("comparison").isdisjoint(before)


def _periods_by_event(words: Spoken, *, is_past_tense: bool) -> Iterator[Period]:
    """Yield times told of by a year, or by what happened then ("when my father died")."""
    if _dating().isdisjoint(words.texts) and not any(map(str.isdecimal, words.texts)):
        return
    for at, word in enumerate(words.texts):
        if _YEAR.fullmatch(word) or _is_over(words, at, is_past_tense=is_past_tense):
            start, end = words.spans[at]
            yield Period(start=start, end=end, timeframe=Timeframe.PAST)
        elif word == "since":
            return


def _is_over(words: Spoken, at: int, *, is_past_tense: bool) -> bool:
    word = words.texts[at]
    if word not in _dating():
        return False
    until = min((comma for comma in words.after_comma if comma > at), default=len(words.texts))
    told = words.texts[at + 1 : min(at + 1 + _REACH, until)]
    if told[:1] in {("that",), ("this",)}:
        return False
    if word in _words("subordinators") and not _words("past_verbs").isdisjoint(told[1:]):
        return True
    is_event = not _words("events").isdisjoint(told)
    return word in _words("event_prepositions") and is_event and is_past_tense


@cache
def _matcher() -> Matcher:
    return every_phrase("temporality")


@cache
def _words(key: str) -> frozenset[str]:
    entries = word_table("temporality", "words")[key]
    return frozenset(word for entry in entries for word in compared(entry))


@cache
def _dating() -> frozenset[str]:
    return _words("subordinators") | _words("event_prepositions")
