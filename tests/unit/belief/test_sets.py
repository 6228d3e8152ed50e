import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.belief.built import belief

from ai_psychiatrist.belief.pooling import normalised
from ai_psychiatrist.belief.sets import WHOLE, growing, set_of, strangeness, threshold

shares = st.lists(st.floats(0.001, 1), min_size=4, max_size=4).map(normalised)


def scores_in(given: tuple[float, ...], limit: float) -> list[int]:
    found = set_of(belief(*given, 0), given, limit=limit, level=0.9)
    assert found.low is not None
    assert found.high is not None
    return list(range(found.low, found.high + 1))


def test_a_set_grows_from_the_likeliest_score_by_the_likelier_neighbour() -> None:
    assert [score for score, _ in growing((0.1, 0.5, 0.3, 0.1))] == [1, 2, 0, 3]


def test_the_likeliest_score_is_in_every_set() -> None:
    assert scores_in((0.1, 0.6, 0.2, 0.1), limit=0.0) == [1]


@given(shares, st.floats(0, 1), st.integers(0, 3))
def test_a_score_is_in_the_set_if_it_is_no_stranger_than_the_limit(
    given: tuple[float, ...], limit: float, truth: int
) -> None:
    is_first = next(growing(given))[0] == truth
    assert (truth in scores_in(given, limit)) == (is_first or strangeness(given, truth) <= limit)


@given(shares, st.floats(0, 1), st.floats(0, 1))
def test_a_larger_limit_takes_nothing_out(
    given: tuple[float, ...], one: float, other: float
) -> None:
    assert set(scores_in(given, min(one, other))) <= set(scores_in(given, max(one, other)))


@given(shares)
def test_the_whole_limit_takes_all_in(given: tuple[float, ...]) -> None:
    assert scores_in(given, WHOLE) == [0, 1, 2, 3]


def test_not_determinable_belongs_where_it_is_likelier_than_a_score_in_the_set() -> None:
    unsure, sure = belief(0.1, 0.2, 0.1, 0.1, 0.5), belief(0.05, 0.8, 0.05, 0.05, 0.05)
    wanted = {True: unsure, False: sure}
    for is_in, one in wanted.items():
        found = set_of(one, normalised(one.scores), limit=0.5, level=0.9)
        assert found.not_determinable is is_in


@pytest.mark.parametrize(("count", "place"), [(9, 9), (19, 18), (99, 90)])
def test_the_threshold_is_the_rank_that_one_more_case_makes_fair(count: int, place: int) -> None:
    strange = [number / 1000 for number in range(1, count + 1)]
    strange.reverse()
    assert threshold(strange, 0.9) == place / 1000


def test_too_few_cases_let_every_score_in() -> None:
    assert threshold([0.5] * 8, 0.9) == WHOLE
