"""The evidence task: up to six quotes per item."""

from ai_psychiatrist.agents.baseline.replies import json_text
from ai_psychiatrist.agents.baseline.signals import Analysis, Signal
from ai_psychiatrist.domain.evidence import Frequency, Polarity, Timeframe
from ai_psychiatrist.domain.phq8 import Item

_MOST_QUOTES = 6


def extract_evidence(analysis: Analysis) -> str:
    """Reply with the quotes for each item, in the order of the transcript."""
    return json_text({item.value: quotes_of(analysis, item) for item in Item})


def quotes_of(analysis: Analysis, item: Item, most: int = _MOST_QUOTES) -> list[str]:
    """Return the quotes that tell most about an item, in the order of the transcript."""
    telling = [signal for signal in analysis.of_item(item) if _is_telling(signal)]
    first_of: dict[str, Signal] = {}
    for signal in sorted(telling, key=_rank):
        first_of.setdefault(analysis.quote(signal), signal)
    chosen = sorted(list(first_of.items())[:most], key=lambda entry: entry[1].start)
    return [quote for quote, _ in chosen]


def _is_telling(signal: Signal) -> bool:
    return signal.polarity is not Polarity.UNCLEAR or signal.frequency is not Frequency.UNSTATED


def _rank(signal: Signal) -> tuple[bool, bool, bool, bool, int]:
    """Order: own words before bare answers, then the present, symptoms, and stated frequency."""
    return (
        signal.is_answer,
        signal.timeframe is Timeframe.PAST,
        signal.polarity is not Polarity.AFFIRMED,
        signal.frequency is Frequency.UNSTATED,
        signal.start,
    )
