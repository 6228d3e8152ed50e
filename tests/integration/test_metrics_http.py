"""`/metrics`: what is counted, who may read it, and what nobody can make it say."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from ai_psychiatrist.infrastructure.telemetry.prometheus import SHOWN_TOGETHER
from tests.fakes.exchange import Reply, Request, Script
from tests.fakes.model_server import ModelServerThread, good_replies
from tests.fakes.wires import encode_reply
from tests.integration.command import Serving
from tests.integration.command_here import run_here
from tests.integration.running_app import client_at, client_of, model_at, settings_with
from tests.patience import wait_until

BODY = {"transcript_text": "Interviewer: How are you?\nParticipant: I am tired every day.\n"}
HIGH = {"transcript_text": "Participant: I want to kill myself. I have a plan for tonight."}
ON = {"TELEMETRY_METRICS": "true"}
ASKING = {"AUTH_REQUIRED": "true", **ON}
Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def counted(client: httpx.Client) -> Samples:
    """Return all samples by name and labels."""
    response = client.get("/metrics")
    assert response.status_code == 200, response.text
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


def of(samples: Samples, name: str, **labels: str) -> float:
    """Return the sum of a metric's samples that have these labels."""
    return sum(
        value
        for (found, has), value in samples.items()
        if found == f"ai_psychiatrist_{name}" and labels.items() <= dict(has).items()
    )


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("asking")


@pytest.fixture(scope="module")
def keys(state: Path) -> dict[str, str]:
    """A key of each scope, by the command."""
    made = {}
    for scope in ("metrics", "assess", "admin"):
        done = run_here(["keys", "create", "--name", "watch", "--scope", scope], state, ASKING)
        assert done.code == 0, done.err
        made[scope] = done.out.strip()
    return made


@pytest.fixture(scope="module")
def asking(state: Path) -> Iterator[str]:
    """Where a server is that asks for keys."""
    with Serving(state, ASKING) as serving:
        yield serving.url


@contextmanager
def counting(folder: Path, script: Script, **environment: str) -> Iterator[httpx.Client]:
    with ModelServerThread(script) as models:
        settings = settings_with(folder, **model_at(models.url), **ON, **environment)
        with client_of(settings) as client:
            yield client


def test_an_assessment_is_counted_in_all_its_parts(tmp_path: Path) -> None:
    with counting(tmp_path, good_replies()) as client:
        result = client.post("/full_pipeline", json=BODY).json()
        client.get("/v1/jobs/5f1c8a3e9b7d4c20")
        found = counted(client)
    attempts = result["attempts"]
    assert of(found, "assessments_total", status="complete", mode="zero_shot") == 1
    assert of(found, "assessment_seconds_count") == 1
    assert of(found, "model_calls_total", outcome="accepted") == len(attempts)
    for agent, calls in Counter(attempt["agent"] for attempt in attempts).items():
        labels = {"agent": agent, "model": "openai-chat:fake-model"}
        assert of(found, "model_calls_total", **labels) == calls
    assert of(found, "agent_runs_total", end="accepted") == len(attempts)
    assert of(found, "model_call_seconds_count", model="openai-chat:fake-model") == len(attempts)
    assert of(found, "tokens_total", kind="input") == sum(one["input_tokens"] for one in attempts)
    assert of(found, "tokens_total", kind="output") == sum(one["output_tokens"] for one in attempts)
    assert of(found, "model_call_problems_total") == 0
    asked = {"method": "POST", "route": "/full_pipeline"}
    assert of(found, "http_requests_total", **asked, status="2xx") == 1
    assert of(found, "http_request_seconds_count", **asked) == 1
    by_template = {"route": "/v1/jobs/{job_id}", "status": "4xx"}
    assert of(found, "http_requests_total", **by_template) == 1


def test_rejections_and_retries_are_counted_by_code(tmp_path: Path) -> None:
    good, asked = good_replies(), Counter[str]()

    def first_is_prose(request: Request) -> Reply:
        asked[request.task] += 1
        if request.task == "evidence" and asked["evidence"] == 1:
            return Reply(text="I would rather not.")
        return good(request)

    with counting(tmp_path, first_is_prose) as client:
        client.post("/full_pipeline", json=BODY)
        found = counted(client)
    rejected = {"agent": "evidence", "outcome": "rejected", "code": "no_json"}
    assert of(found, "model_call_problems_total", **rejected) == 1
    assert of(found, "model_call_retries_total", agent="evidence", code="no_json") == 1
    assert of(found, "model_call_retries_total") == 1


@pytest.mark.parametrize("by_agent", ["true", "false"], ids=["agent", "plain"])
def test_tokens_of_the_cache_are_counted_apart(tmp_path: Path, by_agent: str) -> None:
    good = good_replies()

    def cached(request: Request) -> Reply:
        body = json.loads(encode_reply(request, good(request)))
        body["usage"]["prompt_tokens_details"] = {"cached_tokens": 7}
        return Reply(raw_body=json.dumps(body).encode())

    with counting(tmp_path, cached, PYDANTIC_AI_ENABLED=by_agent) as client:
        result = client.post("/full_pipeline", json=BODY).json()
        found = counted(client)
    assert of(found, "tokens_total", kind="cache_read") == 7 * len(result["attempts"])


def test_no_caller_can_make_a_label(tmp_path: Path) -> None:
    with client_of(settings_with(tmp_path, **ON)) as client:
        before = set(counted(client))
        for number in range(30):
            client.get(f"/nonesuch-{number}", params={"a": number})
            client.request(f"ODD{number}", "/full_pipeline")
            client.post("/full_pipeline", json={**BODY, "mode": f"odd-{number}"})
        assert client.get("/openapi.json").status_code == 200
        found = counted(client)
    assert of(found, "http_requests_total", route="none", method="GET", status="4xx") == 30
    routes = {dict(labels).get("route") for _, labels in set(found) - before}
    assert routes <= {"none", "/full_pipeline", "/metrics", "/openapi.json"}
    assert "/openapi.json" in routes
    assert {dict(labels).get("method") for _, labels in found} <= {None, "GET", "POST", "OTHER"}


def test_levels_of_danger_are_told_of_many_assessments_at_once(tmp_path: Path) -> None:
    with client_of(settings_with(tmp_path, **ON)) as client:
        client.post("/full_pipeline", json=HIGH)
        for _ in range(SHOWN_TOGETHER - 2):
            client.post("/assess/quantitative", json=BODY)
            assert of(counted(client), "danger_signs_total") == 0
        client.post("/assess/quantitative", json=BODY)
        found = counted(client)
    assert of(found, "danger_signs_total", level="high") == 1
    assert of(found, "danger_signs_total") == SHOWN_TOGETHER


def test_a_held_interview_is_counted_at_once(tmp_path: Path) -> None:
    with client_of(settings_with(tmp_path, **ON)) as client:
        assert of(counted(client), "interviews_held_total") == 0
        for said, held in (("no", 0), ("I want to kill myself.", 1), ("No, never.", 1)):
            begun = client.post("/v1/interviews", json={"protocol": "phq8"}).json()
            answer = {"question_id": "q1", "idempotency_key": "k1", "version": 1, "text": said}
            path = f"/v1/interviews/{begun['interview_id']}"
            for _ in range(2):
                assert client.post(f"{path}/answers", json=answer).status_code == 200
            client.post(f"{path}/retry")
            client.get(path)
            assert of(counted(client), "interviews_held_total") == held


def test_jobs_are_counted_until_and_at_their_end(tmp_path: Path) -> None:
    with client_of(settings_with(tmp_path, **ON)) as client:
        found = counted(client)
        assert of(found, "jobs", state="waiting") == of(found, "jobs", state="running") == 0
        taken = client.post("/v1/assessments", json=BODY, headers={"Prefer": "respond-async"})
        assert taken.status_code == 202, taken.text
        wait_until(lambda: of(counted(client), "job_ends_total", state="finished") == 1)
        found = counted(client)
    assert of(found, "job_seconds_count", state="finished") == 1
    assert of(found, "jobs") == 0


def test_they_are_off_until_a_setting_says_so(tmp_path: Path) -> None:
    with client_of(settings_with(tmp_path)) as client:
        for path in ("/metrics", "/v1/metrics"):
            refused = client.get(path)
            assert (refused.status_code, refused.json()["code"]) == (404, "metrics_off")
            assert "TELEMETRY_METRICS=true" in refused.json()["detail"]


def test_they_are_text_of_prometheus_and_head_is_answered(tmp_path: Path) -> None:
    with client_of(settings_with(tmp_path, **ON)) as client:
        for path in ("/metrics", "/v1/metrics"):
            assert client.get(path).headers["Content-Type"].startswith("text/plain; version=")
            head = client.head(path)
            assert (head.status_code, head.content) == (200, b"")


@pytest.mark.parametrize(
    ("scope", "status"), [("metrics", 200), ("assess", 403), ("admin", 403), (None, 401)]
)
def test_where_keys_are_asked_for_only_a_key_for_metrics_reads_them(
    asking: str, keys: dict[str, str], scope: str | None, status: int
) -> None:
    headers = {} if scope is None else {"Authorization": f"Bearer {keys[scope]}"}
    with client_at(asking) as client:
        assert client.get("/metrics", headers=headers).status_code == status
        if scope == "metrics":
            assert client.get("/health", headers=headers).status_code == 200
            assert client.get("/v1/assessments", headers=headers).status_code == 403
            begun = client.post("/v1/assessments", json=BODY, headers=headers)
            assert begun.status_code == 403
