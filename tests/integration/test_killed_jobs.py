"""Jobs whose server ends: another one, or the same at its next start, goes on with them."""

import json
import os
import signal
from collections import Counter
from functools import partial
from pathlib import Path

import httpx

from ai_psychiatrist.wiring.records import stores_of
from tests.fakes.faults import fault
from tests.fakes.model_server import ModelServerThread, good_replies
from tests.integration.command import Serving
from tests.integration.running_app import client_at, client_of, model_at, settings_with
from tests.patience import wait_until

PLACE = "/v1/assessments"
BODY = {"transcript_text": "Participant: I sleep badly every night."}
ASYNC = {"Prefer": "respond-async"}
LAST = "meta_review"
"""Asked last, so that a job which hangs there has finished all other calls."""
CALLS = 9


def begun(client: httpx.Client) -> str:
    answer = client.post(PLACE, json=BODY, headers=ASYNC)
    assert answer.status_code == 202, answer.text
    job: str = answer.headers["Location"]
    return job


def state_of(client: httpx.Client, job: str) -> str:
    state: str = client.get(job).json()["state"]
    return state


def asked(models: ModelServerThread) -> Counter[str]:
    """Return how often each request came, by its whole body."""
    return Counter(json.dumps(request.body, sort_keys=True) for request in models.requests)


def _has_asked(models: ModelServerThread, times: int) -> bool:
    """Return whether any one request came so often."""
    return max(asked(models).values(), default=0) >= times


def test_no_finished_call_of_a_killed_server_is_paid_for_twice(tmp_path: Path) -> None:
    with ModelServerThread(fault("hang", tasks=[LAST])) as models:
        environment = model_at(models.url)
        with Serving(tmp_path, environment) as killed, client_at(killed.url) as client:
            job = begun(client)
            wait_until(lambda: len(models.requests) == CALLS)
            killed.signal(signal.SIGKILL)
            killed.wait()
        models.server.script = good_replies()
        with Serving(tmp_path, environment) as serving, client_at(serving.url) as client:
            wait_until(lambda: state_of(client, job) == "finished")
            result = client.get(job, follow_redirects=True).json()
            told = client.get(f"{job}/events").text
            serving.stop()
        assert result["status"] == "complete"
        assert sorted(asked(models).values()) == [1] * (CALLS - 1) + [2]
        assert told.count('"begun"') == 1
        assert told.count('"scores"') == 1
    state_dir = next(tmp_path.rglob("records.key")).parent
    assert not any((state_dir / "runners").iterdir())


def test_a_server_beside_goes_on_with_what_a_killed_one_left(tmp_path: Path) -> None:
    with ModelServerThread(fault("hang", tasks=[LAST])) as models:
        environment = model_at(models.url)
        with Serving(tmp_path, environment) as beside, client_at(beside.url) as client:
            with Serving(tmp_path, environment) as killed, client_at(killed.url) as other:
                job = begun(other)
                wait_until(lambda: len(models.requests) == CALLS)
                assert state_of(client, job) == "running"
                killed.signal(signal.SIGKILL)
                killed.wait()
            models.server.script = good_replies()
            wait_until(lambda: state_of(client, job) == "finished")
        assert len(models.requests) == CALLS + 1


def test_a_server_that_is_stopped_leaves_its_jobs_to_the_next(tmp_path: Path) -> None:
    with ModelServerThread(fault("hang", tasks=[LAST])) as models:
        settings = settings_with(tmp_path, **model_at(models.url), JOBS_CONCURRENCY="1")
        with client_of(settings) as client:
            jobs = [begun(client), begun(client)]
            wait_until(lambda: len(models.requests) == CALLS)
            assert [state_of(client, job) for job in jobs] == ["running", "waiting"]
            assert client.get(jobs[1]).json()["position"] == 1
        models.server.script = good_replies()
        with client_of(settings) as client:
            wait_until(lambda: [state_of(client, job) for job in jobs] == ["finished"] * 2)
        assert len(models.requests) == 2 * CALLS + 1


def test_a_job_that_ends_its_process_each_time_is_given_up(tmp_path: Path) -> None:
    with ModelServerThread(fault("hang")) as models:
        environment = model_at(models.url)
        job = ""
        for time in range(1, 6):
            with Serving(tmp_path, environment) as killed, client_at(killed.url) as client:
                job = job or begun(client)
                wait_until(partial(_has_asked, models, time))
                killed.signal(signal.SIGKILL)
                killed.wait()
        with Serving(tmp_path, environment) as serving, client_at(serving.url) as client:
            wait_until(lambda: state_of(client, job) == "failed")
            assert client.get(job).json()["reason"] == "given_up"
            path = job.replace("/v1/jobs/", f"{PLACE}/")
            assert client.get(f"{path}/transcript").json()["text"] == BODY["transcript_text"]


def test_names_of_killed_processes_are_removed_and_those_of_living_ones_kept(
    tmp_path: Path,
) -> None:
    living = stores_of(settings_with(tmp_path))
    folder = tmp_path / "runners"
    name = living.runner
    (folder / "dead").mkdir()
    (folder / "dead/.lock").touch(0o600)
    for old in (name, "dead"):
        os.utime(folder / old, (0, 0))
    (folder / "about-to-be-locked").mkdir()
    with client_of(settings_with(tmp_path)):
        wait_until(lambda: not (folder / "dead").exists())
        assert {path.name for path in folder.iterdir()} >= {name, "about-to-be-locked"}
    living.close()
