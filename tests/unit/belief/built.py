"""Items, quotes and beliefs for the tests of belief."""

from ai_psychiatrist.domain.assessment import ItemAssessment
from ai_psychiatrist.domain.belief import BeliefSource, ItemBelief
from ai_psychiatrist.domain.evidence import (
    Frequency,
    Match,
    Polarity,
    Quote,
    Relevance,
    Segment,
    Timeframe,
    stated_frequency,
)
from ai_psychiatrist.domain.phq8 import Item, UnknownReason


def quote(
    polarity: Polarity = Polarity.AFFIRMED,
    frequency: Frequency = Frequency.UNSTATED,
    timeframe: Timeframe = Timeframe.UNSTATED,
    relevance: Relevance = Relevance.ABOUT,
) -> Quote:
    return Quote(
        text="the words",
        segments=(Segment(turn=0, start=0, end=9),),
        match=Match.EXACT,
        polarity=polarity,
        frequency=frequency,
        timeframe=timeframe,
        relevance=relevance,
    )


def item(*quotes: Quote, key: Item = Item.SLEEP, score: int | None = None) -> ItemAssessment:
    return ItemAssessment(
        item=key,
        score=score,
        unknown_reason=UnknownReason.NO_MENTION if score is None else None,
        proposed_score=score,
        quotes=quotes,
        frequency=stated_frequency(quotes),
        unverified_quotes=(),
        reason="",
        confidence=None,
        warnings=(),
        llm_evidence_count=len(quotes),
        llm_evidence_extracted_count=len(quotes),
        llm_evidence_rejected_count=0,
    )


def belief(*shares: float) -> ItemBelief:
    first, second, third, fourth, not_determinable = shares
    return ItemBelief(
        scores=(first, second, third, fourth),
        not_determinable=not_determinable,
        sources=(BeliefSource.RULES,),
    )
