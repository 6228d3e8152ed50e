"""How often one clause says that something is there."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from ai_psychiatrist.domain.evidence import Frequency, Polarity
from ai_psychiatrist.services.language.matcher import Hit, Matcher, every_phrase
from ai_psychiatrist.services.language.remembered import remembered
from ai_psychiatrist.services.language.spoken import Spoken, every_word
from ai_psychiatrist.services.language.vocabulary import word_list


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """How often something is there: what is said, and from which character of the clause."""

    start: int
    cue: str

    def frequency(self, polarity: Polarity) -> Frequency:
        """Return how often the symptom is there, given whether it is affirmed or denied.

        "I never sleep" is every night, and "I sleep well every night" is not at all.
        """
        if self.cue in _NEGATIVE:
            affirmed, otherwise = _NEGATIVE[self.cue]
            return affirmed if polarity is Polarity.AFFIRMED else otherwise
        stated = Frequency(self.cue)
        return _WELL_THAT_OFTEN.get(stated, stated) if polarity is Polarity.DENIED else stated


_NEGATIVE: Final = {
    "not_at_all": (Frequency.NEARLY_EVERY_DAY, Frequency.NOT_AT_ALL),
    "rarely": (Frequency.MORE_THAN_HALF, Frequency.SEVERAL_DAYS),
}
"""How often a symptom is there when what it affects, or the symptom itself, is never there."""
_WELL_THAT_OFTEN: Final = {
    Frequency.NEARLY_EVERY_DAY: Frequency.NOT_AT_ALL,
    Frequency.MORE_THAN_HALF: Frequency.SEVERAL_DAYS,
}

NUMBERS: Final = word_list("frequency", "numbers")
"""The words of whole numbers, from zero on."""
_NUMBER: Final = rf"(?:{'|'.join(NUMBERS)}|\d{{1,2}})\b"
_NUMBER_WORDS: Final = frozenset(NUMBERS)
_COUNTING: Final = frozenset({*NUMBERS, "once", "all"})
_UNIT: Final = r"(?:days?|nights?|mornings?|afternoons?|evenings?|times?)"
_COUNTED: Final = re.compile(
    rf"\b(?P<count>{_NUMBER})(?:(?: {_UNIT})?,?(?: or| to| maybe| out)? {_NUMBER})?"
    rf" (?:{_UNIT}"
    r"(?: (?:a|per|every|each|this|out of|outta|of|in|over) (?:the )?(?:last |past )?"
    rf"(?P<span>week or two|one week|week|two weeks|fortnight|{_NUMBER}))?"
    r"|(?:(?:out )?of|outta) (?:the )?(?:last |past )?"
    rf"(?:(?P<days>seven|7|fourteen|14)\b|(?P<of>{_NUMBER}) {_UNIT}))"
)
_WITHIN: Final = re.compile(r"\b(?:this|past|last) (?P<span>week|fortnight|two weeks)\b")
_SPANS: Final = {"week": 7, "one week": 7, "week or two": 14, "fortnight": 14, "two weeks": 14}
# "Haven't felt low once", "didn't cry at all this week".
_NOT_ONCE: Final = re.compile(
    r"\b(?:not|never|havent|hasnt|hadnt|didnt|dont|wasnt|isnt|aint)\b[^,]*?"
    r"(?:(?<!at )\bonce\b(?! (?:or|a|i|in|more))|\bat all\b.*\b(?:week|weeks|fortnight)\b)"
)


@remembered(256)
def occurrences_in(text: str) -> tuple[Occurrence, ...]:
    """Find the frequencies that a clause states."""
    words = every_word(text)
    found = _matcher().find(words)
    if found and not _is_counted_too(words, found):
        return tuple(Occurrence(start=words.spans[hit.first][0], cue=hit.kind) for hit in found)
    if _COUNTING.isdisjoint(words.texts) and not any(map(str.isdecimal, words.texts)):
        return ()
    told = words.with_commas
    if _NOT_ONCE.search(told) is not None:
        return (Occurrence(start=0, cue="not_at_all"),)
    counted = _counted(told)
    return () if counted is None else (Occurrence(start=0, cue=counted.value),)


def _is_counted_too(words: Spoken, found: tuple[Hit, ...]) -> bool:
    """Return whether days are counted beside "every day": "all day, four days of the fourteen"."""
    if any(hit.kind != Frequency.NEARLY_EVERY_DAY for hit in found):
        return False
    is_numbered = not _NUMBER_WORDS.isdisjoint(words.texts) or any(map(str.isdecimal, words.texts))
    return is_numbered and _counted(words.with_commas) is not None


@cache
def _matcher() -> Matcher:
    return every_phrase("frequency")


def _counted(told: str) -> Frequency | None:
    """Read "four nights a week" or "ten of the last fourteen days"."""
    found = _COUNTED.search(told)
    if found is None:
        return None
    count, days = whole_number(found["count"]), _days_of(found, told)
    if days is None or not 0 < count <= days:
        return None
    share = count / days
    if share > 0.8:
        return Frequency.NEARLY_EVERY_DAY
    return Frequency.MORE_THAN_HALF if share > 0.5 else Frequency.SEVERAL_DAYS


def _days_of(found: re.Match[str], told: str) -> int | None:
    """Return of how many days the count is, said beside it or anywhere in the clause."""
    span = found["span"] or found["days"] or found["of"]
    if span is None:
        within = _WITHIN.search(told)
        span = within and within["span"]
    if span is None:
        return None
    return _SPANS.get(span) or whole_number(span)


def whole_number(word: str) -> int:
    """Return a number that is written in digits or as one of `NUMBERS`."""
    return int(word) if word.isdecimal() else NUMBERS.index(word)
