"""What is wished for, feared or only thought of is not there."""

import pytest
from tests.unit.services.language.said import said

from ai_psychiatrist.domain.phq8 import Item

CASES = [
    ("I want to feel less tired.", Item.TIRED, {"supposed"}),
    ("I hope I don't get depressed.", Item.DEPRESSED, {"supposed"}),
    ("I hope I'm not depressed.", Item.DEPRESSED, {"supposed"}),
    ("I'd like to have more energy.", Item.TIRED, {"supposed"}),
    ("If I were depressed I'd say so.", Item.DEPRESSED, {"supposed"}),
    ("I'm afraid of becoming depressed.", Item.DEPRESSED, {"supposed"}),
    ("I might be depressed.", Item.DEPRESSED, {"supposed"}),
    ("I'd hate to feel like a failure.", Item.FAILURE, {"supposed"}),
    ("I need to eat more.", Item.APPETITE, {"unclear"}),
]


@pytest.mark.parametrize(("words", "item", "statuses"), CASES, ids=[row[0] for row in CASES])
def test_what_is_supposed_is_not_said_to_be(words: str, item: Item, statuses: set[str]) -> None:
    assert said(item, words) == statuses
