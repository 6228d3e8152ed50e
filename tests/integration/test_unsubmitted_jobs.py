"""Jobs that were stored, and whose server ended before an engine knew of them."""

from pathlib import Path

from tests.integration.running_app import client_of, settings_with
from tests.patience import wait_until

JOBS = "/v1/jobs"
BODY = {"transcript_text": "Participant: I sleep badly every night."}
NOWHERE = "postgresql://nobody@127.0.0.1:1/jobs"


def test_they_are_done_by_the_next_one_and_those_that_were_cancelled_are_not(
    tmp_path: Path,
) -> None:
    away = settings_with(tmp_path, JOBS_ENGINE="dbos", JOBS_DATABASE_URL=NOWHERE)
    with client_of(away) as client:
        answer = client.post("/v1/batches", json={"requests": [BODY] * 4})
        assert answer.status_code == 202
        batch = answer.headers["Location"]
        cancelled = answer.json()["jobs"][1]["job_id"]
        assert client.delete(f"{JOBS}/{cancelled}").json()["state"] == "cancelled"
        assert client.get(batch).json()["counts"]["waiting"] == 3

    with client_of(settings_with(tmp_path, MODEL_DEFAULT="baseline")) as client:
        wait_until(lambda: client.get(batch).json()["counts"]["finished"] == 3)
        told = client.get(f"{JOBS}/{cancelled}").json()
        assert told["state"] == "cancelled"
        assert [stage["outcome"] for stage in told["stages"]] == ["waiting", "none", "cancelled"]
