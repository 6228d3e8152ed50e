"""What stands under "if" is supposed, and what only has a condition after it is not."""

import pytest
from tests.unit.services.language.said import said

from ai_psychiatrist.domain.phq8 import Item

CASES = [
    ("If I can't sleep I read.", Item.SLEEP, {"supposed"}),
    ("If I couldn't sleep I'd tell you.", Item.SLEEP, {"supposed"}),
    ("When I can't sleep I read.", Item.SLEEP, {"affirmed"}),
    ("I can't sleep if I have coffee.", Item.SLEEP, {"affirmed"}),
    ("I don't know if I'm depressed.", Item.DEPRESSED, {"unclear"}),
    ("I feel down, if I'm honest.", Item.DEPRESSED, {"affirmed"}),
    ("I'm exhausted, if you must know.", Item.TIRED, {"affirmed"}),
    ("Even if I'm tired I can't sleep.", Item.SLEEP, {"affirmed"}),
]


@pytest.mark.parametrize(("words", "item", "statuses"), CASES, ids=[row[0] for row in CASES])
def test_a_condition_covers_what_follows_it(words: str, item: Item, statuses: set[str]) -> None:
    assert said(item, words) == statuses
