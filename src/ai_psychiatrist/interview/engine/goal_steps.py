"""The steps of an interview about goals, which models lead."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final, TypeAlias, TypeVar

from ai_psychiatrist.agents.interview.outputs import AnalysisReply, Digest, QuestionOutput
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import AnswerKind, EndReason, InterviewState
from ai_psychiatrist.interview.engine.context import StepContext
from ai_psychiatrist.interview.engine.goals import (
    apply_digest,
    end_reason,
    set_goals,
    targets,
    targets_ahead,
)
from ai_psychiatrist.interview.engine.turn_clock import timed
from ai_psychiatrist.interview.engine.turns import Offered, Wording, end, is_repeated, put_question
from ai_psychiatrist.interview.engine.view import view_of
from ai_psychiatrist.interview.interview_log import log_interview
from ai_psychiatrist.interview.protocol.records import DriftPolicy
from ai_psychiatrist.interview.record import Interview
from ai_psychiatrist.interview.serialization import report_inputs_hash
from ai_psychiatrist.llm.calls import CallRecorder
from ai_psychiatrist.llm.definition import OutputT
from ai_psychiatrist.llm.runner import AgentOutcome

T = TypeVar("T")
_Work: TypeAlias = Callable[[CallRecorder], Awaitable[Interview]]

REPORT_CALLS: Final = 6
"""Calls that are kept back for the report, however long the interview is."""


class StepFailed(Exception):
    """A model gave nothing that could be used."""

    def __init__(self, code: FailureCode) -> None:
        super().__init__(code.value)
        self.code = code


async def prepare_goals(context: StepContext, interview: Interview) -> Interview:
    """Set the goals and put the first question."""

    async def work(calls: CallRecorder) -> Interview:
        prepared = set_goals(interview, await _goal_texts(context, interview, calls))
        asked = await _ask_model(context, prepared, targets(prepared), calls)
        return _put(context, prepared, asked)

    return await _within_limits(context, interview, work, reserved=REPORT_CALLS)


async def digest_goal_answer(context: StepContext, interview: Interview) -> Interview:
    """Work the stored answer in, and put the next question or end."""

    async def work(calls: CallRecorder) -> Interview:
        chosen = None if interview.question is None else interview.question.chosen(interview.answer)
        kind = None if chosen is None else chosen.kind
        return await _work_in(context, interview, kind, calls)

    digested = await _within_limits(context, interview, work, reserved=REPORT_CALLS)
    if digested.unknown_updates > interview.unknown_updates:
        log_interview("unknown_goals_dropped", digested)
    if digested.failure is not FailureCode.CALL_BUDGET_SPENT:
        return digested
    return end(context.protocol, digested, EndReason.BUDGET_SPENT)


async def make_report(context: StepContext, interview: Interview) -> Interview:
    """Have the report made; where the model fails, it can be asked for again."""

    async def work(calls: CallRecorder) -> Interview:
        view = view_of(context.protocol, interview, is_whole=True)
        output = _required(await context.required_agents.generate_analysis(view, calls))
        return replace(
            interview,
            state=InterviewState.DONE,
            analysis=AnalysisReply(**output.model_dump(include=set(AnalysisReply.model_fields))),
            analysis_inputs_hash=report_inputs_hash(interview),
            failure=None,
        )

    analysed = await _within_limits(context, interview, work, reserved=0)
    is_written = analysed.state is InterviewState.DONE
    return analysed if is_written else replace(analysed, state=InterviewState.REPORTING)


async def _within_limits(
    context: StepContext, interview: Interview, work: _Work, *, reserved: int
) -> Interview:
    """Return what work makes of an interview in its time and with its calls, or that it failed."""
    left = context.limits.max_calls - reserved - interview.spent.calls
    calls = context.calls(left)
    try:
        async with timed(calls, context.limits.turn_timeout_seconds) as in_time:
            following = await work(in_time)
    except TimeoutError:
        following = _failed(interview, FailureCode.DEADLINE_EXCEEDED)
    except StepFailed as failed:
        following = _failed(interview, failed.code)
    return replace(following, spent=interview.spent.with_calls(calls.attempts))


def _failed(interview: Interview, code: FailureCode) -> Interview:
    return replace(interview, state=InterviewState.FAILED, failure=code)


async def _goal_texts(
    context: StepContext, interview: Interview, calls: CallRecorder
) -> tuple[str, ...]:
    goals = context.protocol.goals
    if goals is not None and goals.fixed:
        return goals.fixed
    view = view_of(context.protocol, interview)
    return _required(await context.required_agents.generate_goals(view, calls)).goals


async def _work_in(
    context: StepContext, interview: Interview, chosen: AnswerKind | None, calls: CallRecorder
) -> Interview:
    """Find what the answer brings, then end or ask.

    After an offered answer the next question is written meanwhile, with the answer in view. It is
    asked even when the same answer has completed its goal: nobody waits for another call.
    """
    digesting = _digest(context, interview, chosen, calls)
    if chosen is AnswerKind.OFFERED and context.limits.speculates:
        ahead = targets_ahead(interview)
        digest, prepared = await _both(digesting, _ask_model(context, interview, ahead, calls))
    else:
        digest, prepared = await digesting, None
    worked_in = apply_digest(interview, digest)
    reason = end_reason(context.protocol, worked_in)
    if reason is not None:
        return end(context.protocol, worked_in, reason)
    if prepared is None:
        prepared = await _ask_model(context, worked_in, targets(worked_in), calls)
    return _put(context, worked_in, prepared)


async def _both(
    digesting: Awaitable[Digest], asking: Awaitable[QuestionOutput]
) -> tuple[Digest, QuestionOutput | None]:
    """Wait for both; a question that came to nothing is asked for again, but not a rejected one."""
    async with asyncio.TaskGroup() as both:
        digested = both.create_task(_caught(digesting))
        asked = both.create_task(_caught(asking))
    digest, question = digested.result(), asked.result()
    if isinstance(digest, StepFailed):
        raise digest
    if isinstance(question, StepFailed):
        if question.code is FailureCode.OUTPUT_REJECTED:
            raise question
        return digest, None
    return digest, question


async def _digest(
    context: StepContext, interview: Interview, chosen: AnswerKind | None, calls: CallRecorder
) -> Digest:
    """Ask only for what the protocol wants to know of an answer; of a refusal nothing."""
    if chosen is AnswerKind.DECLINE:
        return Digest()
    protocol = context.protocol
    is_drift_wanted = protocol.drift is not DriftPolicy.NEVER and chosen is None
    digest = await context.required_agents.digest(
        view_of(protocol, interview), calls, wants_facts=protocol.facts, wants_drift=is_drift_wanted
    )
    if digest.failure is not None:
        raise StepFailed(digest.failure)
    return digest


async def _ask_model(
    context: StepContext, interview: Interview, ids: tuple[str, ...], calls: CallRecorder
) -> QuestionOutput:
    view = view_of(context.protocol, interview)
    if interview.question is not None and ids != (interview.question.goal_id,):
        view = replace(view, redirect="")
    agents = context.required_agents
    proposed = _required(await agents.generate_question_with_answers(view, ids, calls))
    # A wish to wrap up, or any other goal than those named, is none of the model's to decide.
    if proposed.target_goal_id not in ids or is_repeated(interview, proposed.question):
        raise StepFailed(FailureCode.OUTPUT_REJECTED)
    return proposed


def _put(context: StepContext, interview: Interview, proposed: QuestionOutput) -> Interview:
    wording = Wording(
        text=proposed.question,
        rationale=proposed.reasoning,
        offered=tuple(
            Offered(one.answer, AnswerKind.OFFERED, rationale=one.reasoning)
            for one in proposed.answers
        ),
    )
    return put_question(context.protocol, interview, proposed.target_goal_id, wording)


def _required(outcome: AgentOutcome[OutputT]) -> OutputT:
    if outcome.output is None:
        raise StepFailed(outcome.failure or FailureCode.OUTPUT_REJECTED)
    return outcome.output


async def _caught(work: Awaitable[T]) -> T | StepFailed:
    """Let what runs beside it end before a failure counts."""
    try:
        return await work
    except StepFailed as failed:
        return failed
