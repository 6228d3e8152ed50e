from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from tests.unit.evaluation.metrics.built import at, each, number, random_run

from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.calibration import forecast
from ai_psychiatrist.evaluation.metrics.compute import (
    compare_metrics,
    compute_metrics,
    counted_sections,
    judged_sections,
)
from ai_psychiatrist.evaluation.metrics.kinds import beside_labels
from ai_psychiatrist.evaluation.metrics.outcomes import evidence_section
from ai_psychiatrist.evaluation.metrics.tree import Path, named_measures
from ai_psychiatrist.evaluation.scores.predicted_units import predicted_units
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction
from ai_psychiatrist.statistics.arrays import Array
from ai_psychiatrist.statistics.bootstrap import (
    MOST_DRAWN,
    Bootstrap,
    Estimate,
    estimate,
    owners_of,
)
from ai_psychiatrist.statistics.intervals import figure_of
from ai_psychiatrist.statistics.measure import Measure, ratio


def all_measures(
    predictions: list[UnitPrediction], known: dict[str, Labels]
) -> dict[Path, Measure]:
    """All measures but those of calibration, whose probabilities are fixed before resampling."""
    scores = beside_labels(predictions, known)
    judged = judged_sections(scores, seed=1)
    judged.pop("calibration")
    return dict(named_measures(judged | counted_sections(predicted_units(predictions))))


@pytest.mark.parametrize("units", [3, 9])
def test_each_resample_is_the_figure_of_units_written_out_as_often_as_drawn(units: int) -> None:
    predictions, known = random_run(units, seed=4)
    measures = all_measures(predictions, known)
    draws = each(units, resamples=6, seed=11)
    found = estimate(list(measures.values()), draws)
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
        points = estimate([written_out[path] for path in measures], each(units, resamples=0))
        assert [one.samples[place] for one in found] == pytest.approx(
            [one.value for one in points], nan_ok=True
        )


def test_a_participant_is_left_out_with_all_units() -> None:
    predictions, known = random_run(6, seed=4)
    owners = np.array([0, 1, 2, 1, 0, 2])
    draws = Bootstrap(owners=owners, resamples=0, seed=0)
    found = estimate(list(all_measures(predictions, known).values()), draws)
    for participant in range(3):
        kept = [one for one, owner in zip(predictions, owners, strict=True) if owner != participant]
        others = all_measures(kept, {one.unit_id: known[one.unit_id] for one in kept})
        points = {
            path: one.value
            for path, one in zip(
                others, estimate(list(others.values()), each(4, resamples=0)), strict=True
            )
        }
        for path, one in zip(all_measures(predictions, known), found, strict=True):
            if path in points:
                assert one.left_out[participant] == pytest.approx(points[path], nan_ok=True)


def sessions(people: int, each_has: int) -> tuple[list[UnitPrediction], dict[str, Labels]]:
    """Sessions that say the same of a participant every time."""
    predictions, known = random_run(people, seed=8)
    copies = [
        (replace(one, unit_id=f"{one.unit_id} {place}"), known[one.unit_id])
        for one in predictions
        for place in range(each_has)
    ]
    return [one for one, _ in copies], {one.unit_id: label for one, label in copies}


def person(unit_id: str) -> str:
    return unit_id.rpartition(" ")[0]


def test_copies_of_sessions_make_no_interval_narrower() -> None:
    once, known = sessions(14, 1)
    thrice, known_thrice = sessions(14, 3)
    people = {one.unit_id: person(one.unit_id) for one in thrice}
    before = compute_metrics(once, known, resamples=400)
    after = compute_metrics(thrice, known_thrice, participants=people, resamples=400)
    for path in ("items/mae", "items/quadratic_kappa", "binary/from_total/auroc_of_midpoint"):
        assert number(after, path) == pytest.approx(number(before, path))
        assert at(after, f"{path}/interval") == pytest.approx(at(before, f"{path}/interval"))
    assert at(after, "evidence/units_with_a_symptom/interval") == pytest.approx(
        at(before, "evidence/units_with_a_symptom/interval")
    )


def test_units_of_few_participants_have_no_interval_and_say_why() -> None:
    predictions, known = sessions(9, 3)
    people = {one.unit_id: person(one.unit_id) for one in predictions}
    document = compute_metrics(predictions, known, participants=people, resamples=50)
    assert at(document, "items/mae/interval") is None
    reason = "no interval: it rests on 9 participants, and needs 10"
    assert at(document, "items/mae/reason") == reason
    others = [replace(predictions[0], items=predictions[-1].items), *predictions[1:]]
    found = compare_metrics(predictions, others, known, participants=people, resamples=9)
    assert at(found, "differences/items/mae/reason") == reason


def test_no_fold_of_the_calibration_holds_a_part_of_a_participant() -> None:
    predictions, known = sessions(12, 2)
    people = {one.unit_id: person(one.unit_id) for one in predictions}
    seen = forecast(beside_labels(predictions, known, people), "verbalised", seed=3)
    assert seen.where.any()
    assert (seen.base_rate[::2] == seen.base_rate[1::2]).all()


def test_a_unit_without_a_participant_is_nobody_elses() -> None:
    assert owners_of(["a", "b", "c", "d"], {"a": "d", "c": "d"}).tolist() == [0, 1, 0, 2]


@pytest.mark.parametrize("cells", [1, 7 * 8, 7 * 49])
def test_resamples_do_not_depend_on_how_many_are_drawn_at_once(cells: int) -> None:
    at_once = each(7, resamples=50, seed=3)
    in_parts = replace(at_once, cells_at_once=cells)
    assert len(list(in_parts.weights())) > 1
    assert np.array_equal(
        np.concatenate(list(in_parts.weights())), np.concatenate(list(at_once.weights()))
    )


def test_each_resample_draws_as_many_participants_as_there_are() -> None:
    draws = Bootstrap(owners=np.array([0, 1, 0, 2, 2]), resamples=40, seed=2)
    weights = np.concatenate(list(draws.weights()))
    assert weights.shape == (40, 3)
    assert (weights.sum(axis=1) == 3).all()


def test_interval_of_a_mean_is_near_that_of_the_normal_approximation() -> None:
    values = np.random.default_rng(0).normal(size=400)
    mean = ratio(values, np.ones(400), undefined="")
    found = figure_of(mean, estimate([mean], each(400, resamples=4000, seed=1))[0])
    half = 1.96 * values.std() / 20
    assert found.interval == pytest.approx((values.mean() - half, values.mean() + half), abs=0.01)


def test_corrected_levels_are_those_of_scipy_but_for_the_widening() -> None:
    values = np.random.default_rng(3).exponential(size=4000)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=4000, method="BCa", random_state=1)
    mean = ratio(values, np.ones(4000), undefined="")
    found = figure_of(mean, estimate([mean], each(4000, resamples=4000, seed=1))[0])
    assert found.interval == pytest.approx(tuple(theirs.confidence_interval), abs=0.003)


SAMPLES = np.arange(100.0)


def estimated(value: float, samples: Array, participants: int) -> Estimate:
    return Estimate(value=value, samples=samples, left_out=samples[:9], participants=participants)


@pytest.mark.parametrize(
    ("value", "samples", "people", "reason"),
    [
        pytest.param(np.nan, SAMPLES, 12, "not defined", id="no value"),
        pytest.param(1.0, SAMPLES, 1, "1 participant, and needs 10", id="one participant"),
        pytest.param(1.0, SAMPLES, 9, "9 participants, and needs 10", id="nine participants"),
        pytest.param(
            1.0, np.where(SAMPLES < 6, np.nan, SAMPLES), 12, "undefined in 6%", id="holes"
        ),
        pytest.param(1.0, np.empty(0), 12, "undefined in all", id="no resamples"),
        pytest.param(1.0, np.ones(100), 12, "do not differ", id="no spread"),
    ],
)
def test_missing_interval_has_a_reason(
    value: float, samples: Array, people: int, reason: str
) -> None:
    measure = ratio(np.ones(9), np.ones(9), undefined="not defined")
    found = figure_of(measure, estimated(value, samples, people))
    assert found.interval is None
    assert reason in (found.reason or "")


def test_few_undefined_resamples_are_left_out_of_the_interval() -> None:
    measure = ratio(np.ones(9), np.ones(9), undefined="")
    holed = estimated(52.0, np.where(SAMPLES < 5, np.nan, SAMPLES), 12)
    found = figure_of(measure, holed)
    assert found.reason is None
    low, high = found.interval or (0, 0)
    assert 5 <= low < 52 < high <= 99


def test_rates_of_no_units_at_all_are_not_defined() -> None:
    measures = [
        measure for _, measure in named_measures(evidence_section(predicted_units([]).rows))
    ]
    found = estimate(measures, each(0, resamples=5))
    assert np.isnan([one.value for one in found]).all()


def test_of_many_participants_groups_of_equal_size_are_drawn_with_all_units() -> None:
    owners = np.repeat(np.arange(2 * MOST_DRAWN + 1), 2)
    many = Bootstrap(owners=owners, resamples=3, seed=5)
    places = many.places()
    sizes = np.bincount(places[::2])
    assert (places[::2] == places[1::2]).all()
    assert len(sizes) == many.drawn < MOST_DRAWN
    assert set(sizes[:-1]) == {3}
    assert {part.shape[1] for part in many.weights()} == {many.drawn}
    few = Bootstrap(owners=np.arange(MOST_DRAWN), resamples=3, seed=5)
    assert (few.drawn, few.places() is few.owners) == (MOST_DRAWN, True)


def test_groups_give_the_interval_of_the_participants() -> None:
    """The mean of skewed values: between groups they vary as between participants."""
    random = np.random.default_rng(3)
    units = 3 * MOST_DRAWN
    values = random.exponential(size=units)
    measure = ratio(values, np.ones(units), undefined="")
    draws = Bootstrap(owners=np.arange(units), resamples=4_000, seed=7)
    (found,) = estimate([measure], draws)
    interval = figure_of(measure, found).interval
    assert interval is not None
    assert found.participants == units
    half = 1.959964 * values.std() / np.sqrt(units)
    assert interval == pytest.approx((values.mean() - half, values.mean() + half), abs=0.1 * half)


def test_paired_differences_of_many_participants_are_of_the_same_groups() -> None:
    """What two runs have in common cancels out; with groups of their own it would not."""
    values = np.random.default_rng(3).normal(size=2 * MOST_DRAWN)
    ones = np.ones(len(values))
    draws = Bootstrap(owners=np.arange(len(values)), resamples=200, seed=7)
    (one,) = estimate([ratio(values, ones, undefined="")], draws)
    (other,) = estimate([ratio(values + 1, ones, undefined="")], draws)
    assert other.minus(one).samples == pytest.approx(1.0, abs=1e-9)
