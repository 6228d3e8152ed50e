"""Whose the units of a run are."""

from pathlib import Path

import pytest

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.runs.units_file import (
    RunUnit,
    participants_of,
    read_units,
    write_units,
)

GOOD = '{"participant_id": 7, "split": null, "text_digest": null, "unit_id": "a"}'


def unit(unit_id: str, participant_id: int | str | None) -> RunUnit:
    return RunUnit(unit_id=unit_id, participant_id=participant_id, split="dev", text_digest="0")


def test_participants_are_those_of_whom_the_dataset_says_it(tmp_path: Path) -> None:
    path = tmp_path / "units.jsonl"
    assert participants_of(read_units(path)) == {}
    write_units(path, [unit("b", 7), unit("a", "x"), unit("c", None)])
    assert participants_of(read_units(path)) == {"b": "7", "a": "x"}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (GOOD, "repeats a unit"),
        (GOOD.replace("7", "true"), "participant_id"),
        (GOOD.replace("7", "1.5"), "participant_id"),
        (GOOD.replace('"a"', '""'), "unit_id"),
        (GOOD.replace('"split": null', '"split": 1'), "split"),
        (GOOD.replace('"split"', '"heron"'), "split"),
        (GOOD.replace("{", '{"heron": 1, '), "field"),
        ("[]", "is no JSON object"),
    ],
)
def test_an_unusable_unit_is_named(tmp_path: Path, line: str, complaint: str) -> None:
    path = tmp_path / "units.jsonl"
    path.write_text(f"{GOOD}\n{line}\n")
    with pytest.raises(InputError, match=f"line 2 .*{complaint}") as refused:
        participants_of(read_units(path))
    assert "heron" not in str(refused.value)
