import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.evaluation.metrics.built import at, labels, metrics, random_run, unit, value

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.dataset import Labels
from ai_psychiatrist.evaluation.metrics.compute import compute_metrics
from ai_psychiatrist.evaluation.metrics.selective import DEFAULT_SIGNAL
from ai_psychiatrist.evaluation.scores.prediction import UnitPrediction, failed_prediction

Run = tuple[list[UnitPrediction], dict[str, Labels]]

RUNS: dict[str, Run] = {
    "no units": ([], {}),
    "labels alone": ([], {"a": labels([1] * 8)}),
    "one unit": ([unit("a", [1] * 8)], {"a": labels([1] * 8, total=8)}),
    "one failed unit": ([failed_prediction("a")], {"a": labels([1] * 8)}),
    "no labels": (random_run(5, seed=1)[0], {}),
    "labels of nothing": ([unit("a", [1] * 8)], {"a": labels()}),
    "totals alone": ([unit("a", [1] * 8), unit("b", [None] * 8)], {"a": labels(total=8)}),
    "flags alone": ([unit("a", [1] * 8)], {"a": labels(binary=True)}),
    "a run": random_run(12, seed=2),
}


def refuse(constant: str) -> None:
    message = f"{constant} is no JSON"
    raise AssertionError(message)


def figures(document: object) -> Iterator[dict[str, object]]:
    """Every figure of a report."""
    if isinstance(document, dict):
        if "value" in document:
            yield document
        else:
            for branch in document.values():
                yield from figures(branch)
    elif isinstance(document, list):
        for branch in document:
            yield from figures(branch)


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_every_figure_is_strict_json_with_a_value_or_a_reason(run: Run) -> None:
    report = metrics(*run)
    document = json.loads(report.to_bytes(), parse_constant=refuse)
    found = list(figures(document))
    assert len(found) > 100
    for figure in found:
        assert set(figure) == {"value", "reason", "interval", "n"}
        if figure["value"] is None:
            assert figure["reason"]
            assert figure["interval"] is None
        elif isinstance(figure["interval"], list):
            assert figure["reason"] is None
            low, high = figure["interval"]
            assert low < high
            assert low <= figure["value"] <= high


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_every_report_has_the_same_sections(run: Run) -> None:
    assert list(json.loads(metrics(*run).to_bytes())) == [
        "schema_version",
        "settings",
        "units",
        "items",
        "selective",
        "totals",
        "severity",
        "binary",
        "calibration",
        "noise_ceiling",
        "evidence",
        "drive",
        "coverage_by_reason",
        "rule_warnings",
        "failures",
        "cost",
    ]


def test_order_of_units_changes_no_byte() -> None:
    predictions, known = random_run(9, seed=3)
    turned = dict(reversed(known.items()))
    assert metrics(predictions, known).to_bytes() == metrics(predictions[::-1], turned).to_bytes()


def test_names_of_units_change_no_figure_when_their_order_stays() -> None:
    predictions, known = random_run(9, seed=3)
    renamed = [unit_with_name(one, f"x {one.unit_id}") for one in predictions]
    labels_renamed = {f"x {name}": label for name, label in known.items()}
    assert metrics(predictions, known) == metrics(renamed, labels_renamed)


def unit_with_name(one: UnitPrediction, name: str) -> UnitPrediction:
    items = [one.items[item] for item in Item]
    return unit(
        name,
        [item.score for item in items],
        quotes=[item.signals.llm_evidence_count for item in items],
        confidences=[item.confidence for item in items],
        review=one.meta_review_severity,
    )


def test_permuted_items_change_no_figure_over_all_items() -> None:
    predictions, known = random_run(9, seed=3)
    turned = [
        unit(one.unit_id, [one.score(item) for item in reversed(Item)]) for one in predictions
    ]
    plain = [unit(one.unit_id, [one.score(item) for item in Item]) for one in predictions]
    labels_turned = {
        name: labels([label.items[item] for item in reversed(Item)], total=label.total)
        for name, label in known.items()
    }
    before, after = metrics(plain, known), metrics(turned, labels_turned)
    for figure in ("mae", "mae_charged", "coverage", "quadratic_kappa", "mae_mean_of_items"):
        assert at(after, f"items/{figure}") == at(before, f"items/{figure}")
    for section in ("totals", "severity", "binary"):
        assert at(after, section) == at(before, section)
    path = f"selective/by_signal/{DEFAULT_SIGNAL}/charged_aurc"
    assert value(after, path) == pytest.approx(value(before, path))


def test_units_are_counted_by_what_is_there_of_them() -> None:
    predictions = [unit("a", [1] * 8), unit("b", [1] * 8), failed_prediction("c")]
    known = {"b": labels([1] * 8), "d": labels([1] * 8), "e": labels()}
    report = metrics(predictions, known)
    assert at(report, "units") == {
        "predicted": 3,
        "labelled": 2,
        "both": 1,
        "labelled_without_prediction": 1,
        "predicted_without_label": 2,
        "with_turns_not_examined": 0,
        "participants": 3,
        "participants_labelled": 2,
        "by_status": {"complete": 2, "partial": 0, "failed": 1},
    }
    assert value(report, "items/mae_charged") == 1.5


def test_seed_and_resamples_are_part_of_the_report() -> None:
    predictions, known = random_run(12, seed=1)
    one = compute_metrics(predictions, known, resamples=30, seed=1)
    other = compute_metrics(predictions, known, resamples=30, seed=2)
    assert at(one, "items/mae/interval") != at(other, "items/mae/interval")
    assert value(one, "items/mae") == value(other, "items/mae")
    assert at(one, "settings") == {
        "resamples": 30,
        "seed": 1,
        "interval": 0.95,
        "confidence": DEFAULT_SIGNAL,
    }


def test_unit_predicted_twice_is_an_input_error() -> None:
    with pytest.raises(InputError, match="more than once"):
        metrics([unit("a", [1] * 8), unit("a", [2] * 8)], {})


def nhanes(folder: Path) -> Run:
    """Answers of some hundred people, as labels and as the predictions of a perfect run."""
    text = (folder / "scores" / "nhanes_2013_2018_items.csv").read_text(encoding="utf-8")
    answers = {
        row[0]: [int(float(cell)) if cell else None for cell in row[1:9]]
        for row in csv.reader(text.splitlines()[1:800])
    }
    known = {name: labels(scores) for name, scores in answers.items()}
    return [unit(name, scores) for name, scores in answers.items()], known


def test_real_answers_predicted_as_they_are_leave_no_error(public_data: Path) -> None:
    report = metrics(*nhanes(public_data))
    perfect = {
        "items/mae": 0,
        "items/mae_charged": 0,
        "items/coverage": 1,
        "items/exact_agreement": 1,
        "items/quadratic_kappa": 1,
        "totals/exact/mae": 0,
        "totals/exact/pearson": 1,
        "totals/range/holds_truth": 1,
        "severity/exact": 1,
        "severity/quadratic_kappa": 1,
        "binary/from_total/decided/accuracy": 1,
        "binary/from_total/decided/f1": 1,
        "binary/from_total/auroc_of_midpoint": 1,
        f"selective/by_signal/{DEFAULT_SIGNAL}/charged_aurc": 0,
    }
    assert {path: value(report, path) for path in perfect} == pytest.approx(perfect)


def test_real_answers_of_another_person_agree_no_better_than_chance(public_data: Path) -> None:
    predictions, known = nhanes(public_data)
    ids = [one.unit_id for one in predictions]
    moved = [
        unit_with_name(one, name) for one, name in zip(predictions, [*ids[1:], ids[0]], strict=True)
    ]
    report = metrics(moved, known)
    assert value(report, "severity/quadratic_kappa") == pytest.approx(0, abs=0.15)
    assert value(report, "binary/from_total/auroc_of_midpoint") == pytest.approx(0.5, abs=0.1)
