"""Splits of a dataset's participants, of given sizes and with like severities, drawn by a seed."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

import orjson

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import Severity, severity_of
from ai_psychiatrist.evaluation.datasets.dataset import Dataset
from ai_psychiatrist.infrastructure.private_files import make_folder, write_whole, writing_to

_FIELD: Final = "--part"
_RECORD_NAME: Final = "splits.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Splits:
    """Who is in which part."""

    dataset: str
    """The dataset's digest."""
    seed: int
    parts: Mapping[str, Sequence[str]]
    """Part → participants, in the order of the dataset."""
    severities: Mapping[str, Mapping[Severity, int]]
    """Part → severity band → participants."""
    left_over: int
    """Participants with all items who are in no part."""


def drawn_splits(dataset: Dataset, sizes: Mapping[str, int], *, seed: int) -> Splits:
    """Draw participants with all eight item scores into parts of these sizes.

    Within each severity band the participants are shuffled; then they are dealt out, band after
    band, each to the part that lags most behind its share. One with several sessions is drawn once,
    by the highest total. Raises `InputError` when there are too few of them.
    """
    totals = _totals(dataset)
    random = Random(seed)  # noqa: S311  a draw that can be repeated
    if sum(sizes.values()) > len(totals):
        msg = (
            f"the parts ask for {sum(sizes.values())} participants, and {len(totals)} have labels "
            "of all eight items"
        )
        raise InputError(msg, field=_FIELD)
    dealt = dict(zip(_shuffled(totals, random), _turns(sizes, len(totals), random), strict=True))
    parts = {part: [who for who in totals if dealt[who] == part] for part in sizes}
    return Splits(
        dataset=dataset.digest,
        seed=seed,
        parts=parts,
        severities={
            part: {
                band: sum(severity_of(totals[who]) is band for who in members) for band in Severity
            }
            for part, members in parts.items()
        },
        left_over=len(totals) - sum(sizes.values()),
    )


def _totals(dataset: Dataset) -> dict[str, int]:
    totals: dict[str, int] = {}
    for unit in dataset.units:
        if unit.labels is None or not unit.labels.has_all_items:
            continue
        who = unit.unit_id if unit.participant_id is None else str(unit.participant_id)
        total = sum(score or 0 for score in unit.labels.items.values())
        totals[who] = max(total, totals.get(who, 0))
    return totals


def _shuffled(totals: Mapping[str, int], random: Random) -> Iterator[str]:
    """Yield the participants band by band, in any order within one."""
    for band in Severity:
        members = [who for who, total in totals.items() if severity_of(total) is band]
        random.shuffle(members)
        yield from members


def _turns(sizes: Mapping[str, int], everybody: int, random: Random) -> Iterator[str | None]:
    """Yield whose turn it is; `None` stands for those who are left over."""
    shares: dict[str | None, int] = {None: everybody - sum(sizes.values())}
    shares.update(sizes)
    given = dict.fromkeys(shares, 0)
    for number in range(1, everybody + 1):
        lags = {
            part: share * number - given[part] * everybody
            for part, share in shares.items()
            if given[part] < share
        }
        farthest = [part for part, lag in lags.items() if lag == max(lags.values())]
        part = random.choice(farthest)
        given[part] += 1
        yield part


def write_splits(out: Path, splits: Splits) -> None:
    """Write one file of participants for each part, and `splits.json` with counts alone.

    Raises `InputError` when the folder holds other splits, or cannot be written.
    """
    record = {
        "dataset": splits.dataset,
        "seed": splits.seed,
        "left_over": splits.left_over,
        "parts": {
            part: {
                "participants": len(members),
                "severities": {
                    band.name.lower(): count for band, count in splits.severities[part].items()
                },
            }
            for part, members in splits.parts.items()
        },
    }
    content = orjson.dumps(record, option=orjson.OPT_INDENT_2)
    path = out / _RECORD_NAME
    with writing_to(out, field="OUT"):
        make_folder(out)
        if path.exists() and path.read_bytes() != content:
            raise InputError(f"{out} holds other splits; name another folder", field="OUT")
        for part, members in splits.parts.items():
            rows = [["participant_id"], *([who] for who in members)]
            write_whole(out / f"{part}.csv", [separated(rows)])
        write_whole(path, [content])


def separated(rows: Iterable[Sequence[object]]) -> bytes:
    """Return rows as a table whose columns are separated by commas."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
