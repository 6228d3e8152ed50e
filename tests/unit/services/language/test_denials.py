"""A denial needs no "I", and no longer word of how something is denies twice."""

import pytest
from tests.unit.services.language.said import said

from ai_psychiatrist.domain.phq8 import Item

CASES = [
    ("Sleep's fine.", Item.SLEEP, {"denied"}),
    ("No trouble sleeping.", Item.SLEEP, {"denied"}),
    ("Not sad, no.", Item.DEPRESSED, {"denied"}),
    ("Appetite's normal.", Item.APPETITE, {"denied"}),
    ("Nothing wrong with my appetite.", Item.APPETITE, {"denied"}),
    ("Not tired at all.", Item.TIRED, {"denied"}),
    ("Haven't felt down.", Item.DEPRESSED, {"denied"}),
    ("I'm not sleeping badly.", Item.SLEEP, {"denied"}),
    ("I sleep fine.", Item.SLEEP, {"denied"}),
    ("I don't feel depressed.", Item.DEPRESSED, {"denied"}),
    ("No complaints about my sleep.", Item.SLEEP, {"unclear"}),
    ("Can't complain about my sleep.", Item.SLEEP, {"unclear"}),
    ("not at all im in a really good mood", Item.DEPRESSED, {"denied"}),
    ("i was meant to be good and i wasnt im useless", Item.FAILURE, {"affirmed"}),
    ("no yeah energy's fine", Item.TIRED, {"denied"}),
    ("i don't feel nothing about it", Item.NO_INTEREST, {"affirmed"}),
    ("It's not like I'm sad.", Item.DEPRESSED, {"denied"}),
    ("I wouldn't say depressed, I'd say worn out.", Item.DEPRESSED, {"denied"}),
    ("I wouldn't say depressed, I'd say worn out.", Item.TIRED, {"affirmed"}),
]


@pytest.mark.parametrize(("words", "item", "statuses"), CASES, ids=[row[0] for row in CASES])
def test_a_denial_is_read_without_i(words: str, item: Item, statuses: set[str]) -> None:
    assert said(item, words) == statuses
