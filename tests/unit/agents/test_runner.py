import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelConnectionError, ModelHTTPError
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from tests.fakes.captured_events import captured_events
from tests.fakes.replies import judge_text
from tests.fakes.scripted import ScriptedChat, ScriptedModel, response, route

from ai_psychiatrist.agents.context import AssessmentContext, assessment_context
from ai_psychiatrist.agents.output_models import JudgeMetricOutput
from ai_psychiatrist.agents.pydantic_agents import JUDGE, create_judge_metric_agent
from ai_psychiatrist.domain.errors import AgentFailed, ModelCallFailed
from ai_psychiatrist.domain.failures import (
    Attempt,
    AttemptOutcome,
    CallPath,
    FailureCode,
    FailureSeverity,
    RejectionCode,
)
from ai_psychiatrist.domain.narrative import Metric
from ai_psychiatrist.infrastructure.logging import collect_failures
from ai_psychiatrist.llm.connections import as_chain
from ai_psychiatrist.llm.endpoints import FallbackChain
from ai_psychiatrist.llm.pydantic_agent import PlainChat
from ai_psychiatrist.llm.replies import ChatReply
from ai_psychiatrist.llm.runner import AgentOutcome, AgentRunner, create_agent
from ai_psychiatrist.llm.settings import PydanticAISettings
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

SECRET = "I wake up at four every night"
GOOD = judge_text("4")
BAD = "The assessment is coherent."
ACCEPTED, REJECTED, FAILED = AttemptOutcome.ACCEPTED, AttemptOutcome.REJECTED, AttemptOutcome.FAILED

JudgeOutcome = AgentOutcome[JudgeMetricOutput]
Step = tuple[str, CallPath, AttemptOutcome, RejectionCode | FailureCode | None]


def case(max_calls: int = 60) -> AssessmentContext:
    return assessment_context(parse_transcript(f"Participant: {SECRET}."), max_calls=max_calls)


def runner(
    chain: FallbackChain,
    *,
    retries: int = 2,
    enabled: bool = True,
    slept: list[float] | None = None,
) -> AgentRunner[JudgeMetricOutput]:
    async def sleep(seconds: float) -> None:
        if slept is not None:
            slept.append(seconds)

    return AgentRunner(
        JUDGE[Metric.COHERENCE],
        partial(create_judge_metric_agent, Metric.COHERENCE, retries=retries),
        tuple(replace(one, retries=replace(one.retries, sleep=sleep)) for one in chain),
        PydanticAISettings(enabled=enabled, retries=retries),
    )


def run(
    chain: FallbackChain,
    *,
    retries: int = 2,
    max_calls: int = 60,
    enabled: bool = True,
    slept: list[float] | None = None,
    deadline_seconds: float | None = None,
) -> JudgeOutcome:
    opened = case(max_calls)
    prompt = opened.prompt("Task: judge_coherence")
    judge = runner(chain, retries=retries, enabled=enabled, slept=slept)

    async def asked() -> JudgeOutcome:
        async with asyncio.timeout(deadline_seconds) as deadline:
            return await judge.run(prompt, replace(opened.calls, deadline=deadline.when()))

    return asyncio.run(asked())


def steps(attempts: Sequence[Attempt]) -> list[Step]:
    return [(one.model, one.path, one.outcome, one.code) for one in attempts]


def test_accepted_reply_ends_the_run() -> None:
    model, chat = ScriptedModel([GOOD]), ScriptedChat([GOOD])
    outcome = run((route(model, chat),))
    assert outcome.required("judge").score == 4
    assert steps(outcome.attempts) == [("scripted", CallPath.AGENT, ACCEPTED, None)]
    assert chat.prompts == []


def test_rejected_reply_is_asked_again_with_feedback() -> None:
    model = ScriptedModel([BAD, GOOD])
    outcome = run((route(model),))
    assert outcome.failure is None
    assert steps(outcome.attempts) == [
        ("scripted", CallPath.AGENT, REJECTED, RejectionCode.SCORE_MISSING),
        ("scripted", CallPath.AGENT, ACCEPTED, None),
    ]
    assert model.feedback[0] == ""
    assert "No score was found" in model.feedback[1]


def test_spent_retries_lead_to_one_plain_call_with_the_same_prompt() -> None:
    model, chat = ScriptedModel([BAD]), ScriptedChat([GOOD])
    outcome = run((route(model, chat),), retries=2)
    assert outcome.required("judge").score == 4
    assert [one.path for one in outcome.attempts] == [CallPath.AGENT] * 3 + [CallPath.PLAIN]
    assert chat.prompts == [model.prompts[0]]
    assert chat.systems == [case().prompt("").system]


@pytest.mark.parametrize(
    ("replies", "enabled", "paths"),
    [
        ([BAD, BAD, GOOD], True, [CallPath.AGENT] * 3),
        ([BAD, BAD, BAD, GOOD], True, [CallPath.AGENT] * 3 + [CallPath.PLAIN]),
        ([GOOD], False, [CallPath.PLAIN]),
    ],
    ids=["asked again", "then plainly", "no agents"],
)
def test_model_of_this_process_is_asked_as_an_agent_through_its_plain_client(
    replies: list[str], enabled: bool, paths: list[CallPath]
) -> None:
    local = replace(route(chat=ScriptedChat(replies)), is_local=True)
    outcome = run((local,), retries=2, enabled=enabled)
    assert outcome.required("judge").score == 4
    assert [one.path for one in outcome.attempts] == paths


def test_plain_reply_whose_text_is_null_is_a_failure_of_the_backend() -> None:
    null: Any = None
    first = route(chat=ScriptedChat([ChatReply(text=null)]), name="first")
    second = route(ScriptedModel([GOOD]), name="second")
    outcome = run((first, second), retries=0)
    assert steps(outcome.attempts)[-2:] == [
        ("first", CallPath.PLAIN, FAILED, FailureCode.MALFORMED_RESPONSE),
        ("second", CallPath.AGENT, ACCEPTED, None),
    ]


def test_bad_plain_reply_leads_to_the_next_model() -> None:
    first = route(ScriptedModel([BAD]), ScriptedChat([BAD]), name="first")
    second = route(ScriptedModel([GOOD]), name="second")
    outcome = run((first, second), retries=0)
    assert steps(outcome.attempts) == [
        ("first", CallPath.AGENT, REJECTED, RejectionCode.SCORE_MISSING),
        ("first", CallPath.PLAIN, REJECTED, RejectionCode.SCORE_MISSING),
        ("second", CallPath.AGENT, ACCEPTED, None),
    ]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        pytest.param(
            ModelConnectionError("scripted", SECRET), FailureCode.CONNECTION_FAILED, id="dead"
        ),
        pytest.param(TimeoutError(SECRET), FailureCode.TIMED_OUT, id="slow"),
    ],
)
def test_dead_server_is_not_asked_twice(error: Exception, code: FailureCode) -> None:
    chat = ScriptedChat([GOOD])
    first = route(ScriptedModel([error]), chat, name="first")
    outcome = run((first, route(ScriptedModel([GOOD]), name="second")))
    assert steps(outcome.attempts) == [
        ("first", CallPath.AGENT, FAILED, code),
        ("second", CallPath.AGENT, ACCEPTED, None),
    ]
    assert chat.prompts == []


@pytest.mark.parametrize(
    ("error", "code"),
    [
        pytest.param(ModelHTTPError(500, "m", SECRET), FailureCode.BACKEND_ERROR, id="500"),
        pytest.param(ModelHTTPError(400, "m", SECRET), FailureCode.REQUEST_REFUSED, id="400"),
        pytest.param(
            ModelHTTPError(400, "m", {"error": "maximum context length is 8"}),
            FailureCode.CONTEXT_TRUNCATED,
            id="context",
        ),
        pytest.param(RuntimeError(SECRET), FailureCode.MALFORMED_RESPONSE, id="library_crash"),
    ],
)
def test_server_that_refuses_the_request_is_asked_plainly(
    error: Exception, code: FailureCode
) -> None:
    outcome = run((route(ScriptedModel([error]), ScriptedChat([GOOD])),))
    assert steps(outcome.attempts) == [
        ("scripted", CallPath.AGENT, FAILED, code),
        ("scripted", CallPath.PLAIN, ACCEPTED, None),
    ]


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("path", list(CallPath))
def test_busy_server_is_waited_for(path: CallPath, status: int) -> None:
    slept: list[float] = []
    busy = ModelCallFailed(
        FailureCode.RATE_LIMITED if status == 429 else FailureCode.BACKEND_ERROR,
        http_status=status,
        retry_after_seconds=3.0,
    )
    model = ScriptedModel([busy, busy, GOOD]) if path is CallPath.AGENT else None
    outcome = run((route(model, ScriptedChat([busy, busy, GOOD])),), slept=slept)
    assert outcome.failure is None
    assert [one.http_status for one in outcome.attempts] == [status, status, None]
    assert {one.path for one in outcome.attempts} == {path}
    assert slept == [3.0, 3.0]


def test_server_that_stays_busy_is_left_to_the_next_model_after_a_bounded_wait() -> None:
    slept: list[float] = []
    busy, chat = ModelCallFailed(FailureCode.RATE_LIMITED, http_status=429), ScriptedChat([GOOD])
    first = route(ScriptedModel([busy]), chat, name="first")
    outcome = run((first, route(ScriptedModel([GOOD]), name="second")), slept=slept)
    assert [one.model for one in outcome.attempts] == ["first"] * 4 + ["second"]
    assert slept == [1.0, 2.0, 4.0]
    assert chat.prompts == []


def test_wait_that_the_deadline_does_not_leave_is_not_begun() -> None:
    slept: list[float] = []
    busy = ModelCallFailed(FailureCode.RATE_LIMITED, http_status=429, retry_after_seconds=30.0)
    outcome = run((route(ScriptedModel([busy]), None),), slept=slept, deadline_seconds=20.0)
    assert [one.code for one in outcome.attempts] == [FailureCode.RATE_LIMITED]
    assert slept == []


def test_endless_wait_is_not_begun() -> None:
    slept: list[float] = []
    busy = ModelCallFailed(FailureCode.RATE_LIMITED, http_status=429, retry_after_seconds=1e6)
    assert len(run((route(ScriptedModel([busy]), None),), slept=slept).attempts) == 1
    assert slept == []


def test_defect_in_reading_is_recorded_and_ends_only_this_agent() -> None:
    def defect(_: str) -> JudgeMetricOutput:
        raise ZeroDivisionError(SECRET)

    definition = replace(JUDGE[Metric.COHERENCE], extract=defect)
    chain = (route(ScriptedModel([GOOD])),)
    broken = AgentRunner(definition, partial(create_agent, definition), chain, PydanticAISettings())
    opened = case()
    with captured_events() as events:
        outcome = asyncio.run(broken.run(opened.prompt("Task: x"), opened.calls))
    assert outcome.failure is FailureCode.INTERNAL_ERROR
    assert steps(opened.calls.attempts) == [
        ("scripted", CallPath.AGENT, FAILED, FailureCode.INTERNAL_ERROR)
    ]
    assert "ZeroDivisionError" in [event.get("error_type") for event in events]
    assert "four" not in str(events)


def test_plain_failure_is_accounted_and_leads_on() -> None:
    first = route(None, ScriptedChat([ModelCallFailed(FailureCode.BACKEND_ERROR)]), name="first")
    second = route(None, ScriptedChat([GOOD]), name="second")
    assert steps(run((first, second)).attempts) == [
        ("first", CallPath.PLAIN, FAILED, FailureCode.BACKEND_ERROR),
        ("second", CallPath.PLAIN, ACCEPTED, None),
    ]


def test_switched_off_agent_path_asks_plainly() -> None:
    model, chat = ScriptedModel([GOOD]), ScriptedChat([GOOD])
    outcome = run((route(model, chat),), enabled=False)
    assert [one.path for one in outcome.attempts] == [CallPath.PLAIN]
    assert model.sent == []


def test_chain_without_an_acceptable_reply_is_a_recorded_failure() -> None:
    with collect_failures() as failures:
        outcome = run((route(ScriptedModel([BAD])),), retries=0)
    assert outcome.output is None
    assert outcome.failure is FailureCode.OUTPUT_REJECTED
    assert outcome.rejection is not None
    assert outcome.rejection.code is RejectionCode.SCORE_MISSING
    (failure,) = failures
    assert (failure.stage, failure.code, failure.severity) == (
        "judge_coherence",
        FailureCode.OUTPUT_REJECTED,
        FailureSeverity.ERROR,
    )
    with pytest.raises(AgentFailed, match="output_rejected"):
        outcome.required("judge_coherence")


def test_spent_call_budget_ends_the_run_even_with_models_left() -> None:
    chain = (
        route(ScriptedModel([BAD]), ScriptedChat([GOOD]), name="first"),
        route(ScriptedModel([GOOD]), name="second"),
    )
    outcome = run(chain, retries=5, max_calls=2)
    assert outcome.failure is FailureCode.CALL_BUDGET_SPENT
    assert len(outcome.attempts) == 2


def test_call_budget_is_shared_by_all_runs_of_a_case() -> None:
    async def twice() -> tuple[JudgeOutcome, JudgeOutcome]:
        opened = case(max_calls=1)
        judge = runner((route(ScriptedModel([GOOD])),))
        prompt = opened.prompt("Task: judge_coherence")
        return await judge.run(prompt, opened.calls), await judge.run(prompt, opened.calls)

    first, second = asyncio.run(twice())
    assert first.failure is None
    assert second.failure is FailureCode.CALL_BUDGET_SPENT
    assert second.attempts == ()


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        pytest.param(response(""), RejectionCode.EMPTY_REPLY, id="empty_text"),
        pytest.param(response(" \n"), RejectionCode.EMPTY_REPLY, id="blank"),
        pytest.param(ModelResponse(parts=[]), RejectionCode.EMPTY_REPLY, id="no_parts"),
        pytest.param(
            ModelResponse(parts=[ToolCallPart("search", {"q": SECRET})]),
            RejectionCode.UNEXPECTED_TOOL_CALL,
            id="tool_call",
        ),
    ],
)
def test_reply_without_usable_text_is_accounted_as_one_rejected_attempt(
    reply: ModelResponse, code: RejectionCode
) -> None:
    model, chat = ScriptedModel([reply]), ScriptedChat([GOOD])
    outcome = run((route(model, chat),), retries=1)
    agent = [one for one in outcome.attempts if one.path is CallPath.AGENT]
    assert len(agent) == len(model.sent)
    assert {(one.outcome, one.code) for one in agent} == {(REJECTED, code)}
    assert outcome.attempts[-1].path is CallPath.PLAIN


def test_needless_tool_call_beside_an_answer_is_passed_over() -> None:
    reply = ModelResponse(parts=[TextPart(GOOD), ToolCallPart("search", {"q": SECRET})])
    assert steps(run((route(ScriptedModel([reply])),)).attempts) == [
        ("scripted", CallPath.AGENT, ACCEPTED, None)
    ]


def test_reply_over_the_byte_cap_is_rejected_and_cut_when_quoted_back() -> None:
    model = ScriptedModel([GOOD + "x" * 50_000, GOOD])
    outcome = run((route(model, max_reply_bytes=20_000),))
    assert [one.code for one in outcome.attempts] == [RejectionCode.REPLY_TOO_LARGE, None]
    assert outcome.attempts[0].reply_characters == len(GOOD) + 50_000
    assert sum(len(str(message)) for message in model.sent[1]) < 20_000


def test_plain_reply_over_the_byte_cap_is_rejected() -> None:
    outcome = run((route(None, ScriptedChat([GOOD + "ä" * 600]), max_reply_bytes=1_000),))
    assert [one.code for one in outcome.attempts] == [RejectionCode.REPLY_TOO_LARGE]


def test_reply_that_ends_at_the_length_limit_is_accounted_as_cut_off() -> None:
    model = ScriptedModel([response(BAD, finish_reason="length"), GOOD])
    outcome = run((route(model),))
    assert [one.code for one in outcome.attempts] == [RejectionCode.TRUNCATED, None]
    plain = run((route(None, ScriptedChat([ChatReply(text=BAD, is_cut_off=True)])),))
    assert [one.code for one in plain.attempts] == [RejectionCode.TRUNCATED]


@pytest.mark.parametrize("is_plain", [False, True], ids=["agent", "plain"])
@pytest.mark.parametrize("text", [GOOD, ""], ids=["whole", "empty"])
def test_reply_that_a_filter_stopped_is_none_whatever_stands_in_it(
    text: str, *, is_plain: bool
) -> None:
    """A filter leaves out what it stopped, so that the rest may say something else."""
    model = ScriptedModel([response(text, finish_reason="content_filter")])
    plain = replace(route(), chat=PlainChat(model.model, temperature=0.0))
    outcome = run((plain if is_plain else route(model),))
    assert outcome.output is None
    assert [one.code for one in outcome.attempts] == [FailureCode.CONTENT_FILTERED]


def test_prompt_that_fills_the_context_window_is_no_success() -> None:
    outcome = run((route(ScriptedModel([GOOD]), num_ctx=100),))
    assert [one.code for one in outcome.attempts] == [FailureCode.CONTEXT_TRUNCATED]


def test_attempt_holds_counts_and_digests() -> None:
    (attempt,) = run((route(ScriptedModel([judge_text("4.0")])),)).attempts
    assert attempt.agent == "judge_coherence"
    assert attempt.prompt_digest == case().prompt("Task: judge_coherence").digest
    assert attempt.reply_characters == len(judge_text("4.0"))
    assert (attempt.input_tokens, attempt.output_tokens) == (100, 10)
    assert attempt.repaired is False
    assert attempt.duration_ms >= 0


def test_every_attempt_is_logged_once_without_text() -> None:
    with captured_events() as events:
        run((route(ScriptedModel([SECRET]), ScriptedChat([f"{SECRET}\nScore: 4"])),), retries=1)
    finished = [event for event in events if event["event"] == "attempt_finished"]
    assert [event["outcome"] for event in finished] == [REJECTED, REJECTED, ACCEPTED]
    assert "four" not in str(events)


def test_cancellation_is_accounted_and_goes_on_to_the_caller() -> None:
    async def cancelled() -> tuple[bool, list[Attempt]]:
        opened = case()
        under_way = asyncio.Event()

        class Waiting(ScriptedChat):
            async def simple_chat(self, user_prompt: str, *, system_prompt: str = "") -> ChatReply:
                under_way.set()
                await asyncio.Event().wait()
                return await super().simple_chat(user_prompt, system_prompt=system_prompt)

        judge = runner((route(None, Waiting([GOOD])), route(None, ScriptedChat([GOOD]))))
        task = asyncio.create_task(judge.run(opened.prompt("Task: x"), opened.calls))
        await under_way.wait()
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled(), opened.calls.attempts

    was_cancelled, attempts = asyncio.run(cancelled())
    assert was_cancelled is True
    assert [one.code for one in attempts] == [FailureCode.DEADLINE_EXCEEDED]


def test_cancellation_of_an_agent_call_goes_on_to_the_caller() -> None:
    chain = (route(ScriptedModel([asyncio.CancelledError()]), ScriptedChat([GOOD])),)
    with pytest.raises(asyncio.CancelledError):
        run(chain)


def test_plain_call_that_takes_too_long_is_timed_out() -> None:
    class Hanging(ScriptedChat):
        async def simple_chat(self, user_prompt: str, *, system_prompt: str = "") -> ChatReply:
            await asyncio.Event().wait()
            return await super().simple_chat(user_prompt, system_prompt=system_prompt)

    settings = PydanticAISettings(enabled=False, timeout_seconds=0.01)
    chain = as_chain(Hanging([GOOD]), pydantic_ai_settings=settings, ollama_base_url=None)
    outcome = run(chain)
    assert steps(outcome.attempts) == [
        ("scripted-chat", CallPath.PLAIN, FAILED, FailureCode.TIMED_OUT)
    ]


def test_enabled_agent_path_without_a_base_url_warns_and_asks_plainly() -> None:
    with captured_events() as events:
        chain = as_chain(
            ScriptedChat([GOOD]), pydantic_ai_settings=PydanticAISettings(), ollama_base_url=None
        )
    assert events == [
        {
            "event": "agent_path_unavailable",
            "log_level": "warning",
            "model": "scripted-chat",
            "reason": "no_base_url",
        }
    ]
    assert [one.path for one in run(chain).attempts] == [CallPath.PLAIN]


def test_switched_off_agent_path_without_a_base_url_does_not_warn() -> None:
    with captured_events() as events:
        settings = PydanticAISettings(enabled=False)
        as_chain(ScriptedChat([GOOD]), pydantic_ai_settings=settings, ollama_base_url=None)
    assert events == []
