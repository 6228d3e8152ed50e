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


@pytest.mark.parametrize(
    ("words", "item"),
    [
        ("I was in bits for a month. It went.", Item.DEPRESSED),
        ("Before the tablets I was hopeless, I'm fine now.", Item.DEPRESSED),
        ("I was depressed in lockdown, who wasn't, but that was years ago.", Item.DEPRESSED),
        ("Those first weeks I was exhausted every day.", Item.TIRED),
        ("I lay awake a lot, all sorted now.", Item.SLEEP),
    ],
)
def test_what_is_said_to_be_over_is_past(words: str, item: Item) -> None:
    assert said(item, words) <= {"affirmed past"}


def test_a_fragment_goes_on_about_the_person_before_it() -> None:
    assert said(Item.CONCENTRATING, "My brother. Can't focus on a thing.") == {"other"}


def test_a_denial_said_twice_is_one() -> None:
    assert said(Item.FAILURE, "I ain't done nothing to feel bad about.") == {"denied"}


def test_what_was_well_before_now_is_past() -> None:
    assert said(Item.NO_INTEREST, "I was loving it. Now I feel nothing about it.") == {
        "denied past",
        "affirmed",
    }


def test_the_past_that_a_question_names_is_that_of_its_answer() -> None:
    asked = "After the chemo you had a hard winter, I remember?"
    assert said(Item.SLEEP, "I slept round the clock.", asked) == {"affirmed past"}
