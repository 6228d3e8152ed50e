"""The labelled sets on what words mean are whole, and their figures are counted right."""

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from benchmarks.meaning import answers, danger, items
from benchmarks.meaning.agreement import Proportion, kappa
from benchmarks.meaning.sets import (
    SEALED,
    SealBroken,
    digest_of,
    listed_digests,
    open_sealed,
    transcript_of,
    tuning,
)
from benchmarks.meaning.tables import sealed_tables

from ai_psychiatrist.domain.phq8 import Item

SIZES = {"items": 4247, "interviews": 88, "sessions": 100, "danger": 2372}


@pytest.mark.parametrize("kind", SIZES)
def test_every_quote_of_a_tuning_set_is_said_by_the_participant(kind: str) -> None:
    records = tuning(kind)
    assert len({record["id"] for record in records}) == len(records) == SIZES[kind]
    unsaid = [
        record["id"]
        for record in records
        for quote in _quotes(record)
        if not any(quote in said for said in _said(record))
    ]
    assert unsaid == []


def _said(record: Mapping[str, Any]) -> list[str]:
    turns = record.get("turns", [])
    own = [turn["text"] for turn in turns if turn["speaker"] == "participant"]
    return own or [record["text"]]


def _quotes(record: Mapping[str, Any]) -> Iterator[str]:
    for label in (*record.get("labels", ()), *record.get("danger", ())):
        yield label["quote"]
    for label in record.get("items", {}).values():
        yield from label["quotes"]


def test_the_sealed_files_are_those_that_were_sealed() -> None:
    files = sorted(SEALED.glob("*.gz"))
    assert {file.name: digest_of(file) for file in files} == listed_digests(SEALED)
    assert len(files) == 6


def test_wilson_interval_is_that_of_hand_examples() -> None:
    assert Proportion(count=8, of=10).interval == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert Proportion(count=0, of=10).interval == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert str(Proportion(count=81, of=263)) == "0.308 [0.255, 0.366] of 263"


def test_a_share_of_nothing_is_unknown() -> None:
    assert Proportion(count=0, of=0).value is None
    assert str(Proportion(count=0, of=0)) == "–"


def test_kappa_is_that_of_a_hand_example() -> None:
    """Observed 35 of 50, by chance 25 of 50: 10 of the 25 that chance leaves."""
    pairs = [
        *[("yes", "yes")] * 20,
        *[("yes", "no")] * 5,
        *[("no", "yes")] * 10,
        *[("no", "no")] * 15,
    ]
    assert kappa(pairs) == pytest.approx(0.4)


@pytest.mark.parametrize("pairs", [[], [("yes", "yes")] * 3], ids=["none", "one label"])
def test_there_is_no_kappa_where_labels_do_not_vary(pairs: list[tuple[str, str]]) -> None:
    assert kappa(pairs) is None


def test_a_statement_that_affirms_and_denies_an_item_has_no_score() -> None:
    labels = [_label("present", 2), _label("denied", 0)]
    record = {"id": "1", "question": None, "text": "", "labels": labels}
    gold = items.gold_of(record)
    assert gold[Item.SLEEP] == items.Label(status=items.CONTRADICTORY, score=None)
    assert gold[Item.TIRED] == items.Label(status=items.NOT_SPOKEN_OF, score=None)


def test_only_the_labels_of_the_status_give_the_score() -> None:
    labels = [_label("past", None), _label("present", 3), _label("present", None)]
    record = {"id": "1", "question": None, "text": "", "labels": labels}
    assert items.gold_of(record)[Item.SLEEP] == items.Label(status="present", score=3)


def _label(status: str, score: int | None) -> dict[str, object]:
    return {"quote": "", "item": Item.SLEEP.value, "status": status, "score": score}


def test_a_question_is_put_before_its_answer() -> None:
    record = {"question": "Do you sleep?", "text": "no,\nnever"}
    assert transcript_of(record) == "Interviewer: Do you sleep?\nParticipant: no, never"


def _items(**status: tuple[str, int | None]) -> dict[str, object]:
    return {
        item.value: dict(
            zip(("status", "score"), status.get(item.name, ("unknown", None)), strict=True)
        )
        for item in Item
    }


SESSION_TURNS = [
    {"speaker": "interviewer", "text": "How are the nights?"},
    {"speaker": "participant", "text": "I sleep badly nearly every night. I feel sad."},
]
SYNTHETIC: dict[str, list[dict[str, object]]] = {
    "interviews": [
        {
            "id": "a",
            "turns": SESSION_TURNS,
            "items": _items(SLEEP=("present", 3), DEPRESSED=("present", None)),
            "danger": [],
            "second": {"items": _items(SLEEP=("present", 2))},
        }
    ],
    "sessions": [
        {
            "id": "b",
            "kind": "consultation",
            "turns": SESSION_TURNS,
            "items": _items(),
            "second": {"items": _items(), "danger": "none"},
        }
    ],
    "danger": [
        {
            "id": "c",
            "question": None,
            "text": "I want to kill myself.",
            "kind": "nonspecific_thoughts",
            "status": "affirmed",
            "level": "high",
            "lookalike": None,
            "second": {"kind": "intent", "status": "affirmed", "level": "high"},
        },
        {
            "id": "d",
            "question": "And the traffic?",
            "text": "It was quiet.",
            "kind": None,
            "status": None,
            "level": None,
            "lookalike": "plan",
            "second": {"kind": None, "status": None, "level": None},
        },
    ],
    "answers": [
        {
            "id": "e",
            "item": Item.SLEEP.value,
            "answer": "every day",
            "reading": "score",
            "score": 2,
            "second": {"reading": "score", "score": 3},
        }
    ],
}


@pytest.fixture
def sealed(tmp_path: Path) -> Path:
    lines = []
    for name, records in SYNTHETIC.items():
        file = tmp_path / f"{name}.jsonl.gz"
        file.write_bytes(gzip.compress("\n".join(map(json.dumps, records)).encode(), mtime=0))
        lines.append(f"| `{file.name}` | {len(records)} | `{digest_of(file)}` |")
    (tmp_path / "README.md").write_text("\n".join(lines), "utf-8")
    return tmp_path


def test_sealed_sets_are_counted_by_first_labels_and_where_both_agree(sealed: Path) -> None:
    printed = "\n".join(sealed_tables(sealed))
    for row in (
        "| interviews, items: status | 0.875 [0.529, 0.978] of 8 | 0.600 |",
        "| danger: own and now, or not | 1.000 [0.342, 1.000] of 2 | 1.000 |",
        "| danger: kind, or none | 0.500 [0.095, 0.905] of 2 | 0.333 |",
        "| answers: kind and score | 0.000 [0.000, 0.793] of 1 | 0.000 |",
        "| consultation, with none | 0.000 [0.000, 0.793] of 1 | 0.000 [0.000, 0.793] of 1 |",
    ):
        assert row in printed.splitlines()


def test_agreement_leaves_out_what_two_people_label_differently(sealed: Path) -> None:
    statements = danger.readings(open_sealed("danger", sealed))
    assert [one.status for one in danger.agreed(statements)] == [danger.LOOKALIKE]
    assert answers.agreed(answers.readings(open_sealed("answers", sealed))) == []
    both = items.agreed(items.findings(open_sealed("interviews", sealed)))
    assert [one.gold for one in both if one.item is Item.SLEEP] == [
        items.Label(status="present", score=None)
    ]
    assert Item.DEPRESSED not in {one.item for one in both}


def test_a_sealed_file_that_was_changed_is_not_opened(sealed: Path) -> None:
    (sealed / "danger.jsonl.gz").write_bytes(gzip.compress(b"{}", mtime=0))
    with pytest.raises(SealBroken):
        open_sealed("danger", sealed)
