import random
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.calibration_error import forecast_of
from sklearn.metrics import brier_score_loss, roc_auc_score
from tests.unit.evaluation.metrics.built import at, each, labels, plain, random_run, unit, value

from ai_psychiatrist.evaluation.metrics.calibration import (
    calibration_section,
    debiased_calibration_error,
    ece,
    ece_of_calibrated,
    forecast,
)
from ai_psychiatrist.evaluation.metrics.kinds import LabelledUnits, beside_labels
from ai_psychiatrist.evaluation.metrics.selective import SIGNALS
from ai_psychiatrist.statistics.bootstrap import Bootstrap, estimate
from ai_psychiatrist.statistics.intervals import figure_of


def scores(units: int = 20, *, seed: int = 1) -> LabelledUnits:
    return beside_labels(*random_run(units, seed=seed))


@pytest.mark.parametrize("signal", SIGNALS)
def test_figures_are_those_of_scikit_learn_on_the_forecasts(signal: str) -> None:
    run = scores()
    found = plain(calibration_section(run, seed=7), units=20)
    seen = forecast(run, signal, seed=7)
    right, probability = seen.is_right[seen.where], seen.probability[seen.where]
    path = f"by_signal/{signal}"
    assert value(found, f"{path}/brier") == pytest.approx(brier_score_loss(right, probability))
    assert value(found, f"{path}/auroc_of_right") == pytest.approx(
        roc_auc_score(right, SIGNALS[signal].read(run.rows)[seen.where])
    )
    bins = np.minimum((probability * 10).astype(int), 9)
    gaps = [
        (bins == one).mean() * abs(probability[bins == one].mean() - right[bins == one].mean())
        for one in np.unique(bins)
    ]
    assert value(found, f"{path}/ece") == pytest.approx(sum(gaps))


def test_probability_of_a_unit_does_not_depend_on_its_own_labels() -> None:
    run = scores()
    items = run.true_items.copy()
    items[0] = 0
    runs = (run, replace(run, true_items=items))
    before, after = (forecast(one, "verbalised", seed=3) for one in runs)
    seen = before.where[0] & after.where[0]
    assert seen.any()
    assert (before.probability[0][seen] == after.probability[0][seen]).all()
    assert (before.base_rate[0][seen] == after.base_rate[0][seen]).all()


def test_signal_of_no_worth_scores_no_better_than_the_base_rate() -> None:
    choose = random.Random(5)  # noqa: S311 - repeatable
    predictions = [
        unit(
            f"{place:03}",
            [choose.choice((0, 1)) for _ in range(8)],
            confidences=[choose.randint(1, 5) for _ in range(8)],
        )
        for place in range(60)
    ]
    known = {one.unit_id: labels([0] * 8) for one in predictions}
    found = plain(calibration_section(beside_labels(predictions, known), seed=1), units=60)
    brier = value(found, "by_signal/verbalised/brier")
    base = value(found, "by_signal/verbalised/brier_of_base_rate")
    assert brier is not None
    assert base is not None
    assert brier > base - 0.005


def test_signal_that_tells_right_from_wrong_is_found_out_of_sample() -> None:
    predictions = [
        unit(str(place), [0] * 4 + [1] * 4, confidences=[5] * 4 + [1] * 4) for place in range(10)
    ]
    known = {one.unit_id: labels([0] * 8) for one in predictions}
    found = plain(calibration_section(beside_labels(predictions, known), seed=1), units=10)
    assert value(found, "by_signal/verbalised/brier") == 0
    assert value(found, "by_signal/verbalised/brier_of_base_rate") == pytest.approx(0.25)
    assert value(found, "by_signal/verbalised/auroc_of_right") == 1
    reliability = at(found, "by_signal/verbalised/reliability")
    assert isinstance(reliability, list)
    assert [(row["n"], row["mean_probability"], row["share_right"]) for row in reliability] == [
        (40, 0, 0),
        (40, 1, 1),
    ]


def test_one_unit_cannot_be_judged_out_of_sample() -> None:
    found = plain(
        calibration_section(beside_labels([unit("a", [1] * 8)], {"a": labels([1] * 8)}), seed=1),
        units=1,
    )
    brier = at(found, "by_signal/verbalised/brier")
    assert isinstance(brier, dict)
    assert brier["value"] is None
    assert "fewer than two participants" in brier["reason"]


def test_error_of_calibrated_noise_is_centred_on_nothing_and_its_size_is_foretold() -> None:
    draw = np.random.default_rng(4)
    cohorts = [forecast_of(30, 0.0, draw) for _ in range(300)]
    plain, foretold, debiased = (
        np.array([estimate([formula(one)], each(30, resamples=0))[0].value for one in cohorts])
        for formula in (ece, ece_of_calibrated, debiased_calibration_error)
    )
    assert plain.min() > 0.01
    assert foretold.mean() == pytest.approx(plain.mean(), rel=0.05)
    assert abs(debiased.mean()) < 3 * debiased.std() / 300**0.5
    assert (debiased < 0).mean() > 0.4


@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_interval_of_the_debiased_error_holds_the_truth_and_the_value(shift: float) -> None:
    draw = np.random.default_rng(5)
    held = []
    for seed in range(100):
        found = debiased_calibration_error(forecast_of(30, shift, draw))
        figure = figure_of(found, estimate([found], each(30, resamples=300, seed=seed))[0])
        low, high = figure.interval or (1, 0)
        assert figure.value is not None
        assert low <= figure.value <= high
        held.append(low <= shift**2 <= high)
    assert np.mean(held) >= 0.9


def test_debiased_error_counts_only_pairs_of_different_participants() -> None:
    draw = np.random.default_rng(6)
    made = replace(forecast_of(12, 0.1, draw), owners=np.repeat(np.arange(4), 3))
    place = np.minimum((made.probability * 10).astype(int), 9)
    total, weight = 0.0, 0
    for one in range(10):
        gaps = [
            (owner, made.probability[unit, item] - made.is_right[unit, item])
            for unit, owner in enumerate(made.owners)
            for item in range(8)
            if place[unit, item] == one
        ]
        products = [x * y for a, x in gaps for b, y in gaps if a != b]
        total += len(gaps) * np.mean(products) if products else 0
        weight += len(gaps) if products else 0
    measure = debiased_calibration_error(made)
    draws = Bootstrap(owners=made.owners, resamples=0, seed=0)
    assert estimate([measure], draws)[0].value == pytest.approx(total / weight)


def test_plain_error_has_no_interval_and_says_where_to_look() -> None:
    found = plain(calibration_section(scores(), seed=1), units=20)
    reason = at(found, "by_signal/verbalised/ece/reason")
    assert "see the debiased error" in str(reason)
    assert "equal width" in str(at(found, "bin_policy"))
