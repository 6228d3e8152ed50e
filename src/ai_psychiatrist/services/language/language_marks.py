"""What tells languages apart, as data: their frequent words, letters and scripts."""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any, Final

import rtoml

from ai_psychiatrist.domain.examined import READ_LANGUAGE

UNDETERMINED: Final = "und"


@cache
def language_names() -> Mapping[str, str]:
    """Return the English name of each language by its code."""
    names: dict[str, str] = _tables()["names"]
    return names


def language_by_script(token: str) -> str:
    """Return the language of a word that is not in Latin letters, by these alone."""
    starts, ends, languages = _scripts()
    place = bisect_right(starts, token[0]) - 1
    language = languages[place] if place >= 0 and token[0] <= ends[place] else UNDETERMINED
    for near, letters in _letters().items():
        if not letters.isdisjoint(token):
            return near
    if language == "ru" and token.casefold() in _words("uk") - _words("ru"):
        return "uk"
    return language


@cache
def frequent_words() -> Mapping[str, tuple[str, ...]]:
    """Return word → the languages that it is frequent in."""
    found: dict[str, dict[str, None]] = {}
    english = _words(READ_LANGUAGE)
    for language in _tables()["words"]:
        for word in _words(language):
            found.setdefault(word, {})[language] = None
            bare = _without_marks(word)
            # Left out, the marks of a foreign word may give an English one.
            if bare not in english:
                found.setdefault(bare, {})[language] = None
    return {word: tuple(languages) for word, languages in found.items()}


def _without_marks(word: str) -> str:
    plain = word.translate(str.maketrans("ıłđßæœø", "ildsaoo"))
    bare = unicodedata.normalize("NFD", plain)  # noqa: TID251  a word of our own tables
    return "".join(letter for letter in bare if not unicodedata.combining(letter))


@cache
def _words(language: str) -> frozenset[str]:
    return frozenset(_tables()["words"][language].split())


@cache
def marked_letters() -> Mapping[str, frozenset[str]]:
    """Return letter → the languages that write it."""
    tables: dict[str, str] = _tables()["marks"]
    letters = {letter for marks in tables.values() for letter in marks}
    return {
        letter: frozenset(language for language, marks in tables.items() if letter in marks)
        for letter in letters
    }


@cache
def _letters() -> Mapping[str, frozenset[str]]:
    return {language: frozenset(letters) for language, letters in _tables()["letters"].items()}


@cache
def _scripts() -> tuple[list[str], list[str], list[str]]:
    """Return the first letters of the passages of scripts, their last ones, and the languages."""
    ranges = sorted(_ranges())
    return [one[0] for one in ranges], [one[1] for one in ranges], [one[2] for one in ranges]


def _ranges() -> Iterator[tuple[str, str, str]]:
    for language, passages in _tables()["scripts"].items():
        for stretch in passages:
            yield stretch[0], stretch[-1], language


@cache
def _tables() -> Mapping[str, Any]:
    place = resources.files("ai_psychiatrist.services.language.vocabulary")
    return rtoml.loads(place.joinpath("function_words.toml").read_text(encoding="utf-8"))
