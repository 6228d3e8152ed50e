"""Predictions read into rows: those of the predictions, and damaged lines are named."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from tests.unit.evaluation.metrics.built import random_run

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.scores.predicted_units import (
    PredictedUnits,
    predicted_units,
    read_predicted_units,
)
from ai_psychiatrist.evaluation.scores.prediction import failed_prediction
from ai_psychiatrist.evaluation.scores.prediction_lines import to_line

Record = dict[str, Any]


def written(tmp_path: Path, units: int = 30) -> Path:
    """The predictions of a made-up run."""
    path = tmp_path / "predictions.jsonl"
    path.write_bytes(b"".join(map(to_line, random_run(units, seed=3)[0])))
    return path


def changed(path: Path, place: int, change: Callable[[Record], object]) -> None:
    """Change one line of a file."""
    lines = path.read_bytes().splitlines()
    record = orjson.loads(lines[place])
    change(record)
    lines[place] = orjson.dumps(record, option=orjson.OPT_SORT_KEYS)
    path.write_bytes(b"\n".join(lines) + b"\n")


def _same(one: PredictedUnits, other: PredictedUnits) -> bool:
    return np.array_equal(one.rows, other.rows) and (one.unit_ids, one.attempts, one.first) == (
        other.unit_ids,
        other.attempts,
        other.first,
    )


def test_a_file_gives_the_rows_of_its_predictions(tmp_path: Path) -> None:
    found = read_predicted_units(written(tmp_path, 1200))
    predictions = sorted(random_run(1200, seed=3)[0], key=lambda one: one.unit_id)
    assert found.unit_ids == [one.unit_id for one in predictions]
    for unit, row in zip(predictions, found.rows, strict=True):
        scores = [-1 if item.score is None else item.score for item in unit.items.values()]
        assert row["scores"].tolist() == scores


def test_lines_without_what_has_a_default_are_read_all_the_same(tmp_path: Path) -> None:
    path = written(tmp_path)
    before = read_predicted_units(path)
    changed(path, 20, lambda record: record.pop("mode"))
    assert _same(read_predicted_units(path), before)


def test_a_unit_without_a_prediction_has_the_row_of_a_failed_one() -> None:
    found = predicted_units(random_run(3, seed=1)[0]).among(["unit 001", "unit 007"])
    assert found.missing == 1
    assert found.rows[1] == predicted_units([failed_prediction("unit 007")]).rows[0]


def test_only_wanted_units_are_taken_in(tmp_path: Path) -> None:
    path = written(tmp_path)
    some = read_predicted_units(path).unit_ids[5:9]
    found = read_predicted_units(path, set(some))
    assert found.unit_ids == some
    assert sorted(one.unit_id for one in found.first) == some


def _of_item(name: str, value: object) -> Callable[[Record], object]:
    return lambda record: record["items"]["PHQ8_Sleep"].update({name: value})


@pytest.mark.parametrize(
    "change",
    [
        _of_item("score", 7),
        _of_item("score", True),
        _of_item("score", "1"),
        _of_item("confidence", 0),
        _of_item("unknown_reason", "because"),
        _of_item("more", 1),
        _of_item("belief", {"probabilities": [1, 1, 1, 1, 1]}),
        lambda record: record.update(status="asleep"),
        lambda record: record.update(total_min=1 + record["total_min"]),
        lambda record: record.update(turns_not_examined=-1),
        lambda record: record.update(unit_id=7),
        lambda record: record.update(attempts=[{"agent": "a"}]),
        lambda record: record.update(failures=[{"category": "x", "stage": "y", "code": None}]),
        lambda record: record.pop("items"),
    ],
)
def test_a_damaged_line_is_named(change: Callable[[Record], object], tmp_path: Path) -> None:
    path = written(tmp_path)
    changed(path, 20, change)
    with pytest.raises(InputError, match="line 21"):
        read_predicted_units(path)


def test_a_unit_that_comes_twice_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_bytes(path.read_bytes() + path.read_bytes().splitlines()[0] + b"\n")
    with pytest.raises(InputError, match="1 units more than once"):
        read_predicted_units(path)
