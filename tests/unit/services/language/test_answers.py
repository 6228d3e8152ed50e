"""What a short answer says depends on what was asked."""

import pytest
from tests.unit.services.language.said import said

from ai_psychiatrist.domain.phq8 import Item

CASES = [
    ("Any trouble sleeping?", "No.", Item.SLEEP, {"denied"}),
    ("Any trouble sleeping?", "Not really.", Item.SLEEP, {"denied"}),
    ("Any trouble sleeping?", "Yes.", Item.SLEEP, {"affirmed"}),
    ("Do you feel down?", "Every day.", Item.DEPRESSED, {"affirmed"}),
    ("Do you feel down?", "I guess.", Item.DEPRESSED, set()),
    ("Are you sleeping?", "No.", Item.SLEEP, {"affirmed"}),
    ("Are you sleeping?", "Yes.", Item.SLEEP, {"denied"}),
    ("Do you enjoy things?", "Yes.", Item.NO_INTEREST, {"denied"}),
    ("Do you enjoy things?", "No.", Item.NO_INTEREST, {"affirmed"}),
    ("Are you able to concentrate?", "Not really.", Item.CONCENTRATING, {"affirmed"}),
    ("How is your appetite?", "Terrible.", Item.APPETITE, {"affirmed"}),
    ("How is your appetite?", "Fine.", Item.APPETITE, {"denied"}),
    ("How is your appetite?", "Up and down.", Item.APPETITE, set()),
    ("Do you like trains?", "Not at all.", Item.NO_INTEREST, set()),
    ("Do you feel tired or down?", "No.", Item.TIRED, {"denied"}),
    ("Do you feel tired or down?", "Yes.", Item.TIRED, set()),
]


@pytest.mark.parametrize(("asked", "words", "item", "statuses"), CASES)
def test_an_answer_is_read_by_its_question(
    asked: str, words: str, item: Item, statuses: set[str]
) -> None:
    assert said(item, words, asked) == statuses
