"""Themes of a participant's life, body and safety, found by phrases."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from ai_psychiatrist.agents.baseline.phrases import read_table
from ai_psychiatrist.agents.baseline.signals import Analysis, trimmed
from ai_psychiatrist.domain.evidence import Polarity, Timeframe
from ai_psychiatrist.services.cues.clauses import clauses_of
from ai_psychiatrist.services.cues.lexicon import Lexicon, lexicon_from, words_of
from ai_psychiatrist.services.cues.polarity import polarity_of
from ai_psychiatrist.services.cues.tense import timeframe_of

_MOST_QUOTES: Final = 8
_SHORTEST: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """A theme and the participant's words about it."""

    name: str
    quotes: tuple[str, ...]


def themes_in(analysis: Analysis, domain: str) -> tuple[Theme, ...]:
    """Return the themes of a domain in the order in which they come up."""
    found: dict[str, list[str]] = {}
    for turn in analysis.transcript.participant_turns():
        words = analysis.transcript.words(turn)
        for clause in clauses_of(words):
            if clause.end - clause.start < _SHORTEST:
                continue
            text = words[clause.start : clause.end]
            for hit in _lexicons()[domain].find(words_of(text)):
                start, end = clause.start + hit.start, clause.start + hit.end
                name = hit.cue + (_qualified(words, start, end) if domain == "risk" else "")
                quotes = found.setdefault(name, [])
                if len(quotes) < _MOST_QUOTES:
                    span = trimmed(words, clause)
                    quotes.append(words[span.start : span.end])
    return tuple(
        Theme(name=name, quotes=tuple(dict.fromkeys(quotes))) for name, quotes in found.items()
    )


@cache
def _lexicons() -> Mapping[str, Lexicon]:
    return {domain: lexicon_from(table) for domain, table in read_table("factors.toml").items()}


def _qualified(words: str, start: int, end: int) -> str:
    if polarity_of(words, start, end) is Polarity.DENIED:
        return ", denied"
    return ", in the past" if timeframe_of(words, start, end) is Timeframe.PAST else ""
