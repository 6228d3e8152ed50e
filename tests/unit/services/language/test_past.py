"""What was is past, unless days of these weeks are counted."""

import pytest
from tests.unit.services.language.said import said

from ai_psychiatrist.domain.phq8 import Item

CASES = [
    ("I was depressed back in college.", Item.DEPRESSED, {"affirmed past"}),
    ("I used to be depressed.", Item.DEPRESSED, {"affirmed past"}),
    ("I was depressed, but that's over.", Item.DEPRESSED, {"affirmed past"}),
    ("I couldn't sleep last year.", Item.SLEEP, {"affirmed past"}),
    ("Years ago I couldn't eat.", Item.APPETITE, {"affirmed past"}),
    ("I wasn't depressed then.", Item.DEPRESSED, {"denied past"}),
    ("I'm not depressed any more.", Item.DEPRESSED, {"denied"}),
    ("I couldn't sleep four nights this week.", Item.SLEEP, {"affirmed"}),
    ("I couldn't sleep, three nights running.", Item.SLEEP, {"affirmed"}),
    ("I've been feeling down.", Item.DEPRESSED, {"affirmed"}),
]


@pytest.mark.parametrize(("words", "item", "statuses"), CASES, ids=[row[0] for row in CASES])
def test_what_is_over_is_past(words: str, item: Item, statuses: set[str]) -> None:
    assert said(item, words) == statuses
