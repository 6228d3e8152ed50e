"""What becomes of a proposed item score: it stands only on words of the participant."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ai_psychiatrist.domain.evidence import Frequency, Polarity, Quote, Timeframe
from ai_psychiatrist.domain.phq8 import UnknownReason


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDecision:
    """A score with the quotes that carry it, or the reason why there is none."""

    score: int | None
    unknown_reason: UnknownReason | None
    quotes: tuple[Quote, ...]


def decide_item(
    proposed: int | None, *, extracted: Sequence[Quote], cited: Sequence[Quote]
) -> ItemDecision:
    """Decide an item from the proposed score 0-3 (`None` for N/A) and its grounded quotes.

    `extracted`: quotes of the evidence stage for this item. `cited`: quotes that the scoring reply
    gives for it. A score of 1-3 needs a quote that affirms the symptom for the present, a 0 one
    that denies it for the present.
    """
    quotes = _distinct([*cited, *extracted])
    reason = _reason_against(proposed, quotes)
    score = proposed if reason is None else None
    return ItemDecision(score=score, unknown_reason=reason, quotes=quotes)


def stated_frequency(quotes: Sequence[Quote]) -> Frequency:
    """Return the highest frequency that quotes about the present state for a symptom."""
    stated = [quote.frequency for quote in quotes if quote.supports_symptom]
    ranks = [frequency for frequency in _RISING if frequency in stated]
    return ranks[-1] if ranks else Frequency.UNSTATED


_RISING: Final = (
    Frequency.SEVERAL_DAYS,
    Frequency.MORE_THAN_HALF,
    Frequency.NEARLY_EVERY_DAY,
)


def _is_denied_or_past(quote: Quote) -> bool:
    return quote.polarity is Polarity.DENIED or quote.timeframe is Timeframe.PAST


def _reason_against(proposed: int | None, quotes: tuple[Quote, ...]) -> UnknownReason | None:
    if proposed is None:
        return UnknownReason.SCORE_NA_WITH_EVIDENCE if quotes else UnknownReason.NO_MENTION
    if not quotes:
        return UnknownReason.NO_GROUNDED_EVIDENCE
    if proposed == 0:
        is_denied = any(quote.denies_symptom for quote in quotes)
        return None if is_denied else UnknownReason.ZERO_WITHOUT_DENIAL
    if any(quote.supports_symptom for quote in quotes):
        return None
    if _rests_on_denied_or_past(quotes):
        return UnknownReason.ONLY_DENIED_OR_PAST
    return UnknownReason.NO_AFFIRMED_EVIDENCE


def _rests_on_denied_or_past(quotes: Sequence[Quote]) -> bool:
    """Return whether all of some quotes deny a symptom or tell of the past alone."""
    return bool(quotes) and all(_is_denied_or_past(quote) for quote in quotes)


def _distinct(quotes: list[Quote]) -> tuple[Quote, ...]:
    return tuple({quote.segments: quote for quote in quotes}.values())
