"""Runs of a pipeline: outcomes taken in, given out, taken in again, and what is refused."""

import fcntl
import json
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from tests.fakes.result_files import without_times
from tests.golden.answer import Answer, Json, folder_masks
from tests.golden.ways import EXAMPLES, parsed, run, scratch

_PIPELINE: Final = """\
pipeline:
  steps:
    - {name: rate, prompt_template: rate.jinja2}
    - {name: sum_up, prompt_template: sum_up.jinja2}
prompts: {template_dir: ., templates: {rate: rate.jinja2, sum_up: sum_up.jinja2}}
schemas: {schema_dir: ., files: {rate: rate.json, sum_up: sum_up.json}}
api: {retry: {max_attempts: 3}}
processing: {inputs: [topic, threshold]}
validation:
  rate:
    required: [score]
    types: {score: integer}
    ranges: {score: [0, 3]}
    rules:
      - name: above_threshold
        expr: "score >= threshold"
        error: "score {score} is below {threshold}"
        when: "has(threshold)"
  sum_up:
    rules:
      - name: says_more_of_more
        expr: "len(summary.split()) >= score"
        error: "score {score} with too few words"
"""
_RATE: Final = {
    "type": "object",
    "required": ["score"],
    "properties": {"score": {"type": "integer"}, "tone": {"enum": ["warm", "cold"]}},
}
_SUM_UP: Final = {
    "type": "object",
    "required": ["summary"],
    "properties": {"summary": {"type": "string"}},
}
_ERROR: Final = {"path": "$.score", "rule": "range", "message": "7 is more than 3"}
_RATED: Final[Sequence[Mapping[str, object]]] = (
    {"unit_id": "u1", "score": 2, "tone": "warm"},
    {"unit_id": "u2", "score": 3, "raw_text": '{"score": 3, "tone": "cold"}'},
    {"unit_id": "u3", "score": 9},
    {"unit_id": 4, "score": "1"},
    {"unit_id": "u5", "failure_stage": "provider", "raw_response": None, "retry_count": 2},
    {
        "unit_id": "u6",
        "failure_stage": "schema_validation",
        "input": {"threshold": 1, "topic": "sleep"},
        "raw_response": '{"score": 7}',
        "errors": [_ERROR, {}],
    },
    {"unit_id": "u7", "failure_stage": "validation", "raw_response": {"score": 0}, "errors": None},
    {"unit_id": "u8", "failure_stage": "parse", "raw_response": "I would say two."},
    {"unit_id": "u9", "failure_stage": "missing"},
    {"unit_id": "u10", "failure_stage": "duplicate", "raw_response": '{"score": 1}'},
    {"unit_id": "u11", "failure_stage": "pipeline_internal", "input": {"topic": "Räder"}},
)
_SUMMED: Final[Sequence[Mapping[str, object]]] = (
    {"unit_id": "u1", "summary": "Sleeps badly."},
    {"unit_id": "u2", "summary": "Bad."},
    {"unit_id": "u12", "summary": "Nobody rated this one."},
)
_BAD_LINES: Final[dict[str, bytes]] = {
    "no_json": b"{",
    "list": b"[1]",
    "number": b"7",
    "key_twice": b'{"unit_id": "a", "score": 1, "score": 2}',
    "nan": b'{"unit_id": "a", "score": NaN}',
    "no_id": b'{"score": 1}',
    "empty_id": b'{"unit_id": "", "score": 1}',
    "true_as_id": b'{"unit_id": true, "score": 1}',
    "fraction_as_id": b'{"unit_id": 1.5, "score": 1}',
    "unknown_stage": b'{"unit_id": "a", "failure_stage": "asleep"}',
    "stage_is_null": b'{"unit_id": "a", "failure_stage": null}',
    "input_is_text": b'{"unit_id": "a", "failure_stage": "parse", "input": "sleep"}',
    "retries_below_zero": b'{"unit_id": "a", "failure_stage": "parse", "retry_count": -1}',
    "retries_too_many": b'{"unit_id": "a", "failure_stage": "parse", "retry_count": 1001}',
    "retries_in_words": b'{"unit_id": "a", "failure_stage": "parse", "retry_count": "two"}',
    "errors_as_text": b'{"unit_id": "a", "failure_stage": "parse", "errors": "all"}',
    "errors_of_texts": b'{"unit_id": "a", "failure_stage": "parse", "errors": ["all"]}',
    "raw_text_as_number": b'{"unit_id": "a", "raw_text": 3}',
    "not_utf8": b'{"unit_id": "a\xff", "score": 1}',
    "too_deep": b'{"unit_id": "a", "score": ' + b"[" * 2000 + b"]" * 2000 + b"}",
}


def answers() -> Iterator[Answer]:
    """Yield what goes into runs and what comes out."""
    with scratch() as folder:
        _write_pipeline(folder)
        yield from _into_and_out(folder)
        yield from _refused(folder)
        yield from _damaged(folder)
        yield from _sealed(folder)
        yield from _of_examples(folder)


def _answer(name: str, value: Json, folder: Path) -> Answer:
    given = ["\n".join(json.dumps(one) for one in (*_RATED, *_SUMMED)), "Räder"]
    return Answer(name=f"runs/{name}", value=value, given=given, masks=folder_masks(folder))


def _write_pipeline(folder: Path, name: str = "pipeline", text: str = _PIPELINE) -> None:
    place = folder / name
    place.mkdir()
    (place / "pipeline.yaml").write_text(text, "utf-8")
    (place / "rate.json").write_text(json.dumps(_RATE), "utf-8")
    (place / "sum_up.json").write_text(json.dumps(_SUM_UP), "utf-8")
    (place / "rate.jinja2").write_text("Rate {{ topic }}.", "utf-8")
    (place / "sum_up.jinja2").write_text("Sum up {{ topic }}, rated {{ score }}.", "utf-8")


def _write_lines(path: Path, records: Sequence[Mapping[str, object]]) -> None:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records), "utf-8")


def _into_and_out(folder: Path) -> Iterator[Answer]:
    _write_lines(folder / "rated.jsonl", _RATED)
    _write_lines(folder / "summed.jsonl", _SUMMED)
    config = ("--config", "pipeline/pipeline.yaml")
    for name, arguments in {
        "made": ("rated.jsonl", "--step", "rate", *config),
        "again": ("rated.jsonl", "--step", "rate"),
        "next_step": ("summed.jsonl", "--step", "sum_up", *config),
    }.items():
        ended = run(["import", "run", *arguments], folder)
        yield _answer(f"import_{name}", ended.value, folder)
    for name, options in {
        "all": (),
        "one_step": ("--step", "sum_up"),
        "classic_stages": ("--classic-stages", "--step", "rate"),
        "retry_failed": ("--retry-failed", "--step", "rate", "--step", "sum_up"),
    }.items():
        ended = run(["export", "run", "--out", name, *options], folder)
        yield _answer(f"export_{name}", {"ended": ended.value, **_files(folder / name)}, folder)
    ended = run(["export", "run"], folder)
    beside = sorted(path.name for path in (folder / "run" / "export").iterdir())
    yield _answer("export_beside", {"ended": ended.value, "files": beside}, folder)
    yield from _once_more(folder)


def _files(place: Path) -> dict[str, Json]:
    """Return each file of an export, and who may read it."""
    files: dict[str, Json] = {}
    for path in sorted(place.rglob("*.json*")):
        mode = f"{stat.S_IMODE(path.stat().st_mode):o}"
        text = path.read_text("utf-8")
        lines = [json.loads(line) for line in text.splitlines()] if path.suffix != ".json" else None
        name = path.relative_to(place).as_posix()
        files[name] = [mode, parsed(text) if lines is None else lines]
    return files


def _once_more(folder: Path) -> Iterator[Answer]:
    """Yield what a second run gives out that was made from what the first gave out."""
    value: dict[str, Json] = {}
    for name in ("rate_validated", "rate_failures", "sum_up_validated", "sum_up_failures"):
        step = "rate" if name.startswith("rate") else "sum_up"
        arguments = ["import", "copy", f"all/{name}.jsonl", "--step", step]
        ended = run([*arguments, "--config", "pipeline/pipeline.yaml"], folder)
        value[name] = ended.value
    run(["export", "copy", "--out", "copied"], folder)
    files = sorted((folder / "all").rglob("*.json*"))
    names = [path.relative_to(folder / "all").as_posix() for path in files]
    value["same"] = {
        name: without_times((folder / "all" / name).read_bytes())
        == without_times((folder / "copied" / name).read_bytes())
        for name in names
    }
    yield _answer("import_of_export", value, folder)


def _refused(folder: Path) -> Iterator[Answer]:
    value: dict[str, Json] = {}
    config = ("--config", "pipeline/pipeline.yaml")
    first = b'{"unit_id": "first", "score": 1}\n\n'
    for name, line in _BAD_LINES.items():
        (folder / "bad.jsonl").write_bytes(first + line + b"\n")
        ended = run(["import", "never", "bad.jsonl", "--step", "rate", *config], folder)
        value[name] = {"ended": ended.value, "made": (folder / "never").exists()}
        shutil.rmtree(folder / "never", ignore_errors=True)
    yield _answer("import_bad_lines", value, folder)
    _write_pipeline(folder, "wider", _PIPELINE.replace("score: [0, 3]", "score: [0, 9]"))
    _write_pipeline(folder, "broken", _PIPELINE.replace("rate.json,", "none.json,"))
    (folder / "file").write_text("no folder", "utf-8")
    (folder / "nothing.jsonl").write_bytes(b"")
    for name, arguments in {
        "without_step": ("run", "rated.jsonl"),
        "unknown_step": ("run", "rated.jsonl", "--step", "nap"),
        "no_run_and_no_pipeline": ("none", "rated.jsonl", "--step", "rate"),
        "no_file": ("run", "none.jsonl", "--step", "rate"),
        "folder_as_file": ("run", "pipeline", "--step", "rate"),
        "empty_file": ("run", "nothing.jsonl", "--step", "rate"),
        "other_pipeline": (
            *("run", "rated.jsonl", "--step", "rate"),
            *("--config", "wider/pipeline.yaml"),
        ),
        "broken_pipeline": (
            *("none", "rated.jsonl", "--step", "rate"),
            *("--config", "broken/pipeline.yaml"),
        ),
        "no_pipeline_there": (
            *("none", "rated.jsonl", "--step", "rate"),
            *("--config", "none/pipeline.yaml"),
        ),
        "run_is_a_file": ("file", "rated.jsonl", "--step", "rate", *config),
        "run_is_another_folder": ("pipeline", "rated.jsonl", "--step", "rate", *config),
    }.items():
        yield _answer(f"import_{name}", run(["import", *arguments], folder).value, folder)
    yield from _while_busy(folder)


def _while_busy(folder: Path) -> Iterator[Answer]:
    """Yield what is told while another process has the run."""
    (lock,) = (path for path in (folder / "run").iterdir() if "lock" in path.name)
    with lock.open("rb") as holding:
        fcntl.flock(holding, fcntl.LOCK_EX)
        value: Json = {
            "import": run(["import", "run", "rated.jsonl", "--step", "rate"], folder).value,
            "export": run(["export", "run", "--out", "busy"], folder).value,
        }
    yield _answer("while_busy", value, folder)


def _damaged(folder: Path) -> Iterator[Answer]:
    """Yield what is told of a run whose files are not as they were written."""
    changes: dict[str, tuple[str, Callable[[bytes], bytes | None]]] = {
        "ledger_overwritten": ("ledger.sqlite", lambda _: b"no store at all" * 100),
        "ledger_cut_off": ("ledger.sqlite", lambda content: content[:4096]),
        "ledger_emptied": ("ledger.sqlite", lambda _: b""),
        "ledger_of_another_program": ("ledger.sqlite", lambda _: other_database(folder)),
        "ledger_of_later_version": ("ledger.sqlite", lambda content: content),
    }
    kept = next(path for path in sorted((folder / "run").rglob("pipeline*")) if path.is_file())
    name_of_pipeline = kept.relative_to(folder / "run").as_posix()
    changes["pipeline_gone"] = (name_of_pipeline, lambda _: None)
    changes["pipeline_cut_off"] = (name_of_pipeline, lambda content: content[:60])
    for name, (file, change) in changes.items():
        place = folder / "changed"
        shutil.copytree(folder / "run", place, ignore=shutil.ignore_patterns("export"))
        content = change((place / file).read_bytes())
        (place / file).unlink()
        if content is not None:
            (place / file).write_bytes(content)
        if name == "ledger_of_later_version":
            set_version(place / file, 999)
        value: Json = {
            "export": run(["export", "changed", "--out", "damaged"], folder).value,
            "import": run(["import", "changed", "rated.jsonl", "--step", "rate"], folder).value,
            "written": (folder / "damaged").exists(),
        }
        shutil.rmtree(place)
        shutil.rmtree(folder / "damaged", ignore_errors=True)
        yield _answer(f"damaged_{name}", value, folder)


def other_database(folder: Path) -> bytes:
    path = folder / "other.sqlite"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("CREATE TABLE birds (name TEXT)")
    return path.read_bytes()


def set_version(path: Path, version: int) -> None:
    """Say in a file of the program that a later version of it wrote the file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("UPDATE meta SET value = ? WHERE key = 'schema_version'", (version,))


def _sealed(folder: Path) -> Iterator[Answer]:
    """Yield a run that is encrypted: with its key, with others, and without."""
    for name, text in {
        "right": "5a" * 32,
        "wrong": "6b" * 32,
        "short": "5a5a",
        "words": "these are no digits",
    }.items():
        (folder / f"{name}.key").write_text(text, "utf-8")
        (folder / f"{name}.key").chmod(0o600)
    right = {"DATA_KEY_FILE": "right.key"}
    arguments = ["import", "sealed", "rated.jsonl", "--step", "rate"]
    made = run([*arguments, "--config", "pipeline/pipeline.yaml"], folder, right)
    kept = b"".join(path.read_bytes() for path in (folder / "sealed").glob("ledger.sqlite*"))
    value: dict[str, Json] = {"made": made.value, "words_in_file": b"I would say two" in kept}
    for name in ("right", "wrong", "short", "words", "none"):
        settings = {"DATA_KEY_FILE": f"{name}.key"}
        value[name] = run(["export", "sealed", "--out", f"of_{name}"], folder, settings).value
    value["without"] = run(["export", "sealed", "--out", "of_without"], folder).value
    value["of_a_plain_run"] = run(["export", "run", "--out", "of_plain"], folder, right).value
    value["same"] = (folder / "of_right" / "rate_failures.jsonl").read_bytes() == (
        folder / "all" / "rate_failures.jsonl"
    ).read_bytes()
    yield _answer("sealed", value, folder)


def _of_examples(folder: Path) -> Iterator[Answer]:
    """Yield the two steps of the examples, taken in one after the other."""
    place = EXAMPLES / "two_steps"
    value: dict[str, Json] = {}
    for step in ("rate", "sum_up"):
        lines, config = str(place / f"{step}.jsonl"), str(place / "pipeline.yaml")
        arguments = ["import", "steps", lines, "--step", step, "--config", config]
        value[step] = run(arguments, folder).value
    ended = run(["export", "steps", "--out", "of_steps", "--retry-failed"], folder)
    files = {
        name: one for name, one in _files(folder / "of_steps").items() if "schemas" not in name
    }
    yield _answer("of_the_examples", {**value, "export": ended.value, **files}, folder)
