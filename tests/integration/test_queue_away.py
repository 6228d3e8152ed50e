"""A server whose database goes away and comes back: nothing that was taken in is lost."""

import json
from pathlib import Path

from tests.integration.command import Serving
from tests.integration.running_app import client_at
from tests.jobs.own_cluster import own_cluster
from tests.jobs.places import Place
from tests.patience import wait_until

BODY = {"transcript_text": "Participant: I sleep badly every night."}
ASYNC = {"Prefer": "respond-async"}


def test_requests_are_told_to_come_again_and_the_log_says_when_it_began_and_ended(
    tmp_path: Path,
) -> None:
    def said() -> list[str]:
        lines = (tmp_path / "serve.err").read_text("utf-8").splitlines()
        events = [json.loads(line) for line in lines if line.startswith("{")]
        told = {"queue_away", "queue_back"}
        return [event["event"] for event in events if event["event"] in told]

    with own_cluster() as cluster:
        environment = {
            **Place(url=cluster.url, folder=tmp_path).settings,
            "MODEL_DEFAULT": "baseline",
            "LOG_FORMAT": "json",
            "TELEMETRY_METRICS": "true",
        }
        with Serving(tmp_path, environment) as serving, client_at(serving.url) as client:
            begun = client.post("/v1/assessments", json=BODY, headers=ASYNC)
            assert begun.status_code == 202
            job = begun.headers["Location"]
            wait_until(lambda: client.get(job).status_code == 303)
            assert 'jobs{state="waiting"} 0.0' in client.get("/metrics").text
            cluster.stop()
            for _ in range(3):
                refused = client.post("/v1/assessments", json=BODY, headers=ASYNC)
                assert refused.status_code == 503
                assert refused.headers["Retry-After"]
                assert refused.json()["code"] == "assessments_unavailable"
                assert str(cluster.port) not in refused.text
                assert "oldest_waiting_job_seconds NaN" in client.get("/metrics").text
            assert client.get("/healthz").status_code == 200
            wait_until(lambda: said() == ["queue_away"])
            cluster.start()
            wait_until(lambda: said() == ["queue_away", "queue_back"])
            assert client.get(job).status_code == 303
            again = client.post("/v1/assessments", json=BODY, headers=ASYNC)
            wait_until(lambda: client.get(again.headers["Location"]).status_code == 303)
    assert str(cluster.port) not in (tmp_path / "serve.err").read_text("utf-8")
