"""Themes of a participant's life, body and safety, found by phrases."""

from collections.abc import Mapping, Sequence
from typing import Final

from ai_psychiatrist.agents.baseline.phrases import factors
from ai_psychiatrist.agents.baseline.signals import Analysis
from ai_psychiatrist.agents.baseline.stretch import Stretch, clauses_in
from ai_psychiatrist.domain.evidence import Polarity, Timeframe

_MOST_QUOTES: Final = 8
_SHORTEST: Final = 4


def themes_in(analysis: Analysis, domain: str) -> Mapping[str, Sequence[str]]:
    """Return theme → quotes of a domain, in the order in which the themes come up."""
    found: dict[str, list[str]] = {}
    for turn in analysis.transcript.participant_turns():
        for clause in clauses_in(analysis.transcript.words(turn)):
            if len(clause.text) < _SHORTEST:
                continue
            for hit in factors()[domain].find(clause.words):
                name = hit.cue
                if domain == "risk":
                    name += _qualified(clause.part(hit.start, hit.end))
                quotes = found.setdefault(name, [])
                if len(quotes) < _MOST_QUOTES:
                    quotes.append(clause.trimmed().text)
    return {name: [*dict.fromkeys(quotes)] for name, quotes in found.items()}


def _qualified(phrase: Stretch) -> str:
    if phrase.polarity is Polarity.DENIED:
        return ", denied"
    return ", in the past" if phrase.timeframe is Timeframe.PAST else ""
