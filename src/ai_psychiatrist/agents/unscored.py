"""The eight items before they are scored: the quotes found for each, and those refused."""

from collections.abc import Iterable
from itertools import chain

from ai_psychiatrist.agents.case import Case
from ai_psychiatrist.domain.assessment import ItemAssessment
from ai_psychiatrist.domain.evidence import (
    GroundingReport,
    UnverifiedQuote,
    distinct_quotes,
    stated_frequency,
)
from ai_psychiatrist.domain.phq8 import Item, UnknownReason


def unscored_item(case: Case, item: Item, report: GroundingReport) -> ItemAssessment:
    """Return an item with its evidence and without a score."""
    extracted, rejected = report.accepted[item.value], report.rejected[item.value]
    quotes = case.reader.for_item(distinct_quotes(extracted), item)
    return ItemAssessment(
        item=item,
        score=None,
        unknown_reason=UnknownReason.SCORING_FAILED,
        proposed_score=None,
        quotes=quotes,
        frequency=stated_frequency(quotes),
        unverified_quotes=distinct_texts(rejected),
        reason="",
        confidence=None,
        warnings=(),
        llm_evidence_count=len(extracted),
        llm_evidence_extracted_count=len(extracted) + len(rejected),
        llm_evidence_rejected_count=sum(quote.reason is not None for quote in rejected),
    )


def distinct_texts(*quotes: Iterable[UnverifiedQuote]) -> tuple[UnverifiedQuote, ...]:
    """Return the quotes in order, those of the same words once."""
    return tuple({quote.text: quote for quote in chain.from_iterable(quotes)}.values())
