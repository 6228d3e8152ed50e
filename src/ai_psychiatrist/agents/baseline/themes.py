"""Themes of a participant's life, body and safety, found by phrases."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from ai_psychiatrist.agents.baseline.names import factors
from ai_psychiatrist.agents.baseline.signals import Analysis
from ai_psychiatrist.agents.baseline.stretch import Stretch, clauses_in
from ai_psychiatrist.domain.evidence import Polarity, Timeframe

_MOST_QUOTES: Final = 8
_MOST_PER_THEME: Final = 100
"""After how many phrases of one theme no more are read, so that repetition stays cheap."""
_SHORTEST: Final = 4


def spoken_clauses(analysis: Analysis) -> tuple[Stretch, ...]:
    """Return the clauses of the participant that may name a theme."""
    return tuple(
        clause
        for turn in analysis.transcript.participant_turns()
        if turn.index not in analysis.examined.wholly_unread
        for clause in clauses_in(analysis.transcript.words(turn))
        if clause.end - clause.start >= _SHORTEST
    )


def themes_in(clauses: Sequence[Stretch], domain: str) -> Mapping[str, Sequence[str]]:
    """Return theme → quotes of a domain, in the order in which the themes come up."""
    found: dict[str, list[str]] = {}
    heard: Counter[str] = Counter()
    for clause in clauses:
        for hit in factors()[domain].find(clause.words):
            name = hit.cue
            heard[name] += 1
            if heard[name] > _MOST_PER_THEME:
                continue
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
