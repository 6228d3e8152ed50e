"""The phrases of answers, found among the words of one stretch."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.cues.lexicon import Hit, Lexicon, Words, lexicon_from


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPhrases:
    """What is said about one item."""

    topic: Lexicon
    """Words that show that the item is spoken of."""
    states: Lexicon
    """Cue `trouble` or `well`."""


@cache
def phrases(section: str) -> Lexicon:
    """Load the phrases of a section; their cues are its keys."""
    table = _wording()[section]
    return lexicon_from({key: _listed(value) for key, value in table.items()})


@cache
def phrases_of(item: Item) -> ItemPhrases:
    """Load the phrases about an item."""
    table = _wording()["item"][item.value]
    if not isinstance(table, dict):
        raise TypeError
    return ItemPhrases(
        topic=lexicon_from({"topic": table["topic"]}),
        states=lexicon_from({key: table[key] for key in ("trouble", "well")}),
    )


@cache
def frame(key: str) -> Lexicon:
    """Load one list of words that frame an answer."""
    return lexicon_from({key: _listed(_wording()["frame"][key])})


def found(lexicon: Lexicon, words: Words) -> tuple[Hit, ...]:
    """Return the phrases among words, from left to right."""
    return tuple(lexicon.find(words))


def _listed(value: object) -> list[str]:
    if not isinstance(value, list):
        raise TypeError
    return [str(entry) for entry in value]


@cache
def _wording() -> Mapping[str, Mapping[str, object]]:
    text = resources.files(__package__).joinpath("wording.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
