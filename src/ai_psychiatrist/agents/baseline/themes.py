"""Themes of a participant's life, body and safety, found by phrases."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from ai_psychiatrist.agents.baseline.names import factors
from ai_psychiatrist.agents.baseline.signals import Analysis
from ai_psychiatrist.agents.baseline.text_span import TextSpan
from ai_psychiatrist.domain.evidence import Timeframe
from ai_psychiatrist.services.language.concepts import match_concepts
from ai_psychiatrist.services.language.matcher import Hit
from ai_psychiatrist.services.language.spoken import spoken
from ai_psychiatrist.services.language.timeline import Timeline, timeline_of
from ai_psychiatrist.services.language.triggers import is_symptom_there
from ai_psychiatrist.services.language.vocabulary import word_list

DOMAINS: Final = ("social", "biological", "risk")
_MOST_QUOTES: Final = 8
_MOST_PER_THEME: Final = 100
"""After how many phrases of one theme no more are read, so that repetition stays cheap."""


def themes_of(analysis: Analysis) -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return domain → theme → quotes, in the order in which the themes come up."""
    found: dict[str, dict[str, list[str]]] = {domain: {} for domain in DOMAINS}
    matched: Counter[str] = Counter()
    for turn in analysis.transcript.participant_turns():
        if turn.index in analysis.examined.wholly_unread:
            continue
        times = timeline_of(analysis.transcript.words(turn))
        for clause in times.clauses:
            said = TextSpan(times.words, clause.start, clause.end)
            for hit in factors().find(spoken(said.text)):
                matched[hit.cue] += 1
                if matched[hit.cue] > _MOST_PER_THEME:
                    continue
                name = hit.kind + (_qualified(said, hit, times) if hit.subject == "risk" else "")
                quotes = found[hit.subject].setdefault(name, [])
                if len(quotes) < _MOST_QUOTES:
                    quotes.append(said.trimmed().text)
    return {
        domain: {name: [*dict.fromkeys(quotes)] for name, quotes in named.items()}
        for domain, named in found.items()
    }


def _qualified(said: TextSpan, hit: Hit, times: Timeline) -> str:
    """Return what is said of a danger, read like any symptom."""
    matched = match_concepts(said.text)
    # "Don't want to die" has no word left to govern what it denies.
    is_led = not _denying().isdisjoint(matched.texts[: hit.first][-1:])
    if is_led or not is_symptom_there(matched, hit._replace(cue="theme.symptom"), is_bad=None):
        return ", denied"
    start, end = matched.words.spans[hit.first][0], matched.words.spans[hit.last][1]
    time = times.timeframe_of(said.start + start, said.start + end)
    return ", in the past" if time is Timeframe.PAST else ""


@cache
def _denying() -> frozenset[str]:
    return frozenset(word_list("spoken", "denying"))
