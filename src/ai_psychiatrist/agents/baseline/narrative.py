"""The qualitative tasks: a plain narrative in tagged sections, made of rules and quotes."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any, Final

import rtoml

from ai_psychiatrist.agents.baseline.signals import HOW_OFTEN, Analysis, Signal, trimmed
from ai_psychiatrist.agents.output_models import NOT_ASSESSED, NOT_READ
from ai_psychiatrist.domain.evidence import Timeframe, stated_frequency
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.language.concepts import match_concepts
from ai_psychiatrist.services.language.identification import language_names
from ai_psychiatrist.services.language.negation import is_symptom_there
from ai_psychiatrist.services.language.phrases import Hit, Matcher
from ai_psychiatrist.services.language.spoken import spoken
from ai_psychiatrist.services.language.timeline import Timeline, timeline_of
from ai_psychiatrist.services.language.vocabulary import word_list

_ORIGIN: Final = (
    "This narrative was written by a rule baseline, not by a language model or a clinician: it "
    "lists what fixed phrases find."
)
_PRESENT: Final = "present"
_DENIED: Final = "denied"
_PAST: Final = "in the past only"
_UNCLEAR: Final = "unclear"
_SENTENCES: Final = {
    _PRESENT: "The participant speaks of present problems with {}.",
    _DENIED: "The participant denies problems with {}.",
    _PAST: "Only of the past they mention {}.",
    _UNCLEAR: "What they say about {} is unclear.",
    NOT_ASSESSED: "Nothing was found about {}.",
}
_LONGEST_QUOTE: Final = 300
# Marks of tags and of quotes would end the quote, or the section it stands in.
_UNQUOTABLE: Final = re.compile(r"[<>\"“”„«»]")


def narrate(analysis: Analysis, most: int) -> str:
    """Reply with findings of at most so many quotes for each statement."""
    quotes = {item: _quotable(analysis.quotes(item), most) for item in Item}
    social, biological, risk = (
        {name: _quotable(analysis.grounded(said), most) for name, said in themes.items()}
        for themes in _themes_of(analysis).values()
    )
    exact = dict.fromkeys(quote for said in (*quotes.values(), *risk.values()) for quote in said)
    sections = {
        "assessment": _assessment(analysis),
        "PHQ8_symptoms": "\n".join(
            _symptom(analysis.of_item(item), item, quotes[item]) for item in Item
        )
        if analysis.signals
        else "",
        "social_factors": _factors(social),
        "biological_factors": _factors(biological),
        "risk_factors": _factors(risk),
        "exact_quotes": "\n".join(f"- {quote}" for quote in exact),
    }
    return "\n".join(f"<{tag}>\n{text or NOT_ASSESSED}\n</{tag}>" for tag, text in sections.items())


def _quotable(quotes: Iterable[str], most: int) -> list[str]:
    """Return the quotes that a line between quote marks can hold, each on one line."""
    lines = (" ".join(quote.split()) for quote in quotes)
    return [
        line for line in lines if 0 < len(line) <= _LONGEST_QUOTE and not _UNQUOTABLE.search(line)
    ][:most]


def _assessment(analysis: Analysis) -> str:
    if not analysis.is_read:
        return f"{_ORIGIN} {NOT_READ}"
    groups: dict[str, list[str]] = {}
    for item, names in item_names().items():
        groups.setdefault(_status(analysis.of_item(item)), []).append(names["label"])
    sentences = (
        sentence.format(_listed(groups[status]))
        for status, sentence in _SENTENCES.items()
        if status in groups
    )
    return " ".join([_ORIGIN, *_unread(analysis), *sentences])


def _unread(analysis: Analysis) -> Iterator[str]:
    """Say how much of the participant's words was not read."""
    examined = analysis.examined
    if examined.share is not None and examined.count_not_examined:
        names = _listed([language_names()[one] for one in examined.unread_languages])
        yield (
            f"The rules read English alone, which {examined.share:.0%} of the participant's words "
            f"are in; what is said in {names} was not examined."
        )


def _status(signals: tuple[Signal, ...]) -> str:
    if not signals:
        return NOT_ASSESSED
    if any(signal.quote.supports_symptom for signal in signals):
        return _PRESENT
    if any(signal.quote.denies_symptom for signal in signals):
        return _DENIED
    return _PAST if any(s.quote.timeframe is Timeframe.PAST for s in signals) else _UNCLEAR


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _symptom(signals: tuple[Signal, ...], item: Item, quotes: list[str]) -> str:
    often = HOW_OFTEN.get(stated_frequency([signal.quote for signal in signals]))
    status = _status(signals) + (f", {often}" if often else "")
    return f"- {item.label}: {status}. {_marked(quotes)}".rstrip()


def _factors(themes: Mapping[str, list[str]]) -> str:
    return "\n".join(f"- {name}: {_marked(quotes)}" for name, quotes in themes.items() if quotes)


def _marked(quotes: list[str]) -> str:
    return " ".join(f'"{quote}"' for quote in quotes)


# Themes of a participant's life, body and safety, found by phrases

_MOST_QUOTES: Final = 8
_MOST_PER_THEME: Final = 100
"""After how many phrases of one theme no more are read, so that repetition stays cheap."""


def _themes_of(analysis: Analysis) -> Mapping[str, Mapping[str, Iterable[str]]]:
    """Return domain → theme → quotes, in the order in which the themes come up."""
    found: dict[str, dict[str, list[str]]] = {"social": {}, "biological": {}, "risk": {}}
    matched: Counter[str] = Counter()
    for turn in analysis.transcript.participant_turns():
        if turn.index in analysis.examined.wholly_unread:
            continue
        times = timeline_of(analysis.transcript.words(turn))
        for clause in times.clauses:
            for hit in _theme_phrases().match(spoken(times.words[clause.start : clause.end])).hits:
                matched[hit.cue] += 1
                if matched[hit.cue] > _MOST_PER_THEME:
                    continue
                is_risk = hit.subject == "risk"
                suffix = _qualified(times, clause.start, clause.end, hit) if is_risk else ""
                quotes = found[hit.subject].setdefault(hit.kind + suffix, [])
                if len(quotes) < _MOST_QUOTES:
                    start, end = trimmed(times.words, clause.start, clause.end)
                    quotes.append(times.words[start:end])
    return {
        domain: {name: dict.fromkeys(quotes) for name, quotes in named.items()}
        for domain, named in found.items()
    }


def _qualified(times: Timeline, start: int, end: int, hit: Hit) -> str:
    """Return what a clause says of a risk, read like any symptom."""
    matched = match_concepts(times.words[start:end])
    # "Don't want to die" has no word left to govern what it denies.
    is_led = not {*word_list("spoken", "denying")}.isdisjoint(matched.texts[: hit.first][-1:])
    if is_led or not is_symptom_there(matched, hit._replace(cue="theme.symptom"), is_bad=None):
        return ", denied"
    first, last = matched.words.spans[hit.first][0], matched.words.spans[hit.last][1]
    time = times.timeframe_of(start + first, start + last)
    return ", in the past" if time is Timeframe.PAST else ""


@cache
def _theme_phrases() -> Matcher:
    """Load the themes; the subject of a hit is its domain, the kind its theme."""
    tables = _table("factors.toml")
    return Matcher(
        {f"{domain}.{theme}": said for domain in tables for theme, said in tables[domain].items()},
        {},
    )


@cache
def item_names() -> Mapping[Item, Mapping[str, Any]]:
    """Load how each item is named: its `label`, and stems that `mention` it."""
    tables = _table("names.toml")
    return {item: tables[item] for item in Item}


def _table(name: str) -> Mapping[str, Any]:
    return rtoml.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))
