"""How findings name the items and the themes of a life."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import rtoml

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.language.matcher import Matcher


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
def factors() -> Matcher:
    """Load the themes of the narrative; the subject of a hit is its domain, the kind its theme."""
    tables = _table("factors.toml")
    return Matcher(
        {f"{domain}.{theme}": said for domain in tables for theme, said in tables[domain].items()},
        {},
    )


@cache
def _table(name: str) -> Mapping[str, Any]:
    return rtoml.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))
