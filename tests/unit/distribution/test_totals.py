import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.distribution.built import belief

from ai_psychiatrist.distribution.scores import (
    normalised,
    score_shares,
    total_interval,
    total_shares,
)
from ai_psychiatrist.domain.belief import ItemBelief

SURE_OF_2 = belief(0, 0, 1, 0, 0)
beliefs = st.lists(st.floats(0.01, 1), min_size=5, max_size=5).map(
    lambda weights: belief(*normalised(weights))
)


def test_items_that_are_sure_add_up() -> None:
    interval = total_interval([SURE_OF_2] * 8, 0.9)
    assert (interval.low, interval.high, interval.mean) == (16, 16, 16)


def test_an_item_that_cannot_be_determined_may_have_any_score() -> None:
    interval = total_interval([SURE_OF_2] * 7 + [belief(0, 0, 0, 0, 1)], 0.9)
    assert (interval.low, interval.high) == (14, 17)
    assert interval.mean == pytest.approx(15.5)


@given(st.lists(beliefs, min_size=3, max_size=3))
def test_the_totals_are_those_of_all_combinations(few: list[ItemBelief]) -> None:
    wanted = [0.0] * 10
    for scores in itertools.product(range(4), repeat=3):
        shares = (score_shares(one)[score] for one, score in zip(few, scores, strict=True))
        wanted[sum(scores)] += math.prod(shares)
    assert total_shares(few) == pytest.approx(wanted)


@given(st.lists(beliefs, min_size=8, max_size=8), st.sampled_from([0.5, 0.8, 0.9, 0.99]))
def test_the_interval_holds_its_level_and_no_end_could_be_left_out(
    few: list[ItemBelief], level: float
) -> None:
    interval, shares = total_interval(few, level), total_shares(few)
    assert math.fsum(shares[interval.low : interval.high + 1]) >= level - 1e-9
    assert math.fsum(shares[: interval.low + 1]) > (1 - level) / 2 - 1e-9
    assert math.fsum(shares[interval.high :]) > (1 - level) / 2 - 1e-9
