"""The sets of the learned reader: every row says what it is, and none is in two parts."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ai_psychiatrist.domain.phq8 import PHQ8_DOMAIN_KEYS

FOLDER = Path(__file__).parents[2] / "benchmarks" / "labelled" / "reader"
FILES = sorted(FOLDER.glob("*.jsonl"))
KINDS = {
    *("wish_to_be_dead", "nonspecific_thoughts", "method", "intent", "plan", "preparation"),
    *("attempt", "interrupted_or_aborted_attempt", "self_injury", "harm_to_others"),
    *("abuse_by_others", "command_voices", "burden_and_despair", "goodbye"),
}


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_row_names_its_set_its_definitions_and_its_part(file: Path) -> None:
    for row in rows(file):
        assert row["set"] == file.stem
        assert (FOLDER.parent / str(row["definitions"])).is_file()
        assert row["part"] in {"train", "measure"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_labels_are_those_of_the_definitions(file: Path) -> None:
    for row in rows(file):
        danger, items = row["danger"], row.get("items") or row.get("labels") or []
        assert {one["kind"] for one in danger} | {row.get("lookalike")} - {None} <= KINDS
        names = items if isinstance(items, dict) else {one["item"] for one in items}
        assert set(names) <= set(PHQ8_DOMAIN_KEYS)


def test_no_text_is_in_a_part_to_train_on_and_in_one_to_measure() -> None:
    parts: dict[str, Counter[str]] = {"train": Counter(), "measure": Counter()}
    for row in (row for file in FILES for row in rows(file)):
        turns = row.get("turns") or [{"text": row.get("text")}]
        words = " ".join(str(turn["text"]) for turn in turns).casefold()
        if len(words.split()) > 6:
            parts[str(row["part"])][words] += 1
    assert not parts["train"].keys() & parts["measure"].keys()
