"""The rows of the public measure: the rule baseline, and beside it systems that do not read.

`python -m benchmarks.challenge --write` makes `challenge.json` anew, which ships with the project.
"""

import argparse
import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from ai_psychiatrist.config import load_settings
from ai_psychiatrist.evaluation.challenge.answering import answer_challenge
from ai_psychiatrist.evaluation.challenge.folder import Difficulty, read_challenge
from ai_psychiatrist.evaluation.challenge.make import ChallengeRecipe, make_challenge
from ai_psychiatrist.evaluation.challenge.scoring import score_challenge
from ai_psychiatrist.wiring import bootstrap
from benchmarks.challenge_systems import SYSTEMS

KEPT: Final = Path(__file__).with_name("challenge.json")
COMMAND: Final = "python -m benchmarks.challenge --write"
WHOLE: Final = ChallengeRecipe(size=20)
SLICE: Final = ChallengeRecipe(size=1)
"""What a test makes anew."""
RESAMPLES: Final = {WHOLE: 10_000, SLICE: 500}
BASELINE: Final = "baseline"
_DECIMALS: Final = 4
_SHOWN: Final = {
    "charged_error": "charged error",
    "coverage": "coverage",
    "opposite": "opposite",
    "invented": "invented",
    "evidence_precision": "precision",
    "evidence_recall": "recall",
    "evidence_f1": "F1",
    "danger_recall": "danger found",
    "danger_false_alarms": "false alarms",
}
_OF_PAGE: Final = (
    "charged_error",
    "coverage",
    "evidence_f1",
    "danger_recall",
    "danger_false_alarms",
)

Document = dict[str, Any]


def scored(recipe: ChallengeRecipe) -> Document:
    """Make a challenge, let all systems answer it, and return what they are worth."""
    with TemporaryDirectory() as name:
        folder = Path(name) / "challenge"
        make_challenge(folder, recipe)
        files = [_baseline(folder, Path(name)), *_others(folder, Path(name))]
        found = score_challenge(folder, files, resamples=RESAMPLES[recipe])
    document = found.as_json()
    systems = document["systems"]
    assert isinstance(systems, list)
    document["systems"] = [_kept(system) for system in systems]
    rounded: Document = _rounded(document)
    return rounded


def kept() -> Document:
    """Read the rows that ship with the project."""
    found: Document = json.loads(KEPT.read_text("utf-8"))
    return found


def rows(document: Document) -> Iterator[str]:
    """Yield the table of a challenge, values with intervals."""
    yield f"| system | {' | '.join(_SHOWN.values())} |"
    yield f"| --- |{' ---: |' * len(_SHOWN)}"
    for system in document["systems"]:
        cells = (_cell(system["all"][figure]) for figure in _SHOWN)
        yield f"| {system['name']} | {' | '.join(cells)} |"


def page_rows(document: Document) -> Iterator[str]:
    """Yield the rows that stand in `docs/evaluation.md`."""
    for system in document["systems"]:
        cells = (_cell(system["all"][figure]) for figure in _OF_PAGE)
        yield f"| {system['name']} | {' | '.join(cells)} |"


def difficulty_rows(document: Document) -> Iterator[str]:
    """Yield the charged error of each system by what makes the patients difficult."""
    systems = document["systems"]
    yield f"| charged error | {' | '.join(system['name'] for system in systems)} |"
    yield f"| --- |{' ---: |' * len(systems)}"
    for difficulty in Difficulty:
        cells = (_cell(system["by_difficulty"][difficulty]["charged_error"]) for system in systems)
        yield f"| {difficulty} | {' | '.join(cells)} |"


def _baseline(folder: Path, place: Path) -> Path:
    path = place / f"{BASELINE}.jsonl"
    texts, _ = read_challenge(folder)
    # The rules by themselves: the rows are the same on every processor.
    environment = {
        "DATA_STATE_DIR": str(place / "state"),
        "LOG_LEVEL": "ERROR",
        "READER_ENABLED": "false",
    }
    settings = load_settings(environment, None)

    async def answer() -> None:
        async with bootstrap(settings) as services:
            await answer_challenge(
                services.assessor, texts, path, system=BASELINE, concurrency=8, before={}
            )

    asyncio.run(answer())
    return path


def _others(folder: Path, place: Path) -> Iterator[Path]:
    texts, truth = read_challenge(folder)
    for name, system in SYSTEMS.items():
        path = place / f"{name}.jsonl"
        path.write_bytes(b"".join(one.to_line() for one in system(texts, truth).values()))
        yield path


def _kept(system: Mapping[str, Any]) -> Document:
    """Leave out of a system what is not shown by difficulty."""
    by_difficulty = {
        kind: {"charged_error": figures["charged_error"], "evidence_f1": figures["evidence_f1"]}
        for kind, figures in system["by_difficulty"].items()
    }
    return {**system, "by_difficulty": by_difficulty}


def _rounded(tree: Any) -> Any:  # noqa: ANN401  any JSON
    match tree:
        case float():
            return round(tree, _DECIMALS) + 0.0
        case dict():
            return {name: _rounded(branch) for name, branch in tree.items()}
        case list() | tuple():
            return [_rounded(branch) for branch in tree]
        case _:
            return tree


def _cell(figure: Mapping[str, Any]) -> str:
    if figure["value"] is None:
        return "–"
    ends = figure["interval"]
    return f"{figure['value']:.2f}" + (f" [{ends[0]:.2f}, {ends[1]:.2f}]" if ends else "")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables, or make the rows that ship anew."""
    parser = argparse.ArgumentParser(prog="benchmarks.challenge", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"make {KEPT.name} anew")
    is_kept = parser.parse_args(arguments).write
    document = {"whole": scored(WHOLE)}
    if is_kept:
        content = {"command": COMMAND, **document, "slice": scored(SLICE)}
        KEPT.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
    for line in (*rows(document["whole"]), "", *difficulty_rows(document["whole"])):
        print(line)


if __name__ == "__main__":
    main()
