"""What the quotes of an item state together."""

from collections.abc import Sequence
from typing import Final

from ai_psychiatrist.domain.evidence import Frequency, Quote

_RISING: Final = (
    Frequency.SEVERAL_DAYS,
    Frequency.MORE_THAN_HALF,
    Frequency.NEARLY_EVERY_DAY,
)


def stated_frequency(quotes: Sequence[Quote]) -> Frequency:
    """Return the highest frequency that quotes about the present state for a symptom."""
    stated = [quote.frequency for quote in quotes if quote.supports_symptom]
    ranks = [frequency for frequency in _RISING if frequency in stated]
    return ranks[-1] if ranks else Frequency.UNSTATED


def distinct_quotes(quotes: Sequence[Quote]) -> tuple[Quote, ...]:
    """Return the quotes in order, those of the same place once."""
    return tuple({quote.segments: quote for quote in quotes}.values())
