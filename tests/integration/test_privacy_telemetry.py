"""The canary through everything that leaves for a collector, and everything Prometheus reads.

What a collector gets is searched byte by byte: names, attributes, events, links and resources of
spans, and all of metrics.
"""

import json
import subprocess
import sys
from pathlib import Path

from tests.fakes.exchange import Script
from tests.fakes.faults import FAULTS
from tests.fakes.interview_model import calling_tools
from tests.fakes.model_server import ModelServerThread, good_replies
from tests.fakes.otlp_collector import METRICS, TRACES, OtlpCollector
from tests.integration.canary import CANARY, INTERVIEW, SCENARIOS, assert_silent
from tests.integration.command import Serving, environment_of
from tests.integration.running_app import client_at, model_at
from tests.integration.test_interview_http import answered, begin
from tests.integration.test_privacy import BAD_REQUESTS
from tests.integration.test_privacy_interview import INPUTS
from tests.patience import wait_until

HEADERS = {
    "traceparent": f"00-{'4' * 32}-{'7' * 16}-01",
    "tracestate": f"ward={CANARY}-state",
    "baggage": f"said={CANARY}-baggage",
    "User-Agent": f"{CANARY}-agent",
    "X-Request-ID": CANARY,
}
SCRIPTS: dict[str, Script] = SCENARIOS | {
    "whole": good_replies(),
    "an empty reply": FAULTS["empty"],
}
HOST = Path(__file__).with_name("traced_host.py")
SERVER = Path(__file__).with_name("traced_server.py")


def test_no_word_leaves_in_spans_metrics_or_logs(tmp_path: Path) -> None:
    secret = f"sk-{CANARY}-key"
    with OtlpCollector() as collector, ModelServerThread() as models:
        environment = model_at(models.url) | {
            "TELEMETRY_EXPORT": "true",
            "TELEMETRY_METRICS": "true",
            "TELEMETRY_ENDPOINT": collector.url,
            "OPENAI_API_KEY": secret,
            "PYDANTIC_AI_RETRIES": "1",
            "FEEDBACK_MAX_ITERATIONS": "1",
            "LOG_LEVEL": "DEBUG",
            "LOG_FORMAT": "json",
            "API_MAX_BODY_BYTES": "100000",
            "API_MAX_TRANSCRIPT_CHARS": "20000",
            "API_REQUEST_TIMEOUT_SECONDS": "5",
        }
        with Serving(tmp_path, environment) as serving:
            with client_at(serving.url) as client:
                client.headers.update(HEADERS)
                body = {"transcript_text": INTERVIEW}
                for script in SCRIPTS.values():
                    models.server.script = script
                    client.post("/full_pipeline", json=body, params={"q": CANARY})
                models.server.script = good_replies()
                begun = client.post(
                    "/v1/assessments",
                    json=body | {"subject": f"{CANARY} Smith"},
                    headers={"Prefer": "respond-async"},
                )
                status = begun.headers["Location"]
                wait_until(lambda: client.get(status).json()["state"] == "finished")
                models.server.script = calling_tools(rationale=f"{CANARY}-rationale")
                interview = begin(client, "incident", inputs=INPUTS)
                answered(client, interview, text=f"It was {CANARY}.")
                for send in BAD_REQUESTS.values():
                    send(client)
                counted = client.get("/metrics").text
            done = serving.stop()
    sent = collector.everything()
    assert {path for path, _ in collector.bodies} == {TRACES, METRICS}
    assert "invoke_agent qualitative" in sent
    assert_silent(sent, counted, done.out, done.err)
    assert interview["interview_id"] not in sent + counted
    assert status.split("/")[3] not in sent + counted
    for span in collector.raw_spans():
        assert not span.events
        assert not span.links
        assert not span.trace_state
        assert not span.status.message


def test_a_host_that_traces_all_agents_with_content_gets_none_of_ours(tmp_path: Path) -> None:
    """The host has a provider of its own, and has Pydantic AI trace every agent's words."""
    with ModelServerThread(good_replies()) as models:
        host = subprocess.run(
            [sys.executable, str(HOST), INTERVIEW],
            check=True,
            capture_output=True,
            env=environment_of(tmp_path, model_at(models.url)),
            timeout=120,
        )
    spans = json.loads(host.stdout)
    names = {span["name"] for span in spans}
    assert {"host's own", "invoke_workflow assessment", "chat fake-model"} <= names
    assert "invoke_agent the host's" in names, "what the host's own agents say is its own affair"
    (own,) = [span for span in spans if span["name"] == "host's own"]
    (assessment,) = [span for span in spans if span["name"] == "invoke_workflow assessment"]
    assert assessment["parent"] == own["id"]
    assert {span["trace"] for span in spans} == {own["trace"]}
    assert_silent(host.stdout.decode(), host.stderr.decode())


def test_the_framework_tells_a_host_nothing_of_paths_queries_and_errors(tmp_path: Path) -> None:
    """FastAPI traces by itself where a provider is set: queries, and texts of exceptions."""
    served = subprocess.run(
        [sys.executable, str(SERVER), CANARY],
        check=True,
        capture_output=True,
        env=environment_of(tmp_path, {}),
        timeout=120,
    )
    assert b"POST /full_pipeline" in served.stdout
    assert b"GET /broken" in served.stdout
    assert_silent(served.stdout.decode(), served.stderr.decode())
