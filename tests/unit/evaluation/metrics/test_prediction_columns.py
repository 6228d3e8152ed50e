"""Predictions read as columns: the same as when each is read as a whole."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from tests.unit.evaluation.metrics.built import random_run

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.scores.column_reader import columns_of, read_columns
from ai_psychiatrist.evaluation.scores.prediction_columns import PredictionColumns, UnitRows
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


def _same(one: PredictionColumns, other: PredictionColumns) -> bool:
    rows = (
        np.array_equal(getattr(one.rows, column.name), getattr(other.rows, column.name))
        for column in fields(UnitRows)
    )
    return all(rows) and (one.unit_ids, one.attempts, one.first) == (
        other.unit_ids,
        other.attempts,
        other.first,
    )


def test_a_file_gives_the_columns_of_its_predictions(tmp_path: Path) -> None:
    assert _same(read_columns(written(tmp_path)), columns_of(random_run(30, seed=3)[0]))


def test_lines_without_what_has_a_default_are_read_all_the_same(tmp_path: Path) -> None:
    path = written(tmp_path)
    before = read_columns(path)
    changed(path, 20, lambda record: record.pop("mode"))
    assert _same(read_columns(path), before)


def test_only_wanted_units_are_taken_in(tmp_path: Path) -> None:
    path = written(tmp_path)
    some = read_columns(path).unit_ids[5:9]
    found = read_columns(path, set(some))
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
        read_columns(path)


def test_a_unit_that_comes_twice_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_bytes(path.read_bytes() + path.read_bytes().splitlines()[0] + b"\n")
    with pytest.raises(InputError, match="1 units more than once"):
        read_columns(path)


def test_processes_read_the_same_columns(tmp_path: Path) -> None:
    path = written(tmp_path, 200)
    some = read_columns(path).unit_ids[90:]
    size = path.stat().st_size // 4
    for wanted in (None, set(some)):
        shared = read_columns(path, wanted, workers=2, range_bytes=size)
        assert _same(shared, read_columns(path, wanted))


def test_a_line_that_a_process_refuses_is_named_by_its_number_in_the_file(tmp_path: Path) -> None:
    path = written(tmp_path)
    changed(path, 20, _of_item("score", 7))
    with pytest.raises(InputError, match=r"line 21 .*score"):
        read_columns(path, workers=2, range_bytes=path.stat().st_size // 4)
