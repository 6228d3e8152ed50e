from dataclasses import replace

import numpy as np
import pytest
from tests.unit.evaluation.metrics.built import random_run

from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.bootstrap import Bootstrap, estimate, figure, figures
from ai_psychiatrist.evaluation.metrics.evidence import evidence_rates
from ai_psychiatrist.evaluation.metrics.measure import Array, Measure, ratio
from ai_psychiatrist.evaluation.metrics.report import counted_sections, judged_sections
from ai_psychiatrist.evaluation.metrics.scores import scores_of
from ai_psychiatrist.evaluation.metrics.signals import DEFAULT_SIGNAL
from ai_psychiatrist.evaluation.metrics.tree import Path, named_measures
from ai_psychiatrist.evaluation.prediction import UnitPrediction


def all_measures(
    predictions: list[UnitPrediction], known: dict[str, Labels]
) -> dict[Path, Measure]:
    """All measures but those of calibration, whose probabilities are fixed before resampling."""
    scores = scores_of(predictions, known)
    judged = judged_sections(scores, confidence=DEFAULT_SIGNAL, seed=1)
    judged.pop("calibration")
    return dict(named_measures(judged | counted_sections(predictions)))


@pytest.mark.parametrize("units", [3, 9])
def test_each_resample_is_the_figure_of_units_written_out_as_often_as_drawn(units: int) -> None:
    predictions, known = random_run(units, seed=4)
    measures = all_measures(predictions, known)
    draws = Bootstrap(units=units, resamples=6, seed=11)
    samples = estimate(list(measures.values()), draws).samples
    assert len(measures) > 100
    for place, weights in enumerate(np.concatenate(list(draws.weights()))):
        copies = [
            (replace(one, unit_id=f"{one.unit_id} copy {copy}"), known[one.unit_id])
            for one, times in zip(predictions, weights, strict=True)
            for copy in range(int(times))
        ]
        written_out = all_measures(
            [one for one, _ in copies], {one.unit_id: label for one, label in copies}
        )
        whole = Bootstrap(units=units, resamples=0, seed=0)
        points = estimate([written_out[path] for path in measures], whole).points
        assert samples[:, place] == pytest.approx(points, nan_ok=True)


@pytest.mark.parametrize("cells", [1, 7 * 8, 7 * 49])
def test_resamples_do_not_depend_on_how_many_are_drawn_at_once(cells: int) -> None:
    at_once = Bootstrap(units=7, resamples=50, seed=3)
    in_parts = replace(at_once, cells_at_once=cells)
    assert len(list(in_parts.weights())) > 1
    assert np.array_equal(
        np.concatenate(list(in_parts.weights())), np.concatenate(list(at_once.weights()))
    )


def test_each_resample_draws_as_many_units_as_there_are() -> None:
    weights = np.concatenate(list(Bootstrap(units=5, resamples=40, seed=2).weights()))
    assert weights.shape == (40, 5)
    assert (weights.sum(axis=1) == 5).all()


def test_interval_of_a_mean_is_near_that_of_the_normal_approximation() -> None:
    values = np.random.default_rng(0).normal(size=400)
    mean = ratio(values, np.ones(400), undefined="")
    draws = Bootstrap(units=400, resamples=4000, seed=1)
    low, high = figures([mean], estimate([mean], draws))[0].interval or (0, 0)
    half = 1.96 * values.std() / 20
    assert (low, high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.01)


SAMPLES = np.arange(100.0)


@pytest.mark.parametrize(
    ("value", "samples", "units", "reason"),
    [
        pytest.param(np.nan, SAMPLES, 9, "not defined", id="no value"),
        pytest.param(1.0, SAMPLES, 1, "single unit", id="one unit"),
        pytest.param(1.0, np.where(SAMPLES < 6, np.nan, SAMPLES), 9, "undefined in 6%", id="holes"),
        pytest.param(1.0, np.empty(0), 9, "undefined in all", id="no resamples"),
        pytest.param(1.0, np.ones(100), 9, "do not differ", id="no spread"),
    ],
)
def test_missing_interval_has_a_reason(
    value: float, samples: Array, units: int, reason: str
) -> None:
    found = figure(value, samples, n=9, units=units, undefined="not defined")
    assert found.interval is None
    assert reason in (found.reason or "")


def test_few_undefined_resamples_are_left_out_of_the_interval() -> None:
    found = figure(1.0, np.where(SAMPLES < 5, np.nan, SAMPLES), n=9, units=9, undefined="")
    assert found.reason is None
    assert found.interval == pytest.approx((5 + 0.025 * 94, 99 - 0.025 * 94))


def test_rates_of_no_units_at_all_are_not_defined() -> None:
    measures = [measure for _, measure in named_measures(evidence_rates([]))]
    assert np.isnan(estimate(measures, Bootstrap(units=0, resamples=5, seed=1)).points).all()
