"""The qualitative tasks: a plain narrative in tagged sections, made of rules and quotes."""

import re
from typing import Final

from ai_psychiatrist.agents.baseline.extraction import quotes_of
from ai_psychiatrist.agents.baseline.phrases import phrases
from ai_psychiatrist.agents.baseline.signals import Analysis, Signal
from ai_psychiatrist.agents.baseline.themes import Theme, themes_in
from ai_psychiatrist.domain.evidence import Frequency, Timeframe
from ai_psychiatrist.domain.phq8 import Item

NOT_ASSESSED: Final = "not assessed in interview"
_ORIGIN: Final = (
    "This narrative was written by a rule baseline, not by a language model or a clinician: it "
    "lists what fixed phrases find."
)
_FIRST_QUOTES: Final = 2
_REFINED_QUOTES: Final = 4
_LONGEST_QUOTE: Final = 300
# Marks of tags and of quotes would end the quote, or the section it stands in.
_UNQUOTABLE: Final = re.compile(r"[<>\"“”„«»]")


def narrate(analysis: Analysis) -> str:
    """Reply with the first findings."""
    return _narrative(analysis, _FIRST_QUOTES)


def refine(analysis: Analysis) -> str:
    """Reply with fuller findings: the same rules with more quotes for each statement."""
    return _narrative(analysis, _REFINED_QUOTES)


def _narrative(analysis: Analysis, most: int) -> str:
    social, biological, risk = (
        themes_in(analysis, domain) for domain in ("social", "biological", "risk")
    )
    sections = {
        "assessment": _assessment(analysis),
        "PHQ8_symptoms": _symptoms(analysis, most),
        "social_factors": _factors(social, most),
        "biological_factors": _factors(biological, most),
        "risk_factors": _factors(risk, most),
        "exact_quotes": _exact_quotes(analysis, risk, most),
    }
    return "\n".join(f"<{tag}>\n{text}\n</{tag}>" for tag, text in sections.items())


def _assessment(analysis: Analysis) -> str:
    groups: dict[str, list[str]] = {}
    for item, table in phrases().items.items():
        groups.setdefault(_status(analysis.of_item(item)), []).append(table.name)
    sentences = [
        sentence.format(_listed(groups[status]))
        for status, sentence in _SENTENCES.items()
        if status in groups
    ]
    return " ".join([_ORIGIN, *sentences])


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


def _status(signals: tuple[Signal, ...]) -> str:
    if not signals:
        return NOT_ASSESSED
    if any(signal.is_current_symptom for signal in signals):
        return _PRESENT
    if any(signal.is_denial for signal in signals):
        return _DENIED
    return _PAST if any(s.timeframe is Timeframe.PAST for s in signals) else _UNCLEAR


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _symptoms(analysis: Analysis, most: int) -> str:
    if not analysis.signals:
        return NOT_ASSESSED
    return "\n".join(_symptom(analysis, item, most) for item in Item)


def _symptom(analysis: Analysis, item: Item, most: int) -> str:
    signals = analysis.of_item(item)
    status = _status(signals)
    often = ""
    if status == _PRESENT:
        stated = {signal.frequency for signal in signals if signal.is_current_symptom}
        often = next((f", {words}" for value, words in _HOW_OFTEN.items() if value in stated), "")
    quotes = " ".join(f'"{quote}"' for quote in _quotable(quotes_of(analysis, item), most))
    return f"- {item.label}: {status}{often}. {quotes}".rstrip()


_HOW_OFTEN: Final = {
    Frequency.NEARLY_EVERY_DAY: "nearly every day",
    Frequency.MORE_THAN_HALF: "more than half the days",
    Frequency.SEVERAL_DAYS: "several days",
}
"""The highest stated frequency comes first, as in scoring."""


def _factors(themes: tuple[Theme, ...], most: int) -> str:
    lines = (
        f"- {theme.name}: " + " ".join(f'"{quote}"' for quote in quotes)
        for theme in themes
        if (quotes := _quotable(theme.quotes, most))
    )
    return "\n".join(lines) or NOT_ASSESSED


def _exact_quotes(analysis: Analysis, risk: tuple[Theme, ...], most: int) -> str:
    quotes = [quote for item in Item for quote in _quotable(quotes_of(analysis, item), most)] + [
        quote for theme in risk for quote in _quotable(theme.quotes, most)
    ]
    return "\n".join(f"- {quote}" for quote in dict.fromkeys(quotes)) or NOT_ASSESSED


def _quotable(quotes: list[str] | tuple[str, ...], most: int) -> list[str]:
    """Return the quotes that a line between quote marks can hold, each on one line."""
    lines = (" ".join(quote.split()) for quote in quotes)
    fitting = [
        line
        for line in lines
        if line and len(line) <= _LONGEST_QUOTE and not _UNQUOTABLE.search(line)
    ]
    return fitting[:most]
