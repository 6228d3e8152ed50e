"""The verifier's own table gives what the shipped rules give, whatever the facts are."""

import random
from itertools import product

import pytest

from ai_psychiatrist.agents.item_rules import check_item
from ai_psychiatrist.agents.output_models import ItemScoreOutput
from ai_psychiatrist.domain.evidence import (
    Frequency,
    Match,
    Polarity,
    Quote,
    Relevance,
    Segment,
    Timeframe,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.proof.verify import REASONS, broken_rules

FACTS = [*product(Relevance, Polarity, Timeframe, (True, False))]
SCORES = (None, 0, 1, 2, 3)


def quote(number: int, facts: tuple[Relevance, Polarity, Timeframe, bool]) -> Quote:
    relevance, polarity, timeframe, is_plain = facts
    return Quote(
        text="words",
        match=Match.EXACT,
        segments=(Segment(turn=0, start=number, end=number + 1),),
        frequency=Frequency.UNSTATED,
        relevance=relevance,
        polarity=polarity,
        timeframe=timeframe,
        is_plain=is_plain,
    )


def as_certified(one: Quote) -> dict[str, object]:
    return {
        "relevance": one.relevance.value,
        "polarity": one.polarity.value,
        "timeframe": one.timeframe.value,
        "is_plain": one.is_plain,
    }


def assert_same_rules(quotes: list[Quote], score: int | None, chance: random.Random) -> None:
    has_reason, is_found, is_shared = (chance.random() < 0.7 for _ in range(3))
    confidence = chance.choice([None, 1, 5])
    answer = ItemScoreOutput(
        score=score,
        evidence=("quoted",),
        reason="because" if has_reason else "",
        confidence=confidence,
    )
    served = {one.segments: 3 if is_shared else 1 for one in quotes}
    finding = check_item(Item.SLEEP, answer, quotes, lambda _: is_found, quote_use=served)
    reply = {
        "score": score,
        "confidence": confidence,
        "has_reason": has_reason,
        "has_unfound_quote": not is_found,
    }
    rules = broken_rules(reply, [*map(as_certified, quotes)], is_shared=is_shared and bool(quotes))
    assert rules == list(finding.rules)
    if score is not None:
        against = finding.reason_against(score, quotes)
        named = next((REASONS[rule] for rule in rules if rule in REASONS), None)
        assert named == (against and against.value)


@pytest.mark.parametrize("score", SCORES)
def test_each_fact_by_itself_gives_the_rules_of_the_contract(score: int | None) -> None:
    chance = random.Random(0)  # noqa: S311
    assert_same_rules([], score, chance)
    for facts in FACTS:
        assert_same_rules([quote(0, facts)], score, chance)


def test_facts_together_give_the_rules_of_the_contract() -> None:
    chance = random.Random(1)  # noqa: S311
    for _ in range(400):
        several = [quote(at, chance.choice(FACTS)) for at in range(chance.randint(2, 5))]
        assert_same_rules(several, chance.choice(SCORES), chance)
