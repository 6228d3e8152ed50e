"""A slice of `benchmarks.agreement`: what is planted is found, and intervals hold it."""

import pytest
from benchmarks.agreement import FIGURES, rows, study, truths

COHORTS = 80


def test_planted_agreement_is_found_within_its_intervals_and_worse_raters_agree_less(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("benchmarks.agreement._LARGE", 25_000)
    good, bad = truths(0.2), truths(0.5)
    for errors, truth in ((0.2, good), (0.5, bad)):
        assert 0.5 < truth["kappa"] < 0.95
        for one in study(40, errors, truth=truth, cohorts=COHORTS, resamples=200):
            assert one.mean == pytest.approx(one.truth, abs=0.015), one
            assert one.given == 1, one
            assert one.covered >= 0.87, one
    assert all(good[name] > bad[name] + 0.1 for name in ("kappa", "alpha", "exact"))


def test_the_table_has_a_line_for_each_figure_size_and_rate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("benchmarks.agreement._LARGE", 1_000)
    assert len([*rows(cohorts=3, resamples=20)]) == 2 + 2 * 2 * len(FIGURES)
