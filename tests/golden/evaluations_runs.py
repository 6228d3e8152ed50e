"""Runs over datasets by the rule baseline: what they leave, how they go on, what they refuse."""

import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.golden.answer import Answer, Json
from tests.golden.evaluations_shown import (
    all_shown,
    evaluate,
    json_file,
    record_of,
    run_files,
    shown,
    told,
    units_of,
)
from tests.golden.evaluations_talks import (
    TIRED,
    daic,
    jsonl,
    labelled_records,
    labelled_texts,
    session,
    three_texts,
    write,
)

_NAMED: Final = TIRED.replace("Interviewer", "Tom").replace("Participant", "Anna")
_OTHER_SETTINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "calls": {"MODEL_MAX_CALLS": "59"},
    "model": {"MODEL_DEFAULT": "ollama:other"},
    "judge": {"JUDGE_CALLS": "one"},
    "labels": {"TRANSCRIPT_PARTICIPANT_LABELS": "Anna"},
    "mode": {"ENABLE_FEW_SHOT": "true"},
}


def answers(folder: Path) -> Iterator[Answer]:
    """Yield what runs leave and say."""
    three_texts(folder / "texts")
    labelled_texts(folder / "talks", range(1, 15))
    jsonl(folder / "talks.jsonl", list(labelled_records(range(1, 9))))
    evaluate(folder, "datasets", "make", "demo", "--units", "20")
    evaluate(folder, "datasets", "make", "demo-e", "--units", "20", "--form", "e-daic")
    yield from _whole(folder)
    yield from _selected(folder)
    yield from _read_otherwise(folder)
    yield from _gone_on_with(folder)
    yield from _refused(folder)


def _whole(folder: Path) -> Iterator[Answer]:
    for dataset in ("texts", "talks", "talks.jsonl", "demo", "demo-e"):
        out = f"whole-{dataset.partition('.')[0]}-{'lines' if '.' in dataset else 'files'}"
        ended = evaluate(folder, "run", dataset, "--out", out)
        run = folder / out
        value: dict[str, Json] = {
            "run": shown(ended),
            "record": record_of(run),
            "units": units_of(run),
            "failures": json_file(run / "failures.jsonl"),
        }
        if dataset != "texts":
            yield told(f"runs/whole/{dataset}", value, folder)
            continue
        value |= {
            "record": record_of(run, whole=True),
            "files": run_files(run),
            "modes": _modes(run),
            "predictions": json_file(run / "predictions.jsonl"),
            "units_asked": json_file(run / "units.jsonl"),
            "texts": [one["text_digest"][:8] for one in _lines(run / "units.jsonl")],
            "cost": json_file(run / "cost.json"),
            "timings": _fields(json.loads((run / "timings.json").read_text("utf-8"))),
        }
        yield told(f"runs/whole/{dataset}", value, folder)
    labels = json_file(folder / "whole-talks-lines/labels.jsonl")
    yield told("runs/labels", labels, folder)
    with_commit = evaluate(
        folder, "run", "texts", "--out", "c", settings={"PATH": os.environ["PATH"]}
    )
    yield told("runs/with_a_path", shown(with_commit), folder)


def _selected(folder: Path) -> Iterator[Answer]:
    write(folder, {"two.csv": "Participant_ID,x\np02,1\np05,2\n", "none.csv": "p99\np01\n"})
    write(folder, {"nobody.csv": "\n", "picture.csv": b"\xff\xfe\x00"})
    run = ("run", "talks", "--out")
    selections: Mapping[str, Sequence[object]] = {
        "limit": (*run, "limit", "--limit", "2"),
        "split_by_name": (*run, "split", "--split", "test"),
        "split_by_file": (*run, "file", "--split", "two.csv"),
        "split_and_limit": (*run, "both", "--split", "train", "--limit", "3"),
        "labelled": ("run", "demo", "--out", "labelled", "--labelled", "--limit", "8"),
        "one_at_a_time": (*run, "slow", "--limit", "4", "--concurrency", "1"),
        "unrelated": (*run, "unrelated", "--limit", "3", "--unrelated"),
        "described": (*run, "described", "--limit", "2", "--mode", "descriptions_only"),
        "ablated": (*run, "ablated", "--limit", "2", "--ablate"),
        "no_words_kept": (*run, "bare", "--limit", "2", "--no-raw"),
        "one_file": ("run", "talks/p03.txt", "--out", "file-alone"),
    }
    for name, arguments in selections.items():
        ended = evaluate(folder, *arguments)
        out = folder / str(arguments[3])
        value = {"run": shown(ended), "record": record_of(out), "units": units_of(out)}
        yield told(f"runs/selected/{name}", value, folder)
    yield told(
        "runs/selected/refused",
        all_shown(
            folder,
            {
                "no_split": (*run, "new", "--split", "dev"),
                "no_split_file": (*run, "new", "--split", "missing.csv"),
                "somebody_else": (*run, "new", "--split", "none.csv"),
                "nobody": (*run, "new", "--split", "nobody.csv"),
                "no_list": (*run, "new", "--split", "picture.csv"),
                "no_splits_at_all": ("run", "texts", "--out", "new", "--split", "dev"),
                "nobody_labelled": ("run", "texts", "--out", "new", "--labelled"),
                "no_units": (*run, "new", "--limit", "0"),
                "unknown_mode": (*run, "new", "--mode", "many_shot"),
                "no_references": (*run, "new", "--mode", "few_shot"),
                "no_failures": (*run, "new", "--max-failures", "-1"),
                "nobody_at_work": (*run, "new", "--concurrency", "0"),
            },
        ),
        folder,
    )


def _read_otherwise(folder: Path) -> Iterator[Answer]:
    rows = daic(
        ("Participant", "is this on"),
        *(("Ellie", "hello"), ("Ellie", "sleep_ask (how do you sleep)")),
        *(("Participant", "i sleep badly in scrubbed_entry"), ("Participant", "xxx every night")),
        ("Ellie", "okay"),
    )
    write(folder / "daic", session(300, rows))
    write(folder / "named", {"a.txt": f"{_NAMED}Anna: I sleep.\n"})
    speakers = ("both", "participant-only", "question-context")
    options: Mapping[str, Sequence[object]] = {
        **{f"speakers_{one}": ("daic", "--speakers", one) for one in speakers},
        **{f"codes_{one}": ("daic", "--codes", one) for one in ("code", "both")},
        "texts_participant_only": ("texts", "--speakers", "participant-only"),
        "nobody_named": ("named",),
        "participant": ("named", "--participant", "Anna"),
        "both_named": ("named", "--participant", "anna", "--interviewer", "TOM"),
    }
    for name, (dataset, *given) in options.items():
        out = f"read-{name}"
        ended = evaluate(folder, "run", dataset, "--out", out, *given)
        unit = {"daic": "300"}.get(str(dataset), "a")
        evaluate(folder, "unit", out, unit, "--out", f"{out}.json")
        text = json.loads((folder / f"{out}.json").read_text("utf-8"))["text"]
        lines = None if text is None else text.splitlines()
        value = {"run": shown(ended), "text": lines, "units": units_of(folder / out)}
        yield told(f"runs/read/{name}", value, folder, rows, text or "")
    resumed = evaluate(folder, "run", "named", "--out", "read-participant", "--resume")
    yield told("runs/read/resumed_without_the_label", shown(resumed), folder)


def _gone_on_with(folder: Path) -> Iterator[Answer]:
    run = ("run", "texts", "--out", "begun")
    evaluate(folder, *run, "--limit", "1")
    kept = folder / "kept-begun"
    shutil.copytree(folder / "begun", kept)

    def changed(name: str, change: Callable[[dict[str, Json]], object]) -> tuple[str, ...]:
        """Return the start of a command about a copy whose record was changed."""
        shutil.copytree(kept, folder / name)
        path = folder / name / "run.json"
        record = json.loads(path.read_text("utf-8"))
        change(record)
        path.write_text(json.dumps(record), "utf-8")
        return ("run", "texts", "--out", name, "--resume")

    yield told(
        "runs/resumed",
        all_shown(
            folder,
            {
                "not_asked_for": run,
                "with_the_rest": (*run, "--resume"),
                "nothing_left": (*run, "--resume"),
                "failed_anew_where_none_failed": (*run, "--resume", "--retry-failed"),
                "a_smaller_limit": (*run, "--resume", "--limit", "1"),
                "without_words": (*run, "--resume", "--no-raw"),
                "no_run_there": ("run", "texts", "--out", "nothing", "--resume"),
                "ablated": (*run, "--resume", "--ablate"),
                "with_certificates": (*run, "--resume", "--certificates"),
                "in_another_mode": (*run, "--resume", "--mode", "descriptions_only"),
                "as_a_shard": (*run, "--resume", "--shard", "1/2"),
                "with_other_speakers": (*run, "--resume", "--speakers", "participant-only"),
                "unrelated": (*run, "--resume", "--unrelated"),
                "by_batches": (*run, "--resume", "--batch"),
                "as_several": (*run, "--resume", "--repeats", "2"),
            },
        ),
        folder,
    )
    other = {
        name: shown(evaluate(folder, *run, "--resume", "--accept-changed", settings=settings))
        for name, settings in _OTHER_SETTINGS.items()
    }
    yield told("runs/resumed_under_other_settings", other, folder)
    zeros: Json = {"evidence": "0" * 12}
    parts: Mapping[str, Callable[[dict[str, Json]], object]] = {
        "version": lambda record: record.update(version="0.0.1"),
        "prompts": lambda record: record.update(prompts=zeros),
        "contracts": lambda record: record.update(contracts={"rules": "0" * 12}),
    }
    for part, change in parts.items():
        name = f"accepted/{part}"
        arguments = changed(name, change)
        ends = all_shown(
            folder,
            {
                "refused": arguments,
                "accepted": (*arguments, "--accept-changed"),
                "again": arguments,
                **({"metrics": ("metrics", name)} if part == "prompts" else {}),
            },
        )
        value = {"ends": ends, "record": record_of(folder / name), "units": units_of(folder / name)}
        yield told(f"runs/accepted/{part}", value, folder)
    yield told(
        "runs/accepted/listed",
        all_shown(folder, {"table": ("runs", "accepted"), "json": ("runs", "accepted", "--json")}),
        folder,
    )
    damaged = {
        "another_reader": evaluate(folder, *changed("reader", lambda one: one.update(reader="0"))),
        "another_dataset": evaluate(
            folder, "run", "talks", "--out", "begun", "--resume", "--accept-changed"
        ),
    }
    (folder / "texts/b.txt").write_text(TIRED, "utf-8")
    damaged["a_changed_dataset"] = evaluate(folder, *changed("changed", dict.copy))
    three_texts(folder / "texts")
    (folder / "reader/run.json").write_text("{", "utf-8")
    damaged["a_record_that_is_none"] = evaluate(
        folder, "run", "texts", "--out", "reader", "--resume"
    )
    arguments = changed("no-ledger", dict.copy)
    (folder / "no-ledger/ledger.sqlite").unlink()
    damaged["no_ledger"] = evaluate(folder, *arguments)
    arguments = changed("ledger", dict.copy)
    (folder / "ledger/ledger.sqlite").write_bytes(b"no database" * 200)
    damaged["no_database"] = evaluate(folder, *arguments)
    yield told("runs/not_gone_on_with", {name: shown(one) for name, one in damaged.items()}, folder)
    yield told("runs/under_keys", _under_keys(folder), folder)


def _under_keys(folder: Path) -> Json:
    for name, key in (("key", "ab" * 32), ("other", "cd" * 32), ("short", "ab")):
        (folder / name).write_text(key, "ascii")
        (folder / name).chmod(0o600)
    run, own = ("run", "texts", "--out", "sealed"), {"DATA_KEY_FILE": "key"}
    steps: Mapping[str, tuple[Sequence[object], Mapping[str, str]]] = {
        "begun": ((*run, "--limit", "1"), own),
        "with_another_key": ((*run, "--resume"), {"DATA_KEY_FILE": "other"}),
        "without_a_key": ((*run, "--resume"), {}),
        "with_a_short_key": ((*run, "--resume"), {"DATA_KEY_FILE": "short"}),
        "with_no_such_key": ((*run, "--resume"), {"DATA_KEY_FILE": "missing"}),
        "with_its_key": ((*run, "--resume"), own),
        "unit": (("unit", "sealed", "a", "--out", "sealed.json"), own),
        "unit_without_a_key": (("unit", "sealed", "a", "--out", "sealed.json"), {}),
        "table_without_a_key": (("table", "sealed", "--out", "sealed.csv"), {}),
    }
    return {
        name: shown(evaluate(folder, *arguments, settings=settings))
        for name, (arguments, settings) in steps.items()
    }


def _refused(folder: Path) -> Iterator[Answer]:
    run = ("run", "texts", "--out", "new")
    write(folder, {"in-use/a.txt": "mine", "plain-file": "mine"})
    yield told(
        "runs/refused",
        all_shown(
            folder,
            {
                "no_folder": ("run", "texts"),
                "no_dataset": ("run", "missing", "--out", "new"),
                "json_without_a_plan": (*run, "--json"),
                "waiting_for_nothing": (*run, "--wait"),
                "handing_in_nothing": (*run, "--hand-in-again"),
                "batches_of_the_baseline": (*run, "--batch"),
                "unknown_model": (*run, "--model", "nobody:nothing"),
                "a_model_without_a_provider": (*run, "--model", "gemma3"),
                "unknown_option": (*run, "--shards", "2"),
                "a_file_as_folder": ("run", "texts", "--out", "plain-file"),
                "no_parent_folder": ("run", "texts", "--out", "plain-file/new"),
                "a_folder_in_use": ("run", "texts", "--out", "in-use"),
                "prompts_for_the_baseline": (*run, "--prompts", "strict=strict.toml"),
                "prompts_without_a_file": (*run, "--prompts", "strict"),
                "prompts_named_twice": (*run, "--prompts", "shipped", "--prompts", "shipped"),
                "no_repeats": (*run, "--repeats", "0"),
                "too_many_repeats": (*run, "--repeats", "100"),
                "a_shard_that_is_none": (*run, "--shard", "4/3"),
                "an_empty_shard": (*run, "--shard", "4/4"),
            },
        ),
        folder,
    )


def _modes(run: Path) -> Json:
    names = (".", "ledger.sqlite", "predictions.jsonl", "run.json", "failures.jsonl", "config")
    return {name: oct(stat.S_IMODE((run / name).stat().st_mode)) for name in names}


def _lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _fields(value: Json) -> Json:
    """Return the shape of a value that tells times."""
    if isinstance(value, Mapping):
        return {name: _fields(one) for name, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_fields(one) for one in value]
    return type(value).__name__
