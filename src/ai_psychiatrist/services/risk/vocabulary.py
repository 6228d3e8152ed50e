"""The phrases of danger, and what is said of one, as they are heard in a clause."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from ai_psychiatrist.domain.risk import RiskKind
from ai_psychiatrist.services.language.matcher import Hit, Matcher
from ai_psychiatrist.services.language.remembered import remembered
from ai_psychiatrist.services.language.spoken import Spoken, spoken_without
from ai_psychiatrist.services.language.vocabulary import word_file

LOOK_ALIKE: Final = "look_alike"
ASKED: Final = "?"
"""Ends the subject of the phrases that ask about a kind."""
IMPLIED: Final = "+"
"""Ends the subject of the phrases that only the topic gives a meaning."""
HINT: Final = "-"
"""Ends the subject of those that are a hint alone."""
_CONTEXT: Final = (
    "context",
    "manner",
    "time",
    "ending",
    "after",
    "replies",
    "rising",
    "moods",
    "whom",
)
"""Sections of phrases that may stand on the same words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """The words of a text, and the phrases among them in the order of their first words."""

    words: Spoken
    hits: tuple[Hit, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The words as they are compared."""
        return self.words.texts

    def among(self, *subjects: str) -> Iterator[Hit]:
        """Yield the phrases of some tables."""
        return (hit for hit in self.hits if hit.subject in subjects)

    def is_harmless(self, hit: Hit) -> bool:
        """Return whether a harmless phrase is the better reading of words that it shares."""
        return any(
            one.first <= hit.last
            and hit.first <= one.last
            and (one.last - one.first >= hit.last - hit.first or one.last > hit.last)
            for one in self.among(LOOK_ALIKE)
        )


@remembered(512)
def hear(text: str) -> Heard:
    """Find the phrases of a text."""
    words = spoken_without(text, _fillers())
    return Heard(words=words, hits=_matcher().find(words))


@cache
def _matcher() -> Matcher:
    tables: dict[str, list[str]] = {}
    lists = dict(word_file("danger/lists")["lists"])
    for section in _CONTEXT:
        for key, entries in word_file("danger/context")[section].items():
            tables[f"{section}.{key}"] = entries
    for kind in RiskKind:
        file = word_file(f"danger/{kind.value}")
        for key, entries in file["said"].items():
            tables[f"{kind.value}{_ending(key)}.{key}"] = entries
        tables |= {f"{kind.value}{ASKED}.{key}": entries for key, entries in file["asked"].items()}
        tables[f"{LOOK_ALIKE}.{kind.value}"] = file["harmless"].get(LOOK_ALIKE, [])
        lists |= file.get("lists", {})
    return Matcher(tables, lists, passes_over=_fillers().union(",").__contains__)


def _ending(key: str) -> str:
    """Return what parts phrases, so that they keep none from being found that says more."""
    if key.startswith("implied"):
        return IMPLIED
    return HINT if key == "low" else ""


@cache
def _fillers() -> frozenset[str]:
    return frozenset(word_file("danger/context")["fillers"])
