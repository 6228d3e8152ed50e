"""Concordance, rank correlation and the noise ceiling, beside other formulas for them."""

import math
import random
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from tests.unit.evaluation.metrics.built import at, labels, metrics, plain, random_run, unit, value

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.agreement import ITEMS, item_section, noise_section
from ai_psychiatrist.evaluation.metrics.kinds import beside_labels
from ai_psychiatrist.evaluation.metrics.totals import total_section
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction


def concordance(first: Sequence[float], second: Sequence[float]) -> float:
    """Lin's coefficient as one less the ratio of squared distances, which is another formula."""
    pairs = list(zip(first, second, strict=True))
    apart = sum((x - y) ** 2 for x, y in pairs) / len(pairs)
    # What the distance would be were both sides drawn without regard to one another.
    by_chance = sum((x - y) ** 2 for x in first for y in second) / len(pairs) ** 2
    return 1 - apart / by_chance


@pytest.mark.parametrize("seed", range(4))
def test_items_agree_as_other_formulas_say(seed: int) -> None:
    predictions, known = random_run(14, seed=seed)
    items = beside_labels(predictions, known).items
    found = plain(item_section(items), units=14)
    for path, where in [
        ("", items.is_both),
        (f"by_item/{Item.SLEEP}/", items.is_both & (np.arange(8) == ITEMS.index(Item.SLEEP))),
    ]:
        said, truth = items.said[where], items.truth[where]
        assert value(found, f"{path}ccc") == pytest.approx(concordance(said, truth))
        theirs = stats.spearmanr(said, truth).statistic
        assert value(found, f"{path}spearman") == pytest.approx(theirs)


@pytest.mark.parametrize("seed", range(4))
def test_totals_agree_as_other_formulas_say(seed: int) -> None:
    predictions, known = random_run(40, seed=seed, unknown=0.1)
    found = plain(total_section(beside_labels(predictions, known)), units=40)
    totals = {one.unit_id: one.range.total_score for one in predictions}
    pairs = [(said, known[unit].total) for unit, said in totals.items() if said is not None]
    said, truth = zip(*pairs, strict=True)
    assert value(found, "exact/ccc") == pytest.approx(concordance(said, truth))
    assert value(found, "exact/spearman") == pytest.approx(stats.spearmanr(said, truth).statistic)
    assert value(found, "exact/pearson") == pytest.approx(stats.pearsonr(said, truth).statistic)


def test_a_shift_lowers_concordance_and_no_correlation() -> None:
    truth = [0, 1, 2, 0, 1, 2, 0, 1]
    shifted = beside_labels([unit("a", [one + 1 for one in truth])], {"a": labels(truth)})
    found = plain(item_section(shifted.items), units=1)
    assert value(found, "spearman") == pytest.approx(1)
    assert value(found, "ccc") == pytest.approx(concordance([one + 1 for one in truth], truth))
    assert (value(found, "ccc") or 1) < 0.6


def test_sides_that_do_not_vary_have_no_ranks_and_say_so() -> None:
    found = plain(
        item_section(beside_labels([unit("a", [1] * 8)], {"a": labels([1] * 8)}).items), units=1
    )
    assert at(found, "spearman/reason") == "one side does not vary"
    assert at(found, "ccc/reason") == "neither side varies"


def rated_twice(units: int, *, seed: int) -> tuple[list[UnitPrediction], dict[str, Labels]]:
    predictions, known = random_run(units, seed=seed)
    choose = random.Random(seed)  # noqa: S311 - repeatable
    return predictions, {
        name: Labels(
            items=label.items,
            total=label.total,
            binary=label.binary,
            second_items={
                item: None if score is None else min(3, max(0, score + choose.choice((-1, 0, 0))))
                for item, score in label.items.items()
            }
            if place % 3
            else {},
        )
        for place, (name, label) in enumerate(known.items())
    }


def test_noise_ceiling_is_how_far_two_raters_agree() -> None:
    predictions, known = rated_twice(30, seed=5)
    pairs = [
        (theirs, ours)
        for label in known.values()
        for item, theirs in label.second_items.items()
        if theirs is not None and (ours := label.items[item]) is not None
    ]
    second, first = zip(*pairs, strict=True)
    report = metrics(predictions, known)
    found = {key: value(report, f"noise_ceiling/{key}") for key in ("mae", "exact_agreement")}
    apart = [abs(x - y) for x, y in pairs]
    assert found == pytest.approx(
        {"mae": np.mean(apart), "exact_agreement": np.mean([one == 0 for one in apart])}
    )
    assert value(report, "noise_ceiling/quadratic_kappa") == pytest.approx(
        cohen_kappa_score(second, first, weights="quadratic")
    )
    assert value(report, "noise_ceiling/largest_correlation") == pytest.approx(
        math.sqrt(stats.pearsonr(second, first).statistic)
    )
    assert at(report, "noise_ceiling/quadratic_kappa/interval") is not None
    sleep = f"noise_ceiling/by_item/{Item.SLEEP}/coverage"
    assert value(report, sleep) == pytest.approx(
        sum(label.second_items.get(Item.SLEEP) is not None for label in known.values())
        / sum(label.items[Item.SLEEP] is not None for label in known.values())
    )


def test_without_a_second_rater_the_ceiling_says_so() -> None:
    scores = beside_labels(*random_run(12, seed=1))
    found = plain(noise_section(scores.rated), units=12)
    assert at(found, "mae/reason") == "no item has the labels of two raters"
    assert value(found, "coverage") == 0
