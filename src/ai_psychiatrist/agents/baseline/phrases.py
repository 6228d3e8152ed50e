"""The phrase table: what people say about each item, as reviewed data."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.cues.lexicon import Lexicon, Words, lexicon_from

_SPOKEN: Final = ("topic", "well", "symptom", "excluded")


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPhrases:
    """How one item is spoken about."""

    name: str
    mention: tuple[str, ...]
    """Stems by which findings name the item."""
    spoken: Lexicon
    """The participant's phrases; cues are `symptom`, `well`, `topic` and `excluded`."""
    question: Lexicon
    """The interviewer's phrases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """The phrase table."""

    items: Mapping[Item, ItemPhrases]
    skip: frozenset[str]
    """Degrees and fillers that are passed over in phrases and in speech."""
    speaker: frozenset[str]
    others: frozenset[str]
    quality: frozenset[str]
    """Phrases, as normalised words, that say how a topic is."""
    intense: Lexicon


@cache
def phrases() -> Phrases:
    """Load the phrase table."""
    table = read_table("phrases.toml")
    speech = table["speech"]
    skip = frozenset(speech["skip"])
    return Phrases(
        items={item: _item_phrases(table[item.value], skip) for item in Item},
        skip=skip,
        speaker=_spellings(speech["speaker"]),
        others=_spellings(speech["others"]),
        quality=_spellings(speech["quality"]),
        intense=lexicon_from({"intense": speech["intense"]}),
    )


def read_table(name: str) -> Mapping[str, Mapping[str, list[str]]]:
    """Read one of this package's data files."""
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return tomllib.loads(text)


def spoken_words(words: Words) -> Words:
    """Leave out what phrases pass over."""
    return words.without(phrases().skip)


def _item_phrases(table: Mapping[str, list[str]], skip: frozenset[str]) -> ItemPhrases:
    return ItemPhrases(
        name=str(table["label"]),
        mention=tuple(table["mention"]),
        spoken=lexicon_from({cue: table[cue] for cue in _SPOKEN}, skip=skip),
        question=lexicon_from({cue: table[cue] for cue in ("question", "excluded")}),
    )


def _spellings(entries: list[str]) -> frozenset[str]:
    return frozenset(" ".join(phrase) for phrase in lexicon_from({"": entries}).cues)
