"""Spans and metrics as a collector gets them: the tree, the codes, and who may hold up whom."""

import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from ai_psychiatrist.infrastructure.telemetry.otlp import LONGEST_FLUSH_SECONDS
from ai_psychiatrist.infrastructure.telemetry.spans import SECOND_BUCKETS, TOKEN_BUCKETS
from tests.fakes.exchange import Reply, Request, Script
from tests.fakes.faults import FAULTS
from tests.fakes.interview_model import calling_tools
from tests.fakes.model_server import ModelServerThread, fault, good_replies
from tests.fakes.otlp_collector import OtlpCollector, SpanSeen
from tests.integration.command import Serving, environment_of
from tests.integration.command_here import run_here
from tests.integration.running_app import client_at, client_of, model_at, settings_with
from tests.integration.test_interview_http import INCIDENT, answered, begin
from tests.patience import wait_until

SAID = "Interviewer: How are you?\nParticipant: I am tired nearly every day.\n"
BODY = {"transcript_text": SAID}
TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
AGENTS = {
    "qualitative",
    "evidence",
    "quantitative",
    "judge_coherence",
    "judge_completeness",
    "judge_specificity",
    "judge_accuracy",
    "meta_review",
    "danger",
}
INTERNAL, SERVER, CLIENT = 1, 2, 3


@contextmanager
def traced(folder: Path, script: Script, collector: OtlpCollector) -> Iterator[httpx.Client]:
    """A client of a server that sends its spans to a collector at its end."""
    with ModelServerThread(script) as models:
        environment = model_at(models.url) | {
            "TELEMETRY_EXPORT": "true",
            "TELEMETRY_ENDPOINT": collector.url,
            "PYDANTIC_AI_RETRIES": "1",
            "FEEDBACK_MAX_ITERATIONS": "1",
        }
        with client_of(settings_with(folder, **environment)) as client:
            yield client


def spans_of(folder: Path, script: Script, headers: dict[str, str] | None = None) -> list[SpanSeen]:
    """Return the spans of one assessment."""
    with OtlpCollector() as collector:
        with traced(folder, script, collector) as client:
            client.post("/full_pipeline", json=BODY, headers=headers or {})
        return collector.spans


def only(spans: list[SpanSeen], name: str) -> SpanSeen:
    (found,) = [span for span in spans if span.name == name]
    return found


def test_an_assessment_is_a_tree_below_the_span_of_its_caller(tmp_path: Path) -> None:
    spans = spans_of(tmp_path, good_replies(), {"traceparent": f"00-{TRACE}-{CALLER}-01"})
    assert {span.trace for span in spans} == {TRACE}
    request = only(spans, "POST /full_pipeline")
    assert (request.parent, request.kind) == (CALLER, SERVER)
    assert request.attributes == {
        "http.request.method": "POST",
        "http.route": "/full_pipeline",
        "http.response.status_code": 200,
    }
    assessment = only(spans, "invoke_workflow assessment")
    assert (assessment.parent, assessment.kind) == (request.id, INTERNAL)
    agents = {span.id: span for span in spans if span.name.startswith("invoke_agent ")}
    assert {str(span.attributes["gen_ai.agent.name"]) for span in agents.values()} == AGENTS
    assert {span.parent for span in agents.values()} == {assessment.id}
    chats = [span for span in spans if span.name == "chat fake-model"]
    assert Counter(span.parent for span in chats) == Counter(dict.fromkeys(agents, 1))
    for chat in chats:
        agent = agents[chat.parent]
        assert chat.kind == CLIENT
        assert agent.begin <= chat.begin <= chat.end <= agent.end
        assert chat.attributes["gen_ai.agent.name"] == agent.attributes["gen_ai.agent.name"]
    assert len(spans) == 2 + 2 * len(AGENTS)
    assert not any(span.is_error for span in spans)


def test_a_call_is_described_by_the_conventions(tmp_path: Path) -> None:
    spans = spans_of(tmp_path, good_replies())
    (chat,) = [
        span
        for span in spans
        if span.name == "chat fake-model" and span.attributes["gen_ai.agent.name"] == "evidence"
    ]
    tokens = {
        name: chat.attributes.pop(f"gen_ai.usage.{name}")
        for name in ("input_tokens", "output_tokens")
    }
    assert all(isinstance(count, int) and count > 0 for count in tokens.values())
    assert chat.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "fake-model",
        "gen_ai.response.model": "fake-model",
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.agent.name": "evidence",
    }


def test_what_fails_says_so_by_its_code(tmp_path: Path) -> None:
    spans = spans_of(tmp_path, FAULTS["status_500"])
    chats = [span for span in spans if span.name == "chat fake-model"]
    assert {span.attributes["error.type"] for span in chats} == {"backend_error"}
    assert {span.attributes["http.response.status_code"] for span in chats} == {500}
    agents = [span for span in spans if span.name.startswith("invoke_agent ")]
    assert {span.attributes["error.type"] for span in agents} == {"backend_error"}
    request = only(spans, "POST /full_pipeline")
    assert request.attributes["error.type"] == str(request.attributes["http.response.status_code"])
    assert all(span.is_error for span in (*chats, *agents, request))
    assessment = only(spans, "invoke_workflow assessment")
    assert assessment.attributes["ai_psychiatrist.assessment.status"] == "failed"


def test_a_reply_that_is_sent_back_is_two_calls_of_one_agent(tmp_path: Path) -> None:
    good, asked = good_replies(), Counter[str]()

    def first_is_prose(request: Request) -> Reply:
        asked[request.task] += 1
        if request.task == "scoring" and asked["scoring"] == 1:
            return Reply(text="I would rather not.")
        return good(request)

    spans = spans_of(tmp_path, first_is_prose)
    agent = only(spans, "invoke_agent quantitative")
    assert agent.attributes["ai_psychiatrist.agent.calls"] == 2
    assert agent.attributes["ai_psychiatrist.agent.rejections"] == ["no_json"]
    assert not agent.is_error
    chats = [span for span in spans if span.parent == agent.id]
    assert [span.name for span in chats] == ["chat fake-model"] * 2
    assert chats[0].end <= chats[1].begin


def test_what_is_cut_short_is_called_cancelled(tmp_path: Path) -> None:
    with OtlpCollector() as collector, ModelServerThread(fault("hang")) as models:
        environment = model_at(models.url) | {
            "TELEMETRY_EXPORT": "true",
            "TELEMETRY_ENDPOINT": collector.url,
            "API_REQUEST_TIMEOUT_SECONDS": "3",
        }
        with client_of(settings_with(tmp_path, **environment)) as client:
            assert client.post("/full_pipeline", json=BODY).status_code == 504
    chats = [span for span in collector.spans if span.name == "chat fake-model"]
    assert chats
    assert {span.attributes["error.type"] for span in chats} == {"cancelled"}


def test_an_assessment_in_the_background_is_a_whole_tree(tmp_path: Path) -> None:
    with OtlpCollector() as collector:
        with traced(tmp_path, good_replies(), collector) as client:
            begun = client.post(
                "/v1/assessments",
                json=BODY,
                headers={"Prefer": "respond-async"},
            )
            assert begun.status_code == 202
            status = begun.headers["Location"]
            wait_until(lambda: client.get(status).json().get("state") not in {"waiting", "running"})
        spans = collector.spans
    assert only(spans, "POST /v1/assessments")
    assessment = only(spans, "invoke_workflow assessment")
    agents = {span.id for span in spans if span.parent == assessment.id}
    assert len(agents) == len(AGENTS)
    assert {span.parent for span in spans if span.name == "chat fake-model"} == agents
    assert {span.trace for span in spans if span.id in agents} == {assessment.trace}


def test_the_agents_of_an_interview_are_below_its_request(tmp_path: Path) -> None:
    with OtlpCollector() as collector:
        with traced(tmp_path, calling_tools(), collector) as client:
            interview = begin(client, "incident", inputs=INCIDENT)
            answered(client, interview, text="I saw it.")
        spans = collector.spans
    assert interview["interview_id"] not in collector.everything()
    asked = only(spans, "POST /v1/interviews/{interview_id}/answers")
    agents = {span.id for span in spans if span.parent == asked.id}
    assert len(agents) >= 3
    assert {span.parent for span in spans if span.name == "chat fake-model"} >= agents


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({}, id="none"),
        pytest.param({"traceparent": "00-zz-1-01"}, id="malformed"),
        pytest.param({"traceparent": f"00-{'0' * 32}-{CALLER}-01"}, id="of zeros"),
    ],
)
def test_without_a_usable_parent_a_request_begins_a_trace(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    with OtlpCollector() as collector:
        with traced(tmp_path, good_replies(), collector) as client:
            assert client.get("/healthz", headers=headers).status_code == 200
        (span,) = collector.spans
    assert (span.name, span.parent) == ("GET /healthz", "")
    assert int(span.trace, 16) > 0


def test_metrics_count_calls_and_tokens(tmp_path: Path) -> None:
    with OtlpCollector() as collector:
        with traced(tmp_path, good_replies(), collector) as client:
            client.post("/full_pipeline", json=BODY)
        about = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "fake-model",
        }
        ((attributes, seconds),) = collector.points("gen_ai.client.operation.duration")
        assert (attributes, seconds.count) == (about, len(AGENTS))
        assert tuple(seconds.explicit_bounds) == SECOND_BUCKETS
        tokens = {
            str(attributes.pop("gen_ai.token.type")): (attributes, point)
            for attributes, point in collector.points("gen_ai.client.token.usage")
        }
        spans = [span for span in collector.spans if span.name == "chat fake-model"]
        for kind in ("input", "output"):
            attributes, point = tokens[kind]
            assert attributes == about
            assert point.sum == sum(
                int(str(span.attributes[f"gen_ai.usage.{kind}_tokens"])) for span in spans
            )
            assert tuple(point.explicit_bounds) == TOKEN_BUCKETS
        assert {resource["service.name"] for resource in collector.resources()} == {
            "ai-psychiatrist"
        }


def test_log_lines_name_the_span_that_they_were_written_in(tmp_path: Path) -> None:
    with OtlpCollector() as collector, ModelServerThread() as models:
        environment = model_at(models.url) | {
            "TELEMETRY_EXPORT": "true",
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
            "OTEL_SERVICE_NAME": "phq8-of-the-ward",
            "LOG_FORMAT": "json",
        }
        with Serving(tmp_path, environment) as serving:
            with client_at(serving.url) as client:
                client.post("/full_pipeline", json=BODY)
            done = serving.stop()
    lines = [line for line in done.served_lines if "request_id" in line]
    spans = {span.id: span for span in collector.spans}
    assert {line["event"] for line in lines} >= {
        "attempt_finished",
        "assessment_finished",
        "request_finished",
    }
    for line in lines:
        span = spans[line["span_id"]]
        assert line["trace_id"] == span.trace
        if line["event"] == "attempt_finished":
            assert span.name == f"invoke_agent {line['agent']}"
        if line["event"] == "assessment_finished":
            assert span.name == "invoke_workflow assessment"
        if line["event"] == "request_finished":
            assert span.name == "POST /full_pipeline"
    assert {one["service.name"] for one in collector.resources()} == {"phq8-of-the-ward"}


@pytest.mark.parametrize("trouble", ["away", "500", "308", "silent", "endless"])
def test_a_collector_in_trouble_holds_up_and_breaks_nothing(tmp_path: Path, trouble: str) -> None:
    collector = OtlpCollector(
        status=int(trouble) if trouble.isdigit() else 200,
        answers=trouble != "silent",
        is_endless=trouble == "endless",
    )
    with collector:
        url = "http://127.0.0.1:9" if trouble == "away" else collector.url
        environment = {
            "TELEMETRY_EXPORT": "true",
            "TELEMETRY_ENDPOINT": url,
            "LOG_FORMAT": "json",
            # Sent as soon as there is something, so that requests meet a collector in trouble.
            "OTEL_BSP_SCHEDULE_DELAY": "1",
            "OTEL_METRIC_EXPORT_INTERVAL": "10",
        }
        with Serving(tmp_path, environment) as serving:
            with client_at(serving.url) as client:
                answers = [client.post("/full_pipeline", json=BODY) for _ in range(3)]
                if trouble != "away":
                    wait_until(lambda: collector.bodies)
                answers.append(client.post("/full_pipeline", json=BODY))
                if trouble == "endless":
                    wait_until(collector.is_hung_up.is_set)
            began = time.monotonic()
            done = serving.stop()
            took = time.monotonic() - began
    assert [answer.status_code for answer in answers] == [200] * 4
    # The library alone would try for half a minute and more.
    assert took < LONGEST_FLUSH_SECONDS + 20
    assert done.code == -signal.SIGTERM
    assert "tired" not in done.err
    said = [line for line in done.served_lines if line["event"] == "telemetry_not_sent"]
    assert len(said) <= 1
    if trouble in {"away", "500", "308"}:
        (line,) = said
        assert "TELEMETRY_ENDPOINT" in line["reason"]
    for line in done.served_lines:
        assert line["event"] != "library_log" or set(line) <= {
            *("event", "level", "library_logger", "timestamp"),
        }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OTEL_BSP_SCHEDULE_DELAY", "canary"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "canary"),
        ("OTEL_TRACES_SAMPLER", "canary"),
    ],
)
def test_a_variable_that_is_not_used_is_named_once_without_its_value(
    name: str, value: str, tmp_path: Path
) -> None:
    with OtlpCollector() as collector:
        environment = {
            "TELEMETRY_EXPORT": "true",
            "TELEMETRY_ENDPOINT": collector.url,
            "LOG_FORMAT": "json",
            name: value,
        }
        with Serving(tmp_path, environment) as serving:
            done = serving.stop()
    (said,) = [line for line in done.served_lines if line["event"] == "telemetry_variable_ignored"]
    assert name in said["reason"]
    assert "canary" not in done.err
    assert "library_log" not in done.err


@pytest.mark.parametrize(
    ("name", "value"),
    [("OTEL_BSP_MAX_QUEUE_SIZE", "-1"), ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "canary")],
)
def test_a_variable_that_nothing_goes_on_with_is_refused_by_name(
    name: str, value: str, tmp_path: Path
) -> None:
    environment = {"TELEMETRY_EXPORT": "true", name: value}
    done = run_here(["assess", "-"], tmp_path, environment, stdin=SAID.encode())
    assert done.code == 2
    assert name in done.err
    assert "canary" not in done.err
    assert "Traceback" not in done.err


def test_a_command_sends_its_spans_before_it_ends(tmp_path: Path) -> None:
    with OtlpCollector() as collector:
        environment = {"TELEMETRY_EXPORT": "true", "TELEMETRY_ENDPOINT": collector.url}
        done = run_here(["assess", "-"], tmp_path, environment, stdin=SAID.encode())
    assert done.code == 0, done.err
    spans = collector.spans
    assessment = only(spans, "invoke_workflow assessment")
    assert assessment.parent == ""
    chats = [span for span in spans if span.name == "chat baseline"]
    assert chats
    assert {span.kind for span in chats} == {INTERNAL}


def test_where_nobody_watches_no_library_for_it_is_loaded(tmp_path: Path) -> None:
    program = (
        "import sys, ai_psychiatrist as ap; ap.assess_sync(sys.argv[1]); "
        "print(*(name for name in sys.modules if name.startswith(('opentelemetry', 'prometheus'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, SAID],
        check=True,
        capture_output=True,
        env=environment_of(tmp_path, {}),
        timeout=120,
    )
    assert done.stdout.split() == []
