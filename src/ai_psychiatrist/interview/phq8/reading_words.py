"""The tables of words by which free answers are read."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any, Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.language.frequency import NUMBERS

_FILES: Final = ("reading.toml", "corrections.toml")
_GROUP: Final = re.compile(r"\((?!\?)")
_PART: Final = re.compile(r"\{([a-z_]+)\}")


@cache
def table(name: str) -> Mapping[str, list[str]]:
    """Return a table: lists of wordings by their key."""
    found: Mapping[str, list[str]] = _tables()[name]
    return found


@cache
def wording(name: str, key: str) -> re.Pattern[str]:
    """Return a pattern that finds whole words of a list."""
    return whole_words(alternatives(table(name)[key]))


def whole_words(expression: str) -> re.Pattern[str]:
    """Compile an expression that begins and ends with a word."""
    return re.compile(rf"(?<!\S)(?:{expression})(?!\S)")


def alternatives(wordings: Iterable[str]) -> str:
    """Return an expression of any of some wordings, the longest first."""
    longest_first = sorted(wordings, key=len, reverse=True)
    return rf"(?:{'|'.join(map(expression_of, longest_first))})"


def expression_of(wording: str) -> str:
    """Return the expression of a wording, with its parts in the place of their names."""
    written = _GROUP.sub("(?:", wording.replace("'", ""))
    return _PART.sub(lambda found: _part(found[1]), written)


@cache
def symptom(item: Item) -> re.Pattern[str]:
    """Return the wordings of an item's difficulty, and those of any."""
    return whole_words(alternatives([*table("trouble")[item.value], *table("beside")["bad"]]))


@cache
def own_symptom(item: Item) -> re.Pattern[str]:
    """Return the wordings of an item's difficulty that are not those of any."""
    return wording("trouble", item.value)


@cache
def names(item: Item) -> re.Pattern[str]:
    """Return the words that speak of an item and of no other."""
    return whole_words(f"{alternatives(table('names')[item.value])}s?")


@cache
def labels(item: Item) -> re.Pattern[str]:
    """Return the words that name an item, those that may be said of something else among them."""
    return whole_words(alternatives([*table("names")[item.value], *table("called")[item.value]]))


def items_spoken_of(words: str, symptoms_of: Iterable[Item]) -> frozenset[Item]:
    """Return the items that words name, and those of some whose difficulty they name."""
    named = {item for item in Item if names(item).search(words)}
    return frozenset(named | {one for one in symptoms_of if own_symptom(one).search(words)})


@cache
def _part(name: str) -> str:
    if name in _parts():
        return f"(?:{expression_of(_parts()[name])})"
    if name == "number":
        dozens = [r"\d{1,3}", "(a )?half (a )?dozen", "(a )?dozen", "(a )?couple( of)?"]
        return alternatives([*NUMBERS, *dozens])
    return alternatives(table("beside")[name])


def _parts() -> Mapping[str, str]:
    parts: Mapping[str, str] = _tables()["parts"]
    return parts


@cache
def _tables() -> Mapping[str, Any]:
    folder = resources.files(__package__)
    read = (tomllib.loads(folder.joinpath(name).read_text(encoding="utf-8")) for name in _FILES)
    return {name: words for tables in read for name, words in tables.items()}
