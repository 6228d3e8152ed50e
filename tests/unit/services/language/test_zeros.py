"""A zero needs a denial of now, by the participant or to a question that asks for it."""

import pytest

from ai_psychiatrist.agents.baseline.scoring import scored_items
from ai_psychiatrist.agents.baseline.signals import analyse
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

CASES = [
    ("I don't feel depressed.", Item.DEPRESSED, 0),
    ("My appetite is fine.", Item.APPETITE, 0),
    ("I sleep well.", Item.SLEEP, 0),
    ("My son sleeps well.", Item.SLEEP, "N/A"),
    ("I slept well as a child.", Item.SLEEP, "N/A"),
    ("I wasn't depressed back then.", Item.DEPRESSED, "N/A"),
    ("I hope I'm not depressed.", Item.DEPRESSED, "N/A"),
    ("If I slept well I'd be fine.", Item.SLEEP, "N/A"),
    ("My wife says I'm not depressed.", Item.DEPRESSED, "N/A"),
    ("Okay.", Item.SLEEP, "N/A"),
]


@pytest.mark.parametrize(("words", "item", "score"), CASES, ids=[row[0] for row in CASES])
def test_only_a_denial_of_now_is_a_zero(words: str, item: Item, score: int | str) -> None:
    analysis = analyse(parse_transcript(f"Participant: {words}"))
    evidence = {one.value: analysis.quotes(one) for one in Item}
    proposed = scored_items(analysis, evidence)[item.value]
    assert isinstance(proposed, dict)
    assert proposed["score"] == score
