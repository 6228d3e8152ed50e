"""A slice of `benchmarks.coverage`: intervals hold what they promise where people repeat."""

from benchmarks import calibration_error
from benchmarks.coverage import coverage, rows, truths


def test_intervals_of_sessions_hold_the_truth_and_percentiles_of_sessions_do_not() -> None:
    held = coverage(10, 3, truth=truths(), cohorts=200, resamples=200)
    for one in held:
        assert one.covered >= 0.88, one
        assert one.covered_by_session <= 0.89, one
        assert one.given >= 0.9, one


def test_tables_have_a_line_for_each_figure_and_size() -> None:
    assert len([*rows(cohorts=4, resamples=20)]) == 2 + 2 * 4 * 3
    assert len([*calibration_error.rows(cohorts=2, resamples=20)]) == 2 + 2 * 3
