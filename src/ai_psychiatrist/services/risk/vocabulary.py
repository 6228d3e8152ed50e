"""The phrases of danger, and what is said of one, among the words of a clause."""

from functools import cache
from typing import Final

from ai_psychiatrist.domain.risk import RiskKind
from ai_psychiatrist.services.language.matcher import Hit, MatchedText, Matcher
from ai_psychiatrist.services.language.remembered import remembered
from ai_psychiatrist.services.language.spoken import compared, every_word, spoken_without
from ai_psychiatrist.services.language.vocabulary import word_file

SPOKEN_KINDS: Final = tuple(kind for kind in RiskKind if kind is not RiskKind.UNSPECIFIED)
"""The kinds that phrases are known for."""
LOOK_ALIKE: Final = "look_alike"
ASKED: Final = "?"
"""Ends the subject of the phrases that ask about a kind."""
IMPLIED: Final = "+"
"""Ends the subject of the phrases that only the topic gives a meaning."""
HINT: Final = "-"
"""Ends the subject of those that are a hint alone."""
JOINED: Final = "&"
"""Ends the subject of those that only a purpose beside them gives a meaning."""
_CONTEXT: Final = (
    "context",
    "manner",
    "purpose",
    "time",
    "ending",
    "after",
    "replies",
    "rising",
    "moods",
    "whom",
)
"""Sections of phrases that may stand on the same words."""


@remembered(512)
def match_danger(text: str) -> MatchedText:
    """Find the phrases of a text."""
    return _matcher().match(spoken_without(text, danger_words("fillers")))


@remembered(256)
def match_replies(text: str) -> MatchedText:
    """Find what is said of an answer or a question; the subject of a hit is its list.

    No word is passed over: "not really" is no "no".
    """
    return _reply_matcher().match(every_word(text))


def is_harmless(matched: MatchedText, hit: Hit) -> bool:
    """Return whether a harmless phrase is the better reading of words that it shares."""
    return any(
        one.first <= hit.last
        and hit.first <= one.last
        and (one.last - one.first >= hit.last - hit.first or one.last > hit.last)
        for one in matched.among(LOOK_ALIKE)
    )


@cache
def _matcher() -> Matcher:
    tables: dict[str, list[str]] = {}
    lists = dict(word_file("danger/lists")["lists"])
    for section in _CONTEXT:
        for key, entries in word_file("danger/context")[section].items():
            tables[f"{section}.{key}"] = entries
    for kind in SPOKEN_KINDS:
        file = word_file(f"danger/{kind.value}")
        for key, entries in file["said"].items():
            tables[f"{kind.value}{_ending(key)}.{key}"] = entries
        tables |= {f"{kind.value}{ASKED}.{key}": entries for key, entries in file["asked"].items()}
        tables[f"{LOOK_ALIKE}.{kind.value}"] = file["harmless"].get(LOOK_ALIKE, [])
        lists |= file.get("lists", {})
    return Matcher(tables, lists, passes_over=danger_words("fillers").union(",").__contains__)


def _ending(key: str) -> str:
    """Return what parts phrases, so that they keep none from being found that says more."""
    if key.startswith("implied"):
        return IMPLIED
    if key.startswith("joined"):
        return JOINED
    return HINT if key == "low" else ""


@cache
def danger_words(key: str) -> frozenset[str]:
    """Return a list of single words about dangers."""
    return frozenset(word_file("danger/context")[key])


@cache
def reply_words(key: str) -> frozenset[str]:
    """Return a list of single words of answers, as they are compared."""
    entries = word_file("danger/replies")["words"][key]
    return frozenset(word for entry in entries for word in compared(entry))


@cache
def _reply_matcher() -> Matcher:
    file = word_file("danger/replies")
    lists = dict(word_file("danger/lists")["lists"]) | file["lists"]
    return Matcher(file["phrases"], lists, passes_over=lambda _: False)
