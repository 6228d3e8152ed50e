"""What a server says of a queue that goes away, and comes back."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.command import Serving
from tests.integration.running_app import client_at
from tests.jobs.own_cluster import own_cluster
from tests.patience import wait_until

BODY = {"transcript_text": "Participant: I sleep badly every night, canary."}
ASYNC = {"Prefer": "respond-async"}


def test_a_queue_that_is_away_is_one_line_and_one_when_it_is_back(tmp_path: Path) -> None:
    def said() -> list[dict[str, Any]]:
        lines = (tmp_path / "serve.err").read_text("utf-8").splitlines()
        events = [json.loads(line) for line in lines if line.startswith("{")]
        usual = ("crisis_line_not_set", "request_finished")
        return [event for event in events if event["event"] not in usual]

    with own_cluster() as cluster:
        environment = {
            "JOBS_ENGINE": "dbos",
            "JOBS_DATABASE_URL": cluster.url,
            "LOG_FORMAT": "json",
            "TELEMETRY_METRICS": "true",
        }
        with Serving(tmp_path, environment) as serving, client_at(serving.url) as client:
            assert 'jobs{state="waiting"} 0.0' in client.get("/metrics").text
            cluster.stop()
            for _ in range(3):
                begun = client.post("/v1/assessments", json=BODY, headers=ASYNC)
                assert begun.status_code == 202
                # Each asks the queue.
                assert "oldest_waiting_job_seconds NaN" in client.get("/metrics").text
            (away,) = said()
            assert away["event"] == "queue_away"
            assert "JOBS_DATABASE_URL" in away["reason"]
            assert str(cluster.port) not in str(away)
            cluster.start()
            wait_until(lambda: 'jobs{state="waiting"} 3.0' in client.get("/metrics").text)
            assert [event["event"] for event in said()] == ["queue_away", "queue_back"]


@pytest.mark.parametrize("address", ["", "postgresql://nobody@127.0.0.1:1/jobs"])
def test_a_queue_that_is_away_from_the_start_names_its_setting(
    address: str, tmp_path: Path
) -> None:
    if not address:
        (tmp_path / "jobs.sqlite").write_bytes(b"no database" * 100)
        (tmp_path / "jobs.sqlite").chmod(0o600)
    environment = {
        "JOBS_ENGINE": "dbos",
        "JOBS_DATABASE_URL": address,
        "DATA_STATE_DIR": str(tmp_path),
    }
    with Serving(tmp_path, environment) as serving, client_at(serving.url) as client:
        assert client.post("/v1/assessments", json=BODY, headers=ASYNC).status_code == 202
        wait_until(lambda: "queue_away" in (tmp_path / "serve.err").read_text("utf-8"))
    log = (tmp_path / "serve.err").read_text("utf-8")
    assert ("JOBS_DATABASE_URL" if address else "DATA_STATE_DIR") in log
