"""Whose it is: of two subjects each has its own, and others' opinions are theirs."""

import pytest
from tests.unit.services.language.said import said

from ai_psychiatrist.domain.phq8 import Item

CASES = [
    ("My mum is depressed and I can't sleep.", Item.DEPRESSED, {"other"}),
    ("My mum is depressed and I can't sleep.", Item.SLEEP, {"affirmed"}),
    ("My mum can't sleep and I'm fine.", Item.SLEEP, {"other"}),
    ("My husband snores so I can't sleep.", Item.SLEEP, {"affirmed"}),
    ("My son sleeps fine.", Item.SLEEP, {"other"}),
    ("Nobody here is depressed.", Item.DEPRESSED, {"other"}),
    ("My mother was depressed.", Item.DEPRESSED, {"other"}),
    ("My brother, who can't sleep, lives with me.", Item.SLEEP, {"unclear"}),
    ("The lad I live with is depressed.", Item.DEPRESSED, {"other"}),
    ("I told the nurse I feel depressed.", Item.DEPRESSED, {"affirmed"}),
    ("The voices say I'm worthless.", Item.FAILURE, {"unclear"}),
    ("My dad says I'm a failure.", Item.FAILURE, {"other"}),
    ("My wife thinks I'm depressed.", Item.DEPRESSED, {"unclear"}),
    ("They don't let me sleep.", Item.SLEEP, {"unclear"}),
    ("You think I'm depressed.", Item.DEPRESSED, {"unclear"}),
    ("You think I'm a failure.", Item.FAILURE, {"unclear"}),
    ("Do you think I'm depressed?", Item.DEPRESSED, {"unclear"}),
    ("You'd say I was depressed.", Item.DEPRESSED, {"supposed"}),
]


@pytest.mark.parametrize(("words", "item", "statuses"), CASES, ids=[row[0] for row in CASES])
def test_each_person_has_their_own(words: str, item: Item, statuses: set[str]) -> None:
    assert said(item, words) == statuses
