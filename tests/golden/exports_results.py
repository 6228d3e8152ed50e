"""Results as FHIR, CSV and JSON lines: of a file, of a folder, and of an evaluation's run."""

import csv
import io
import json
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ai_psychiatrist import __version__
from tests.fakes.exchange import Reply, Request
from tests.fakes.replies import good_text, participant_quotes
from tests.golden.answer import Answer, Json, folder_masks, text_answer
from tests.golden.exports_given import RESULTS, Given, lasting
from tests.golden.ways import Ended, model_server, run

_TABLES: Final[dict[str, tuple[str, Sequence[str]]]] = {
    "csv": (RESULTS, ()),
    "csv_items": (RESULTS, ("--rows", "items")),
    "csv_words": (f"{RESULTS}/hostile.json", ("--rows", "items", "--with-words")),
    "jsonl": (RESULTS, ()),
    "jsonl_items": (f"{RESULTS}/danger.json", ("--rows", "items")),
    "jsonl_words": (RESULTS, ("--rows", "items", "--with-words")),
}
_BUNDLES: Final[dict[str, tuple[str, Sequence[str]]]] = {
    "everything": (
        "interview",
        ("--with-words", "--questionnaire", "--subject", "Patient/17"),
    ),
    "danger": ("danger", ()),
    "german": ("german", ("--subject", "https://fhir.example.org/Patient/17")),
    "scores_failed": (
        "model_scores_fail",
        ("--questionnaire", "--subject", "urn:uuid:00000000-0000-4000-8000-0000000000aa"),
    ),
}


def answers(folder: Path, given: Sequence[Given]) -> Iterator[Answer]:
    """Yield what is exported of the results and of a run."""
    for name, (path, options) in _TABLES.items():
        ended = run(["export", path, "--format", name.partition("_")[0], *options], folder)
        yield _answer(f"results/{name}", _table(ended), folder, given)
    for name, (of, options) in _BUNDLES.items():
        ended = run(["export", f"{RESULTS}/{of}.json", "--format", "fhir", *options], folder)
        value = {"exit": ended.code, "err": text_answer(ended.err), **_bundle(ended.out)}
        yield _answer(f"results/fhir_{name}", value, folder, given)
    for name, options in {"plain": [], "words": ["--with-words", "--questionnaire"]}.items():
        ended = run(["export", RESULTS, "--format", "fhir", *options], folder)
        bundles = [json.loads(line) for line in ended.out.splitlines()]
        told = [_counted(one) if name == "plain" else _told(one) for one in bundles]
        value = {"exit": ended.code, "err": text_answer(ended.err), "bundles": lasting(told)}
        yield _answer(f"results/fhir_folder_{name}", value, folder, given)
    yield _answer("results/written_files", _written(folder), folder, given)
    yield from _of_run(folder, given)


def _answer(name: str, value: Json, folder: Path, given: Sequence[Given]) -> Answer:
    masks = folder_masks(folder) | {__version__: "<version>"}
    return Answer(name=name, value=value, given=[one.text for one in given], masks=masks)


def _table(ended: Ended) -> dict[str, Json]:
    """Return a table line by line; that of words cell by cell."""
    out = ended.out
    rows: Json = out.split("\r\n")
    if out.startswith("{"):
        rows = [json.loads(line) for line in out.splitlines()]
    elif ",quotes\r\n" in out:
        quoted = re.findall(r'(?:^|,)"(?:[^"]|"")*"', out, re.MULTILINE)
        rows = [f"quoted cells: {len(quoted)}", *csv.reader(io.StringIO(out, newline=""))]
    return {"exit": ended.code, "err": text_answer(ended.err), "rows": lasting(rows)}


def _bundle(text: str) -> dict[str, Json]:
    return {"indent": len(text.partition('"')[0]), "bundle": lasting(json.loads(text))}


def _counted(bundle: Mapping[str, Any]) -> Json:
    """Return how many resources of each type a bundle has, and how many notes."""
    types = Counter(entry["resource"]["resourceType"] for entry in bundle["entry"])
    notes = sum(len(entry["resource"].get("note", ())) for entry in bundle["entry"])
    return {"id": bundle["identifier"]["value"], **types, "notes": notes}


def _told(bundle: Mapping[str, Any]) -> Json:
    """Return what a bundle says: of each observation its value and notes, without the frame."""
    told: dict[str, Json] = {}
    for entry in bundle["entry"]:
        resource = entry["resource"]
        if resource["resourceType"] == "Observation":
            code = resource["code"]["coding"][0]["code"]
            told[code] = [
                *(value for name, value in resource.items() if name.startswith("value")),
                resource.get("dataAbsentReason", {}).get("coding"),
                *(note["text"] for note in resource.get("note", ())),
            ]
    return {"id": bundle["identifier"]["value"], "observations": told}


def _written(folder: Path) -> Json:
    """Return how files are written that are named: for whom, and whether they are the same."""
    value: dict[str, Json] = {}
    for name, options in {"fhir": ["--format", "fhir"], "csv": ["--format", "csv"]}.items():
        source = f"{RESULTS}/interview.json"
        shown = run(["export", source, *options], folder)
        (folder / f"old.{name}").write_text("what was there before", "utf-8")
        for place in (f"new.{name}", f"old.{name}"):
            ended = run(["export", source, *options, "--out", place], folder)
            file = folder / place
            value[place] = {
                "ended": ended.value,
                "mode": f"{stat.S_IMODE(file.stat().st_mode):o}",
                "same_as_printed": file.read_bytes() == shown.out.encode(),
            }
    return value


def _of_run(folder: Path, given: Sequence[Given]) -> Iterator[Answer]:
    """Yield tables of a run of three interviews, the scoring of one of which fails."""
    (folder / "talks").mkdir()
    texts = {one.name: one.text for one in given}
    for name in ("danger", "german", "model"):
        (folder / "talks" / f"{name}.txt").write_text(texts[name], "utf-8")
    (folder / "talks" / "unread.txt").write_text("Interviewer: Is anybody here?\n", "utf-8")

    def script(request: Request) -> Reply:
        if request.task == "scoring" and "pills" in request.transcript:
            return Reply(status=500)
        return Reply(text=good_text(request.task, participant_quotes(request.transcript)))

    with model_server(script) as (_, named):
        made = run(["evaluate", "run", "talks", "--out", "run"], folder, named)
    assert made.code == 1, made.err
    for name, options in {"csv": [], "jsonl": [], "csv_items": ["--rows", "items"]}.items():
        ended = run(["export", "run", "--format", name.partition("_")[0], *options], folder)
        yield _answer(f"results/run_{name}", _table(ended), folder, given)
    ended = run(["export", "run", "--out", "kept"], folder)
    files: dict[str, Json] = {
        path.relative_to(folder / "kept").as_posix(): _mode_and_lines(path)
        for path in sorted((folder / "kept").rglob("*.json*"))
    }
    yield _answer("results/run_steps", {"ended": ended.value, "files": files}, folder, given)


def _mode_and_lines(path: Path) -> str:
    lines = path.read_bytes().count(b"\n") if path.suffix == ".jsonl" else "schema"
    return f"{stat.S_IMODE(path.stat().st_mode):o} {lines}"
