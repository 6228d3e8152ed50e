"""What becomes of a proposed item score: it stands only on words of the participant."""

from collections.abc import Sequence
from dataclasses import dataclass

from ai_psychiatrist.domain.evidence import Polarity, Quote
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
    gives for it. A score of 1-3 needs a quote that does not deny the symptom, a 0 one that does.
    """
    quotes = _distinct([*cited, *extracted])
    if proposed is None:
        reason = UnknownReason.SCORE_NA_WITH_EVIDENCE if quotes else UnknownReason.NO_MENTION
        return ItemDecision(score=None, unknown_reason=reason, quotes=quotes)
    if not quotes:
        return _unknown(UnknownReason.NO_GROUNDED_EVIDENCE, quotes)
    denials = any(quote.polarity is Polarity.DENIED for quote in quotes)
    if proposed == 0:
        if not denials:
            return _unknown(UnknownReason.ZERO_WITHOUT_DENIAL, quotes)
    elif all(quote.polarity is Polarity.DENIED for quote in quotes):
        return _unknown(UnknownReason.ONLY_DENIED_OR_PAST, quotes)
    return ItemDecision(score=proposed, unknown_reason=None, quotes=quotes)


def _unknown(reason: UnknownReason, quotes: tuple[Quote, ...]) -> ItemDecision:
    return ItemDecision(score=None, unknown_reason=reason, quotes=quotes)


def _distinct(quotes: list[Quote]) -> tuple[Quote, ...]:
    return tuple({quote.segments: quote for quote in quotes}.values())
