"""`ai-psychiatrist doctor` says what stands between an installation and its first assessment."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ai_psychiatrist.cli.doctor import EXTRAS
from tests.fakes.faults import FAULTS
from tests.fakes.model_server import ModelServerThread, Reply, Request, Script
from tests.fakes.references import made_references, shown_by
from tests.integration.canary import CANARY, assert_files_silent, assert_silent, broken
from tests.integration.command import Finished
from tests.integration.command_here import run_here
from tests.integration.running_app import model_at

ROOT = Path(__file__).parents[2]
NOBODY = "http://127.0.0.1:1"
CHECKS = ["server", "key", "model", "first reply", "JSON schema", "log-probabilities"]
Found = dict[str, dict[str, Any]]


def able(request: Request) -> Reply:
    """Answer as a model that keeps to schemas, and notes nothing of transcripts."""
    is_schema = "format" in request.body or "response_format" in request.body
    return Reply(text='{"ready": true}' if is_schema else "ready")


def doctor(
    folder: Path, *arguments: str, settings: dict[str, str] | None = None
) -> tuple[Finished, Found]:
    done = run_here(["doctor", "--json", *arguments], folder, settings)
    found = json.loads(done.out)["findings"] if done.out else []
    return done, {finding["check"]: finding for finding in found}


def look(script: Script, folder: Path, wire: str = "ollama") -> tuple[Finished, Found]:
    with ModelServerThread(script) as models:
        done, found = doctor(folder, settings=model_at(models.url, wire))
        assert not [request for request in models.server.requests if request.transcript]
    return done, found


def levels(found: Found) -> list[str]:
    return [found[check]["level"] for check in CHECKS]


def test_nothing_is_wrong_with_nothing_configured(tmp_path: Path) -> None:
    done, found = doctor(tmp_path)
    assert done.code == 0, done.out
    assert done.err == ""
    assert json.loads(done.out)["is_fine"] is True
    assert found["server"]["model"] == "baseline"
    assert found["settings"]["facts"]["set"] == ["DATA_STATE_DIR"]
    assert found["state folder"]["facts"]["free_bytes"] > 0
    assert {finding["level"] for finding in found.values()} <= {"ok", "warn"}


@pytest.mark.parametrize(
    ("enabled", "status"), [("true", "answered"), ("false", "off")], ids=["on", "off"]
)
def test_whether_the_learned_reader_takes_part_is_said(
    tmp_path: Path, enabled: str, status: str
) -> None:
    _, found = doctor(tmp_path, settings={"READER_ENABLED": enabled})
    assert found["learned reader"]["level"] == "ok"
    assert found["learned reader"]["facts"]["status"] == status


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        pytest.param({}, "read by the fixed phrases, and by ollama:fake-model", id="the_default"),
        pytest.param({"DANGER_MODEL": "off"}, "read by the fixed phrases alone", id="off"),
        pytest.param(
            {"DANGER_MODEL": "ollama:other"},
            "read by the fixed phrases, and by ollama:other",
            id="its_own",
        ),
    ],
)
def test_who_reads_for_danger_is_said(tmp_path: Path, chosen: dict[str, str], words: str) -> None:
    with ModelServerThread(able) as models:
        done, found = doctor(tmp_path, settings=model_at(models.url, "ollama") | chosen)
    assert found["signs of danger"]["words"] == words
    named = chosen.get("DANGER_MODEL", "off")
    probed = {one["model"] for one in json.loads(done.out)["findings"]}
    assert named in probed | {"off"}


@pytest.mark.parametrize(("line", "level"), [("", "warn"), ("Call 000.", "ok")])
def test_a_crisis_line_that_is_not_set_is_warned_of(tmp_path: Path, line: str, level: str) -> None:
    _, found = doctor(tmp_path, settings={"RISK_CRISIS_RESOURCES": line})
    assert found["crisis line"]["level"] == level
    assert ("RISK_CRISIS_RESOURCES" in (found["crisis line"]["cure"] or "")) is (level == "warn")


def test_words_say_the_same_in_a_table(tmp_path: Path) -> None:
    done = run_here(["doctor"], tmp_path)
    assert done.code == 0, done.out
    here = ("ok    settings", "warn  crisis line", "GB free")
    for words in (*here, "baseline", "sends nothing", "Nothing is wrong"):
        assert words in done.out


@pytest.mark.parametrize("wire", ["ollama", "openai"])
def test_a_model_that_works_is_looked_at_step_by_step(tmp_path: Path, wire: str) -> None:
    done, found = look(able, tmp_path, wire)
    assert done.code == 0, done.out
    assert levels(found) == ["ok"] * 6
    assert found["first reply"]["facts"]["seconds"] > 0
    assert "127.0.0.1" in found["server"]["words"]


def test_a_server_that_does_not_answer_is_named_with_its_cure(tmp_path: Path) -> None:
    done, found = doctor(tmp_path, settings=model_at(NOBODY, "ollama"))
    assert done.code == 1
    assert levels(found) == ["fail"] + ["skip"] * 5
    assert NOBODY in found["server"]["words"]
    assert "ollama serve" in found["server"]["cure"]
    words = run_here(["doctor"], tmp_path, model_at(NOBODY, "ollama"))
    assert words.code == 1
    assert "fail  server" in words.out
    assert "ollama serve" in words.out
    assert "1 of 13 checks failed" in words.out


def test_a_model_that_is_not_pulled_is_named_with_its_cure(tmp_path: Path) -> None:
    missing = Reply(status=404, raw_body=b'{"error": "model not found"}')
    done, found = look(lambda _: missing, tmp_path)
    assert done.code == 1
    assert found["model"]["level"] == "fail"
    assert "ollama pull fake-model" in found["model"]["cure"]
    assert found["model"]["facts"] == {"code": "model_not_found", "http_status": 404}


def test_a_model_without_schemas_is_warned_of(tmp_path: Path) -> None:
    done, found = look(lambda _: Reply(text="ready"), tmp_path)
    assert done.code == 0
    assert found["JSON schema"]["level"] == "warn"
    assert "INTERVIEW_OUTPUT_MODE" in found["JSON schema"]["cure"]


def test_the_model_of_the_option_is_looked_at_alone(tmp_path: Path) -> None:
    done, found = doctor(
        tmp_path, "--model", "baseline", settings=model_at(NOBODY) | {"MODEL_JUDGE_MODEL": "x"}
    )
    assert done.code == 0, done.out
    assert found["server"]["model"] == "baseline"
    assert "MODEL_DEFAULT" in found["settings"]["facts"]["set"]
    assert "MODEL_META_REVIEW_MODEL" not in found["settings"]["facts"]["set"]


def test_references_are_opened_as_an_assessment_would(tmp_path: Path) -> None:
    made_references(tmp_path / "refs")
    settings = shown_by(tmp_path / "refs")
    done, found = doctor(tmp_path, settings=settings)
    assert (done.code, found["references"]["level"]) == (0, "ok")
    (tmp_path / "refs" / "manifest.json").write_text("{}", "utf-8")
    done, found = doctor(tmp_path, settings=settings)
    assert (done.code, found["references"]["level"]) == (1, "fail")
    assert "references build" in found["references"]["cure"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    folder = tmp_path / "file" / "state"
    done, found = doctor(tmp_path, settings={"DATA_STATE_DIR": str(folder)})
    assert done.code == 1
    assert found["state folder"]["level"] == "fail"
    assert "DATA_STATE_DIR" in found["state folder"]["cure"]


@pytest.mark.parametrize(
    ("arguments", "settings", "cure"),
    [
        pytest.param([], {"PYDANTIC_AI_ENABELD": "1"}, "PYDANTIC_AI_ENABLED?", id="misspelt"),
        pytest.param(["--model", "nonesuch"], {}, "ollama:nonesuch", id="no provider"),
    ],
)
def test_bad_settings_end_with_status_2(
    tmp_path: Path, arguments: list[str], settings: dict[str, str], cure: str
) -> None:
    done, found = doctor(tmp_path, *arguments, settings=settings)
    assert done.code == 2
    assert found == {}
    assert cure in done.err


@pytest.mark.parametrize("output", [[], ["--json"]], ids=["words", "json"])
@pytest.mark.parametrize(
    "script",
    [
        pytest.param(lambda _: Reply(text=f"{CANARY} is all I say."), id="prose"),
        pytest.param(FAULTS["status_400"], id="an echo"),
        pytest.param(broken(), id="a page"),
        pytest.param(broken(307, Location=f"{NOBODY}/{CANARY}"), id="a redirect"),
    ],
)
def test_neither_keys_nor_replies_are_shown(
    tmp_path: Path, script: Script, output: list[str]
) -> None:
    with ModelServerThread(script) as models:
        settings = model_at(models.url) | {
            "OPENAI_API_KEY": f"sk-{CANARY}",
            "ANTHROPIC_API_KEY": f"sk-{CANARY}",
            "LOG_LEVEL": "DEBUG",
            "LOG_FORMAT": "json",
        }
        done = run_here(["doctor", *output], tmp_path, settings)
    assert done.code in {0, 1}
    assert "OPENAI_API_KEY" in done.out
    assert_silent(done.out, done.err)
    assert_files_silent(tmp_path)


def test_extras_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert set(EXTRAS) == set(project["optional-dependencies"]) - {"dev"}
