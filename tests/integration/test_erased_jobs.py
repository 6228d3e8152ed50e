"""What is erased while its job waits, runs or was told of leaves nothing that can be read."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.fakes.faults import fault
from tests.fakes.model_server import ModelServerThread
from tests.integration.command_here import run_here
from tests.integration.running_app import client_of, model_at, settings_with
from tests.patience import wait_until

WORDS = "zebra stripes"
ADDRESS = "ward-seven"
BODY = {
    "transcript_text": f"Participant: I count {WORDS} all night.",
    "subject": "quagga",
    "callback_url": f"http://127.0.0.1:9/{ADDRESS}",
}
WEBHOOKS = {
    "JOBS_WEBHOOK_HOSTS": "127.0.0.1:9",
    "JOBS_WEBHOOK_SECRET": "0123456789abcdef0123456789abcdef",
    "JOBS_WEBHOOK_ALLOW_HTTP": "true",
}
BATCH = {"requests": [BODY, BODY]}
"""The first of them runs, the second waits."""


@pytest.fixture
def hanging(tmp_path: Path) -> Iterator[tuple[httpx.Client, ModelServerThread]]:
    """A server that does one job at a time, and whose model does not answer its last question."""
    with ModelServerThread(fault("hang", tasks=["meta_review"])) as models:
        settings = settings_with(tmp_path, **model_at(models.url), **WEBHOOKS, JOBS_CONCURRENCY="1")
        with client_of(settings) as opened:
            yield opened, models


def begun(client: httpx.Client, models: ModelServerThread) -> list[str]:
    """Return the ids of two jobs, of which one runs and has kept its calls."""
    answer = client.post("/v1/batches", json=BATCH)
    assert answer.status_code == 202, answer.text
    jobs = [job["job_id"] for job in answer.json()["jobs"]]
    wait_until(lambda: any(asked.task == "meta_review" for asked in models.requests))
    return jobs


def readable_in(folder: Path) -> list[str]:
    """Return the files that hold something of what was erased.

    Another process reads them: this one, by closing a file, would let go of the locks that the
    server holds on it here.
    """
    words = [part for word in (WORDS, ADDRESS, "quagga") for part in ("-e", word)]
    grep = shutil.which("grep")
    assert grep is not None
    found = subprocess.run(
        [grep, "--recursive", "--files-with-matches", "--text", "--fixed-strings", *words, folder],
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.splitlines()


def by_record(client: httpx.Client, jobs: list[str], _folder: Path) -> None:
    for job in jobs:
        assert client.delete(f"/v1/assessments/{job}").status_code == 204


def by_subject(client: httpx.Client, _jobs: list[str], _folder: Path) -> None:
    subject = client.get("/v1/assessments").json()["assessments"][0]["subject_id"]
    assert client.delete(f"/v1/subjects/{subject}").status_code == 204


def by_command(client: httpx.Client, _jobs: list[str], folder: Path) -> None:
    subject = client.get("/v1/assessments").json()["assessments"][0]["subject_id"]
    ended = run_here(
        ["records", "erase", "--subject", subject], folder, {"DATA_STATE_DIR": str(folder)}
    )
    assert ended.code == 0, ended.err


def by_commands(_client: httpx.Client, jobs: list[str], folder: Path) -> None:
    for job in jobs:
        ended = run_here(["records", "erase", job], folder, {"DATA_STATE_DIR": str(folder)})
        assert ended.code == 0, ended.err


@pytest.mark.parametrize("erase", [by_record, by_subject, by_command, by_commands])
def test_nothing_is_left_of_what_is_erased_while_it_waits_and_runs(
    erase: Callable[[httpx.Client, list[str], Path], None],
    hanging: tuple[httpx.Client, ModelServerThread],
    tmp_path: Path,
) -> None:
    client, models = hanging
    jobs = begun(client, models)
    for job in jobs:
        assert client.get(f"/v1/jobs/{job}").json()["callback"]["state"] == "expected"
    assert readable_in(tmp_path) == []
    erase(client, jobs, tmp_path)
    assert readable_in(tmp_path) == []
    assert client.get("/v1/jobs").json()["jobs"] == []
    assert client.get(f"/v1/jobs/{jobs[0]}").status_code == 404


def test_what_is_erased_is_forgotten_where_no_webhooks_are_sent_any_more(tmp_path: Path) -> None:
    with ModelServerThread(fault("hang", tasks=["meta_review"])) as models:
        model = model_at(models.url)
        with client_of(settings_with(tmp_path, **model, **WEBHOOKS)) as client:
            jobs = [client.post("/v1/batches", json=BATCH).json()["jobs"][0]["job_id"]]
        with client_of(settings_with(tmp_path, **model)) as client:
            by_subject(client, jobs, tmp_path)
            assert readable_in(tmp_path) == []
