"""Validating units of about 1.9 kB: units a second of CPU and peak memory, beside two controls."""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import jsonschema
import orjson

SIZES: Final = (100, 10_000, 100_000, 1_000_000)
ITEMS: Final = 8
FAILING: Final = 100
"""One unit of these many breaks a rule."""
COERCED: Final = 100
"""One unit of these many has a score that is written as text."""
CONTROL_UNITS: Final = 2_000
"""The control in Python is too slow for all of them."""

WORDS: Final = (
    "I have been feeling tired most days and cannot sleep through the night since the spring when "
    "the work got more and my appetite is not what it was though I still see my friends"
).split()

SCHEMA: Final = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["items", "total", "summary"],
    "additionalProperties": False,
    "properties": {
        "items": {"type": "array", "minItems": 8, "maxItems": 8, "items": {"$ref": "#/$defs/item"}},
        "total": {"type": "integer", "minimum": 0, "maximum": 24},
        "summary": {"type": "string", "minLength": 1},
    },
    "$defs": {
        "item": {
            "type": "object",
            "required": ["item", "score", "evidence", "reason", "confidence"],
            "additionalProperties": False,
            "properties": {
                "item": {"type": "integer", "minimum": 1, "maximum": 8},
                "score": {"type": ["integer", "null"], "minimum": 0, "maximum": 3},
                "evidence": {"type": "array", "items": {"type": "string"}},
                "reason": {"type": "string"},
                "confidence": {"type": "integer", "minimum": 1, "maximum": 5},
            },
        }
    },
}
PIPELINE: Final = """
pipeline:
  steps:
    - name: score
      prompt_template: score.jinja2
prompts:
  template_dir: .
  templates: {score: score.jinja2}
schemas:
  schema_dir: .
  files: {score: score.json}
api:
  subprocess_timeout_seconds: 3600
  retry: {max_attempts: 3}
processing: {}
validation:
  score:
    required: [items, total, summary]
    types: {items: array, total: integer, summary: string}
    ranges: {total: [0, 24]}
    rules:
      - name: each_item_once
        expr: "sorted([i['item'] for i in items]) == [1, 2, 3, 4, 5, 6, 7, 8]"
        error: "every item number occurs once"
        level: error
      - name: score_needs_evidence
        expr: "all(len(i['evidence']) > 0 for i in items if i['score'] in [1, 2, 3])"
        error: "a score above 0 needs evidence"
        level: error
      - name: total_is_the_sum
        expr: "total == sum([i['score'] for i in items if i['score'] is not None])"
        error: "total {total} is not the sum of the scores"
        level: error
      - name: unknown_is_not_sure
        expr: "all(i['confidence'] < 5 for i in items if i['score'] is None)"
        error: "an item without score has the highest confidence"
        level: warning
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One run over a file in a process of its own."""

    units: int
    wall_seconds: float
    cpu_seconds: float
    peak_megabytes: float
    valid: int
    failed: int

    @property
    def per_cpu_second(self) -> float:
        """Units a second of CPU, starting the interpreter included."""
        return self.units / self.cpu_seconds


def units(count: int) -> Iterator[dict[str, object]]:
    """Yield units; the same ones for the same count."""
    choose = random.Random(0)  # noqa: S311 - repeatable
    for number in range(count):
        scores = [choose.randint(0, 3) for _ in range(ITEMS)]
        items = [_item(position, score, choose) for position, score in enumerate(scores, start=1)]
        total = sum(scores)
        if number % FAILING == FAILING // 2:
            total = (total + 1) % 25
        if number % COERCED == 0:
            items[0]["score"] = str(scores[0])
        yield {
            "unit_id": f"unit-{number:07}",
            "items": items,
            "total": total,
            "summary": " ".join(choose.choices(WORDS, k=30)),
        }


def _item(position: int, score: int, choose: random.Random) -> dict[str, object]:
    return {
        "item": position,
        "score": score,
        "evidence": [" ".join(choose.choices(WORDS, k=10)) for _ in range(2)],
        "reason": " ".join(choose.choices(WORDS, k=8)),
        "confidence": choose.randint(1, 4),
    }


def write_inputs(folder: Path, sizes: Sequence[int]) -> None:
    """Write the pipeline and a file of units for each size."""
    (folder / "pipeline.yaml").write_text(PIPELINE, "utf-8")
    (folder / "score.json").write_text(json.dumps(SCHEMA), "utf-8")
    (folder / "score.jinja2").write_text("Score the interview.\n", "utf-8")
    for size in sizes:
        with _source(folder, size).open("wb") as file:
            for unit in units(size):
                file.write(orjson.dumps(unit, option=orjson.OPT_APPEND_NEWLINE))


def _source(folder: Path, size: int) -> Path:
    return folder / f"units-{size}.jsonl"


def measure(folder: Path, size: int) -> Measurement:
    """Validate a file in a process of its own and check the account."""
    command = [sys.executable, "-m", "benchmarks.validation", "--one", str(_source(folder, size))]
    finished = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found = Measurement(**json.loads(finished.stdout))
    assert found.valid + found.failed == found.units == size
    return found


def run_one(source: Path) -> Measurement:
    """Validate a file in this process, with all outputs."""
    from ai_psychiatrist.infrastructure.logging import setup_logging  # noqa: PLC0415
    from ai_psychiatrist.validation.checks.step_validator import StepValidator  # noqa: PLC0415
    from ai_psychiatrist.validation.config.pipeline import load_pipeline  # noqa: PLC0415
    from ai_psychiatrist.validation.jsonl.lines import source_lines  # noqa: PLC0415
    from ai_psychiatrist.validation.jsonl.outputs import Outputs, output_file  # noqa: PLC0415
    from ai_psychiatrist.validation.jsonl.run import validate_lines  # noqa: PLC0415

    setup_logging("CRITICAL")
    step = load_pipeline(source.parent / "pipeline.yaml").step("score")
    started = time.perf_counter()
    with (
        output_file(source.with_suffix(".valid"), field="valid") as valid,
        output_file(source.with_suffix(".failures"), field="failures") as failures,
        output_file(source.with_suffix(".coercions"), field="coercions") as coercions,
    ):
        outputs = Outputs(valid=valid, failures=failures, coercions=coercions)
        summary = validate_lines(StepValidator(step), source_lines(source), outputs)
    assert summary.is_balanced
    assert summary.coercions == -(-summary.requested // COERCED)
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    # Of this process the kernel's own figure: `ru_maxrss` begins with that of the parent.
    status = Path("/proc/self/status").read_text("ascii")
    own_kilobytes = int(status.partition("VmHWM:")[2].split()[0])
    return Measurement(
        units=summary.requested,
        wall_seconds=time.perf_counter() - started,
        cpu_seconds=sum(one.ru_utime + one.ru_stime for one in usage),
        peak_megabytes=max(own_kilobytes, usage[1].ru_maxrss) / 1024,
        valid=summary.valid,
        failed=summary.failed,
    )


def controls(source: Path) -> Iterator[str]:
    """Yield rows of what others take for less work on the first lines of a file."""
    with source.open("rb") as file:
        lines = [line for _, line in zip(range(CONTROL_UNITS), file, strict=False)]
    oracle = jsonschema.Draft202012Validator({**SCHEMA, "additionalProperties": True})
    bare = _per_cpu_second(lines, lambda line: orjson.dumps(orjson.loads(line)))
    python = _per_cpu_second(lines, lambda line: oracle.is_valid(json.loads(line)))
    yield f"| orjson, parsed and written again | {len(lines):,} | – | {bare:,.0f} | – |"
    yield f"| `json` and `jsonschema`, no rules | {len(lines):,} | – | {python:,.0f} | – |"


def _per_cpu_second(lines: Sequence[bytes], work: Callable[[bytes], object]) -> float:
    started = time.process_time()
    for line in lines:
        work(line)
    return len(lines) / (time.process_time() - started)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="validation", description=__doc__)
    parser.add_argument("--largest", type=int, default=SIZES[-2], help="most units of a run")
    parser.add_argument("--one", type=Path, help="validate this file in this process")
    options = parser.parse_args(arguments)
    if options.one is not None:
        print(json.dumps(asdict(run_one(options.one))))
        return
    sizes = [size for size in SIZES if size <= options.largest]
    print("| what | units | wall s | units per s of CPU | peak MB |")
    print("| --- | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder, sizes)
        for size in sizes:
            found = measure(folder, size)
            print(
                f"| ours | {size:,} | {found.wall_seconds:.2f} | {found.per_cpu_second:,.0f} "
                f"| {found.peak_megabytes:.0f} |",
                flush=True,
            )
        print("\n".join(controls(_source(folder, sizes[-1]))))


if __name__ == "__main__":
    main()
