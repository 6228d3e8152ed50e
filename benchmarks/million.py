"""What a million units cost: synthetic ones through shards, merged, measured and reported.

Each unit is a few words, made up when they are read, and the model is in process. `run` is the
run itself, ledger and files: each wording is assessed once and its calls are kept for every unit
that has it; `--whole` puts the whole pipeline there. Every step is a process of its own, whose CPU
time and largest memory are those of the step; what grows with the units shows between two sizes.
"""

import argparse
import asyncio
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Final

import orjson
from tests.fakes.run_labels import relabel

from ai_psychiatrist.assessment.assessor import NO_OPTIONS, AssessmentOptions, Assessor
from ai_psychiatrist.config import load_settings
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.evaluation.datasets.dataset import (
    Dataset,
    DatasetKind,
    DatasetUnit,
    Labels,
    SpeakerFilter,
)
from ai_psychiatrist.evaluation.measuring import measure_run, report_run
from ai_psychiatrist.evaluation.runs.run import EvaluationOptions, OnUnit, RunTally
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder
from ai_psychiatrist.evaluation.runs.shards import Shard, merge_shards
from ai_psychiatrist.evaluation.runs.start import StartOptions
from ai_psychiatrist.evaluation.runs.units_file import read_labels
from ai_psychiatrist.infrastructure.digests import plain_digest
from ai_psychiatrist.interface.dataset_run import DatasetRun, make_run
from ai_psychiatrist.llm.calls import Judgement
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.services.transcripts.speaker_labels import DEFAULT_LABELS
from ai_psychiatrist.wiring import bootstrap

UNITS: Final = (1_000, 4_000)
SHARDS: Final = 2
SMALL: Final = 200
"""Units whose result lines are repeated for `--report`."""
_LINE: Final = orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
_RUNS: Final = ("run", "assess")
MILLION: Final = 1_000_000
_WORDS: Final = (
    "I have been tired nearly every day.",
    "I sleep well.",
    "I feel down some days.",
    "I am fine.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one step took."""

    cpu_seconds: float
    wall_seconds: float
    peak_bytes: int
    """The largest resident memory of its process."""


def synthetic_dataset(units: int) -> Dataset:
    """Return labelled units whose words are made up when they are read."""

    def transcript(unit_id: str) -> Transcript:
        number = int(unit_id)
        text = f"Interviewer: How are you?\nParticipant: {_WORDS[number % len(_WORDS)]}\n"
        return parse_transcript(text, DEFAULT_LABELS)

    labels = [
        Labels(items=dict.fromkeys(Item, score), total=8 * score, binary=score > 1)
        for score in range(4)
    ]
    return Dataset(
        kind=DatasetKind.JSONL,
        path=Path("synthetic.jsonl"),
        units=tuple(
            DatasetUnit(unit_id=f"{number:07}", labels=labels[number % 4], participant_id=number)
            for number in range(units)
        ),
        issues=(),
        digest=plain_digest(f"synthetic:{units}", length=64),
        speakers=SpeakerFilter.BOTH,
        transcript=transcript,
    )


@dataclass(frozen=True, kw_only=True)
class KnownAssessments(Assessor):
    """Assesses each wording once, and gives the same calls and results again for it."""

    known: dict[str, tuple[Assessment, "Remembering"]] = field(default_factory=dict)

    async def assess(
        self, transcript: Transcript, options: AssessmentOptions = NO_OPTIONS
    ) -> Assessment:
        """Keep in the store what an assessment keeps."""
        if transcript.text not in self.known:
            remembering = Remembering()
            made = await super().assess(transcript, replace(options, store=remembering))
            self.known[transcript.text] = (made, remembering)
        assessment, remembered = self.known[transcript.text]
        store = options.store
        assert store is not None, "units are assessed with a store"
        for call in remembered.calls:
            await store.keep(call)
        for judgement in remembered.judgements:
            store.judged(judgement)
        return assessment


@dataclass(slots=True)
class Remembering:
    """A store that forgets nothing and finds nothing."""

    calls: list[ModelCall] = field(default_factory=list)
    judgements: list[Judgement] = field(default_factory=list)

    async def recall(self, digest: str, occurrence: int) -> ModelCall | None:
        """Find nothing."""
        del digest, occurrence
        return None

    def admitted(self) -> AbstractAsyncContextManager[None]:
        """Let every call be made."""
        return nullcontext()

    async def keep(self, call: ModelCall) -> None:
        """Keep a call."""
        self.calls.append(call)

    def judged(self, judgement: Judgement) -> None:
        """Keep a judgement."""
        self.judgements.append(judgement)


def _known(assessor: Assessor) -> KnownAssessments:
    return KnownAssessments(**{one.name: getattr(assessor, one.name) for one in fields(assessor)})


async def _run(units: int, shard: str, folder: Path, *, is_whole: bool) -> None:
    settings = load_settings({"STATE_DIR": str(folder / "state"), "LOG_LEVEL": "ERROR"}, None)
    async with bootstrap(settings) as opened:
        services = opened if is_whole else replace(opened, assessor=_known(opened.assessor))
        wanted = DatasetRun(
            dataset=synthetic_dataset(units),
            folder=RunFolder(_part(folder, shard)),
            start=StartOptions(shard=Shard.read(shard)),
            options=EvaluationOptions(),
        )
        state = await make_run(services, wanted, tally=RunTally(), watch=_unwatched)
    assert state.counts.valid == state.counts.requested, state.counts


def _unwatched(_requested: int, _done: int) -> AbstractContextManager[OnUnit]:
    return nullcontext(lambda _: None)


def _part(folder: Path, shard: str) -> Path:
    return folder / "parts" / shard.partition("/")[0]


def _merge(folder: Path) -> None:
    parts = sorted((folder / "parts").iterdir(), key=lambda part: int(part.name))
    merge_shards(parts, folder / "merged")


STEPS: Final[dict[str, Callable[[int, str, Path], object]]] = {
    "run": lambda units, shard, folder: asyncio.run(_run(units, shard, folder, is_whole=False)),
    "assess": lambda units, shard, folder: asyncio.run(_run(units, shard, folder, is_whole=True)),
    "merge": lambda _units, _shard, folder: _merge(folder),
    "metrics": lambda _units, _shard, folder: measure_run(folder / "merged"),
    "report": lambda _units, _shard, folder: report_run(folder / "merged"),
}


def measured(step: str, *, units: int, shard: str, folder: Path) -> Cost:
    """Do one step in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.million", "--step", step]
    command += ["--units", str(units), "--shard", shard, "--folder", str(folder)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


def _do(step: str, units: int, shard: str, folder: Path) -> Cost:
    start = time.perf_counter()
    STEPS[step](units, shard, folder)
    own, others = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return Cost(
        cpu_seconds=sum(used.ru_utime + used.ru_stime for used in (own, others)),
        wall_seconds=time.perf_counter() - start,
        peak_bytes=own.ru_maxrss * 1024,
    )


def rows(sizes: Sequence[int], shards: int, run: str) -> list[str]:
    """Take some numbers of units through all steps, and say what a million would cost."""
    lines = [
        "| units | step | CPU s | CPU ms a unit | wall s | memory, MB |",
        "| ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    found: dict[str, list[Cost]] = {}
    for units in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for step, shard in _steps(shards, run):
                cost = measured(step, units=units, shard=shard, folder=folder)
                found.setdefault(step, []).append(cost)
                share = units / shards if step in _RUNS else units
                lines.append(
                    f"| {units:,} | {step} {shard if step == 'run' else ''} "
                    f"| {cost.cpu_seconds:.1f} | {1000 * cost.cpu_seconds / share:.2f} "
                    f"| {cost.wall_seconds:.1f} | {cost.peak_bytes / 1e6:.0f} |"
                )
            ledger = (folder / "merged/ledger.sqlite").stat().st_size
            lines.append(f"| {units:,} | ledger: {ledger / units:,.0f} bytes a unit | | | | |")
    return [*lines, *_at_a_million(found, sizes, shards)] if len(sizes) > 1 else lines


def repeated(run: Path, out: Path, units: int) -> None:
    """Write the files of a run of so many units: the lines of another one, with ids of their own.

    Each unit is another participant. There is no ledger, which metrics and report do not read.
    """
    out.mkdir(parents=True)
    shutil.copy(run / "run.json", out)
    few = list(read_labels(RunFolder(run).labels).values())
    relabel(out, {f"{number:07}": few[number % len(few)] for number in range(units)})
    for name in ("predictions.jsonl", "units.jsonl"):
        records = [json.loads(line) for line in (run / name).read_bytes().splitlines()]
        with (out / name).open("wb") as file:
            for number in range(units):
                record = records[number % len(records)]
                record["unit_id"] = f"{number:07}"
                if "participant_id" in record:
                    record["participant_id"] = number
                file.write(orjson.dumps(record, option=_LINE))


def report_rows(sizes: Sequence[int], shards: int) -> list[str]:
    """Report runs of some sizes, made of the lines of a small one."""
    lines = ["| units | CPU s | CPU ms a unit | wall s | memory, MB |", "| ---: " * 5 + "|"]
    with tempfile.TemporaryDirectory() as name:
        small = Path(name)
        for step, shard in _steps(shards, "run")[: shards + 1]:
            measured(step, units=SMALL, shard=shard, folder=small)
        for units in sizes:
            folder = small / str(units)
            repeated(small / "merged", folder / "merged", units)
            cost = measured("report", units=units, shard="1/1", folder=folder)
            lines.append(
                f"| {units:,} | {cost.cpu_seconds:.1f} | {1000 * cost.cpu_seconds / units:.3f} "
                f"| {cost.wall_seconds:.1f} | {cost.peak_bytes / 1e6:.0f} |"
            )
            shutil.rmtree(folder)
    return lines


def _steps(shards: int, run: str) -> list[tuple[str, str]]:
    runs = [(run, f"{number}/{shards}") for number in range(1, shards + 1)]
    return [*runs, *((step, "1/1") for step in ("merge", "metrics", "report"))]


def _at_a_million(found: dict[str, list[Cost]], sizes: Sequence[int], shards: int) -> list[str]:
    """Extend the line through the smallest and the largest size."""
    lines = ["", "| a million units, extrapolated | CPU | memory, MB |", "| --- | ---: | ---: |"]
    for step, costs in found.items():
        parts = shards if step in _RUNS else 1
        low, high = costs[:parts], costs[-parts:]
        cpu, memory = (
            _extended(
                [sum(getattr(one, name) for one in side) / scale for side in (low, high)], sizes
            )
            for name, scale in (("cpu_seconds", 1), ("peak_bytes", parts * 1e6))
        )
        what = f"{step}, {shards} shards in all" if step in _RUNS else step
        lines.append(f"| {what} | {cpu / 60:.1f} min | {memory:.0f} |")
    return lines


def _extended(values: Sequence[float], sizes: Sequence[int]) -> float:
    slope = (values[1] - values[0]) / (sizes[-1] - sizes[0])
    return values[1] + slope * (MILLION - sizes[-1])


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables, or do one step."""
    parser = argparse.ArgumentParser(prog="million", description=__doc__)
    parser.add_argument("--units", type=int, nargs="+", default=list(UNITS))
    parser.add_argument("--shards", type=int, default=SHARDS)
    parser.add_argument("--step", choices=list(STEPS), help=argparse.SUPPRESS)
    parser.add_argument("--shard", default="1/1", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--whole", action="store_true", help="assess every unit, not each wording")
    parser.add_argument(
        "--report", action="store_true", help="only the report, over repeated result lines"
    )
    options = parser.parse_args(arguments)
    if options.report:
        print("\n".join(report_rows(options.units, options.shards)))
        return
    if options.step is None:
        run = "assess" if options.whole else "run"
        print("\n".join(rows(options.units, options.shards, run)))
        return
    cost = _do(options.step, options.units[0], options.shard, options.folder)
    print(json.dumps(asdict(cost)))


if __name__ == "__main__":
    main()
