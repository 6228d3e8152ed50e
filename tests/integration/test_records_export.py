"""`records export`: everything that a tenant stores, in one file, whatever is done meanwhile."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fakes.faults import fault
from tests.fakes.model_server import ModelServerThread
from tests.fakes.replies import ITEMS
from tests.integration.command import Finished
from tests.integration.command_here import run_here
from tests.integration.running_app import client_of, model_at, settings_with
from tests.patience import wait_until

Json = dict[str, Any]
WORDS = "zebra stripes"
TEXT = f"Interviewer: How are you?\nParticipant: I count {WORDS} all night and sleep badly.\n"
OPENING = "I have slept badly since the quagga moved in, nearly every night."


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    with client_of(settings_with(tmp_path)) as opened:
        yield opened


def exported(folder: Path, *options: str) -> Finished:
    command = ["records", "export", "--out", str(folder / "all.jsonl"), *options]
    return run_here(command, folder, {"DATA_STATE_DIR": str(folder)})


def lines_of(folder: Path) -> list[Json]:
    return [json.loads(line) for line in (folder / "all.jsonl").read_text("utf-8").splitlines()]


def test_an_export_holds_all_that_can_be_asked_for(client: httpx.Client, tmp_path: Path) -> None:
    body = {"transcript_text": TEXT, "subject": "S-17"}
    made = client.post("/v1/assessments", json=body).json()
    place = f"/v1/assessments/{made['assessment_id']}"
    client.post(f"{place}/review")
    items = {key: {"cannot_tell": True} for key in ITEMS}
    assert client.post(f"{place}/review/ratings", json={"items": items}).is_success
    stored = client.get(place).json()
    interview = client.post("/v1/interviews", json={"protocol": "phq8"}).json()
    answer = {
        "question_id": interview["question"]["id"],
        "version": interview["version"],
        "text": OPENING,
        "idempotency_key": "the-first-one",
    }
    answered = client.post(f"/v1/interviews/{interview['interview_id']}/answers", json=answer)
    assert answered.is_success, answered.text

    done = exported(tmp_path)

    assert done.code == 0, done.err
    assert done.out == "assessments: 1, interviews: 1\n"
    assert (tmp_path / "all.jsonl").stat().st_mode & 0o777 == 0o600
    head, record, talk, end = lines_of(tmp_path)
    assert (head["kind"], head["format"], head["tenant"]) == ("records", 1, "local")
    assert end == {"kind": "end", "assessments": 1, "interviews": 1, "unreadable": []}
    assert record["row"]["id"] == made["assessment_id"]
    assert record["subject"] == "S-17"
    assert json.loads(record["parts"]["transcript"])["text"] == TEXT
    result = json.loads(record["parts"]["result"])
    assert result["quantitative"] == stored["quantitative"]
    assert [one["is_committed"] for one in record["begun"]] == [1]
    (said,) = record["reviews"]
    assert len(json.loads(said["body"])["items"]) == len(ITEMS)
    assert talk["id"] == interview["interview_id"]
    assert OPENING in talk["state"]
    (sent,) = talk["answers"]
    assert OPENING in sent["body"]
    assert talk["row"]["version"] == answered.json()["version"]


def test_a_job_is_exported_with_the_calls_that_are_paid_for(tmp_path: Path) -> None:
    with (
        ModelServerThread(fault("hang", tasks=["meta_review"])) as models,
        client_of(settings_with(tmp_path, **model_at(models.url))) as client,
    ):
        body = {"transcript_text": TEXT}
        begun = client.post("/v1/assessments", json=body, headers={"Prefer": "respond-async"})
        wait_until(lambda: any(asked.task == "meta_review" for asked in models.requests))
        wait_until(lambda: _calls(tmp_path) >= len(models.requests) - 1)
        done = exported(tmp_path)
    assert done.code == 0, done.err
    _, record, _ = lines_of(tmp_path)
    assert record["row"]["id"] == begun.json()["job_id"]
    assert record["row"]["state"] == "running"
    assert json.loads(record["parts"]["request"])
    assert "result" not in record["parts"]
    assert record["job"]["taken"] == 1
    assert any(WORDS in one["body"] for one in record["calls"])
    told = [(one["stage"], one["outcome"]) for one in record["events"]]
    assert {("assessment", "waiting"), ("assessment", "begun"), ("danger", "none")} <= set(told)


def _calls(folder: Path) -> int:
    file = folder / "store.sqlite"
    with closing(sqlite3.connect(file)) as database:
        ((count,),) = database.execute("SELECT COUNT(*) FROM calls")
    return int(count)


def test_what_cannot_be_read_is_named_and_left_out(client: httpx.Client, tmp_path: Path) -> None:
    ids = []
    for subject in ("S-1", "S-2"):
        body = {"transcript_text": TEXT, "subject": subject}
        ids.append(client.post("/v1/assessments", json=body).json()["assessment_id"])
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as file:
        file.execute("UPDATE bodies SET body = x'00' WHERE record_id = ?", (ids[0],))
        file.commit()

    done = exported(tmp_path)

    assert done.code == 1
    assert ids[0] in done.err
    _, record, end = lines_of(tmp_path)
    assert record["row"]["id"] == ids[1]
    assert end["unreadable"] == [ids[0]]


def test_an_export_replaces_no_file_and_none_is_made_of_nothing(
    client: httpx.Client, tmp_path: Path
) -> None:
    refused = exported(tmp_path, "--tenant", "clinic")
    assert refused.code == 2
    assert "nothing is stored" in refused.err
    assert not (tmp_path / "all.jsonl").exists()
    client.post("/v1/assessments", json={"transcript_text": TEXT})
    (tmp_path / "all.jsonl").write_text("kept", "utf-8")
    refused = exported(tmp_path)
    assert refused.code == 2
    assert "cannot be written" in refused.err
    assert (tmp_path / "all.jsonl").read_text("utf-8") == "kept"
