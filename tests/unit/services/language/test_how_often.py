"""How often it is stands with its own clause, or alone after it."""

import pytest
from tests.unit.services.language.said import how_often

from ai_psychiatrist.domain.evidence import Frequency
from ai_psychiatrist.domain.phq8 import Item

HALF, DAILY = Frequency.MORE_THAN_HALF, Frequency.NEARLY_EVERY_DAY
CASES = [
    ("I'm tired every day.", Item.TIRED, {DAILY}),
    ("I lie awake most nights.", Item.SLEEP, {HALF}),
    ("I can't sleep. Most nights.", Item.SLEEP, {HALF}),
    ("I never sleep.", Item.SLEEP, {DAILY}),
    ("I'm tired, four nights five nights in one week.", Item.TIRED, {HALF}),
    ("I'm tired all day about ten outta the fourteen days", Item.TIRED, {HALF}),
    ("I'm tired more days than I don't.", Item.TIRED, {HALF}),
    ("I'm tired every blessed day.", Item.TIRED, {DAILY}),
    ("I sleep well every night.", Item.SLEEP, {Frequency.NOT_AT_ALL}),
    ("I feel tired. I work every day.", Item.TIRED, set()),
    ("I walk the dog every day and I feel sad.", Item.DEPRESSED, set()),
    ("I feel sad, and every day I walk the dog.", Item.DEPRESSED, set()),
    ("I eat every day but I feel down.", Item.DEPRESSED, set()),
]


@pytest.mark.parametrize(("words", "item", "stated"), CASES, ids=[row[0] for row in CASES])
def test_how_often_is_not_taken_from_another_clause(
    words: str, item: Item, stated: set[Frequency]
) -> None:
    assert how_often(item, words) == stated
