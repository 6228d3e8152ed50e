"""Whether a quote speaks of the past, of the recent weeks, or does not say."""

from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from typing import Final

from ai_psychiatrist.services.cues.clauses import clauses_around
from ai_psychiatrist.services.cues.lexicon import hits_of, word_set, words_of

_ONGOING: Final = frozenset({"since", "starting", "from"})


class Timeframe(StrEnum):
    """When what a clause says was so."""

    RECENT = "recent"
    PAST = "past"
    UNSTATED = "unstated"


def timeframe_of(words: str, start: int, end: int) -> Timeframe:
    """Read when `words[start:end]` was so from the clauses it lies in.

    The present tense alone states nothing; "used to", "years ago" and the like are the past, and
    "lately", "these two weeks" or "I've been" are recent.
    """
    found = {
        _timeframe_of_clause(words[clause.start : clause.end])
        for clause in clauses_around(words, start, end)
    }
    for timeframe in (Timeframe.RECENT, Timeframe.PAST):
        if timeframe in found:
            return timeframe
    return Timeframe.UNSTATED


@lru_cache(maxsize=512)
def _timeframe_of_clause(text: str) -> Timeframe:
    cues = set(_cues(text))
    if "recent" in cues:
        return Timeframe.RECENT
    if "past" in cues:
        return Timeframe.PAST
    return Timeframe.RECENT if "present_perfect" in cues else Timeframe.UNSTATED


def _cues(text: str) -> Iterator[str]:
    texts = words_of(text).texts
    for hit in hits_of(text, "tense"):
        before = texts[: hit.first]
        if hit.cue == "used_to":
            if _is_past_habit(before):
                yield "past"
        elif hit.cue == "past" and before and before[-1] in _ONGOING:
            yield "recent"
        else:
            yield hit.cue


def _is_past_habit(before: tuple[str, ...]) -> bool:
    if before and before[-1] in word_set("tense", "habit"):
        return False
    return word_set("tense", "comparison").isdisjoint(before)
