"""What sets hold over many cohorts, in a small version of the benchmark."""

import pytest
from benchmarks.conformal import LEVEL, cohort_of, held, totals_held

PEOPLE = 4_000


def test_sets_hold_what_they_say_on_average_at_every_size() -> None:
    fitted, met = cohort_of(PEOPLE, 1), cohort_of(PEOPLE, 2)
    found = [held(size, fitted, met, cohorts=500) for size in (41, 400)]
    assert [one.mean for one in found] == pytest.approx([LEVEL, LEVEL], abs=0.015)
    assert 0.015 < found[0].spread < 0.03
    assert found[1].spread < found[0].spread / 2


def test_sets_break_among_people_unlike_those_of_the_fit() -> None:
    shifted = held(100, cohort_of(PEOPLE, 1), cohort_of(PEOPLE, 3, 1.0), cohorts=100)
    assert shifted.mean < 0.7


def test_intervals_of_totals_are_too_narrow_where_items_go_together() -> None:
    assert totals_held(500, together=0.0) > LEVEL
    assert totals_held(500, together=0.5) < LEVEL
