"""Figures of groups of people, and how the groups differ."""

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.evaluation.metrics.built import labels, metrics, random_run, unit, value

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.subgroups import FEWEST_UNITS, Subgroups, subgroups
from ai_psychiatrist.evaluation.scores.predicted_units import predicted_units
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction


def grouped(
    predictions: list[UnitPrediction],
    known: dict[str, Labels],
    column: str = "site",
    *,
    splits: dict[str, str] | None = None,
    participants: dict[str, str] | None = None,
    resamples: int = 200,
) -> Subgroups:
    """The groups of a run."""
    return subgroups(
        predicted_units(predictions),
        known,
        column,
        splits=splits or {},
        participants=participants or {},
        resamples=resamples,
    )


def at_sites(known: dict[str, Labels], *sites: str) -> dict[str, Labels]:
    """The same labels with a site each, one after the other."""
    return {
        name: replace(one, columns={"site": sites[place % len(sites)]})
        for place, (name, one) in enumerate(sorted(known.items()))
    }


def test_figures_of_a_group_are_those_of_its_units_alone() -> None:
    predictions, known = random_run(60, seed=2)
    known = at_sites(known, "Bonn", "Ulm", "Ulm")
    found = grouped(predictions, known)
    assert [(one.value, one.units) for one in found.groups] == [("Ulm", 40), ("Bonn", 20)]
    for group in found.groups:
        of_group = {name for name, one in known.items() if one.columns["site"] == group.value}
        alone = metrics(
            [one for one in predictions if one.unit_id in of_group],
            {name: known[name] for name in of_group},
        )
        assert len(group.figures) > 8
        for path, figure in group.figures.items():
            assert figure.value == value(alone, path.replace(".", "/"))


def test_the_difference_of_two_groups_is_second_minus_first_and_its_interval_is_of_both() -> None:
    """Beside the normal approximation for the means of two samples."""
    choose = np.random.default_rng(4)
    errors = [choose.integers(0, 2 + place % 2, size=8) for place in range(400)]
    predictions = [unit(f"{place:03}", error.tolist()) for place, error in enumerate(errors)]
    known = at_sites({one.unit_id: labels([0] * 8) for one in predictions}, "a", "b")
    found = grouped(predictions, known, resamples=4000)
    (apart,) = found.differences
    assert (apart.first, apart.second) == ("a", "b")
    figure = apart.figures["items.mae"]
    of_a, of_b = (np.array([one.mean() for one in errors[start::2]]) for start in (0, 1))
    assert figure.first == pytest.approx(of_a.mean())
    assert figure.second == pytest.approx(of_b.mean())
    half = 1.96 * np.sqrt(of_a.var() / len(of_a) + of_b.var() / len(of_b))
    middle = of_b.mean() - of_a.mean()
    assert figure.value == pytest.approx(middle)
    assert figure.interval == pytest.approx((middle - half, middle + half), abs=0.1 * half)


def test_participants_are_drawn_with_all_their_units() -> None:
    predictions, known = random_run(80, seed=5)
    copies = [replace(one, unit_id=f"{one.unit_id} again") for one in predictions]
    twice = known | {f"{name} again": one for name, one in known.items()}
    sites = {name: "a" if int(name.split()[1]) % 2 else "b" for name in twice}
    of_sites = {name: replace(one, columns={"site": sites[name]}) for name, one in twice.items()}
    people = {name: name.removesuffix(" again") for name in twice}
    once = grouped(predictions, {name: of_sites[name] for name in known})
    both = grouped([*predictions, *copies], of_sites, participants=people)
    for path in ("items.mae", "items.coverage"):
        single, double = (one.differences[0].figures[path].interval for one in (once, both))
        assert double == pytest.approx(single)


def test_each_of_several_groups_stands_against_the_rest() -> None:
    predictions, known = random_run(90, seed=3)
    found = grouped(predictions, at_sites(known, "a", "b", "c"))
    assert [(one.first, one.second) for one in found.differences] == [
        ("a", "the rest"),
        ("b", "the rest"),
        ("c", "the rest"),
    ]
    first = found.differences[0].figures["items.mae"]
    assert first.first == found.groups[0].figures["items.mae"].value


def test_a_small_group_has_its_n_and_a_sentence_and_no_figure() -> None:
    predictions, known = random_run(2 * FEWEST_UNITS - 1, seed=3)
    found = grouped(predictions, at_sites(known, "a", "b"))
    large, small = found.groups
    assert (large.units, large.reason) == (FEWEST_UNITS, None)
    assert (small.units, small.figures) == (FEWEST_UNITS - 1, {})
    assert small.reason == "no figures: the group has fewer than 20 units"
    (apart,) = found.differences
    assert (apart.figures, apart.reason) == (
        {},
        "no figures: one of the two has fewer than 20 units",
    )


def test_units_without_a_value_or_a_score_are_counted() -> None:
    """Those that failed, were not assessed, or have no label stand beside those with figures."""
    predictions, known = random_run(50, seed=3)
    known = at_sites(known, "a", "b", "", "a", "b")
    assert grouped(predictions, known).unknown == 10
    without_two = dict(list(known.items())[2:])
    sizes = grouped(predictions, without_two)
    assert sizes.unlabelled == 2
    assert sum(one.units for one in sizes.groups) + sizes.unknown + sizes.unlabelled == 50
    splits = dict.fromkeys(known, "dev") | {"extra 1": "dev", "extra 2": "test"}
    (dev, test) = grouped(predictions[:-3], known, "split", splits=splits).groups
    assert (dev.units, dev.without_scores, dev.left_out) == (50, 3, 1)
    assert (test.units, test.left_out, test.figures) == (0, 1, {})
    unlabelled = grouped(predictions[:-3], {}, "split", splits=splits).groups
    assert [(one.units, one.without_scores, one.left_out) for one in unlabelled] == [
        (47, 0, 4),
        (0, 0, 1),
    ]


def test_numbers_make_two_groups_about_their_median() -> None:
    predictions, known = random_run(60, seed=3)
    aged = {
        name: replace(one, columns={"Age": f"{20 + place}"})
        for place, (name, one) in enumerate(sorted(known.items()))
    }
    found = grouped(predictions, aged, "age")
    assert {one.value: one.units for one in found.groups} == {"up to 49.5": 30, "above 49.5": 30}


def test_without_labels_groups_are_those_of_all_units_and_tell_of_evidence_alone() -> None:
    predictions, _ = random_run(44, seed=3)
    splits = {one.unit_id: "dev" if place % 2 else "test" for place, one in enumerate(predictions)}
    found = grouped(predictions, {}, "split", splits=splits)
    assert [one.units for one in found.groups] == [22, 22]
    assert [*found.groups[0].figures] == ["evidence.units_with_a_symptom"]


def test_a_column_that_is_not_there_is_refused_with_those_that_are() -> None:
    predictions, known = random_run(4, seed=3)
    with pytest.raises(InputError, match="no column is called 'gender': the columns are site"):
        grouped(predictions, at_sites(known, "a"), "gender")
    with pytest.raises(InputError, match="the labels have none"):
        grouped(predictions, known)
