"""How often a quote says that a symptom is there."""

import re
from enum import StrEnum
from functools import lru_cache
from typing import Final

from ai_psychiatrist.domain.evidence import Polarity
from ai_psychiatrist.services.cues.clauses import clauses_around
from ai_psychiatrist.services.cues.lexicon import hits_of, words_of
from ai_psychiatrist.services.cues.polarity import polarity_of


class Frequency(StrEnum):
    """How often, in the four answers of the instrument."""

    NOT_AT_ALL = "not_at_all"
    SEVERAL_DAYS = "several_days"
    MORE_THAN_HALF = "more_than_half"
    NEARLY_EVERY_DAY = "nearly_every_day"
    UNSTATED = "unstated"


_NUMBERS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen".split()
)
_NUMBER: Final = rf"(?:{'|'.join(_NUMBERS)}|\d{{1,2}})"
_COUNTED: Final = re.compile(
    rf"\b(?P<count>{_NUMBER})(?:,? (?:or|to|maybe|out) {_NUMBER})?"
    r" (?:(?:days?|nights?|mornings?|evenings?|times?)"
    r"(?: (?:a|per|every|each|this|out of|of|in|over) (?:the )?(?:last |past )?"
    r"(?P<span>week|seven|7|fourteen|14|two weeks|fortnight))?"
    r"|(?:out )?of (?:the )?(?:last |past )?(?P<days>seven|7|fourteen|14)\b)"
)


@lru_cache(maxsize=512)
def _stated(text: str) -> tuple[tuple[int, str], ...]:
    """Return (character, cue) for each frequency that a clause states."""
    found = [(hit.start, hit.cue) for hit in hits_of(text, "frequency")]
    counted = None if found else _counted(" ".join(words_of(text).texts))
    return tuple(found) if counted is None else ((0, counted.value),)


def frequency_of(words: str, start: int, end: int) -> Frequency:
    """Read how often the symptom in `words[start:end]` is there, from the clauses it lies in.

    The frequency nearest to the span is taken. "I never sleep" affirms a symptom, so that its
    "never" means nearly every day; `NOT_AT_ALL` stands beside a denial only.
    """
    nearest: tuple[int, str] | None = None
    for clause in clauses_around(words, start, end):
        for at, cue in _stated(words[clause.start : clause.end]):
            place = clause.start + at
            distance = 0 if start <= place < end else min(abs(place - start), abs(place - end))
            if nearest is None or distance < nearest[0]:
                nearest = (distance, cue)
    if nearest is None:
        return Frequency.UNSTATED
    if nearest[1] not in _NEGATIVE:
        return Frequency(nearest[1])
    is_denied = polarity_of(words, start, end) is Polarity.DENIED
    return Frequency.NOT_AT_ALL if is_denied else _NEGATIVE[nearest[1]]


_NEGATIVE: Final = {
    "not_at_all": Frequency.NEARLY_EVERY_DAY,
    "rarely": Frequency.MORE_THAN_HALF,
}
"""How often a symptom is there when the wellness it affects is there never or rarely."""


def _counted(text: str) -> Frequency | None:
    """Read "four nights a week" or "ten of the last fourteen days"; `text`: normalised words."""
    found = _COUNTED.search(text)
    if found is None:
        return None
    count = _number(found["count"])
    span = found["span"] or found["days"]
    if span is None:
        return None
    days = 14 if span in {"fourteen", "14", "two weeks", "fortnight"} else 7
    share = count / days
    if not 0 < share <= 1:
        return None
    if share > 0.8:
        return Frequency.NEARLY_EVERY_DAY
    return Frequency.MORE_THAN_HALF if share > 0.5 else Frequency.SEVERAL_DAYS


def _number(word: str) -> int:
    return int(word) if word.isdecimal() else _NUMBERS.index(word)
