from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.evaluation.metrics.built import labels

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.runs.units_file import read_labels, write_labels

GOOD = '{"binary": null, "is_recovered": false, "items": {}, "total": 3, "unit_id": "a"}'


def test_labels_read_back_are_those_written(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    written = {
        "b": labels([0, 1, 2, 3, 0, 1, 2, None], total=12, binary=True),
        "a": labels(total=4, binary=False),
        "c": replace(labels([0] * 8), second_items=dict.fromkeys(Item, 1)),
    }
    write_labels(path, written)
    assert read_labels(path) == written
    assert [line[-4:-1] for line in path.read_text().splitlines()] == ['"a"', '"b"', '"c"']


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        pytest.param("{", "is no JSON", id="no JSON"),
        pytest.param(GOOD.replace("3", "25"), "total", id="total above 24"),
        pytest.param(GOOD.replace("3", "true"), "total", id="total is true"),
        pytest.param(GOOD.replace("{}", '{"PHQ8_Sleep": 4}'), "PHQ8_Sleep", id="item above 3"),
        pytest.param(GOOD.replace("{}", '{"heron": 1}'), "items", id="no item"),
        pytest.param(GOOD.replace('"binary"', '"heron"'), "binary", id="another field"),
        pytest.param(GOOD.replace('"a"', '""'), "unit_id", id="empty id"),
    ],
)
def test_unusable_label_line_is_refused(tmp_path: Path, line: str, complaint: str) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(f"{GOOD}\n{line}\n")
    with pytest.raises(InputError) as refused:
        read_labels(path)
    message = str(refused.value)
    assert message.startswith("line 2 ")
    assert complaint in message
    assert "heron" not in message


def test_labels_of_one_unit_twice_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(f"{GOOD}\n{GOOD}\n")
    with pytest.raises(InputError, match="line 2 repeats a unit"):
        read_labels(path)


def test_labels_without_those_of_a_second_rater_are_read_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(f"{GOOD}\n")
    assert read_labels(path) == {"a": labels(total=3)}


def test_labels_that_are_not_there_are_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        read_labels(tmp_path / "absent.jsonl")
