"""To dislike one thing is no loss of interest in things."""

import pytest
from tests.unit.services.language.said import said

from ai_psychiatrist.domain.phq8 import Item

CASES = [
    ("I don't enjoy anything.", Item.NO_INTEREST, {"affirmed"}),
    ("I don't enjoy things anymore.", Item.NO_INTEREST, {"affirmed"}),
    ("I've no interest in anything.", Item.NO_INTEREST, {"affirmed"}),
    ("I can't be bothered with anything.", Item.NO_INTEREST, {"affirmed"}),
    ("I take no pleasure in things.", Item.NO_INTEREST, {"affirmed"}),
    ("Nothing interests me anymore.", Item.NO_INTEREST, {"affirmed"}),
    ("I don't enjoy football.", Item.NO_INTEREST, {"unclear"}),
    ("I don't like mushrooms.", Item.NO_INTEREST, set()),
    ("I never liked swimming.", Item.NO_INTEREST, set()),
    ("I have no interest in golf.", Item.NO_INTEREST, set()),
    ("I hate Mondays.", Item.NO_INTEREST, set()),
    ("I'm not keen on spiders.", Item.NO_INTEREST, set()),
]


@pytest.mark.parametrize(("words", "item", "statuses"), CASES, ids=[row[0] for row in CASES])
def test_only_a_general_loss_of_interest_is_one(words: str, item: Item, statuses: set[str]) -> None:
    assert said(item, words) == statuses
