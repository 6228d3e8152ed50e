"""The times that one clause names, and whether it is told in the past tense."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.evidence import Timeframe
from ai_psychiatrist.services.cues.lexicon import Hit, hits_of, word_set, words_of
from ai_psychiatrist.services.cues.remembered import remembered

_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_SUBORDINATORS: Final = frozenset({"when", "while", "after", "before", "until", "till"})
_EVENT_PREPOSITIONS: Final = frozenset({"after", "before", "during", "until", "till", "through"})
_DATING: Final = _SUBORDINATORS | _EVENT_PREPOSITIONS
_REACH: Final = 6
"""Within how many words after "when" the verb stands."""
_SENTENCE_ENDS: Final = frozenset(".?!;…。！？\n")
_CONTRASTS: Final = frozenset({("but",), ("although",), ("though",), ("however",), ("whereas",)})
_LOOKING_BACK: Final = frozenset(
    {("that",), ("thats",), ("this",), ("it",), ("its",), ("which",), ("all",)}
)


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
class Told:
    """When a clause says that something was."""

    periods: tuple[Period, ...]
    timeframe: Timeframe | None
    """What its periods come to."""
    is_past_tense: bool
    looks_back: bool
    """Whether it dates what was said before it: "that was years ago"."""
    is_contrast: bool
    ends_sentence: bool


@remembered(512)
def told_in(text: str) -> Told:
    """Read the times that a clause names, and how it is joined to those beside it."""
    periods = (*_named(text), *_told_of(text))
    timeframe = timeframe_among(periods)
    texts = words_of(text).texts
    opening = texts[1:2] if texts[:1] == ("but",) else texts[:1]
    return Told(
        periods=periods,
        timeframe=timeframe,
        is_past_tense=_is_past_tense(text),
        looks_back=timeframe is Timeframe.PAST and opening in _LOOKING_BACK,
        is_contrast=texts[:1] in _CONTRASTS,
        ends_sentence=text.rstrip(" ")[-1:] in _SENTENCE_ENDS,
    )


def timeframe_among(periods: Iterable[Period]) -> Timeframe | None:
    """Return what several times come to: what is so now counts before what was."""
    found = {(period.is_weak, period.timeframe) for period in periods}
    for kind in _BY_RANK:
        if kind in found:
            return kind[1]
    return None


def _is_past_tense(text: str) -> bool:
    return not word_set("tense_words", "past_tense").isdisjoint(words_of(text).texts)


def _named(text: str) -> Iterator[Period]:
    texts = words_of(text).texts
    for hit in hits_of(text, "tense"):
        before = texts[: hit.first]
        timeframe = _timeframe_of_hit(text, hit, before)
        if timeframe is not None:
            yield Period(
                start=hit.start,
                end=hit.end,
                timeframe=timeframe,
                is_weak=hit.cue == "present_perfect",
            )


def _timeframe_of_hit(text: str, hit: Hit, before: tuple[str, ...]) -> Timeframe | None:
    match hit.cue:
        case "recent" | "present_perfect":
            return Timeframe.RECENT
        case "used_to":
            return Timeframe.PAST if _is_past_habit(before) else None
        case "past_place":
            is_fronted = words_of(text).texts[hit.last + 1 :] == (",",)
            return Timeframe.PAST if is_fronted or _is_past_tense(text) else None
        case "past":
            is_ongoing = before[-1:] and before[-1] in word_set("tense_words", "ongoing")
            return Timeframe.RECENT if is_ongoing else Timeframe.PAST
    return None


def _is_past_habit(before: tuple[str, ...]) -> bool:
    if before and before[-1] in word_set("tense_words", "habit"):
        return False
    return word_set("tense_words", "comparison").isdisjoint(before)


def _told_of(text: str) -> Iterator[Period]:
    """Yield times told of by a year, or by what happened then ("when my father died")."""
    words = words_of(text)
    if _DATING.isdisjoint(words.texts) and not any(map(str.isdecimal, words.texts)):
        return
    for at, word in enumerate(words.texts):
        if _is_year(words.texts, at) or _is_over(text, words.texts, at):
            start, end = words.spans[at]
            yield Period(start=start, end=end, timeframe=Timeframe.PAST)
        elif word == "since":
            return


def _is_year(texts: tuple[str, ...], at: int) -> bool:
    return _YEAR.fullmatch(texts[at]) is not None


def _is_over(text: str, texts: tuple[str, ...], at: int) -> bool:
    word = texts[at]
    if word not in _SUBORDINATORS and word not in _EVENT_PREPOSITIONS:
        return False
    following = texts[at + 1 : at + 1 + _REACH]
    if following[:1] in {("that",), ("this",)}:
        return False
    told = following[: following.index(",")] if "," in following else following
    if word in _SUBORDINATORS and not word_set("tense_words", "past_verbs").isdisjoint(told[1:]):
        return True
    is_event = not word_set("tense_words", "events").isdisjoint(told)
    return word in _EVENT_PREPOSITIONS and is_event and _is_past_tense(text)
