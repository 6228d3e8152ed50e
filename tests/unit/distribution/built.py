"""Items, quotes and beliefs for the tests of belief."""

from tests.fakes.bare_assessments import bare_item

from ai_psychiatrist.domain.belief import BeliefSource, ItemBelief
from ai_psychiatrist.domain.evidence import (
    Frequency,
    Match,
    Polarity,
    Quote,
    Relevance,
    Segment,
    Timeframe,
)
from ai_psychiatrist.domain.items import ItemAssessment
from ai_psychiatrist.domain.phq8 import Item


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
    return bare_item(key, score, evidence=quotes)


def belief(*shares: float) -> ItemBelief:
    first, second, third, fourth, not_determinable = shares
    return ItemBelief(
        scores=(first, second, third, fourth),
        not_determinable=not_determinable,
        sources=(BeliefSource.RULES,),
    )
