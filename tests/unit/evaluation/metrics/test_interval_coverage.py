"""A slice of `benchmarks.coverage`: intervals hold what they promise where people repeat."""

import pytest
from benchmarks import calibration_error
from benchmarks.coverage import coverage, main, truths


@pytest.mark.parametrize("participants", [10, 20])
def test_intervals_of_sessions_hold_the_truth_and_percentiles_of_sessions_do_not(
    participants: int,
) -> None:
    held = coverage(participants, 3, truth=truths(), cohorts=200, resamples=200)
    for one in held:
        assert one.covered >= 0.88, one
        assert one.covered_by_session <= 0.89, one
        assert one.given >= 0.9, one


def test_quick_forms_print_their_tables(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--quick"])
    calibration_error.main(["--quick"])
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == (2 + 2 * 4 * 3) + (2 + 2 * 3)
