"""The canary through datasets, runs and pipelines: words stay in the files that are made for them.

Those are the ledger of a run, what `validate` writes about units, and what `export` writes.
Everything else, from the predictions to the report and both streams, holds none.
"""

import json
import os
import shutil
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ai_psychiatrist.domain.errors import AssessmentServiceError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.challenge.folder import (
    Difficulty,
    Interview,
    InterviewTruth,
    ItemTruth,
    contents_of,
    read_truth,
)
from ai_psychiatrist.evaluation.datasets.open_dataset import open_dataset
from ai_psychiatrist.evaluation.runs.units_file import read_labels
from ai_psychiatrist.evaluation.scores.prediction_lines import read_predictions
from ai_psychiatrist.pipelines.intake import read_outcomes
from tests.fakes.batch_server import BatchServer, Weather
from tests.fakes.embedding_server import answer, embedding_server
from tests.fakes.model_server import ModelServerThread, Reply, Request
from tests.fakes.pipeline_folder import PIPELINE, changed, written
from tests.fakes.run_words import words_in
from tests.integration.canary import (
    CANARY,
    INTERVIEW,
    NO_PARTICIPANT,
    SCENARIOS,
    assert_files_silent,
    assert_silent,
    canary_as_quote,
    canary_as_wrong_type,
)
from tests.integration.command import Finished
from tests.integration.command_here import run_here
from tests.integration.running_app import model_at

DEBUG = {"LOG_LEVEL": "DEBUG", "PYDANTIC_AI_RETRIES": "1", "FEEDBACK_MAX_ITERATIONS": "1"}
LEDGER = frozenset({"ledger.sqlite", "ledger.sqlite-wal"})
ITEM_COLUMNS = (
    "PHQ8_NoInterest,PHQ8_Depressed,PHQ8_Sleep,PHQ8_Tired,PHQ8_Appetite,PHQ8_Failure,"
    "PHQ8_Concentrating,PHQ8_Moving"
)
ROWS = (
    "start_time\tstop_time\tspeaker\tvalue\n"
    f"1\t2\tEllie\thow are you {CANARY}\n"
    f"3\t4\tParticipant\ti am tired nearly every day {CANARY}\n"
)
CUES = f"00:00:01.000 --> 00:00:02.000\n<v Participant>I am tired every day {CANARY}\n\n"
TURNS = [
    {"speaker": f"{CANARY} guest", "text": f"{CANARY} visits."},
    {"speaker": "Participant", "text": f"I am tired every day {CANARY}."},
]


def json_lines(*records: object) -> str:
    """Write records as lines, texts as they are."""
    texts = [record if isinstance(record, str) else json.dumps(record) for record in records]
    return "".join(f"{text}\n" for text in texts)


Files = Mapping[str, str | bytes]

DATASETS: dict[str, Files] = {
    "jsonl": {
        "talks.jsonl": json_lines(
            {"id": "a", "text": INTERVIEW, "total": 3, "topic": CANARY},
            {"id": "b", "turns": TURNS},
            {"id": "c", "text": NO_PARTICIPANT},
            {"id": "d", "text": INTERVIEW, "items": {f"{CANARY} key": CANARY}, "total": CANARY},
            {"id": "e", "text": {CANARY: CANARY}},
            {"id": "f", "conversations": [[{"role": "Patient", "text": [CANARY]}]]},
            {"id": "a", "text": f"Participant: {CANARY}"},
            f'{{"id": "g", "text": "{CANARY}',
            f'{{"id": "h", "text": "{CANARY} \\ud800"}}',
            [CANARY],
            CANARY,
        )
    },
    "text": {
        "a.txt": INTERVIEW,
        "b.vtt": f"WEBVTT\n\nNOTE {CANARY}\n\n{CUES}{CANARY} belongs to no cue\n",
        "c.vtt": f"{CANARY}\n\n{CUES}",
        "d.srt": f"1\n{CANARY} --> 00:00\n{CANARY}\n",
        "e.txt": f"Participant: {CANARY} \xff".encode("latin-1"),
        "f.txt": NO_PARTICIPANT,
        "g.txt": f"{CANARY}, and nobody said who speaks.",
        "notes.csv": f"{CANARY}\n",
        "labels.csv": f"unit_id,{ITEM_COLUMNS},comment\n"
        f"a,{CANARY},0,0,0,0,0,0,0,{CANARY}\nb,1,0,0,0,0,0,0,0,{CANARY},{CANARY}\n",
    },
    "daic-woz": {
        "300_P/300_TRANSCRIPT.csv": ROWS,
        "301_P/301_TRANSCRIPT.csv": f"{ROWS}5\t{CANARY}\n",
        "302_P/302_TRANSCRIPT.csv": f"{ROWS}5\t6\t{CANARY}\t{CANARY}\n",
        "303_P/303_TRANSCRIPT.csv": f"{CANARY}\t{CANARY}\n{ROWS}",
        "304_P/304_TRANSCRIPT.csv": f"{ROWS}{CANARY}\t6\tParticipant\t{CANARY}\n",
        "labels/train.csv": f"Participant_ID,PHQ8_Score,{ITEM_COLUMNS},note\n"
        f"300,1,1,0,0,0,0,0,0,0,{CANARY}\n304,{CANARY},0,0,0,0,0,0,0,0,{CANARY}\n",
        "labels/notes.csv": f"{CANARY}\n{CANARY}\n",
    },
}


def laid_out(folder: Path, files: Files) -> Path:
    """Write a dataset and return where it is opened."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder / "talks.jsonl" if "talks.jsonl" in files else folder


def told(
    folder: Path,
    *arguments: str | Path,
    settings: Mapping[str, str] | None = None,
    codes: tuple[int, ...] = (0,),
    stdin: bytes = b"",
) -> Finished:
    """Run a command that says nothing of what was said, on either stream."""
    texts = [os.fspath(argument) for argument in arguments]
    done = run_here(texts, folder, DEBUG | dict(settings or {}), stdin=stdin)
    assert done.code in codes, done.err
    assert "Traceback" not in done.err
    assert_silent(done.out, done.err)
    return done


@pytest.mark.parametrize(
    ("form", "log_format"), [("jsonl", "json"), ("text", "console"), ("daic-woz", "json")]
)
def test_datasets_of_every_form_are_checked_and_assessed_without_their_words(
    tmp_path: Path, form: str, log_format: str
) -> None:
    dataset = laid_out(tmp_path / "data", DATASETS[form])
    home = tmp_path / "home"
    home.mkdir()
    told(home, "evaluate", "datasets", "check", dataset, codes=(1,))
    listed = told(home, "evaluate", "datasets", "check", dataset, "--json", codes=(1,))
    assert json.loads(listed.out)["kind"] == form
    parts = ("splits", "--part", "test=1")
    told(home, "evaluate", "datasets", "split", dataset, *parts, codes=(0, 2))
    told(home, "evaluate", "replicate", dataset, "--out", "replication", codes=(2,))
    settings = {"LOG_FORMAT": log_format}
    for more in ((), ("--json",), ("--model", "openai:gpt-5-mini")):
        told(home, "evaluate", "run", dataset, "--plan", *more, settings=settings)
    told(home, "evaluate", "run", dataset, "--out", "run", settings=settings, codes=(1,))
    told(home, "evaluate", "run", dataset, "--out", "run", "--plan", settings=settings)
    told(home, "evaluate", "report", "run")
    assert CANARY.encode() in words_in(home / "run" / "ledger.sqlite")
    assert_files_silent(home, sinks=LEDGER)


WORDS_OF_REFERENCES = frozenset({"chunks.jsonl", "bm25_words.json"})


@pytest.mark.parametrize(
    ("form", "log_format"), [("jsonl", "json"), ("text", "console"), ("daic-woz", "json")]
)
def test_references_are_made_without_their_words(
    tmp_path: Path, form: str, log_format: str
) -> None:
    dataset = laid_out(tmp_path / "data", DATASETS[form])
    home = tmp_path / "home"
    home.mkdir()
    settings = {"LOG_FORMAT": log_format}
    told(home, "references", "build", dataset, "--out", "refs", settings=settings, codes=(1,))
    told(home, "references", "score", "refs", "--by", "labels", codes=(0, 2))
    told(home, "references", "score", "refs", "--by", "model", settings=settings)
    told(home, "references", "check", "refs")
    told(home, "references", "check", "refs", "--json")
    assert CANARY.encode() in (home / "refs" / "chunks.jsonl").read_bytes()
    assert_files_silent(home, sinks=LEDGER | WORDS_OF_REFERENCES)
    path = home / "refs" / "chunks.jsonl"
    path.write_bytes(path.read_bytes().replace(b"tired", b"weary"))
    told(home, "references", "check", "refs", codes=(2,))


def test_hostile_models_leak_nothing_of_references(tmp_path: Path) -> None:
    talks = laid_out(tmp_path / "data", {"talks.jsonl": json_lines({"id": "a", "text": INTERVIEW})})
    told(tmp_path, "references", "build", talks, "--out", "refs")
    score = ("references", "score", "refs", "--by", "model")
    for script in (canary_as_wrong_type, canary_as_quote):
        with ModelServerThread(script) as server:
            told(tmp_path, *score, settings=model_at(server.url), codes=(0, 1, 3))


HOSTILE_VECTORS: dict[str, tuple[int, object]] = {
    "refused": (400, {"error": {"message": f"{CANARY} is no input", "code": CANARY}}),
    "failing": (500, f"{CANARY}".encode()),
    "no vectors": (200, {"data": [CANARY], "model": CANARY}),
    "words": (200, answer([]) | {"data": [{"embedding": [CANARY], "index": 0}]}),
    "none": (200, answer([])),
    "no length": (200, answer([[0.0, 0.0]])),
}


@pytest.mark.parametrize("name", HOSTILE_VECTORS)
def test_hostile_embedders_leak_nothing(tmp_path: Path, name: str) -> None:
    talks = laid_out(tmp_path / "data", {"talks.jsonl": json_lines({"id": "a", "text": INTERVIEW})})
    with embedding_server(lambda _: HOSTILE_VECTORS[name]) as (url, asked):
        settings = {"REFERENCES_EMBEDDER": "openai:any", "OPENAI_BASE_URL": f"{url}/v1"}
        build = ("references", "build", talks, "--out", "dense")
        told(tmp_path, *build, settings=settings, codes=(2,))
    assert CANARY in json.dumps(asked)
    assert not (tmp_path / "dense").exists()


def hostile_talks(folder: Path) -> Path:
    """Write one interview for each way in which a model can fail."""
    path = folder / "talks.jsonl"
    talks = ({"id": f"u{at}", "text": f"{INTERVIEW}{_mark(at)}"} for at in range(len(SCENARIOS)))
    path.write_text(json_lines(*talks), "utf-8")
    return path


def hostile_reply(request: Request) -> Reply:
    """Fail in the way that belongs to the interview."""
    scripts = enumerate(SCENARIOS.values())
    return next(script for at, script in scripts if _mark(at) in request.transcript)(request)


def merge_damaged(folder: Path) -> None:
    """Merge shards whose files somebody wrote words into."""
    for name in ("run.json", "units.jsonl", "labels.jsonl", "timings.json"):
        path = folder / "part2" / name
        kept = path.read_bytes()
        for words in (CANARY, json.dumps(CANARY), json.dumps({CANARY: CANARY, "shard": CANARY})):
            path.write_text(f"{words}\n", "utf-8")
            told(folder, "evaluate", "merge", "part1", "part2", "--out", "odd", codes=(0, 1, 2, 3))
            shutil.rmtree(folder / "odd", ignore_errors=True)
        path.write_bytes(kept)


def _mark(at: int) -> str:
    return f"Interviewer: This is talk {at}.\n"


def test_runs_over_hostile_models_keep_words_in_the_ledger(tmp_path: Path) -> None:
    talks = hostile_talks(tmp_path)
    with ModelServerThread(hostile_reply) as models:
        settings = model_at(models.url) | {"LOG_FORMAT": "console"}
        told(tmp_path, "evaluate", "run", talks, "--out", "run", settings=settings, codes=(1,))
        some = ("evaluate", "run", talks, "--out", "series", "--limit", "4")
        told(tmp_path, *some, "--repeats", "2", settings=settings, codes=(0, 1, 3))
        for text in (f"evidence = '''{CANARY}'''", f"evidence = '{CANARY}"):
            (tmp_path / "odd.toml").write_text(text, "utf-8")
            told(tmp_path, *some, "--prompts", "odd=odd.toml", settings=settings, codes=(2,))
        (tmp_path / "odd.toml").unlink()
        for shard in ("1/2", "2/2"):
            part = ("--out", f"part{shard[0]}", "--shard", shard)
            told(tmp_path, "evaluate", "run", talks, *part, settings=settings, codes=(0, 1, 3))
    talks.unlink()
    told(tmp_path, "evaluate", "merge", "part1", "part2", "--out", "merged", codes=(0, 1, 3))
    told(tmp_path, "evaluate", "merge", "part1", "--out", "other", codes=(2,))
    merge_damaged(tmp_path)
    told(tmp_path, "evaluate", "compare", "series")
    told(tmp_path, "evaluate", "runs", "series")
    told(tmp_path, "evaluate", "table", "series", "--out", "series.csv")
    told(tmp_path, "evaluate", "metrics", "run")
    told(tmp_path, "evaluate", "belief", "run", "--out", "fit.json", codes=(2,))
    told(tmp_path, "evaluate", "belief", "run", "--json", codes=(2,))
    told(tmp_path, "evaluate", "metrics", "run", "--compare", "run", "--json")
    told(tmp_path, "evaluate", "compare", "run", "run")
    told(tmp_path, "evaluate", "runs", ".")
    told(tmp_path, "evaluate", "table", "run", "--out", "run.csv")
    told(tmp_path, "evaluate", "report", "run", "--compare", "run")
    told(tmp_path, "revalidate", "run", "--demote")
    told(tmp_path, "revalidate", "run", "--json")
    assert CANARY.encode() in words_in(tmp_path / "run" / "ledger.sqlite")
    assert_files_silent(tmp_path, sinks=LEDGER)
    told(tmp_path, "evaluate", "unit", "run", "u0", "--out", "unit.json")
    told(tmp_path, "export", "run", "--retry-failed")
    exported = list((tmp_path / "run" / "export").rglob("*"))
    assert_silent(*(path.name for path in exported))
    assert any(CANARY in path.read_text("utf-8") for path in exported if path.is_file())


@pytest.mark.parametrize(
    ("model", "log_format"), [("anthropic:fake", "json"), ("openai:fake", "console")]
)
def test_runs_by_batches_keep_words_in_the_ledger(
    tmp_path: Path, model: str, log_format: str
) -> None:
    talks = hostile_talks(tmp_path)
    weather = Weather(
        looks=1, is_reordered=True, broken_off=2, strangers=2, lost=lambda at: at == 1
    )
    with BatchServer(script=hostile_reply, weather=weather) as server:
        settings = server.settings | {"LOG_FORMAT": log_format, "MODEL_DEFAULT": model}
        settings |= {"BATCH_POLL_SECONDS": "0.01"}
        run_it = ("evaluate", "run", talks, "--out", "run")
        server.weather.refused_with = 400
        told(tmp_path, *run_it, "--batch", settings=settings, codes=(3,))
        server.weather.refused_with, server.weather.is_silent = None, True
        told(tmp_path, *run_it, "--resume", settings=settings, codes=(4,))
        server.weather.is_silent = False
        told(tmp_path, *run_it, "--resume", "--wait", settings=settings, codes=(1, 3))
        server.weather.vanished = frozenset(range(1, 99))
        told(tmp_path, *run_it, "--resume", "--retry-failed", settings=settings, codes=(1, 3, 4))
        told(tmp_path, *run_it, "--resume", settings=settings, codes=(1, 3, 4))
        again = ("--resume", "--hand-in-again")
        told(tmp_path, *run_it, *again, settings=settings, codes=(1, 3, 4))
    talks.unlink()
    assert any(CANARY in str(body) for batch in server.batches for _, body in batch.calls)
    assert CANARY.encode() in words_in(tmp_path / "run" / "ledger.sqlite")
    assert_files_silent(tmp_path, sinks=LEDGER)


def hostile_challenge(folder: Path) -> Path:
    """Write a challenge of one interview for each way in which a model can fail."""
    texts = {f"u{at}": f"{INTERVIEW}{_mark(at)}" for at in range(len(SCENARIOS))}
    truth = [
        InterviewTruth(
            unit_id=unit_id,
            participant=unit_id,
            difficulty=Difficulty.PLAIN,
            noise=None,
            injected=None,
            items=dict.fromkeys(Item, ItemTruth(score=1)),
            danger=(),
            is_dangerous=False,
        )
        for unit_id in texts
    ]
    interviews = [Interview(unit_id=unit_id, text=text) for unit_id, text in texts.items()]
    folder.mkdir()
    for name, content in contents_of(interviews, truth, seed=0, size=1).items():
        (folder / name).write_bytes(content)
    return folder


def test_challenges_over_hostile_models_keep_words_in_the_predictions(tmp_path: Path) -> None:
    told(tmp_path, "evaluate", "challenge", "make", "--out", "made", "--size", "1")
    folder, home = hostile_challenge(tmp_path / "challenge"), tmp_path / "home"
    home.mkdir()
    command = ("evaluate", "challenge")
    with ModelServerThread(hostile_reply) as models:
        settings = model_at(models.url) | {"LOG_FORMAT": "json"}
        run_it = (*command, "run", folder, "--out", "said.jsonl")
        told(home, *run_it, settings=settings, codes=(1,))
        told(home, *run_it, "--resume", settings=settings, codes=(1,))
    assert CANARY in (home / "said.jsonl").read_text("utf-8")
    told(home, *command, "score", folder, "said.jsonl", codes=(1,))
    told(home, *command, "score", folder, "said.jsonl", "--json", codes=(1,))
    assert_files_silent(home, sinks=frozenset({"said.jsonl"}))


def test_unusable_predictions_and_challenges_are_refused_without_their_words(
    tmp_path: Path,
) -> None:
    folder = hostile_challenge(tmp_path / "challenge")
    items = {item.value: {"score": None} for item in Item}
    quotes = [{"text": CANARY, "start": 0, "end": 3}]
    for number, unusable in enumerate(
        (
            f'{{"unit_id": "{CANARY}',
            {"unit_id": CANARY, "items": items},
            {"unit_id": "u0", "items": items | {CANARY: {"score": 1}}},
            {"unit_id": "u0", "items": items, CANARY: CANARY},
            {"unit_id": "u0", "items": items | {"PHQ8_Sleep": {"score": CANARY}}},
            {"unit_id": "u0", "items": items | {"PHQ8_Sleep": {"score": 1, "quotes": quotes}}},
        )
    ):
        path = tmp_path / f"{number}.jsonl"
        path.write_text(json_lines(unusable), "utf-8")
        told(tmp_path, "evaluate", "challenge", "score", folder, path, codes=(2,))
    for name in ("truth.jsonl", "interviews.jsonl", "challenge.json"):
        (folder / name).write_text(f'{{"unit_id": "{CANARY}", "{CANARY}": "{CANARY}"}}\n', "utf-8")
        told(tmp_path, "evaluate", "challenge", "score", folder, path, codes=(2,))


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        pytest.param(["--no-raw"], {}, id="no raw text"),
        pytest.param([], {"DATA_KEY_FILE": "key"}, id="encrypted"),
    ],
)
def test_runs_that_keep_no_readable_text_hold_no_words_at_all(
    tmp_path: Path, options: list[str], settings: dict[str, str]
) -> None:
    (tmp_path / "key").write_text("ab" * 32, encoding="ascii")
    talks = hostile_talks(tmp_path)
    with ModelServerThread(hostile_reply) as models:
        arguments: tuple[str | Path, ...] = ("run", talks, "--out", "run", *options)
        server = model_at(models.url)
        told(tmp_path, "evaluate", *arguments, settings=server | settings, codes=(1,))
    talks.unlink()
    assert_files_silent(tmp_path)


LISTED = json.dumps([{"value": 1, "note": CANARY}])
UNITS = json_lines(
    {"unit_id": "u1", "score": "2", "tone": "WARM", "note": CANARY},
    {"unit_id": "u2", "score": 1, "tone": "warm", "note": CANARY, "threshold": CANARY},
    {"unit_id": "u11", "score": 2, "tone": "warm", "items": LISTED, "note": CANARY},
    {"unit_id": "u3", "score": 9, "tone": CANARY},
    {"unit_id": "u4", "score": CANARY, "tone": {CANARY: CANARY}, f"{CANARY} key": CANARY},
    {"unit_id": "u1", "score": 1, "tone": "warm", "note": CANARY},
    {"unit_id": "u5", "error": {"code": f"{CANARY} said", "message": CANARY}},
    {"unit_id": "u6", "_raw_text": f"I am sorry, {CANARY}"},
    {"unit_id": "u7", "_raw_text": f'{{"score": 1, "tone": "warm", "unit_id": "{CANARY}"}}'},
    f'{{"unit_id": "u8", "score": 1, "tone": "warm", "note": "{CANARY}",}}',
    f'{{"unit_id": "u9", "note": "{CANARY}", "note": "{CANARY}"}}',
    f'{{"unit_id": "u10", "note": "{CANARY}',
    f'{{"unit_id": [{{"{CANARY}": 1}}]}}',
    [CANARY],
    CANARY,
)
CONTEXT = json_lines(*({"unit_id": f"u{n}", "threshold": 2, "topic": CANARY} for n in range(1, 13)))
INTERPOLATED = changed('"score {score} is below {threshold}"', '"{note} {topic} {score}"')
OUTPUTS = {name: f"{name}.out" for name in ("valid", "failures", "coercions")}


def validated(
    folder: Path,
    *more: str | Path,
    codes: tuple[int, ...] = (1,),
    log_format: str = "console",
) -> Finished:
    """Run `validate` over the units with a file for each of its outputs."""
    options = [part for name, path in OUTPUTS.items() for part in (f"--{name}", path)]
    options += ["--config", "pipeline.yaml", "--step", "rate", "--summary", "summary.json"]
    settings = {"LOG_FORMAT": log_format}
    return told(folder, "validate", "units.jsonl", *options, *more, codes=codes, settings=settings)


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """A folder with a pipeline whose messages quote the answers, units and their context."""
    folder = tmp_path / "units"
    folder.mkdir()
    written(folder, INTERPOLATED)
    (folder / "units.jsonl").write_text(UNITS, "utf-8")
    (folder / "context.jsonl").write_text(CONTEXT, "utf-8")
    return folder


def test_units_are_validated_into_their_outputs_alone(units: Path) -> None:
    validated(units)
    validated(units, "--context", "context.jsonl", "--run", "run", log_format="json")
    sinks = frozenset({"units.jsonl", "context.jsonl", *OUTPUTS.values(), *LEDGER})
    assert_files_silent(units, sinks=sinks)
    texts = {name: (units / path).read_text("utf-8") for name, path in OUTPUTS.items()}
    assert all(CANARY in text for text in texts.values())
    told(units, "revalidate", "run", "--demote")
    told(units, "revalidate", "run", "--json")
    told(units, "export", "run", "--out", "exported", "--retry-failed")
    assert CANARY in (units / "exported" / "rate_failures.jsonl").read_text("utf-8")
    exported = {f"rate_{name}.jsonl" for name in ("validated", "failures", "queue")}
    assert_files_silent(units, sinks=sinks | exported)


MEASURE = """\
    - name: measure
      scope: expression
      expressions:
        words: "len(topic.split())"
        best: "10 // (2 - threshold)"
"""
RULE_OF_EXPRESSIONS = """\
validation:
  measure:
    rules:
      - {name: few, expr: "words < 2", error: "{topic}"}
"""


def test_pipelines_are_run_over_hostile_models_into_their_outputs_alone(tmp_path: Path) -> None:
    steps = INTERPOLATED.replace("    - name: rate\n", f"{MEASURE}    - name: rate\n")
    written(
        tmp_path,
        steps.replace("validation:\n", RULE_OF_EXPRESSIONS).replace(
            "    max_attempts: 2\n", "    max_attempts: 2\n    initial_delay_seconds: 0\n"
        ),
        template="Talk {{ mark }} about {{ topic }}.",
    )
    asked = [{"mark": _mark(at), "topic": CANARY, "threshold": 1} for at in range(len(SCENARIOS))]
    asked += [
        {"topic": CANARY, "threshold": 1},
        {"topic": CANARY, "threshold": 2},
        {"topic": f"{CANARY} {CANARY}", "threshold": 1},
    ]
    units = [{"unit_id": f"u{at}", **fields} for at, fields in enumerate(asked)]
    (tmp_path / "units.jsonl").write_text(json_lines(*units), "utf-8")

    def hostile(request: Request) -> Reply:
        task = next(each.content for each in request.messages if each.role == "user")
        return next(script for at, script in enumerate(SCENARIOS.values()) if _mark(at) in task)(
            request
        )

    command: tuple[str, ...] = ("pipeline", "run", "pipeline.yaml", "--out", "run")
    with ModelServerThread(hostile) as models:
        settings = model_at(models.url) | {"LOG_FORMAT": "json"}
        for more in ((), ("--resume", "--retry-failed")):
            told(tmp_path, *command, "--units", "units.jsonl", *more, settings=settings, codes=(3,))
        told(tmp_path, *command, "--units", "pipeline.yaml", settings=settings, codes=(2,))
    told(tmp_path, "revalidate", "run", "--json")
    weather = Weather(is_reordered=True, broken_off=1, strangers=2, lost=lambda at: at == 1)
    with BatchServer(script=hostile, weather=weather) as server:
        settings = server.settings | {"LOG_FORMAT": "console", "MODEL_DEFAULT": "openai:fake"}
        settings |= {"BATCH_POLL_SECONDS": "0.01"}
        command = ("pipeline", "run", "pipeline.yaml", "--out", "batched", "--units", "units.jsonl")
        server.weather.refused_with = 400
        told(tmp_path, *command, "--batch", settings=settings, codes=(3,))
        server.weather.refused_with = None
        told(tmp_path, *command, "--resume", "--wait", settings=settings, codes=(1, 3))
    assert CANARY.encode() in words_in(tmp_path / "batched" / "ledger.sqlite")
    exported = {
        f"{step}_{kind}.jsonl"
        for step in ("measure", "rate")
        for kind in ("validated", "failures", "queue")
    }
    assert_files_silent(tmp_path, sinks=frozenset({"units.jsonl", *LEDGER, *exported}))
    rules = (tmp_path / "run" / "export" / "measure_failures.jsonl").read_text("utf-8")
    assert "expression_arithmetic" in rules
    assert f'"{CANARY} {CANARY}"' in rules
    assert "missing_variable" in (tmp_path / "run/export/rate_failures.jsonl").read_text("utf-8")


def test_standard_streams_of_validate_hold_units_and_failures_alone(units: Path) -> None:
    command = ["validate", "--config", "pipeline.yaml", "--step", "rate"]
    done = run_here(command, units, DEBUG, stdin=UNITS.encode())
    assert done.code == 1
    assert all("unit_id" in json.loads(line) for line in done.out.splitlines())
    assert all("failure_stage" in json.loads(line) for line in done.err.splitlines())


@pytest.mark.parametrize(
    "context",
    [
        pytest.param(f'{{"unit_id": "u1", "topic": "{CANARY}', id="no JSON"),
        pytest.param(json_lines({"topic": CANARY}), id="no id"),
        pytest.param(json_lines([CANARY]), id="no object"),
        pytest.param(CONTEXT + CONTEXT, id="twice"),
        pytest.param(f'{{"unit_id": "u1", "topic": "{CANARY} \xff"}}', id="no UTF-8"),
    ],
)
def test_broken_contexts_are_refused_without_their_words(units: Path, context: str) -> None:
    (units / "context.jsonl").write_bytes(context.encode("latin-1"))
    validated(units, "--context", "context.jsonl", codes=(2,))
    assert not any((units / name).exists() for name in OUTPUTS.values())


SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}}
TEXTS_OF_PIPELINES: dict[str, Callable[[Path], Path]] = {
    "a comment beside broken YAML": lambda folder: written(
        folder, f"pipeline: [\n# {CANARY}\n  'unclosed\n"
    ),
    "a tab": lambda folder: written(folder, f"pipeline:\n\t{CANARY}: 1\n"),
    "a control character": lambda folder: written(folder, f"# {CANARY}\x07\n{PIPELINE}"),
    "a description": lambda folder: written(
        folder, changed("    - name: rate\n", f"    - name: rate\n      description: [{CANARY}]\n")
    ),
    "a template that does not parse": lambda folder: written(
        folder, template=f"{CANARY} {{% if %}} {CANARY}"
    ),
    "a template with its text": lambda folder: written(folder, template=f"{CANARY} {{{{ nope }}}}"),
    "a schema that is no JSON": lambda folder: written(folder, schema=f'{{"type": "{CANARY}'),
    "a schema's examples": lambda folder: written(
        folder, schema={**SCHEMA, "examples": [CANARY], "description": CANARY, "minimum": CANARY}
    ),
}


@pytest.mark.parametrize("case", TEXTS_OF_PIPELINES)
def test_linting_repeats_no_text_of_pipelines(tmp_path: Path, case: str) -> None:
    path = TEXTS_OF_PIPELINES[case](tmp_path)
    for output_format in ("text", "json"):
        told(tmp_path, "lint-config", path, "--format", output_format, codes=(0, 2))


FAILURE = {"unit_id": "u1", "failure_stage": "validation", "raw_response": CANARY}
UNUSABLE_IMPORTS = {
    "no JSON": f'{{"unit_id": "u1", "raw_response": "{CANARY}',
    "no object": json.dumps([CANARY]),
    "no id": json.dumps({"raw_response": CANARY}),
    "an unknown stage": json.dumps(FAILURE | {"failure_stage": CANARY}),
    "an input that is no object": json.dumps(FAILURE | {"input": CANARY}),
    "retries that are no number": json.dumps(FAILURE | {"retry_count": CANARY}),
    "errors that are no objects": json.dumps(FAILURE | {"errors": [CANARY]}),
    "an answer that is no text": json.dumps({"unit_id": "u1", "_raw_text": [CANARY]}),
}


def test_imports_are_taken_into_the_ledger_alone(tmp_path: Path) -> None:
    config = written(tmp_path, INTERPOLATED)
    file = tmp_path / "lines.jsonl"
    arguments = ("import", "run", "lines.jsonl", "--step", "rate", "--config", config)
    for content in UNUSABLE_IMPORTS.values():
        file.write_text(f"{json.dumps(FAILURE)}\n{content}\n", "utf-8")
        told(tmp_path, *arguments, codes=(2,))
    error = {"path": CANARY, "rule": CANARY, "message": CANARY}
    valid = {"unit_id": "u2", "score": 1, "tone": "warm", "note": CANARY}
    file.write_text(
        json_lines(FAILURE | {"errors": [error], "input": {"topic": CANARY}}, valid), "utf-8"
    )
    told(tmp_path, *arguments)
    told(tmp_path, "revalidate", "run", "--demote")
    file.unlink()
    assert CANARY.encode() in words_in(tmp_path / "run" / "ledger.sqlite")
    assert_files_silent(tmp_path, sinks=LEDGER)


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over one interview."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "talks.jsonl").write_text(json_lines({"id": "a", "text": INTERVIEW, "total": 3}))
    told(folder, "evaluate", "run", "talks.jsonl", "--out", "run")
    return folder / "run"


def with_field(path: Path, **fields: object) -> str:
    """Return the first record of a file with fields set."""
    return json_lines(json.loads(path.read_text("utf-8").splitlines()[0]) | fields)


DAMAGES: dict[str, tuple[str, Callable[[Path], str]]] = {
    "no JSON": ("predictions.jsonl", lambda _: f'{{"unit_id": "{CANARY}'),
    "no object": ("predictions.jsonl", lambda _: json.dumps([CANARY])),
    "an unknown field": ("predictions.jsonl", lambda path: with_field(path, **{CANARY: CANARY})),
    "a status": ("predictions.jsonl", lambda path: with_field(path, status=CANARY)),
    "items": ("predictions.jsonl", lambda path: with_field(path, items={CANARY: {CANARY: 1}})),
    "attempts": ("predictions.jsonl", lambda path: with_field(path, attempts=[{"code": CANARY}])),
    "a label": ("labels.jsonl", lambda path: with_field(path, total=CANARY)),
    "a label's key": ("labels.jsonl", lambda path: with_field(path, items={CANARY: 1})),
    "a label that is no JSON": ("labels.jsonl", lambda _: f'"{CANARY}'),
    "what it was made with": ("run.json", lambda _: f'{{"{CANARY}": '),
    "what it was made with, as a list": ("run.json", lambda _: json.dumps([CANARY])),
}


@pytest.mark.parametrize("case", DAMAGES)
def test_damaged_runs_are_refused_without_what_is_in_them(
    tmp_path: Path, whole_run: Path, case: str
) -> None:
    name, damage = DAMAGES[case]
    for file in ("run.json", "labels.jsonl", "predictions.jsonl"):
        (tmp_path / file).write_bytes((whole_run / file).read_bytes())
    (tmp_path / name).write_text(damage(whole_run / name), "utf-8")
    told(tmp_path, "evaluate", "metrics", ".", codes=(2,))
    assert not (tmp_path / "metrics.json").exists()


LEDGER_COMMANDS = {
    "revalidate": ("revalidate", "."),
    "export": ("export", "."),
    "import": ("import", ".", "lines.jsonl", "--step", "assessment"),
    "evaluate run": ("evaluate", "run", "talks.jsonl", "--out", ".", "--resume"),
}


@pytest.mark.parametrize("command", LEDGER_COMMANDS)
def test_ledgers_that_are_none_are_refused_without_what_is_in_them(
    tmp_path: Path, whole_run: Path, command: str
) -> None:
    (tmp_path / "run.json").write_bytes((whole_run / "run.json").read_bytes())
    (tmp_path / "ledger.sqlite").write_text(f"{CANARY}\n" * 1000)
    (tmp_path / "lines.jsonl").write_text(json_lines(FAILURE))
    (tmp_path / "talks.jsonl").write_bytes((whole_run.parent / "talks.jsonl").read_bytes())
    told(tmp_path, *LEDGER_COMMANDS[command], codes=(2,))


def test_report_and_dataset_are_not_written_over_words(tmp_path: Path, whole_run: Path) -> None:
    (tmp_path / "notes.txt").write_text(CANARY)
    told(tmp_path, "evaluate", "datasets", "make", ".", codes=(2,))
    told(tmp_path, "evaluate", "datasets", "make", "notes.txt", codes=(2,))
    told(tmp_path, "evaluate", "report", whole_run, "--out", "notes.txt/report.html", codes=(2,))
    assert (tmp_path / "notes.txt").read_text() == CANARY


UNREADABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    **{f"import of {case}": (lambda path: list(read_outcomes(path)), UNUSABLE_IMPORTS[case])
       for case in UNUSABLE_IMPORTS},
    "a prediction": (read_predictions, f'{{"unit_id": "{CANARY}", "{CANARY}": "{CANARY}"}}'),
    "a broken prediction": (read_predictions, f'{{"{CANARY}'),
    "a label": (read_labels, f'{{"unit_id": "{CANARY}", "items": {{"{CANARY}": "{CANARY}"}}}}'),
    "a truth": (read_truth, f'{{"unit_id": "{CANARY}", "items": {{"{CANARY}": "{CANARY}"}}}}'),
    "a dataset": (open_dataset, CANARY),
}  # fmt: skip


@pytest.mark.parametrize("case", UNREADABLE)
def test_errors_about_files_do_not_repeat_them(tmp_path: Path, case: str) -> None:
    read, content = UNREADABLE[case]
    path = tmp_path / "file"
    path.write_text(f"{content}\n", "utf-8")
    with pytest.raises(AssessmentServiceError) as raised:
        read(path)
    shown = "".join(traceback.format_exception(raised.value))
    assert_silent(repr(raised.value), repr(vars(raised.value)), shown)
