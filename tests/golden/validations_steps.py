"""Answers to steps of pipelines: checks, contexts, runs that record them, and what is kept."""

import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.golden.answer import Answer, Json
from tests.golden.validations_pipeline import (
    ANSWERS,
    GOOD,
    SOUND,
    changed,
    write,
    write_every_check,
)
from tests.golden.validations_ways import (
    Record,
    answer_of,
    check,
    commands_answer,
    files_in,
    lines_of,
)
from tests.golden.ways import EXAMPLES, Ended, run, scratch

_CONFIG: Final = ("--config", "pipeline.yaml")
_EVERY: Final = (*_CONFIG, "--step", "all")
_CONTEXT: Final = ("--context", "context.jsonl")


def answers() -> Iterator[Answer]:
    """Yield what comes of answers to steps."""
    with scratch() as folder:
        yield from _examples(folder)
    with scratch() as folder:
        yield from _checks(folder)
        yield from _contexts(folder)
        yield from _refused(folder)
    with scratch() as folder:
        yield from _recorded(folder)


def _examples(folder: Path) -> Iterator[Answer]:
    place = Path(shutil.copytree(EXAMPLES / "pipeline", folder / "pipeline"))
    texts = [path.read_text("utf-8") for path in sorted(place.glob("*.jsonl"))]
    for name, options in (("with_context", _CONTEXT), ("without_context", ())):
        checked = check(
            place,
            *(*_CONFIG, "--step", "rate_sleep", "answers.jsonl", *options, "--next", "next.jsonl"),
            has_digests=True,
        )
        following = files_in(place)["next.jsonl"]
        case = f"steps/example/{name}"
        yield answer_of(case, place, checked, given=texts, next=following)
    measured = check(place, *_CONFIG, "--step", "measure", "context.jsonl", has_digests=True)
    yield answer_of("steps/example/measure", place, measured, given=texts)
    place = Path(shutil.copytree(EXAMPLES / "two_steps", folder / "two_steps"))
    texts = [path.read_text("utf-8") for path in sorted(place.glob("*.jsonl"))]
    rate = (*_CONFIG, "--step", "rate", "rate.jsonl", *_CONTEXT)
    sum_up = (*_CONFIG, "--step", "sum_up", "sum_up.jsonl")
    first = check(place, *rate, "--next", "next.jsonl")
    second = check(place, *sum_up, "--context", "next.jsonl")
    yield answer_of("steps/two_steps/by_files", place, first, second, given=texts)
    first = check(place, *rate, "--run", "../sleep")
    second = check(place, *sum_up, "--run", "../sleep")
    ended = [run(["export", "../sleep", *options], place) for options in ((), ("--retry-failed",))]
    ended.append(run(["revalidate", "../sleep"], place))
    ended.append(run(["revalidate", "../sleep", "--json"], place))
    yield answer_of("steps/two_steps/by_a_run", place, first, second, given=texts)
    files = files_in(folder / "sleep")
    yield commands_answer("steps/two_steps/run", place, *ended, given=texts, files=files)


def _checks(folder: Path) -> Iterator[Answer]:
    write_every_check(folder)
    lines = [{"unit_id": name, **GOOD, **one} for name, one in ANSWERS.items()]
    asked: list[Record] = [
        {"unit_id": name, "topic": "sleep", "threshold": 2, "place": "home", "limit": 3}
        for name in ANSWERS
    ]
    (folder / "context.jsonl").write_text(lines_of(asked), "utf-8")
    text = lines_of(lines)
    given = [text, lines_of(asked)]
    yield answer_of("steps/checks/alone", folder, check(folder, *_EVERY, stdin=text), given=given)
    checked = check(folder, *_EVERY, *_CONTEXT, "--next", "next.jsonl", stdin=text)
    following = (folder / "next.jsonl").read_text("utf-8")
    known: Json = [json.loads(line) for line in following.splitlines()]
    case = "steps/checks/with_context"
    yield answer_of(case, folder, checked, given=given, next=known)
    strict = check(folder, *_CONFIG, "--step", "strict", stdin=text)
    yield answer_of("steps/checks/strict", folder, strict, given=given)
    after = ("--step", "next", "--context", "next.jsonl")
    last = check(folder, *_CONFIG, *after, stdin=lines_of([{"unit_id": "good"}, {"unit_id": "x"}]))
    yield answer_of("steps/checks/next", folder, last, given=[following])


def _contexts(folder: Path) -> Iterator[Answer]:
    write_every_check(folder)
    lines = [{"unit_id": name, **GOOD} for name in ("u1", 7, "7", "u1", "stranger")]
    lines.append({"unit_id": "u3", "error": {"status": 503, "message": "busy"}})
    lines.append({"unit_id": "u4", "_raw_text": "It is warm, I think.", "retry_count": 1})
    text = lines_of(lines)
    asked = [{"unit_id": name, "place": "home"} for name in ("u2", "u1", "7", "u3", "u4")]
    contexts: dict[str, list[Record | str]] = {
        "units": [*asked],
        "twice": [*asked, asked[0]],
        "twice_as_number": [*asked, {"unit_id": 7}],
        "no_id": [*asked, {"place": "x"}],
        "no_object": [*asked, "[1]"],
        "no_json": [*asked, "{"],
        "empty": [],
        "key_twice": ['{"unit_id": "u1", "place": 1, "place": 2}'],
        "nan": ['{"unit_id": "u1", "threshold": NaN}'],
        "reserved": [{"unit_id": "u1", "place": "x", "_own": 1, "retry_count": 5, "out": 1}],
    }
    for name, units in contexts.items():
        (folder / "context.jsonl").write_text(lines_of(units), "utf-8")
        checked = check(folder, *_EVERY, *_CONTEXT, stdin=text)
        yield answer_of(f"steps/contexts/{name}", folder, checked, given=[text, lines_of(units)])
    packed = gzip.compress(lines_of(asked).encode(), mtime=0)
    (folder / "context.jsonl.gz").write_bytes(packed)
    checked = check(folder, *_EVERY, "--context", "context.jsonl.gz", stdin=text)
    yield answer_of("steps/contexts/packed", folder, checked, given=[text])
    (folder / "bomb.gz").write_bytes(gzip.compress(b"\n" * (1 << 20), mtime=0) * 128)
    (folder / "torn.gz").write_bytes(gzip.compress(b"", 1, mtime=0)[:10] + b"\xff" * 40)
    for name in ("bomb", "torn"):
        checked = check(folder, *_EVERY, "--context", f"{name}.gz", stdin=text)
        yield answer_of(f"steps/contexts/{name}", folder, checked)


def _refused(folder: Path) -> Iterator[Answer]:
    write_every_check(folder)
    for name, arguments in {
        "no_step": _CONFIG,
        "unknown_step": (*_CONFIG, "--step", "al"),
        "seed": (*_EVERY, "--seed", "1"),
        "no_config": ("--config", "nowhere.yaml"),
        "folder": ("--config", "."),
        "same_file": (*_EVERY, "--valid", "a", "--next", "a"),
        "run_is_a_file": (*_EVERY, "--run", "all.json"),
    }.items():
        checked = check(folder, *arguments, stdin='{"unit_id": "u1"}\n')
        yield answer_of(f"steps/refused/{name}", folder, checked)
    for name, text in {
        "level": changed(("level: error", "level: fatal")),
        "rule": changed(("score >= threshold", "score.append(1)")),
        "no_rules": SOUND.partition("validation:")[0],
        "empty": "",
    }.items():
        config = write(folder / name, text)
        checked = check(folder, "--config", config, stdin='{"unit_id": "u1"}\n')
        yield answer_of(f"steps/refused/config_{name}", folder, checked)
    config = write(folder / "one")
    only = check(folder, "--config", config, stdin='{"unit_id": 1, "score": "2", "tone": "WARM"}\n')
    yield answer_of("steps/only_step", folder, only)


_VALID: Final = {"unit_id": "u1", "score": 2, "tone": "warm"}
_TOO_HIGH: Final[Record] = {
    "unit_id": "u2",
    "failure_stage": "schema_validation",
    "input": {"threshold": 1},
    "raw_response": '{"score": 7, "tone": "warm"}',
    "errors": [{"path": "$.score", "rule": "range", "message": "7 is more than 3"}],
    "retry_count": 0,
}
_NO_ANSWER: Final[Record] = {
    **_TOO_HIGH,
    "unit_id": "u3",
    "failure_stage": "provider",
    "raw_response": None,
}
_TWICE: Final = {**_TOO_HIGH, "unit_id": "u4", "retry_count": 1}


def _recorded(folder: Path) -> Iterator[Answer]:
    """Yield what becomes of outcomes that are imported, judged anew and exported."""
    write(folder / "first")
    write(folder / "wider", changed(("score: [0, 3]", "score: [0, 9]")))
    write(folder / "stricter", changed(("score: [0, 3]", "score: [0, 1]")))
    write(folder / "other", SOUND.replace("rate", "rank"))
    for name in ("schemas/rank.json", "templates/rank.jinja2"):
        shutil.copy(folder / "other" / name.replace("rank", "rate"), folder / "other" / name)
    outcomes = [_VALID, _TOO_HIGH, _NO_ANSWER, _TWICE]
    (folder / "lines.jsonl").write_text(lines_of(outcomes), "utf-8")
    given = [lines_of(outcomes)]
    first = ("--step", "rate", "--config", "first/pipeline.yaml")

    def command(*arguments: str, key: bool = False) -> Ended:
        return run(arguments, folder, {"DATA_KEY_FILE": "key"} if key else None)

    made = command("import", "run", "lines.jsonl", *first)
    again = command("import", "run", "lines.jsonl", *first)
    exported = command("export", "run")
    files = files_in(folder / "run")
    yield commands_answer("runs/imported", folder, made, again, exported, given=given, files=files)
    for name, rules in {
        "own": (),
        "wider": ("--rules", "wider/pipeline.yaml"),
        "stricter": ("--rules", "stricter/pipeline.yaml"),
        "demoting": ("--rules", "stricter/pipeline.yaml", "--demote"),
        "other_step": ("--rules", "other/pipeline.yaml"),
        "no_rules": ("--rules", "nowhere.yaml"),
        "unknown_step": ("--step", "rat"),
    }.items():
        judged = f"judged_{name}"
        shutil.copytree(folder / "run", folder / judged)
        steps = [command("revalidate", judged, *rules, "--dry-run")]
        steps += [command("revalidate", judged, *rules, *more) for more in ((), ("--json",))]
        steps.append(command("export", judged, "--retry-failed", "--out", f"{judged}_out"))
        files = files_in(folder / f"{judged}_out")
        case = f"runs/revalidated/{name}"
        yield commands_answer(case, folder, *steps, given=given, files=files)
    for name, options in {
        "classic_stages": ("--classic-stages",),
        "one_step": ("--step", "rate"),
        "unknown_step": ("--step", "rat"),
    }.items():
        ended = command("export", "run", "--out", f"as_{name}", *options)
        files = files_in(folder / f"as_{name}")
        yield commands_answer(f"runs/exported/{name}", folder, ended, given=given, files=files)
    steps = [command("export", "judged_wider", "--out", "moved")]
    for file in ("rate_validated", "rate_failures"):
        steps.append(command("import", "copy", f"moved/{file}.jsonl", *first))
    steps.append(command("export", "copy"))
    files = files_in(folder / "copy" / "export")
    yield commands_answer("runs/moved", folder, *steps, given=given, files=files)
    yield from _not_imported(folder, given)
    (folder / "key").write_text("5e" * 32, "ascii")
    steps = [command("import", "sealed", "lines.jsonl", *first, key=True)]
    steps += [command("export", "sealed"), command("export", "sealed", key=True)]
    steps += [command("revalidate", "sealed"), command("revalidate", "sealed", key=True)]
    steps += [command("revalidate", "run", key=True)]
    yield commands_answer("runs/sealed", folder, *steps, given=given)


def _not_imported(folder: Path, given: list[str]) -> Iterator[Answer]:
    texts: dict[str, list[Record | str]] = {
        "no_json": [_VALID, "{"],
        "no_id": [{"score": 1}],
        "unknown_stage": [{**_TOO_HIGH, "failure_stage": "mood"}],
        "no_errors": [{"unit_id": "u9", "failure_stage": "validation"}],
        "invalid": [{"unit_id": "u8", "score": 9, "tone": "loud"}],
        "other_input": [{**_TOO_HIGH, "input": {"threshold": 2}}],
        "nothing": [],
    }
    for name, lines in texts.items():
        (folder / "odd.jsonl").write_text(lines_of(lines), "utf-8")
        fresh = ("odd.jsonl", "--step", "rate", "--config", "first/pipeline.yaml")
        steps = [run(["import", f"new_{name}", *fresh], folder)]
        steps.append(run(["import", "run", "odd.jsonl", "--step", "rate"], folder))
        case = f"runs/not_imported/{name}"
        yield commands_answer(case, folder, *steps, given=[*given, lines_of(lines)])
    for name, arguments in {
        "no_config": ("nowhere", "lines.jsonl", "--step", "rate"),
        "no_file": ("run", "nowhere.jsonl", "--step", "rate"),
        "unknown_step": ("run", "lines.jsonl", "--step", "rat"),
        "no_step": ("run", "lines.jsonl"),
    }.items():
        ended = run(["import", *arguments], folder)
        yield commands_answer(f"runs/not_imported/{name}", folder, ended)
    for name in ("export", "revalidate"):
        ended = run([name, "nowhere"], folder)
        yield commands_answer(f"runs/no_run/{name}", folder, ended)
