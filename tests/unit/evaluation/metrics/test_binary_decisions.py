import random

import numpy as np
import pytest
from sklearn import metrics as theirs
from tests.unit.evaluation.metrics.built import at, each, labels, plain, random_run, unit, value

from ai_psychiatrist.domain.phq8 import Severity
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.kinds import beside_labels
from ai_psychiatrist.evaluation.metrics.totals import binary_section
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction, failed_prediction
from ai_psychiatrist.statistics.bootstrap import estimate
from ai_psychiatrist.statistics.ranking import auroc

YES = [3, 3, 3, 1, 0, 0, 0, None]
NO = [3, 3, 0, 0, 0, 0, 0, None]
OPEN = [3, 3, 3, None, 0, 0, 0, 0]


def section(predictions: list[UnitPrediction], known: dict[str, Labels]) -> dict[str, object]:
    return plain(binary_section(beside_labels(predictions, known)), units=len(known))


@pytest.mark.parametrize(
    ("scores", "outcome"),
    [
        pytest.param(YES, "true_positive", id="10 to 13"),
        pytest.param(NO, "false_negative", id="6 to 9"),
        pytest.param(OPEN, "undecided_positive", id="9 to 12"),
        pytest.param([None] * 8, "undecided_positive", id="0 to 24"),
    ],
)
def test_range_decides_only_when_it_lies_on_one_side_of_ten(
    scores: list[int | None], outcome: str
) -> None:
    counts = at(section([unit("a", scores)], {"a": labels(total=10)}), "from_total/counts")
    assert isinstance(counts, dict)
    assert {name for name, count in counts.items() if count} == {outcome}


@pytest.mark.parametrize(
    ("known", "outcome"),
    [
        pytest.param(labels(total=9), "false_positive", id="total below"),
        pytest.param(labels(total=10), "true_positive", id="total at the cut-off"),
        pytest.param(labels(total=10, binary=False), "true_positive", id="flag against total"),
        pytest.param(labels(binary=False), "false_positive", id="flag alone"),
        pytest.param(labels([3, 3, 3, 0, 0, 0, 0, 0]), "false_positive", id="items alone"),
    ],
)
def test_truth_follows_from_the_total_before_the_flag(known: Labels, outcome: str) -> None:
    counts = at(section([unit("a", YES)], {"a": known}), "from_total/counts")
    assert isinstance(counts, dict)
    assert {name for name, count in counts.items() if count} == {outcome}


def test_undecided_units_are_left_out_or_wrong() -> None:
    predictions = [unit("a", YES), unit("b", OPEN), unit("c", NO), failed_prediction("d")]
    known = {name: labels(total=total) for name, total in zip("abcd", (20, 20, 0, 0), strict=True)}
    found = section(predictions, known)
    assert value(found, "from_total/coverage") == 0.5
    rates = ("accuracy", "balanced_accuracy", "f1", "sensitivity", "specificity")
    assert [value(found, f"from_total/decided/{rate}") for rate in rates] == [1] * 5
    assert [value(found, f"from_total/undecided_as_wrong/{rate}") for rate in rates] == [0.5] * 5


def test_meta_review_decides_by_its_severity_and_is_open_where_there_is_none() -> None:
    predictions = [
        unit("a", OPEN, review=Severity.MODERATE),
        unit("b", OPEN, review=Severity.MILD),
        unit("c", YES),
    ]
    counts = at(
        section(predictions, {name: labels(total=12) for name in "abc"}), "from_meta_review/counts"
    )
    assert isinstance(counts, dict)
    assert {name: count for name, count in counts.items() if count} == {
        "true_positive": 1,
        "false_negative": 1,
        "undecided_positive": 1,
    }


def test_one_class_alone_has_no_balance_and_no_curve() -> None:
    found = section([unit("a", YES)], {"a": labels(total=20)})
    assert value(found, "from_total/decided/accuracy") == 1
    assert value(found, "from_total/decided/balanced_accuracy") is None
    assert value(found, "from_total/decided/specificity") is None
    assert value(found, "from_total/auroc_of_midpoint") is None


@pytest.mark.parametrize("seed", range(3))
def test_rates_are_those_of_scikit_learn(seed: int) -> None:
    predictions, known = random_run(40, seed=seed)
    found = section(predictions, known)
    truth = [(known[one.unit_id].total or 0) >= 10 for one in predictions]
    reviews = [one.meta_review_severity for one in predictions]
    pairs = [(t, r.is_mdd) for t, r in zip(truth, reviews, strict=True) if r is not None]
    right, said = zip(*pairs, strict=True)
    path = "from_meta_review/decided"
    assert value(found, f"{path}/accuracy") == pytest.approx(theirs.accuracy_score(right, said))
    assert value(found, f"{path}/f1") == pytest.approx(theirs.f1_score(right, said))
    assert value(found, f"{path}/sensitivity") == pytest.approx(theirs.recall_score(right, said))
    assert value(found, f"{path}/balanced_accuracy") == pytest.approx(
        theirs.balanced_accuracy_score(right, said)
    )
    wrong = [not t if r is None else r.is_mdd for t, r in zip(truth, reviews, strict=True)]
    path = "from_meta_review/undecided_as_wrong"
    assert value(found, f"{path}/f1") == pytest.approx(theirs.f1_score(truth, wrong))
    assert value(found, f"{path}/balanced_accuracy") == pytest.approx(
        theirs.balanced_accuracy_score(truth, wrong)
    )
    middles = [one.range.total_score_min + one.range.total_score_max for one in predictions]
    assert value(found, "from_total/auroc_of_midpoint") == pytest.approx(
        theirs.roc_auc_score(truth, middles)
    )


@pytest.mark.parametrize("seed", range(3))
def test_area_with_ties_is_that_of_scikit_learn(seed: int) -> None:
    choose = random.Random(seed)  # noqa: S311 - repeatable
    values = np.array([choose.randint(0, 4) for _ in range(30)], dtype=float)
    is_case = np.array([choose.random() < 0.4 for _ in values])
    measure = auroc(values, is_case, ~is_case, undefined="")
    found = estimate([measure], each(30, resamples=0))
    assert found[0].value == pytest.approx(theirs.roc_auc_score(is_case, values))
