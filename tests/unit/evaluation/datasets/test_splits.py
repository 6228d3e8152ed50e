"""Splits by a seed, and the units that a split leaves of a dataset."""

from collections import Counter
from pathlib import Path

import pytest

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import Item, severity_of
from ai_psychiatrist.evaluation.datasets.dataset import (
    Dataset,
    DatasetKind,
    DatasetUnit,
    Labels,
    SpeakerFilter,
)
from ai_psychiatrist.evaluation.datasets.selection import Selection, selected
from ai_psychiatrist.evaluation.datasets.splits import drawn_splits

SIZES = {"train": 58, "validation": 43, "test": 41}


def read_nothing(unit_id: str) -> None:
    raise AssertionError(unit_id)


def dataset(totals: list[int], *, sessions: int = 1) -> Dataset:
    """One participant for each total, by numbers from 300."""
    units = tuple(
        DatasetUnit(
            unit_id=f"{number}-{session}",
            participant_id=number,
            split="train" if number % 2 else "dev",
            labels=Labels(
                items={item: min(3, max(0, total - 3 * at)) for at, item in enumerate(Item)},
                total=total,
                binary=total >= 10,
            ),
        )
        for number, total in enumerate(totals, start=300)
        for session in range(sessions)
    )
    return Dataset(
        kind=DatasetKind.JSONL,
        path=Path("talks.jsonl"),
        units=units,
        issues=(),
        digest="ab" * 32,
        speakers=SpeakerFilter.BOTH,
        transcript=read_nothing,  # type: ignore[arg-type]
    )


TOTALS = [number * 7 % 25 for number in range(142)]


def test_parts_have_the_sizes_asked_for_and_share_nobody() -> None:
    drawn = drawn_splits(dataset(TOTALS), SIZES, seed=0)
    assert {part: len(members) for part, members in drawn.parts.items()} == SIZES
    everybody = [who for members in drawn.parts.values() for who in members]
    assert sorted(everybody) == [str(number) for number in range(300, 442)]
    assert drawn.left_over == 0


@pytest.mark.parametrize("seed", range(5))
def test_each_part_has_its_share_of_each_severity(seed: int) -> None:
    drawn = drawn_splits(dataset(TOTALS), SIZES, seed=seed)
    bands = Counter(severity_of(total) for total in TOTALS)
    for part, size in SIZES.items():
        for band, count in bands.items():
            assert abs(drawn.severities[part][band] - count * size / 142) <= 2


def test_a_seed_draws_the_same_and_another_draws_others() -> None:
    first, again, other = (drawn_splits(dataset(TOTALS), SIZES, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.parts["test"] != other.parts["test"]


def test_participants_are_drawn_and_not_their_sessions() -> None:
    drawn = drawn_splits(dataset([3, 20, 12, 7], sessions=3), {"a": 2, "b": 1}, seed=0)
    assert sum(map(len, drawn.parts.values())) == 3
    assert drawn.left_over == 1


def test_more_participants_than_there_are_cannot_be_drawn() -> None:
    with pytest.raises(InputError, match="ask for 143 participants, and 142"):
        drawn_splits(dataset(TOTALS), SIZES | {"test": 42}, seed=0)


@pytest.mark.parametrize(
    "text",
    ["Participant_ID,PHQ8_Score\n301,4\n", "301\n", "participant_id\n301\n", "301-0\n301-1\n"],
    ids=["label file", "numbers", "header", "units"],
)
def test_file_of_a_split_names_participants_or_units(tmp_path: Path, text: str) -> None:
    (tmp_path / "test.csv").write_text(text, encoding="utf-8")
    chosen = selected(dataset([1, 2, 3], sessions=2), Selection(split=str(tmp_path / "test.csv")))
    assert [unit.unit_id for unit in chosen.units] == ["301-0", "301-1"]
    assert chosen.digest == "ab" * 32
    assert chosen.selection is not None


def test_split_of_the_dataset_is_chosen_by_its_name() -> None:
    chosen = selected(dataset([1, 2, 3]), Selection(split="dev"))
    assert [unit.participant_id for unit in chosen.units] == [300, 302]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("999\n301\n", "1 of the 2 participants"), ("\n", "names no participant"), (None, "dev")],
    ids=["somebody else", "nobody", "no file"],
)
def test_split_that_is_none_of_the_datasets_is_refused(
    tmp_path: Path, text: str | None, complaint: str
) -> None:
    path = tmp_path / "part.csv"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=complaint):
        selected(dataset([1, 2, 3]), Selection(split=str(path)))
