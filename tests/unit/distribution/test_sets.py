from hypothesis import given
from hypothesis import strategies as st
from tests.unit.distribution.built import belief

from ai_psychiatrist.distribution.scores import WHOLE, growing, normalised, set_of, strangeness

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
    assert (truth in scores_in(given, limit)) == (strangeness(given, truth) <= limit)


def test_the_likeliest_score_is_never_strange() -> None:
    assert strangeness((0.02, 0.95, 0.02, 0.01), 1) == 0


def test_how_strange_a_truth_is_is_what_the_set_held_before_it() -> None:
    assert [held for _, held in growing((0.125, 0.5, 0.25, 0.125))] == [0, 0.5, 0.75, 0.875]


def test_sets_of_beliefs_that_often_name_the_truth_last_are_not_all_whole() -> None:
    """Were the truth itself counted in, all that come last would be equally strange."""
    often_last = [0.9] * 20 + [strangeness((0.3, 0.28, 0.22, 0.2), 3)] * 80
    assert scores_in((0.4, 0.35, 0.24, 0.01), limit=sorted(often_last)[89]) == [0, 1, 2]


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
