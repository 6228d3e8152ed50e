"""The words of each language, as data: a folder a language, a file a subject."""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

import rtoml

from ai_psychiatrist.domain.risk import READ_LANGUAGE


def word_table(name: str, section: str) -> Mapping[str, list[str]]:
    """Return a section of a file: key → entries."""
    table: Mapping[str, list[str]] = word_file(name)[section]
    return table


def word_list(name: str, key: str) -> list[str]:
    """Return a list of a file."""
    entries: list[str] = word_file(name)[key]
    return entries


@cache
def words(key: str) -> frozenset[str]:
    """Return the words that do something in a clause."""
    sections = (word_table("assertion", name) for name in ("persons", "words"))
    return frozenset(next(table[key] for table in sections if key in table))


@cache
def phrases(key: str) -> frozenset[tuple[str, ...]]:
    """Return such entries of several words each."""
    return frozenset(tuple(entry.split()) for entry in words(key))


@cache
def concept_tables() -> Mapping[str, Mapping[str, list[str]]]:
    """Return the tables of every concept by its name."""
    folder = resources.files(__package__).joinpath(READ_LANGUAGE, "items")
    return {
        place.name.removesuffix(".toml"): rtoml.loads(place.read_text(encoding="utf-8"))
        for place in sorted(folder.iterdir(), key=lambda place: place.name)
        if place.name.endswith(".toml")
    }


@cache
def lists() -> Mapping[str, list[str]]:
    """Return the lists that phrases name."""
    found: dict[str, list[str]] = {}
    for table in concept_tables().values():
        found |= table.get("lists", {})  # type: ignore[arg-type]
    return found


@cache
def word_file(name: str) -> Mapping[str, Any]:
    """Return a file of the language, such as `assertion` or `danger/context`."""
    place = resources.files(__package__).joinpath(READ_LANGUAGE, f"{name}.toml")
    return rtoml.loads(place.read_text(encoding="utf-8"))
