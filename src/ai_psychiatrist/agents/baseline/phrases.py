"""What people say about each item and each part of their life, as reviewed data."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.cues.lexicon import Lexicon, lexicon_from

_SPOKEN: Final = ("topic", "well", "symptom", "excluded")
_ASKED: Final = ("question", "excluded")


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


@cache
def item_phrases() -> Mapping[Item, ItemPhrases]:
    """Load the phrases of all items."""
    return {
        item: ItemPhrases(
            name=table["label"],
            mention=tuple(table["mention"]),
            spoken=lexicon_from({cue: table[cue] for cue in _SPOKEN}, skip=speech("skip")),
            question=lexicon_from({cue: table[cue] for cue in _ASKED}),
        )
        for item in Item
        if (table := _table("phrases.toml")[item])
    }


@cache
def speech(kind: str) -> frozenset[str]:
    """Load phrases of the `speech` section as normalised words."""
    entries = _table("phrases.toml")["speech"][kind]
    return frozenset(" ".join(phrase) for phrase in lexicon_from({kind: entries}).cues)


@cache
def intense() -> Lexicon:
    """Load what makes an affirmed symptom as good as constant."""
    return lexicon_from({"intense": _table("phrases.toml")["speech"]["intense"]})


@cache
def factors() -> Mapping[str, Lexicon]:
    """Load the themes of the narrative: domain → lexicon whose cues are the themes."""
    return {domain: lexicon_from(table) for domain, table in _table("factors.toml").items()}


@cache
def _table(name: str) -> Mapping[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))
