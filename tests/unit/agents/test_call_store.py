"""A call that was made before is not made again, whatever it gave."""

import asyncio
from dataclasses import replace
from functools import partial

import pytest
from pydantic_ai.exceptions import ModelConnectionError, ModelHTTPError
from pydantic_ai.messages import ToolCallPart
from tests.fakes.call_memory import CallMemory
from tests.fakes.replies import judge_text
from tests.fakes.scripted import Scripted, ScriptedChat, ScriptedModel, response, route

from ai_psychiatrist.agents.context import assessment_context
from ai_psychiatrist.agents.output_models import JudgeMetricOutput
from ai_psychiatrist.agents.pydantic_agents import JUDGE, create_judge_metric_agent
from ai_psychiatrist.domain.failures import AttemptOutcome, FailureCode
from ai_psychiatrist.domain.narrative import Metric
from ai_psychiatrist.llm.endpoints import FallbackChain
from ai_psychiatrist.llm.replies import ChatReply
from ai_psychiatrist.llm.runner import AgentOutcome, AgentRunner
from ai_psychiatrist.llm.settings import PydanticAISettings
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

GOOD = judge_text("4")
BAD = "No score here."
REFUSED = ModelHTTPError(400, "scripted")
DEAD = ModelConnectionError(model_name="scripted", message="dead")


def run(
    chain: FallbackChain, memory: CallMemory, *, task: str = "coherence", times: int = 1
) -> AgentOutcome[JudgeMetricOutput]:
    runner = AgentRunner(
        JUDGE[Metric.COHERENCE],
        partial(create_judge_metric_agent, Metric.COHERENCE, retries=2),
        chain,
        PydanticAISettings(retries=2),
    )
    case = assessment_context(parse_transcript("Participant: I sleep badly."), store=memory)

    async def ask() -> AgentOutcome[JudgeMetricOutput]:
        for _ in range(times - 1):
            await runner.run(case.prompt(task), case.calls)
        return await runner.run(case.prompt(task), case.calls)

    return asyncio.run(ask())


def untimed(outcome: AgentOutcome[JudgeMetricOutput]) -> AgentOutcome[JudgeMetricOutput]:
    attempts = tuple(replace(attempt, duration_ms=0.0) for attempt in outcome.attempts)
    return replace(outcome, attempts=attempts, rejection=None)


TOOL_CALL = replace(response(""), parts=[ToolCallPart("nothing", {})])


@pytest.mark.parametrize(
    ("replies", "chat_replies"),
    [
        ([GOOD], [GOOD]),
        ([BAD, GOOD], [GOOD]),
        ([BAD], [GOOD]),
        ([BAD], [BAD]),
        (["half \ud800 of it"], [ChatReply(text="half \ud800 of it", is_cut_off=True)]),
        ([REFUSED], [GOOD]),
        ([DEAD], [GOOD]),
        ([TOOL_CALL], [GOOD]),
        ([response(GOOD, finish_reason="length")], [GOOD]),
    ],
    ids=[
        "accepted",
        "asked again",
        "plain path",
        "never accepted",
        "half a character",
        "refused request",
        "dead backend",
        "unexpected tool call",
        "cut off",
    ],
)
def test_run_repeated_over_its_kept_calls_asks_nobody_and_ends_the_same(
    replies: list[Scripted], chat_replies: list[str | ChatReply]
) -> None:
    memory = CallMemory()
    first = run((route(ScriptedModel(replies), ScriptedChat(chat_replies)),), memory)
    model, chat = ScriptedModel([AssertionError()]), ScriptedChat([AssertionError()])
    second = run((route(model, chat),), memory)
    assert untimed(second) == untimed(first)
    assert (model.sent, chat.prompts) == ([], [])
    assert memory.recalled == len(first.attempts)


def test_another_prompt_is_another_call() -> None:
    memory, model = CallMemory(), ScriptedModel([GOOD])
    run((route(model),), memory)
    run((route(model),), memory, task="specificity")
    assert len(model.sent) == 2


def test_same_question_asked_twice_is_two_calls() -> None:
    memory, model = CallMemory(), ScriptedModel([GOOD])
    run((route(model),), memory, times=2)
    assert len(model.sent) == 2
    assert [judgement.round for judgement in memory.judgements] == [0, 1]


def test_judgement_holds_reply_output_and_feedback() -> None:
    memory = CallMemory()
    run((route(ScriptedModel([BAD, GOOD])),), memory)
    rejected, accepted = memory.judgements
    assert (rejected.text, rejected.output) == (BAD, None)
    assert "score" in str(rejected.feedback)
    assert accepted.text == GOOD
    assert accepted.output is not None
    assert accepted.output["score"] == 4


def test_failed_call_is_kept_with_its_code() -> None:
    memory = CallMemory()
    run((route(ScriptedModel([DEAD])),), memory)
    (kept,) = memory.kept.values()
    assert kept.code is FailureCode.CONNECTION_FAILED
    assert memory.judgements[0].attempt.outcome is AttemptOutcome.FAILED
