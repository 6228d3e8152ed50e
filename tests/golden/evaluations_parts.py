"""Runs in parts: shards that are merged, and calls that are handed in as batches."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.fakes.batch_server import BatchServer, Weather
from tests.fakes.exchange import Reply, Request
from tests.fakes.faults import FAULTS, only_for
from tests.fakes.replies import good_replies
from tests.golden.answer import Answer, Json
from tests.golden.evaluations_served import latest
from tests.golden.evaluations_shown import (
    all_shown,
    evaluate,
    json_file,
    packed,
    record_of,
    run_files,
    shown,
    told,
    units_of,
)
from tests.golden.evaluations_talks import TIRED, jsonl, three_texts, true_scores
from tests.golden.ways import model_server

_SHARDS: Final = ("parts/1", "parts/2", "parts/3")
_RESULTS: Final = ("run.json", "units.jsonl", "labels.jsonl", "predictions.jsonl", "failures.jsonl")
_MOST_WAVES: Final = 8
_WAITING: Final = 4


def answers(folder: Path) -> Iterator[Answer]:
    """Yield what becomes of parts."""
    records = [
        {
            "id": name,
            "text": "" if name == "d" else f"{TIRED}Participant: I am {name}.\n",
            "items": true_scores(at),
        }
        for at, name in enumerate("abcdefg")
    ]
    jsonl(folder / "talks.jsonl", records)
    yield from _merged(folder)
    yield from _not_merged(folder)
    yield from _served(folder)
    yield from _batches(folder)


def _merged(folder: Path) -> Iterator[Answer]:
    run = ("run", "talks.jsonl", "--certificates", "--out")
    ends = all_shown(
        folder,
        {
            "whole": (*run, "whole"),
            **{
                f"shard_{number}": (*run, shard, "--shard", f"{number}/3")
                for number, shard in enumerate(_SHARDS, start=1)
            },
            "merged": ("merge", *_SHARDS, "--out", "merged"),
            "plan": ("run", "talks.jsonl", "--plan", "--json", "--out", _SHARDS[1]),
        },
    )
    value: dict[str, Json] = {
        "ends": ends,
        "shards": {shard: json_file(folder / shard / "units.jsonl") for shard in _SHARDS},
        "files": run_files(folder / "merged"),
        "record": record_of(folder / "merged"),
        "record_of_a_shard": record_of(folder / _SHARDS[0]),
        "units": units_of(folder / "merged"),
        "as_one_process_leaves": {name: _are_alike(folder, name) for name in _RESULTS},
        "cost": json_file(folder / "merged/cost.json"),
        "sessions": [one["shard"] for one in _sessions(folder / "merged/timings.json")],
    }
    yield told("parts/merged", value, folder)
    later = {
        "unit": ("unit", "merged", "b", "--out", "unit.json"),
        "resume": ("run", "talks.jsonl", "--certificates", "--out", "merged", "--resume"),
        "retry": (
            *("run", "talks.jsonl", "--certificates", "--out", "merged", "--resume"),
            "--retry-failed",
        ),
        "compare_with_a_shard": ("compare", "whole", "parts/1"),
    }
    ended = all_shown(folder, later)
    yield told("parts/merged_later", ended, folder)


def _sessions(path: Path) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(path.read_text("utf-8"))["sessions"]
    return found


def _are_alike(folder: Path, name: str) -> bool:
    return (folder / "whole" / name).read_bytes() == (folder / "merged" / name).read_bytes()


def _not_merged(folder: Path) -> Iterator[Answer]:
    shutil.copytree(folder / "parts/1", folder / "copy")
    for part, change in {"settings": {"temperature": 0.9}, "models": {"judge": ["other"]}}.items():
        shutil.copytree(folder / "parts/2", folder / f"other-{part}")
        path = folder / f"other-{part}" / "run.json"
        record = json.loads(path.read_text("utf-8"))
        record[part] |= change
        path.write_text(json.dumps(record), "utf-8")
    shutil.copytree(folder / "parts/2", folder / "damaged")
    units = folder / "damaged/units.jsonl"
    units.write_bytes(units.read_bytes().splitlines(keepends=True)[0])
    run, merge = ("run", "talks.jsonl", "--out"), ("merge", "--out", "new")
    evaluate(folder, *run, "limited", "--certificates", "--limit", "4", "--shard", "3/3")
    for number in (1, 2):
        bound = ("--max-failures", "0", "--concurrency", "1") if number == 2 else ()
        evaluate(folder, *run, f"halves/{number}", "--shard", f"{number}/2", *bound)
        repeated = ("--repeats", "2", "--shard", f"{number}/2")
        evaluate(folder, *run, f"twice/{number}", *repeated)
    yield told(
        "parts/not_merged",
        all_shown(
            folder,
            {
                "shards_missing": (*merge, "parts/1"),
                "shard_twice": (*merge, *_SHARDS, "copy"),
                "other_settings": (*merge, "parts/1", "other-settings", "parts/3"),
                "other_models": (*merge, "parts/1", "other-models", "parts/3"),
                "other_number": (*merge, "parts/1", "halves/2"),
                "other_limit": (*merge, "parts/1", "parts/2", "limited"),
                "damaged": (*merge, "parts/1", "damaged", "parts/3"),
                "no_shard": (*merge, "whole"),
                "merged_already": (*merge, "merged"),
                "no_run": (*merge, "nowhere"),
                "one_and_several": (*merge, "parts/1", "twice/1"),
                "units_to_do": (*merge, "halves/1", "halves/2"),
                "in_use": ("merge", *_SHARDS, "--out", "whole"),
                "nothing": ("merge", "--out", "new"),
                "another_shard_resumed": (*run, "parts/1", "--resume", "--shard", "2/3"),
                "no_shard_resumed": (*run, "parts/1", "--certificates", "--resume"),
            },
        ),
        folder,
    )
    partial = all_shown(
        folder,
        {
            "two_of_three": ("merge", "parts/1", "parts/3", "--out", "two", "--partial"),
            "resumed": (*run, "two", "--certificates", "--resume"),
            "unfinished": ("merge", "halves/1", "halves/2", "--out", "halves/all", "--partial"),
            "unfinished_resumed": (*run, "halves/all", "--resume"),
            "several": ("merge", "twice/1", "twice/2", "--out", "twice/all"),
        },
    )
    value = {
        "ends": partial,
        "record": record_of(folder / "two"),
        "units": units_of(folder / "two"),
        "finished": units_of(folder / "halves/all"),
    }
    yield told("parts/partly_merged", value, folder)


def _served(folder: Path) -> Iterator[Answer]:
    """Merge shards of which each has failed units, and go on with the whole."""
    scripts = [only_for(["meta_review"], FAULTS["empty"])]
    value: dict[str, Json] = {}
    with model_server(latest(scripts)) as (server, served):
        settings = served | {"PYDANTIC_AI_RETRIES": "0"}
        run = ("run", "talks.jsonl", "--out")
        for number in (1, 2):
            shard = ("--shard", f"{number}/2", "--price", "openai-chat:fake-model=1/2")
            ended = evaluate(folder, *run, f"served/{number}", *shard, settings=settings)
            value[f"shard_{number}"] = shown(ended)
        value["merged"] = shown(
            evaluate(folder, "merge", "served/1", "served/2", "--out", "served/all")
        )
        value["cost"] = json_file(folder / "served/all/cost.json")
        scripts.append(good_replies())
        server.server.reset()
        retry = ("--resume", "--retry-failed")
        value["retried"] = shown(evaluate(folder, *run, "served/all", *retry, settings=settings))
        value["asked"] = sorted(request.task for request in server.requests)
    yield told("parts/served", packed(value), folder)


def _rejected_first(request: Request) -> Reply:
    if request.attempt == 1 and request.task == "evidence":
        return Reply(text="That I would rather not say.")
    if request.attempt == 1 and request.task == "meta_review":
        return Reply(status=500)
    return good_replies()(request)


def _batches(folder: Path) -> Iterator[Answer]:
    three_texts(folder / "texts")
    weathers = {
        "openai": Weather(),
        "openai_of_others": Weather(strangers=2),
        "openai_half_expired": Weather(expired=lambda at: at % 2 == 1),
        "anthropic": Weather(is_reordered=True),
    }
    for name, weather in weathers.items():
        model = "anthropic:claude-fake" if name == "anthropic" else "openai:gpt-fake"
        with BatchServer(script=_rejected_first, weather=weather) as server:
            ends = list(_waves(folder, server, model, name))
        value: Json = {
            "waves": ends,
            "calls": [len(batch.calls) for batch in server.batches],
            "units": units_of(folder / name),
            "cost": json_file(folder / name / "cost.json"),
        }
        yield told(f"parts/batches/{name}", value, folder)
    yield told("parts/batches/odd", _odd_batches(folder), folder)


def _waves(folder: Path, server: BatchServer, model: str, out: str) -> Iterator[Json]:
    """Begin by batches, and go on until nothing waits."""
    settings = server.settings | {"MODEL_DEFAULT": model, "BATCH_TRIES": "10"}
    dataset = "texts" if out == "openai" else "texts/c.txt"
    for wave in range(_MOST_WAVES):
        options = ("--resume",) if wave else ("--batch",)
        ended = evaluate(folder, "run", dataset, "--out", out, *options, settings=settings)
        yield shown(ended)
        if ended.code != _WAITING:
            return


def _odd_batches(folder: Path) -> Json:
    found: dict[str, Json] = {}
    run = ("run", "texts/c.txt", "--out")

    def step(name: str, server: BatchServer, *arguments: object, **more: str) -> None:
        model = {"MODEL_DEFAULT": "openai:gpt-fake", "BATCH_POLL_SECONDS": "0.05"}
        ended = evaluate(folder, *arguments, settings=server.settings | model | more)
        found[name] = shown(ended)

    with BatchServer(weather=Weather(vanished=frozenset({1}))) as server:
        step("vanishing", server, *run, "vanished", "--batch")
        step("vanished", server, *run, "vanished", "--resume")
        again = ("--resume", "--wait", "--hand-in-again")
        step("handed_in_again", server, *run, "vanished", *again)
    with BatchServer(weather=Weather(refused_with=401)) as server:
        step("refused", server, *run, "refused", "--batch")
    with BatchServer(weather=Weather(is_silent=True)) as server:
        step("unheard_of", server, *run, "silent", "--batch")
        server.weather.is_silent = False
        step("found_again", server, *run, "silent", "--resume")
        step("live_from_now_on", server, *run, "silent", "--resume", "--no-batch")
        step("without_words", server, *run, "new", "--batch", "--no-raw")
        ceiling = ("--max-cost", "5", "--price", "openai:gpt-fake=1/1")
        step("under_a_ceiling", server, *run, "new", "--batch", *ceiling)
        step("by_a_chat_server", server, *run, "new", "--batch", "--model", "openai-chat:any")
        step("by_ollama", server, *run, "new", "--batch", "--model", "ollama:any")
    return found
