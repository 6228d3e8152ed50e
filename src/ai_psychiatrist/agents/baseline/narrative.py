"""The qualitative tasks: a plain narrative in tagged sections, made of rules and quotes."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from ai_psychiatrist.agents.baseline.names import item_names
from ai_psychiatrist.agents.baseline.signals import HOW_OFTEN, Analysis, Signal
from ai_psychiatrist.agents.baseline.themes import DOMAINS, themes_of
from ai_psychiatrist.agents.output_models import NOT_ASSESSED, NOT_READ
from ai_psychiatrist.agents.prompts.findings import tagged_text
from ai_psychiatrist.domain.evidence import Timeframe, stated_frequency
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.language.language_marks import language_names

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
    themes = themes_of(analysis)
    social, biological, risk = (
        {name: _quotable(analysis.grounded(said), most) for name, said in themes[domain].items()}
        for domain in DOMAINS
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
    return tagged_text({tag: text or NOT_ASSESSED for tag, text in sections.items()})


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
    for item, table in item_names().items():
        groups.setdefault(_status(analysis.of_item(item)), []).append(table.name)
    sentences = (
        sentence.format(_listed(groups[status]))
        for status, sentence in _SENTENCES.items()
        if status in groups
    )
    return " ".join([_ORIGIN, *_unread(analysis), *sentences])


def _unread(analysis: Analysis) -> Iterator[str]:
    """Say how much of the participant's words was not read."""
    examined = analysis.examined
    if examined.share is not None and examined.unread:
        names = _listed([language_names()[one] for one in examined.languages])
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
