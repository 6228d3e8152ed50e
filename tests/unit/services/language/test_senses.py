"""A word says something of an item in one of its senses, and nothing in the others."""

import pytest
from tests.unit.services.language.said import said

from ai_psychiatrist.domain.phq8 import Item

CASES = [
    ("I feel really down.", Item.DEPRESSED, {"affirmed"}),
    ("I'm down at the shops.", Item.DEPRESSED, set()),
    ("I'm so tired lately.", Item.TIRED, {"affirmed"}),
    ("I'm tired of the traffic.", Item.TIRED, set()),
    ("I feel like a failure.", Item.FAILURE, {"affirmed"}),
    ("The doctors said heart failure.", Item.FAILURE, set()),
    ("I can't sleep.", Item.SLEEP, {"affirmed"}),
    ("I slept on it and said yes.", Item.SLEEP, set()),
    ("I put my phone to sleep.", Item.SLEEP, set()),
    ("The computer went to sleep.", Item.SLEEP, set()),
    ("My appetite's gone.", Item.APPETITE, {"affirmed"}),
    ("I have an appetite for risk.", Item.APPETITE, set()),
    ("I can't sit still.", Item.MOVING, {"affirmed"}),
    ("I had to slow down for the lights.", Item.MOVING, set()),
    ("slow ha ha the laptop is slow", Item.MOVING, {"unclear"}),
    ("what even is a good night's sleep", Item.SLEEP, set()),
    ("I can't concentrate.", Item.CONCENTRATING, {"affirmed"}),
    ("He is the centre of attention.", Item.CONCENTRATING, set()),
    ("I'm low on petrol.", Item.TIRED, set()),
    ("My iron came back a little low.", Item.DEPRESSED, set()),
    ("I've a history of depression, on sertraline.", Item.DEPRESSED, set()),
    ("I take something for anxiety and depression.", Item.DEPRESSED, set()),
    ("Things are going well with my depression.", Item.DEPRESSED, set()),
    ("I put the keys in the marmalade.", Item.MOVING, set()),
    ("My face has been feeling numb.", Item.DEPRESSED, set()),
    ("My stomach wasn't feeling great.", Item.DEPRESSED, set()),
    ("I'm happy with that plan.", Item.DEPRESSED, set()),
]


@pytest.mark.parametrize(("words", "item", "statuses"), CASES, ids=[row[0] for row in CASES])
def test_a_word_is_read_in_its_sense(words: str, item: Item, statuses: set[str]) -> None:
    assert said(item, words) == statuses
