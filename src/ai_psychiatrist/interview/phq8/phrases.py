"""What each word of an answer is good for; words that are in no table are good for nothing."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any, Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.phq8.day_counts import NO_DAY, Days
from ai_psychiatrist.interview.phq8.frequencies import frequencies


class PhraseKind(StrEnum):
    """What a phrase says."""

    DAYS = "days"
    """On how many days the difficulty was there."""
    TROUBLE = "trouble"
    """The difficulty is there, and nothing says how often."""
    WELL = "well"
    """The opposite of the difficulty is there."""
    YES = "yes"
    ALWAYS = "always"
    """Nearly every day if nothing else is said; else perhaps a habit, or a part of each day."""
    CORRECTION = "correction"
    """What was said before it does not stand."""
    UNCLEAR = "unclear"
    """It speaks to the question and leaves open how often."""
    TOPIC = "topic"
    """It names what is asked about."""
    NUMBER = "number"
    """A number without its days."""
    FILLER = "filler"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """A phrase of an answer."""

    kind: PhraseKind
    words: str
    days: Days | None = None
    """Only with the kind `DAYS`."""


_HOW: Final = r"(?:(?:a bit|a little|quite|pretty|very|really|completely|totally) )?"
_NEVER: Final = r"never(?: ever| once)?"
_NOT: Final = (
    r"(?:not|havent|hasnt|wasnt|werent|didnt|dont|isnt)(?: (?:been|felt|feel|feeling|had))?"
)
_OF_TWO_SIDES: Final = frozenset({Item.SLEEP, Item.APPETITE, Item.MOVING})
"""Too much and too little: who denies the one says nothing of the other."""
_LEADING_WELL: Final = r"(?<!.)well"


def phrases_in(item: Item, spoken: str) -> tuple[Phrase, ...]:
    """Take a clause apart from left to right, the longest phrase first."""
    return tuple(_taken_apart(item, spoken))


def _taken_apart(item: Item, spoken: str) -> Iterator[Phrase]:
    at = 0
    while at < len(spoken):
        phrase, at = _next(item, spoken, at)
        yield phrase
        at += 1


def _next(item: Item, spoken: str, at: int) -> tuple[Phrase, int]:
    """Return the phrase at a place and where it ends; of equally long ones the first."""
    found = []
    for frequency in frequencies(_day(item)):
        match = frequency.expression.match(spoken, at)
        if match is not None:
            days = frequency.days(match)
            kind = PhraseKind.NUMBER if days is None else PhraseKind.DAYS
            found.append((Phrase(kind=kind, words=match[0], days=days), match.end()))
    for kind, days, expression in _tables(item):
        match = expression.match(spoken, at)
        if match is not None:
            found.append((Phrase(kind=kind, words=match[0], days=days), match.end()))
    end = spoken.find(" ", at)
    end = len(spoken) if end < 0 else end
    unknown = (Phrase(kind=PhraseKind.UNKNOWN, words=spoken[at:end]), end)
    return max(found, key=lambda phrase: phrase[1], default=unknown)


def _day(item: Item) -> str:
    # A night is a day where sleep is asked for, and elsewhere a part of one.
    return "(?:day|night)" if item is Item.SLEEP else "day"


@cache
def _tables(item: Item) -> tuple[tuple[PhraseKind, Days | None, re.Pattern[str]], ...]:
    words, of_item = _wording()["frame"], _wording()["item"][item.value]
    trouble = rf"{_HOW}{_alternatives([*of_item['trouble'], *words['bad']])}"
    day = _day(item)
    no_day = (
        rf"(?:not (?:on )?(?:even )?|no |zero )(?:a |one |any )?(?:single )?(?:{trouble} )?{day}s?"
        rf"|none of (?:the|those) {day}s"
    )
    no_trouble = (
        rf"(?:not at all|{_NEVER})(?: (?:been|felt|feel|had))? {trouble}|{_NOT} {trouble} "
        rf"(?:at all|once|on any {day})"
    )
    tables = (
        (PhraseKind.DAYS, NO_DAY, _alternatives(words["none"])),
        (PhraseKind.DAYS, NO_DAY, no_day),
        (
            (PhraseKind.UNCLEAR, None, no_trouble)
            if item in _OF_TWO_SIDES
            else (PhraseKind.DAYS, NO_DAY, no_trouble)
        ),
        (PhraseKind.WELL, None, rf"{_NOT} {trouble}"),
        (PhraseKind.TROUBLE, None, trouble),
        (PhraseKind.WELL, None, _alternatives([*of_item["well"], *words["well"]])),
        (PhraseKind.ALWAYS, None, _alternatives(words["always"])),
        (PhraseKind.YES, None, _alternatives(words["yes"])),
        (PhraseKind.CORRECTION, None, rf"{_alternatives(words['correction'])}|{_LEADING_WELL}"),
        (PhraseKind.UNCLEAR, None, _alternatives(words["unclear"])),
        (PhraseKind.TOPIC, None, _alternatives(of_item["topic"])),
        (PhraseKind.FILLER, None, _alternatives(words["filler"])),
    )
    return tuple(
        (kind, days, re.compile(rf"(?:{pattern})(?!\S)")) for kind, days, pattern in tables
    )


@cache
def correction_wording(key: str) -> re.Pattern[str]:
    """Return the wordings of a correction of an earlier answer, by their key in the tables."""
    wording = _wording()
    phrases = list(wording["correction"][key])
    if key == "head":
        phrases += wording["frame"]["correction"]
    return re.compile(rf"(?<!\S){_alternatives(phrases)}(?!\S)")


@cache
def item_wording(item: Item) -> re.Pattern[str]:
    """Return the wordings that name an item."""
    of_item = _wording()["item"][item.value]
    label = re.sub(r"\W+", " (?:- )?", item.label.casefold())
    named = _alternatives([*of_item["topic"], *of_item["trouble"], *of_item["well"]])
    return re.compile(rf"(?<!\S)(?:{named}|{label})(?!\S)")


def _alternatives(wordings: list[str]) -> str:
    longest_first = sorted(wordings, key=len, reverse=True)
    return rf"(?:{'|'.join(map(_written, longest_first))})"


def _written(wording: str) -> str:
    return wording.replace("'", "").replace("(", "(?:")


@cache
def _wording() -> Mapping[str, Any]:
    text = resources.files(__package__).joinpath("wording.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
