"""What watchers are shown, what spans and counts make of it, and what is held back."""

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families

from ai_psychiatrist.domain.errors import ConfigurationError, ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.infrastructure.telemetry.prometheus import SHOWN_TOGETHER, PrometheusCounts
from ai_psychiatrist.infrastructure.telemetry.settings import TelemetrySettings
from ai_psychiatrist.infrastructure.telemetry.watching import (
    Telemetry,
    publish,
    watched,
    watched_by,
)
from ai_psychiatrist.infrastructure.telemetry.work import (
    AssessmentWork,
    CallWork,
    Event,
    JobEnded,
    QueueSeen,
    RequestWork,
    Work,
)
from ai_psychiatrist.llm.calls import call_work, note_result
from ai_psychiatrist.llm.endpoints import ModelEndpoint
from ai_psychiatrist.llm.replies import ChatReply
from ai_psychiatrist.store.jobs import JobEnd, JobRef
from ai_psychiatrist.wiring import telemetry
from ai_psychiatrist.wiring.jobs import note_end


class Seen:
    """Keeps all that it is shown."""

    def __init__(self) -> None:
        self.begun: list[Work] = []
        self.ended: list[Work | Event] = []
        self.telemetry = Telemetry(span=self.span, counters=(self.ended.append,))

    @contextmanager
    def span(self, work: Work) -> Iterator[None]:
        self.begun.append(work)
        yield


def test_work_is_shown_at_its_begin_and_with_its_time_at_its_end() -> None:
    seen = Seen()
    with watched_by(seen.telemetry), watched(RequestWork(method="GET")) as work:
        assert (seen.begun, seen.ended) == ([work], [])
        work.status = 200
    assert seen.ended == [work]
    assert work.seconds > 0
    assert work.error is None


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (ValueError("words of somebody"), FailureCode.INTERNAL_ERROR),
        (asyncio.CancelledError(), "cancelled"),
    ],
)
def test_work_that_raises_has_a_code_and_the_error_goes_on(
    raised: BaseException, code: str
) -> None:
    seen, work = Seen(), RequestWork(method="GET")
    with watched_by(seen.telemetry), pytest.raises(type(raised)), watched(work):
        raise raised
    assert seen.ended == [work]
    assert work.error == code


def test_each_application_is_watched_by_its_own() -> None:
    outer, inner = Seen(), Seen()
    with watched_by(outer.telemetry):
        with watched_by(inner.telemetry), watched(RequestWork(method="GET")):
            publish(JobEnded(state="finished", reason=None, seconds=1.0))
        with watched_by(Telemetry()), watched(RequestWork(method="POST")):
            pass
        assert (outer.begun, outer.ended) == ([], [])
    assert (len(inner.begun), len(inner.ended)) == (1, 2)


def test_levels_are_shown_together_and_none_is_lost() -> None:
    counts, shown = PrometheusCounts(), 0.0
    levels = ["none", "high", "none", "low"] * SHOWN_TOGETHER
    for number, level in enumerate(levels, 1):
        counts.count(AssessmentWork(mode="zero_shot", status="complete", danger=level))
        shown = sum(_danger_signs(counts).values())
        assert shown == number - number % SHOWN_TOGETHER
    assert _danger_signs(counts) == Counter(levels)


def _danger_signs(counts: PrometheusCounts) -> dict[str, float]:
    return {
        sample.labels["level"]: sample.value
        for family in text_string_to_metric_families(counts.text(None).decode())
        for sample in family.samples
        if sample.name == "ai_psychiatrist_danger_signs_total"
    }


def route(name: str, *, is_local: bool = False) -> ModelEndpoint:
    return ModelEndpoint(name=name, agent_model=None, chat=None, is_local=is_local)


@pytest.mark.parametrize(
    ("name", "provider", "requested"),
    [
        ("ollama:gemma3:27b", "ollama", "gemma3:27b"),
        ("openai-chat:local-model", "openai", "local-model"),
        ("openai:gpt-5", "openai", "gpt-5"),
        ("anthropic:claude", "anthropic", "claude"),
        ("google:gemini", "gcp.gemini", "gemini"),
        ("gemma3:27b", "_OTHER", "gemma3:27b"),
    ],
)
def test_providers_have_the_names_of_the_conventions(
    name: str, provider: str, requested: str
) -> None:
    work = call_work("evidence", route(name))
    assert (work.model, work.provider, work.requested) == (name, provider, requested)


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("gpt-5", "gpt-5"),
        ("gpt-5-2026-08-07", "gpt-5-2026-08-07"),
        ("gpt-5:latest", "gpt-5:latest"),
        ("gpt-5 and what she said", None),
        ("gpt-5-tired", None),
        ("what she said", None),
        (None, None),
    ],
)
def test_a_server_cannot_write_words_into_the_name_of_its_model(
    told: str | None, shown: str | None
) -> None:
    from pydantic_ai.messages import ModelResponse  # noqa: PLC0415  a second, for this test alone

    work = call_work("evidence", route("openai:gpt-5"))
    note_result(work, ChatReply.of(ModelResponse(parts=[], model_name=told)))
    assert work.answered_by == shown


def test_results_are_codes_and_counts() -> None:
    began = call_work("evidence", route("baseline", is_local=True))
    replied, failed = replace(began), replace(began)
    note_result(replied, ChatReply(text="words", is_cut_off=True, input_tokens=5, output_tokens=-3))
    assert replied == replace(began, input_tokens=5, output_tokens=None, finish_reason="length")
    note_result(failed, ModelCallFailed(FailureCode.RATE_LIMITED, http_status=429))
    assert failed == replace(began, error="rate_limited", http_status=429)
    assert isinstance(replied, CallWork)


def test_a_queue_that_cannot_be_seen_shows_no_jobs_of_before() -> None:
    counts = PrometheusCounts()
    before = counts.text(QueueSeen(by_state={"waiting": 3}, oldest_waiting_seconds=7.5))
    assert b'ai_psychiatrist_jobs{state="waiting"} 3.0' in before
    now = counts.text(None)
    assert b"ai_psychiatrist_jobs{" not in now
    assert b"ai_psychiatrist_oldest_waiting_job_seconds NaN" in now


def test_jobs_that_wait_for_hours_are_told_from_those_that_wait_for_a_day() -> None:
    counts = PrometheusCounts()
    for seconds in (3 * 3600.0, 20 * 3600.0):
        counts.count(JobEnded(state="finished", reason=None, seconds=seconds))
    within_four_hours = b'ai_psychiatrist_job_seconds_bucket{le="14400.0",state="finished"} 1.0'
    assert within_four_hours in counts.text(None)


def test_the_end_of_a_job_is_told_without_its_id() -> None:
    seen, job = Seen(), JobRef(tenant="clinic-1", id="5f1c")
    begun = datetime(2026, 11, 23, 20, 11, 40, tzinfo=UTC)
    end = JobEnd(
        job=job,
        state=RecordState.FAILED,
        reason="backend_failed",
        created_at=begun,
        ended_at=begun + timedelta(seconds=3),
    )
    with watched_by(seen.telemetry):
        asyncio.run(note_end(lambda: None, end))
    assert seen.ended == [JobEnded(state="failed", reason="backend_failed", seconds=3.0)]


@pytest.mark.parametrize(
    ("variable", "ours", "library"),
    [
        ("export", "otlp", "opentelemetry.exporter.otlp.proto.http.trace_exporter"),
        ("metrics", "prometheus", "prometheus_client"),
    ],
)
def test_without_the_extra_it_says_what_to_install(
    variable: str, ours: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = "ai_psychiatrist.infrastructure.telemetry"
    monkeypatch.delitem(sys.modules, f"{package}.{ours}", raising=False)
    monkeypatch.setitem(sys.modules, library, None)

    async def opened() -> None:
        async with telemetry.open_telemetry(TelemetrySettings.of({variable: True})):
            pass

    with pytest.raises(ConfigurationError) as refused:
        asyncio.run(opened())
    assert f"TELEMETRY_{variable.upper()}" in str(refused.value)
    assert "pip install 'ai-psychiatrist[telemetry]'" in str(refused.value)
