"""The command line as people use it: what it prints where, and how it ends."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

import httpx
import pytest
import typer

from ai_psychiatrist import __version__
from ai_psychiatrist.cli.app import COMMANDS, EVALUATE, app, evaluate_app
from ai_psychiatrist.cli.command_app import LazyCommand
from ai_psychiatrist.config import env_example
from ai_psychiatrist.domain.assessment import Assessment
from tests.fakes.model_server import ModelServerThread, Reply, Request, fault
from tests.fakes.replies import (
    JUDGE_TASKS,
    QUALITATIVE_TASKS,
    good_text,
    judge_text,
    meta_review_text,
    participant_quotes,
    qualitative_text,
)
from tests.integration.command import COMMAND, Serving, commands_in, environment_of, run
from tests.integration.running_app import model_at
from tests.integration.soundness import assert_sound
from tests.integration.started import start
from tests.patience import PATIENCE_SECONDS, wait_until

EXAMPLE = Path(__file__).parents[2] / "examples" / "interview.txt"
INTERVIEW = (
    "Interviewer: How have you been sleeping?\r\n"
    "Participant: Badly. I wake up at four nearly every night.\r\n"
)
ACTING = "\x1b[31m\x1b]8;;http://x.invalid\x07\x9b2J\u202e\u2066\x08\x00"
"""Colours, a link, erasure, direction marks, backspace and NUL."""
ANSWER_SECONDS = 1.0
in_both_forms = pytest.mark.parametrize("form", [[], ["--json"]], ids=["words", "json"])


@pytest.fixture
def interview(tmp_path: Path) -> str:
    path = tmp_path / "interview.txt"
    path.write_bytes(INTERVIEW.encode())
    return path.name


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--help"], ["assess", "serve", "settings", "not a medical device"]),
        (["assess", "--help"], ["FILE", "--json", "cat interview.txt", "Exit status: 0 complete"]),
        (["--version"], [__version__]),
    ],
    ids=" ".join,
)
def test_help_and_version_are_printed(
    tmp_path: Path, arguments: list[str], words: list[str]
) -> None:
    done = run(arguments, tmp_path, is_afresh=True)
    assert done.code == 0
    assert done.err == ""
    for word in words:
        assert word in done.out


@pytest.mark.parametrize(
    ("arguments", "unused"),
    [
        (["--help"], ("pydantic_ai", "fastapi", "rich", "ai_psychiatrist.wiring")),
        (
            ["evaluate", "challenge", "make", "--help"],
            ("pydantic_ai", "numpy", "ai_psychiatrist.wiring"),
        ),
        (
            ["assess", str(EXAMPLE)],
            ("pydantic_ai", "fastapi", "aiohttp", "ai_psychiatrist.evaluation"),
        ),
        (["validate", "--help"], ("pydantic_ai", "fastapi", "sqlalchemy")),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else None,
)
def test_what_a_command_does_not_use_is_not_imported(
    tmp_path: Path, arguments: list[str], unused: tuple[str, ...]
) -> None:
    script = (
        "import sys\n"
        "from ai_psychiatrist.cli import main\n"
        "try:\n"
        "    main(sys.argv[2:])\n"
        "except SystemExit as end:\n"
        "    assert not end.code\n"
        "sys.exit(' '.join(one for one in sys.argv[1].split() if one in sys.modules) or 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, " ".join(unused), *arguments],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize(
    ("listed", "group"),
    [(COMMANDS, app), (EVALUATE, evaluate_app)],
    ids=["all", "evaluate"],
)
def test_commands_are_listed_with_the_first_sentence_of_their_help(
    listed: Mapping[str, LazyCommand], group: typer.Typer
) -> None:
    assert {
        name: " ".join(getattr(command, "help", "").split("\n\n")[0].split())
        for name, command in commands_in(typer.main.get_command(group)).items()
        if listed[name].help
    } == {name: one.help for name, one in listed.items() if one.help}


def test_settings_prints_a_file_that_can_be_used(tmp_path: Path) -> None:
    done = run(["settings"], tmp_path)
    assert done.code == 0
    assert done.out == env_example()
    for name in ("MODEL_DEFAULT=baseline", "API_PORT=8000", "OLLAMA_HOST=127.0.0.1"):
        assert name in done.out
    assert "OPENAI_API_KEY=\n" in done.out


def test_settings_prints_defaults_and_no_value_of_the_environment(tmp_path: Path) -> None:
    done = run(["settings"], tmp_path, {"OPENAI_API_KEY": "sk-nonesuch", "API_HOST": "x.nonesuch"})
    assert "nonesuch" not in done.out + done.err


UNUSABLE = {
    "missing file": (["assess", "nonesuch.txt"], b"", "cannot be read: No such file"),
    "a folder": (["assess", "."], b"", "cannot be read: Is a directory"),
    "no text": (["assess", "-"], b"Participant: \x00\x01\xff\xfe", "it is not text"),
    "nobody known": (["assess", "-"], b"Anna: hi\nTom: ho", "label: Anna\n  label: Tom\n"),
    "empty": (["assess", "-"], b"", "the transcript is empty"),
    "blank": (["assess", "-"], b" \r\n\t", "the transcript is empty"),
    "no participant": (["assess", "-"], b"Ellie: hello", "TRANSCRIPT_PARTICIPANT_LABELS"),
    "too long": (["assess", "-"], b"I sleep. " * 50_000, "API_MAX_TRANSCRIPT_CHARS"),
    "no file named": (["assess"], b"", "Missing argument 'FILE'"),
    "unknown command": (["asses", "x"], b"", "No such command 'asses'"),
    "unknown option": (["assess", "x", "--jason"], b"", "No such option: --jason"),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_unusable_input_ends_with_status_2_and_says_why(tmp_path: Path, case: str) -> None:
    arguments, stdin, words = UNUSABLE[case]
    done = run(arguments, tmp_path, stdin=stdin)
    assert done.code == 2
    assert done.out == ""
    assert words in done.err
    assert "Traceback" not in done.err


UNUSABLE_SETTINGS = {
    "misspelt": ("assess", {"PYDANTIC_AI_ENABELD": "nonesuch"}, ["PYDANTIC_AI_ENABLED?"]),
    "letters swapped": ("serve", {"API_PROT": "nonesuch"}, ["API_PROT", "API_PORT?"]),
    "not a number": ("assess", {"PYDANTIC_AI_RETRIES": "nonesuch"}, []),
    "not a level": ("serve", {"LOG_LEVEL": "nonesuch"}, []),
    "no examples": ("assess", {"ENABLE_FEW_SHOT": "true"}, ["ENABLE_FEW_SHOT"]),
    "no base URL": ("serve", {"MODEL_DEFAULT": "openai-chat:x"}, ["OPENAI_BASE_URL"]),
}


@pytest.mark.parametrize("case", UNUSABLE_SETTINGS)
def test_unusable_settings_end_with_status_2_and_name_them(
    tmp_path: Path, interview: str, case: str
) -> None:
    command, settings, words = UNUSABLE_SETTINGS[case]
    arguments = ["assess", interview] if command == "assess" else ["serve"]
    done = run(arguments, tmp_path, {"API_PORT": "0"} | settings)
    assert done.code == 2
    assert done.err.startswith("error: ")
    for word in [*words, *(name for name, value in settings.items() if value == "nonesuch")]:
        assert word in done.err
    assert "nonesuch" not in done.err + done.out
    assert "Traceback" not in done.err


def test_a_partial_assessment_ends_with_status_1(tmp_path: Path, interview: str) -> None:
    with ModelServerThread(fault("prose", tasks=["scoring"])) as models:
        done = run(["assess", interview], tmp_path, model_at(models.url))
    assert done.code == 1
    assert "Total: none, the items were not scored" in done.out
    assert "quantitative: No model of the chain gave an acceptable reply." in done.out
    assert "output_rejected" in done.out
    assert "Account: partial" in done.out


def test_nothing_finished_ends_with_status_3(tmp_path: Path, interview: str) -> None:
    with ModelServerThread(fault("status_500")) as models:
        done = run(["assess", interview, "--json"], tmp_path, model_at(models.url))
    assert done.code == 3
    body = json.loads(done.out)
    assert body["status"] == "failed"
    assert body["failures"]


def acting(request: Request) -> Reply:
    """Put what a terminal would obey wherever a reply carries text."""
    quotes = participant_quotes(request.transcript)
    if request.task in QUALITATIVE_TASKS:
        return Reply(text=qualitative_text([*quotes, f"unsaid {ACTING}"], f"low {ACTING}"))
    if request.task in JUDGE_TASKS:
        return Reply(text=judge_text("4", f"fine {ACTING}"))
    if request.task == "meta_review":
        return Reply(text=meta_review_text("2", f"because {ACTING}"))
    text = good_text(request.task, quotes)
    return Reply(text=text.replace("The participant says so.", "so \\u001b[31m\\u202e"))


ACTING_INTERVIEW = f"Participant: I wake up {ACTING} at four nearly every night. I feel tired.\n"


def assert_nothing_acts(text: str) -> None:
    assert not [mark for mark in text if not mark.isprintable() and mark != "\n"]


def test_nothing_in_transcript_or_reply_acts_on_the_terminal(tmp_path: Path) -> None:
    with ModelServerThread(acting) as models:
        stdin = ACTING_INTERVIEW.encode()
        done = run(["assess", "-"], tmp_path, model_at(models.url), stdin=stdin)
    assert done.code == 0, done.err
    assert_nothing_acts(done.out + done.err)
    assert "because \ufffd[31m" in done.out
    assert "fine \ufffd[31m" in done.out
    assert "unverified" in done.out


def test_json_is_the_body_of_the_http_answer_and_acts_on_no_terminal(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("SOMEBODY_ELSES=1\n", encoding="utf-8")
    with ModelServerThread(acting) as models:
        stdin = ACTING_INTERVIEW.encode()
        done = run(["assess", "-", "--json"], tmp_path, model_at(models.url), stdin=stdin)
    assert done.code == 0, done.err
    body = json.loads(done.out)
    assert set(body) == {one.name for one in fields(Assessment)}
    assert Assessment.model_validate(body).status == "complete"
    assert_sound(body, ACTING_INTERVIEW)
    assert body["meta_review"]["explanation"] == f"because {ACTING}"
    assert_nothing_acts(done.out)
    assert "SOMEBODY_ELSES" in done.err


def test_a_terminal_without_unicode_gets_the_whole_report(tmp_path: Path, interview: str) -> None:
    done = run(["assess", interview], tmp_path, {"PYTHONIOENCODING": "ascii"})
    assert done.code == 0, done.err
    assert done.err == ""
    assert done.out.isascii()
    for words in (
        "Not a medical device",
        "rule baseline",
        "I wake up at four nearly every night.",
        "unknown: no",
        "An unknown item is not a 0",
        "Account: complete",
    ):
        assert words in done.out


def test_serve_answers_and_stops_when_asked(tmp_path: Path) -> None:
    with Serving(tmp_path, {"LOG_FORMAT": "json"}) as serving:
        with httpx.Client(
            base_url=serving.url, timeout=PATIENCE_SECONDS, trust_env=False
        ) as client:
            assert client.get("/readyz").json() == {"status": "ok"}
            answer = client.post("/full_pipeline", json={"transcript_text": INTERVIEW})
            # On a busy machine some are late; where the socket delays answers, all of them are.
            wait_until(lambda: client.get("/healthz").elapsed.total_seconds() < ANSWER_SECONDS)
        busy = run(["serve"], tmp_path, {"API_PORT": serving.url.rpartition(":")[2]})
        done = serving.stop()
    assert answer.json()["status"] == "complete"
    assert done.out == ""
    lines = done.served_lines
    events = {line["event"] for line in lines}
    assert events == {
        "crisis_line_not_set",
        "attempt_finished",
        "assessment_finished",
        "request_finished",
    }
    # Probes that succeed are told at DEBUG alone.
    finished = {line.get("route") for line in lines if line["event"] == "request_finished"}
    assert finished == {"/full_pipeline"}
    assert busy.code == 2
    assert "Address already in use" in busy.err


@in_both_forms
def test_a_full_disk_is_told_and_is_no_partial_assessment(
    tmp_path: Path, interview: str, form: list[str]
) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [COMMAND, "assess", interview, *form],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=environment_of(tmp_path, {}),
            check=False,
        )
    assert done.stderr == "error: the output cannot be written: No space left on device\n"
    assert done.returncode == 2


@in_both_forms
def test_a_reader_that_goes_away_is_no_partial_assessment(
    tmp_path: Path, interview: str, form: list[str]
) -> None:
    assert_ends_without_reader(tmp_path, "assess", interview, *form)


@pytest.mark.parametrize("words", [("doctor",), ("settings",), ("evaluate", "metrics", "--list")])
def test_a_reader_that_goes_away_is_no_fault_of_the_setup(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    assert_ends_without_reader(tmp_path, *words)


def assert_ends_without_reader(tmp_path: Path, *words: str) -> None:
    env = environment_of(tmp_path, {})
    reading, writing = os.pipe()
    # Before it is started: what takes little time may have ended before it could be closed here.
    os.close(reading)
    with start([COMMAND, *words], tmp_path, env, streams={1: writing}) as process:
        os.close(writing)
        assert process.stderr.read() == b""
        assert process.wait() == 141
