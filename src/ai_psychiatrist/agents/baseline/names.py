"""How findings name the items and the themes of a life."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.cues.lexicon import Lexicon, lexicon_from


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemName:
    """How one item is named."""

    name: str
    mention: tuple[str, ...]
    """Stems by which findings name the item."""


@cache
def item_names() -> Mapping[Item, ItemName]:
    """Load the names of all items."""
    return {
        item: ItemName(name=table["label"], mention=tuple(table["mention"]))
        for item in Item
        if (table := _table("names.toml")[item])
    }


@cache
def factors() -> Mapping[str, Lexicon]:
    """Load the themes of the narrative: domain → lexicon whose cues are the themes."""
    return {domain: lexicon_from(table) for domain, table in _table("factors.toml").items()}


@cache
def _table(name: str) -> Mapping[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))
