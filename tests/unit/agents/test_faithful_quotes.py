"""A model's score stands on a faithful quote unless it is plainly read as something else."""

import pytest
from tests.unit.agents.test_injections import assessed

from ai_psychiatrist.domain.phq8 import Item

STANDS = [
    (Item.FAILURE, "I sleep fine, I'm not tired, I just feel like rubbish about myself.", "I just"),
    (Item.MOVING, "I wouldn't say I'm slow, it's just that I've stopped.", "I wouldn't"),
    (Item.FAILURE, "Not a day goes by that I haven't felt like a fraud.", "Not a day"),
    (Item.SLEEP, "I slept clean through till dinner and missed three shifts.", "I slept"),
    (Item.FAILURE, "I cross the road so that people don't see I'm a failure.", "I cross"),
    (Item.TIRED, "I was exhausted all the time when I was pregnant, I still am.", "I was"),
    (Item.DEPRESSED, "I have been depressed every day since she died two years ago.", "I have"),
    (Item.TIRED, "When I got home I was exhausted every day.", "When I"),
    (Item.MOVING, "I am up, I am down, I am round the library like a guard.", "I am up"),
]
FALLS = [
    (Item.SLEEP, "I sleep well.", "I sleep"),
    (Item.DEPRESSED, "I'm not sad.", "I'm not"),
    (Item.DEPRESSED, "When I was a child I was depressed.", "When I"),
    (Item.DEPRESSED, "When I was at college I was depressed every day.", "When I"),
    (Item.SLEEP, "I slept badly ten years ago, not any more.", "I slept"),
    (Item.TIRED, "I was exhausted all the time when I was pregnant, years ago.", "I was"),
    (Item.FAILURE, "Back in school I felt like a failure all the time.", "Back in"),
    (Item.DEPRESSED, "My sister is depressed.", "My sister"),
    (Item.DEPRESSED, "I can't sleep.", "I can't"),
]


@pytest.mark.parametrize(("item", "said", "opening"), STANDS)
def test_a_score_stands_where_it_cannot_be_told(item: Item, said: str, opening: str) -> None:
    result = assessed(said, 2, cited=said[said.index(opening) :])
    assert item in {one.item for one in result.items.values() if one.score == 2}


@pytest.mark.parametrize(("item", "said", "opening"), FALLS)
def test_a_score_falls_where_a_quote_is_plainly_something_else(
    item: Item, said: str, opening: str
) -> None:
    result = assessed(said, 2, cited=said[said.index(opening) :])
    assert item in {one.item for one in result.items.values() if one.score is None}


def test_a_zero_stands_on_a_denial_that_leaves_something_out() -> None:
    result = assessed("I sleep well, it's just the mornings I don't like.", 0)
    assert Item.SLEEP in {one.item for one in result.items.values() if one.score == 0}
