"""A bare "sure" only shows that somebody listens, and so does "mm-hmm"."""

import pytest
from tests.unit.services.language.said import said

from ai_psychiatrist.domain.phq8 import Item

CASES = [
    ("Any trouble sleeping?", "Sure.", Item.SLEEP, set()),
    ("Any trouble sleeping?", "Okay.", Item.SLEEP, set()),
    ("Any trouble sleeping?", "Mm-hmm.", Item.SLEEP, set()),
    ("You haven't been sleeping.", "Okay.", Item.SLEEP, set()),
    ("You haven't been sleeping.", "Mm-hmm.", Item.SLEEP, set()),
    ("So no problems with sleep.", "Sure.", Item.SLEEP, set()),
    ("So no problems with sleep.", "Mm-hmm.", Item.SLEEP, set()),
    ("So no problems with sleep.", "Yeah.", Item.SLEEP, set()),
    ("So no problems with sleep.", "No.", Item.SLEEP, {"denied"}),
    ("You aren't sleeping, are you?", "No.", Item.SLEEP, set()),
    ("You must be exhausted.", "Yeah.", Item.TIRED, {"affirmed"}),
    ("You must be exhausted.", "No.", Item.TIRED, {"denied"}),
]


@pytest.mark.parametrize(("asked", "words", "item", "statuses"), CASES)
def test_an_acknowledgement_settles_nothing(
    asked: str, words: str, item: Item, statuses: set[str]
) -> None:
    assert said(item, words, asked) == statuses


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("Are you restless?", "I don't know, you'd have to ask them."),
        ("Do you sleep?", "They do the checks at night."),
        ("Any trouble sleeping?", "No? What's normal?"),
    ],
)
def test_words_that_open_like_an_answer_settle_nothing(asked: str, words: str) -> None:
    answered = said(Item.SLEEP, words, asked) | said(Item.MOVING, words, asked)
    assert answered <= {"unclear"}
