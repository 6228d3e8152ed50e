"""Runs from Python, certificates of runs and what `verify` says of them, fits of beliefs."""

import asyncio
import json
import shutil
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import ai_psychiatrist as ap
from tests.fakes.faults import FAULTS, only_for
from tests.golden.answer import Answer, Json
from tests.golden.evaluations_shown import (
    WITHOUT_GIT,
    all_shown,
    evaluate,
    packed,
    record_of,
    run_files,
    shown,
    told,
    units_of,
)
from tests.golden.evaluations_talks import ITEMS, TIRED, jsonl, labelled_texts, three_texts, write
from tests.golden.ways import environment, model_server, run

_NAMED: Final = TIRED.replace("Participant", "Anna").replace("Interviewer", "Tom")
_HOW_OFTEN: Final = (
    "I sleep well.",
    "I sleep badly some days.",
    "I hardly sleep, most days.",
    "I hardly sleep, nearly every day.",
)
_ENOUGH: Final = 44
_FIT_DIGITS: Final = 4
"""Of what a search for the best fit ends at, which is no more exact than that."""


def answers(folder: Path) -> Iterator[Answer]:
    """Yield what Python returns, certificates and fits."""
    three_texts(folder / "texts")
    labelled_texts(folder / "talks", range(1, 6))
    yield from _from_python(folder)
    yield from _certified(folder)
    yield from _beliefs(folder)


def _from_python(folder: Path) -> Iterator[Answer]:
    runs: Mapping[str, tuple[str, str, dict[str, object]]] = {
        "whole": ("texts", "whole", {}),
        "limited": ("talks", "limited", {"limit": 2, "concurrency": 1}),
        "resumed": ("talks", "limited", {"resume": True}),
        "nothing_left": ("talks", "limited", {"resume": True, "retry_failed": True}),
        "split": ("talks", "split", {"split": "test", "keep_raw": False}),
        "shard": ("texts", "shard", {"shard": "2/2", "certificates": True}),
        "described": ("texts", "described", {"mode": "descriptions_only", "limit": 1}),
        "ablated": ("texts", "ablated", {"ablate": True, "max_failures": 0}),
        "in_use": ("texts", "whole", {}),
        "no_run": ("texts", "none", {"resume": True}),
        "no_dataset": ("nowhere", "new", {}),
        "a_text": (TIRED, "new", {}),
        "no_split": ("talks", "new", {"split": "dev"}),
        "no_shard": ("texts", "new", {"shard": "3"}),
        "no_mode": ("texts", "new", {"mode": "many_shot"}),
        "no_references": ("texts", "new", {"mode": "few_shot"}),
        "no_flag": ("texts", "new", {"ablate": "yes"}),
        "other_dataset": ("talks", "whole", {"resume": True}),
        "without_ablation": ("texts", "ablated", {"resume": True}),
    }
    value = {
        name: asyncio.run(_evaluated(folder, dataset, out, options))
        for name, (dataset, out, options) in runs.items()
    }
    value["gone_on_with_by_the_command"] = shown(
        evaluate(folder, "run", "talks", "--out", "limited", "--resume")
    )
    yield told("python/runs", packed(value), folder)
    left = {
        name: [run_files(folder / name), record_of(folder / name), units_of(folder / name)]
        for name in ("whole", "limited", "split", "shard")
    }
    yield told("python/left", left, folder)
    with model_server(only_for(["meta_review"], FAULTS["status_500"])) as (_, served):
        settings = served | {"PYDANTIC_AI_RETRIES": "0"}
        failed = asyncio.run(_evaluated(folder, "texts", "failed", {}, settings))
    value = {"run": failed, "units": units_of(folder / "failed")}
    yield told("python/failed", packed(value), folder)


async def _evaluated(
    folder: Path,
    dataset: str,
    out: str,
    options: Mapping[str, object],
    settings: Mapping[str, str] | None = None,
) -> Json:
    """Return the result of a run and what was told of its progress, or the error."""
    progress: list[list[int]] = []
    loaded = ap.load_settings(environment(folder, WITHOUT_GIT | dict(settings or {})), dotenv=None)
    path = folder / dataset if (folder / dataset).exists() or dataset == "nowhere" else dataset

    async def made() -> Json:
        async with ap.open(loaded) as app:
            evaluated: Callable[..., Awaitable[ap.DatasetRunResult]] = app.evaluate
            result = await evaluated(
                path,
                folder / out,
                **options,
                on_progress=lambda done, requested: progress.append([done, requested]),
            )
            fields: Json = result.model_dump(mode="json")
            return {"result": fields, "is_complete": result.is_complete, "shown": repr(result)}

    try:
        value = await made()
    except (ap.AssessmentServiceError, ValueError, TypeError) as error:
        return {"raised": type(error).__name__, "says": str(error)}
    return {"value": value, "progress": progress}


def _certified(folder: Path) -> Iterator[Answer]:
    texts = {
        "anna": f"{TIRED}Participant: I eat well, my appetite is good.\n",
        "ben": f"{TIRED}Participant: I want to kill myself.\n",
        "nobody": "Interviewer: Nobody answers.\n",
    }
    write(folder / "people", {f"{name}.txt": text for name, text in texts.items()})
    (folder / "key").write_text("11" * 32, "ascii")
    (folder / "key").chmod(0o600)
    command = ("run", "people", "--certificates", "--out")
    signing = {"CERTIFICATE_KEY_FILE": "key"}
    ends = {
        "plain": shown(evaluate(folder, *command, "proven")),
        "signed": shown(evaluate(folder, *command, "signed", settings=signing)),
        "resumed_without": shown(evaluate(folder, "run", "people", "--out", "proven", "--resume")),
    }
    found = {
        f"{kind}_{name}": content
        for kind in ("proven", "signed")
        for name, content in _certificates(folder / kind).items()
    }
    yield told("certificates/made", {"ends": ends, "files": packed(found)}, folder, *texts.values())
    with model_server(only_for(["scoring"], FAULTS["prose"])) as (_, served):
        evaluate(folder, *command, "failing", settings=served | {"PYDANTIC_AI_RETRIES": "0"})
    failing = {f"failing_{name}": one for name, one in _certificates(folder / "failing").items()}
    yield told("certificates/of_failed_units", packed(failing), folder, *texts.values())
    for name, content in {**found, **failing}.items():
        (folder / f"{name}.json").write_text(_canonical(content), "utf-8")
    yield told("certificates/verified", _verified(folder, found), folder)


def _certificates(run_folder: Path) -> dict[str, Json]:
    """Return the certificate of each unit by its id."""
    lines = (run_folder / "units.jsonl").read_text("utf-8").splitlines()
    names = {one["text_digest"]: one["unit_id"] for one in map(json.loads, lines)}
    files = (run_folder / "certificates").iterdir()
    found = {names[path.stem]: json.loads(path.read_text("utf-8")) for path in files}
    return dict(sorted(found.items()))


def _canonical(certificate: Json) -> str:
    return json.dumps(certificate, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _verified(folder: Path, found: Mapping[str, Json]) -> Json:
    good, signed = found["proven_anna"], found["signed_anna"]
    assert isinstance(good, Mapping)
    assert isinstance(signed, Mapping)
    body, signed_body = good["certificate"], signed["certificate"]
    assert isinstance(body, Mapping)
    assert isinstance(signed_body, Mapping)
    changed = {**good, "certificate": {**body, "status": "failed"}}
    write(
        folder,
        {
            "changed.json": _canonical(changed),
            "spaced.json": json.dumps(good),
            "other-key.json": _canonical({**signed, "signature": "ab" * 64}),
            "no-certificate.json": "{}",
            "no-json.json": "oops",
            "named.txt": _NAMED,
        },
    )
    run(["assess", "named.txt", "--participant", "Anna", "--certificate", "named.json"], folder)
    digest, key = str(good["sha256"]), str(signed_body["signed_by"])
    anna, own = "people/anna.txt", "proven_anna.json"
    commands: Mapping[str, Sequence[str]] = {
        "holds": [anna, own],
        "with_its_digest": [anna, own, "--digest", digest],
        "with_another_digest": [anna, own, "--digest", "ab" * 32],
        "with_a_key_that_nobody_signed_with": [anna, own, "--key", key],
        "signed": [anna, "signed_anna.json"],
        "signed_by_the_key": [anna, "signed_anna.json", "--key", key],
        "signed_by_another_key": [anna, "signed_anna.json", "--key", "ab" * 32],
        "with_another_signature": [anna, "other-key.json"],
        "of_danger": ["people/ben.txt", "proven_ben.json"],
        "of_a_failed_unit": [anna, "failing_anna.json"],
        "of_somebody_else": ["people/ben.txt", own],
        "changed": [anna, "changed.json"],
        "in_another_form": [anna, "spaced.json"],
        "no_certificate": [anna, "no-certificate.json"],
        "no_json": [anna, "no-json.json"],
        "the_interview_twice": [anna, anna],
        "no_interview": ["people/none.txt", own],
        "no_file": [anna, "none.json"],
        "nobody_named": ["named.txt", "named.json"],
        "participant_named": ["named.txt", "named.json", "--participant", "Anna"],
        "another_participant_named": ["named.txt", "named.json", "--participant", "Tom"],
        "an_empty_digest": [anna, own, "--digest", ""],
        "a_short_key": [anna, own, "--key", "ab"],
        "nothing": [],
    }
    return {
        name: shown(run(["verify", *arguments], folder, WITHOUT_GIT))
        for name, arguments in commands.items()
    }


def _beliefs(folder: Path) -> Iterator[Answer]:
    jsonl(folder / "sleepers.jsonl", list(_sleepers(_ENOUGH)))
    jsonl(folder / "few.jsonl", list(_sleepers(12)))
    evaluate(folder, "run", "sleepers.jsonl", "--out", "sleepers")
    evaluate(folder, "run", "few.jsonl", "--out", "few")
    shutil.copytree(folder / "sleepers", folder / "changed")
    path = folder / "changed/run.json"
    record = json.loads(path.read_text("utf-8"))
    record["models"]["quantitative"] = ["ollama:other"]
    path.write_text(json.dumps(record), "utf-8")
    ends = all_shown(
        folder,
        {
            "fitted": ("belief", "sleepers", "--out", "fit.json"),
            "at_another_level": ("belief", "sleepers", "--level", "0.99"),
            "too_few": ("belief", "few", "--out", "none.json"),
            "too_few_told": ("belief", "few"),
            "both": ("belief", "sleepers", "few"),
            "twice": ("belief", "sleepers", "./sleepers"),
            "by_other_means": ("belief", "sleepers", "changed"),
            "without_labels": ("belief", "whole"),
            "no_run": ("belief", "texts"),
            "no_level": ("belief", "sleepers", "--level", "1"),
        },
    )
    figures = json.loads(evaluate(folder, "belief", "sleepers", "--json").out)
    fit = json.loads((folder / "fit.json").read_text("utf-8"))
    value = {"ends": ends, "figures": packed(_rounded(figures)), "fit": packed(_rounded(fit))}
    yield told("beliefs/fitted", value, folder)
    (folder / "no-fit.json").write_text("{}", "utf-8")
    (folder / "changed-fit.json").write_text(json.dumps(fit | {"level": 0.8}), "utf-8")
    fitted: dict[str, Json] = {}
    for name in ("fit.json", "missing.json", "no-fit.json", "changed-fit.json"):
        arguments = ("run", "few.jsonl", "--limit", "2", "--out", f"by-{name}")
        ended = evaluate(folder, *arguments, settings={"BELIEF_FIT": name})
        fitted[name] = shown(ended)
    other = {"BELIEF_FIT": "fit.json", "MODEL_DEFAULT": "ollama:gemma3"}
    ended = evaluate(folder, "run", "few.jsonl", "--out", "by-other", settings=other)
    fitted["of_another_model"] = shown(ended)
    lines = (folder / "by-fit.json/predictions.jsonl").read_text("utf-8").splitlines()
    beliefs = [
        {name: item["belief"] for name, item in json.loads(line)["items"].items()} for line in lines
    ]
    yield told("beliefs/used", {"ends": fitted, "beliefs": packed(_rounded(beliefs))}, folder)


def _sleepers(count: int) -> Iterator[dict[str, object]]:
    """Yield people who say how they sleep; each seventh says too little."""
    for at in range(count):
        scores = dict.fromkeys(ITEMS, at % 3) | {"Sleep": min(3, at % 4 + (at % 7 == 0))}
        said = f"Interviewer: How do you sleep?\nParticipant: {_HOW_OFTEN[at % 4]} I am {at}.\n"
        yield {"id": f"u{at:02}", "text": said, "items": list(scores.values())}


def _rounded(value: Json) -> Json:
    if isinstance(value, float):
        return float(f"{value:.{_FIT_DIGITS}g}")
    if isinstance(value, Mapping):
        return {name: _rounded(one) for name, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_rounded(one) for one in value]
    return value
