"""One file on several processes: the same bytes come out."""

import io
import json
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import pytest
from tests.fakes.jsonl_runs import STEP, Ran, run_bytes, unit
from tests.sweeps import SHARDED_LINES, SHARDING_WORKERS

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.validation.jsonl.line_ranges import split_ranges
from ai_psychiatrist.validation.jsonl.options import ValidationOptions
from ai_psychiatrist.validation.jsonl.outputs import Outputs
from ai_psychiatrist.validation.jsonl.shards import validate_file

LONGEST = 400


def mixed_lines(count: int) -> bytes:
    """Return units of every kind, with repetitions near and far."""
    lines = [b"\xef\xbb\xbf" + unit("u0").encode()]
    for number in range(1, count):
        match number % 50:
            case 7:
                line = unit(f"u{number - 1}")
            case 11:
                line = unit(f"u{number // 3}")
            case 13:
                line = "" if number % 100 == 13 else "oops"
            case 17:
                line = unit(f"u{number}", str(number % 4))
            case 19:
                line = unit(f"u{number}", number)
            case 23:
                line = unit(f"u{number}", note="x" * 2 * LONGEST)
            case 29:
                line = unit(f"u{number}") + "\r"
            case _:
                line = unit(f"u{number}", 1 + number % 3, note="é" * (number % 40))
        lines.append(line.encode())
    return b"\n".join(lines)


def run_file(source: Path, workers: int, context: Path | None) -> Ran:
    outputs = Outputs(valid=io.BytesIO(), failures=io.BytesIO(), coercions=io.BytesIO())
    summary = validate_file(
        STEP,
        source,
        outputs,
        workers=workers,
        context=context,
        options=ValidationOptions(longest_line=LONGEST),
        smallest_shard=1_000,
    )
    valid, failures, coercions = (
        stream.getvalue()
        for stream in (outputs.valid, outputs.failures, outputs.coercions)
        if isinstance(stream, io.BytesIO)
    )
    return Ran(summary=summary, valid=valid, failures=failures, coercions=coercions)


@pytest.mark.sweep
@pytest.mark.parametrize("has_context", [False, True], ids=["alone", "with_context"])
def test_outputs_are_the_same_bytes_for_any_number_of_workers(
    has_context: bool, tmp_path: Path, is_whole: bool
) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(mixed_lines(SHARDED_LINES.size(is_whole=is_whole)))
    context = None
    if has_context:
        context = tmp_path / "context.jsonl"
        asked = [
            json.dumps({"unit_id": f"u{number}", "n": number}) for number in range(0, 3_000, 2)
        ]
        context.write_text("\n".join(asked), "utf-8")
    alone = run_bytes(
        source.read_bytes(), context=context, options=ValidationOptions(longest_line=LONGEST)
    )
    assert alone.summary.duplicates > 50
    assert alone.summary.valid > 500
    most = SHARDING_WORKERS.size(is_whole=is_whole)
    for workers in takewhile(lambda number: number <= most, (1, 3, 8)):
        shared = run_file(source, workers, context)
        assert (shared.valid, shared.failures, shared.coercions) == (
            alone.valid,
            alone.failures,
            alone.coercions,
        )
        assert replace(shared.summary, seconds={}) == replace(alone.summary, seconds={})


def test_empty_file_has_no_units(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.touch()
    assert run_file(source, 2, None).summary.lines == 0


@pytest.mark.parametrize("count", [1, 2, 3, 7, 50])
def test_shards_tile_the_file_in_whole_lines(count: int, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    data = b"".join(bytes([65 + number % 26]) * (number * 7 % 31) + b"\n" for number in range(60))
    source.write_bytes(data)
    shards = split_ranges(source, count=count, smallest=1)
    parts = [data[one.start : one.start + one.size] for one in shards]
    assert b"".join(parts) == data
    assert len(parts) <= count
    assert all(part.endswith(b"\n") for part in parts)


def test_file_is_not_split_below_the_smallest_shard(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(b"a\n" * 50)
    assert len(split_ranges(source, count=8, smallest=60)) == 1
    assert len(split_ranges(source, count=8, smallest=50)) == 2


def test_telling_every_outcome_is_refused_with_several_workers(tmp_path: Path) -> None:
    outputs = Outputs(valid=io.BytesIO(), failures=io.BytesIO())
    options = ValidationOptions(on_outcome=lambda _: None)
    with pytest.raises(ConfigurationError, match="use one"):
        validate_file(STEP, tmp_path / "in.jsonl", outputs, workers=2, options=options)
