"""The public measure through the real command: made, answered, gone on with, scored."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.faults import FAULTS, only_for
from tests.fakes.model_server import ModelServerThread, good_replies
from tests.integration.command import Finished
from tests.integration.command_here import run_here
from tests.integration.running_app import model_at

QUICK = {"PYDANTIC_AI_RETRIES": "0", "MODEL_BUSY_WAITS_SECONDS": "0"}


def challenge(folder: Path, *arguments: str, **settings: str) -> Finished:
    return run_here(["evaluate", "challenge", *arguments], folder, QUICK | settings)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A challenge of the smallest size with the baseline's answers, which is read alone."""
    folder = tmp_path_factory.mktemp("challenge")
    done = challenge(folder, "make", "--out", "small", "--size", "1", "--seed", "3")
    assert (done.code, done.err) == (0, "")
    assert done.out == "16 interviews in small/interviews.jsonl; their truth in small/truth.jsonl\n"
    done = challenge(folder, "run", "small", "--out", "baseline.jsonl")
    assert done.code == 0, done.err
    assert "16 of 16 interviews answered, 0 failed" in done.err
    return folder


def answers(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_answers_are_as_any_system_gives_them(made: Path) -> None:
    interviews = {one["unit_id"]: one["text"] for one in answers(made / "small/interviews.jsonl")}
    found = answers(made / "baseline.jsonl")
    assert [one["unit_id"] for one in found] == list(interviews)
    quotes = [
        (interviews[one["unit_id"]], quote)
        for one in found
        for item in one["items"].values()
        for quote in item.get("quotes", ())
    ]
    assert len(quotes) > 50
    assert all(text[at["start"] : at["end"]] == at["text"] for text, at in quotes)


def test_systems_are_shown_side_by_side(made: Path, tmp_path: Path) -> None:
    kept = (made / "baseline.jsonl").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "half.jsonl").write_text("".join(kept[:8]), "utf-8")
    done = challenge(made, "score", "small", "baseline.jsonl", str(tmp_path / "half.jsonl"))
    assert (done.code, done.err) == (1, "")
    assert "half: 8 interviews are not in its file and 0 have no items" in done.out
    assert "baseline:" not in done.out
    for words in ("charged error, points", "loss to 30% wrong words", "danger found", "irony"):
        assert words in done.out


def test_figures_are_printed_as_json(made: Path) -> None:
    done = challenge(made, "score", "small", "baseline.jsonl", "--json")
    assert done.code == 0
    document = json.loads(done.out)
    (system,) = document["systems"]
    assert (system["name"], system["interviews"], system["missing"]) == ("baseline", 16, 0)
    charged = system["all"]["charged_error"]
    assert charged["n"] == 16 * 8
    assert charged["interval"][0] < charged["value"] < charged["interval"][1]
    assert set(system["noise"]) == {"0%", "10%", "20%", "30%"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("make", "--out", "small"), "'small' is not empty; name a folder that is new"),
        (("make", "--out", "new", "--size", "0"), "--size is from 1 to 1000"),
        (
            ("run", "small", "--out", "baseline.jsonl"),
            "already exists; name a new file, or continue",
        ),
        (("run", ".", "--out", "new.jsonl"), "challenge.json of the challenge cannot be read"),
        (("run", "small", "--out", "none/new.jsonl"), "none/new.jsonl cannot be written"),
        (("run", "small", "--out", "none.jsonl", "--resume"), "none.jsonl cannot be written"),
        (("score", "small", "none.jsonl"), "cannot read 'none.jsonl'"),
        (("score", "small", "small/truth.jsonl"), "truth.jsonl: line 1 is unusable"),
        (("score", "small", "baseline.jsonl", "./baseline.jsonl"), "are called 'baseline'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_cannot_be_used_is_refused(made: Path, arguments: tuple[str, ...], says: str) -> None:
    done = challenge(made, *arguments)
    assert done.code == 2, done.out
    assert done.err.startswith("error: ")
    assert says in done.err
    assert not (made / "new").exists()


def test_answers_to_another_challenge_are_refused(made: Path, tmp_path: Path) -> None:
    challenge(tmp_path, "make", "--out", "other", "--size", "1", "--seed", "4")
    done = challenge(tmp_path, "score", "other", str(made / "baseline.jsonl"))
    assert done.code == 2
    assert "line 1 is unusable at unit_id: this challenge has no such interview" in done.err


def test_a_stopped_run_goes_on_with_what_is_missing_torn_or_failed(
    made: Path, tmp_path: Path
) -> None:
    lines = (made / "baseline.jsonl").read_bytes().splitlines(keepends=True)
    said = json.loads(lines[2])
    failed = json.dumps({"unit_id": said["unit_id"], "items": {}, "system": said["system"]})
    path = tmp_path / "stopped.jsonl"
    path.write_bytes(b"".join([*lines[3:12], failed.encode() + b"\n", lines[0][:40]]))
    done = challenge(made, "run", "small", "--out", str(path), "--resume")
    assert "16 of 16 interviews answered, 0 failed; 14 model calls made now" in done.err
    assert path.read_bytes() == b"".join(lines)
    again = challenge(made, "run", "small", "--out", str(path), "--resume")
    assert "0 model calls made now" in again.err


def test_a_run_goes_on_with_the_same_models_alone(made: Path, tmp_path: Path) -> None:
    path = tmp_path / "stopped.jsonl"
    path.write_bytes(b"".join((made / "baseline.jsonl").read_bytes().splitlines(True)[:3]))
    other = ("--model", "ollama:none")
    done = challenge(made, "run", "small", "--out", str(path), "--resume", *other)
    assert done.code == 2
    assert "holds answers of baseline, not of ollama:none" in done.err
    with path.open("ab") as file:
        file.write((made / "baseline.jsonl").read_bytes().replace(b'"baseline"', b'"another"'))
    done = challenge(made, "score", "small", str(path))
    assert "line 4 is unusable at" in done.err


def test_a_model_answers_and_one_that_fails_is_told(made: Path, tmp_path: Path) -> None:
    for script, code, name in (
        (good_replies(), 0, "good"),
        (only_for(["scoring"], FAULTS["status_500"]), 3, "failing"),
    ):
        out = tmp_path / f"{name}.jsonl"
        with ModelServerThread(script) as models:
            settings = model_at(models.url)
            done = challenge(made, "run", "small", "--out", str(out), **settings)
        assert done.code == code, done.err
        asked = {request.task for request in models.requests}
        assert asked == {"evidence", "scoring", "danger"}
        scored = challenge(made, "score", "small", str(out), "--json")
        (system,) = json.loads(scored.out)["systems"]
        assert (scored.code, system["failed"]) == ((0, 0) if code == 0 else (1, 16))
