"""A disk that is full at any moment ends a command with one line, and the work goes on later."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fakes.pipeline_folder import written
from tests.integration.command import COMMAND, Finished, Serving, environment_of, run
from tests.integration.running_app import client_at
from tests.integration.started import start

TALK = "Interviewer: How are you?\nParticipant: I sleep badly nearly every day.\n"
RUN = ["evaluate", "run", "data", "--out", "run"]
EXPORT = ["export", "run", "--out", "exported"]
REPORT = ["evaluate", "report", "run", "--out", "page.html"]
ANSWERS = "".join(
    f'{{"unit_id": "u{number}", "score": 2, "tone": "warm"}}\n' for number in range(2_000)
)

Json = dict[str, Any]
MODEL = {"MODEL_DEFAULT": "baseline"}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 8 MB, where this user may mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m,mode=700", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this user cannot mount a disk")
    yield place
    subprocess.run(["umount", str(place)], check=True)  # noqa: S607


def fill(disk: Path) -> None:
    """Leave no room on a disk."""
    with suppress(OSError), (disk / "filler").open("ab", buffering=0) as file:
        while True:
            file.write(bytes(4_096))


def full_at(kibibytes: int) -> dict[str, int]:
    """Let no file grow beyond a size, as on a disk that is full."""
    return {"RLIMIT_FSIZE": kibibytes << 10}


def refused(done: Finished) -> None:
    """Assert that a command ended with one sentence."""
    assert done.code == 2, done.err
    assert [line for line in done.err.splitlines() if line.startswith("error: ")], done.err
    assert "Traceback" not in done.err


def test_a_run_that_met_a_full_disk_goes_on_later(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.txt").write_text(TALK)
    refused(run(RUN, tmp_path, MODEL, limits=full_at(120)))
    is_begun = (tmp_path / "run" / "run.json").exists()
    done = run([*RUN, *(["--resume"] if is_begun else [])], tmp_path, MODEL)
    assert done.code == 0, done.err
    assert len((tmp_path / "run" / "predictions.jsonl").read_text().splitlines()) == 1
    for arguments, made in ((EXPORT, "exported"), (REPORT, "page.html")):
        refused(run(arguments, tmp_path, limits=full_at(1)))
        assert not list(tmp_path.glob(f"{made}*/**/*.jsonl"))
        assert not (tmp_path / "page.html").exists()
        done = run(arguments, tmp_path)
        assert done.code == 0, done.err
        assert (tmp_path / made).exists()


def test_a_validation_that_met_a_full_disk_leaves_no_half_of_a_file(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "answers.jsonl").write_text(ANSWERS)
    command = ["validate", "--config", "pipeline.yaml", "--step", "rate", "answers.jsonl"]
    command += ["--valid", "valid.jsonl", "--failures", "failed.jsonl", "--run", "run"]
    before = {path.name for path in tmp_path.iterdir()}
    refused(run(command, tmp_path, limits=full_at(40)))
    assert {path.name for path in tmp_path.iterdir()} - before <= {"run", "state"}
    done = run(command, tmp_path)
    assert done.code == 0, done.err
    assert len((tmp_path / "valid.jsonl").read_text().splitlines()) == 2_000


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
@pytest.mark.parametrize(
    "arguments", [["settings"], ["lint-config", "--format", "json", "pipeline.yaml"]]
)
def test_standard_output_on_a_full_disk_is_one_line(tmp_path: Path, arguments: list[str]) -> None:
    written(tmp_path)
    with Path("/dev/full").open("wb") as full:
        streams = {1: full}
        with start(
            [COMMAND, *arguments], tmp_path, environment_of(tmp_path, {}), streams=streams
        ) as it:
            it.stdin.close()
            told = it.stderr.read().decode()
            refused(Finished(code=it.wait(), out="", err=told))


def test_an_interview_that_met_a_full_disk_goes_on_later(tmp_path: Path) -> None:
    def post(client: httpx.Client, path: str, body: Json) -> httpx.Response:
        return client.post(f"/v1/interviews{path}", json=body)

    scores = {"PHQ8_Sleep": {"score": 2, "evidence": [{"text": "bad nights " * 1_500}] * 8}}
    large = {"protocol": "phq8", "assessment": {"items": scores}}
    with Serving(tmp_path, {}, limits=full_at(500)) as running, client_at(running.url) as client:
        begun = post(client, "", {"protocol": "phq8"}).json()
        full = [post(client, "", large) for _ in range(3)]
        assert post(client, "", {"protocol": "phq8"}).status_code in {201, 507}
        assert client.post("/full_pipeline", json={"transcript_text": TALK}).is_success
        done = running.stop()
    told = full[-1].json()
    assert (full[-1].status_code, told["code"]) == (507, "storage_full")
    assert "Traceback" not in done.err
    answer = {"question_id": "q1", "option_id": "a2", "idempotency_key": "k", "version": 1}
    with Serving(tmp_path, {}) as running, client_at(running.url) as client:
        assert post(client, f"/{begun['interview_id']}/answers", answer).json()["turn"] == 1
        assert post(client, "", large).status_code == 201


def test_keys_are_listed_and_revoked_and_records_erased_on_a_disk_that_is_wholly_full(
    tmp_path: Path, small_disk: Path
) -> None:
    settings = {"DATA_STATE_DIR": str(small_disk / "state"), "AUTH_REQUIRED": "true"}
    create = ["keys", "create", "--name", "a", "--json"]
    create += [part for scope in ("assess", "read") for part in ("--scope", scope)]
    first, second = (json.loads(run(create, tmp_path, settings).out) for _ in "12")
    with Serving(tmp_path, settings | MODEL) as running, client_at(running.url) as client:
        client.headers["X-API-Key"] = first["key"]
        stored = client.post("/v1/assessments", json={"transcript_text": TALK})
        assert stored.status_code == 201
        fill(small_disk)
        done = run(["keys", "revoke", first["id"]], tmp_path, settings)
        assert (done.code, done.out) == (0, f"revoked {first['id']}\n"), done.err
        assert client.get("/v1/assessments").status_code == 401
    fill(small_disk)
    done = run(["records", "erase", stored.json()["assessment_id"]], tmp_path, settings)
    assert done.code in {0, 1}, done.err
    assert done.out == "erased 1 assessment\n"
    fill(small_disk)
    assert run(["keys", "revoke", second["id"]], tmp_path, settings).code == 0
    fill(small_disk)
    listed = json.loads(run(["keys", "list", "--json"], tmp_path, settings).out)
    assert {key["state"] for key in listed} == {"revoked"}
    (small_disk / "filler").unlink()
    assert run(["audit", "verify"], tmp_path, settings).code == 0


def test_an_assessment_that_met_a_full_disk_is_stored_later(tmp_path: Path) -> None:
    body = {"transcript_text": TALK * 400, "subject": "one"}
    keyed = {"Idempotency-Key": "k"}
    with Serving(tmp_path, MODEL, limits=full_at(520)) as running, client_at(running.url) as client:
        answers = [client.post("/v1/assessments", json=body) for _ in range(8)]
        codes = [answer.status_code for answer in answers]
        stored = codes.count(201)
        assert codes == [201] * stored + [507] * (8 - stored)
        assert 0 < stored < 8
        assert answers[-1].json()["code"] == "storage_full"
        asynchronous = {"Prefer": "respond-async"} | keyed
        refused_job = client.post("/v1/assessments", json=body, headers=asynchronous)
        assert (refused_job.status_code, refused_job.json()["code"]) == (507, "storage_full")
        # Nothing is shown without a row in the audit log, which lies on the same disk.
        assert client.get("/v1/assessments").status_code in {200, 503}
        assert client.get("/readyz").status_code == 200
        done = running.stop()
    assert "Traceback" not in done.err
    with Serving(tmp_path, MODEL) as running, client_at(running.url) as client:
        assert client.post("/v1/assessments", json=body, headers=keyed).status_code == 201
        assert len(client.get("/v1/assessments").json()["assessments"]) == stored + 1


def test_a_tenant_that_stores_what_it_may_is_told_so(tmp_path: Path) -> None:
    few = MODEL | {"STORE_MAX_BYTES": "40000"}
    body = {"transcript_text": TALK}
    with Serving(tmp_path, few) as running, client_at(running.url) as client:
        answers = [client.post("/v1/assessments", json=body) for _ in range(8)]
        codes = [answer.status_code for answer in answers]
        stored = codes.count(201)
        assert codes == [201] * stored + [507] * (8 - stored)
        assert 0 < stored < 8
        assert answers[-1].json()["code"] == "storage_full"
        scores = {"PHQ8_Sleep": {"score": 2, "evidence": [{"text": "bad nights " * 1_500}] * 8}}
        large = {"protocol": "phq8", "assessment": {"items": scores}}
        begun = client.post("/v1/interviews", json=large)
        assert (begun.status_code, begun.json()["code"]) == (507, "storage_full")
        first = client.get("/v1/assessments").json()["assessments"][0]["assessment_id"]
        assert client.delete(f"/v1/assessments/{first}").status_code == 204
        assert client.post("/v1/assessments", json=body).status_code == 201
        running.stop()
