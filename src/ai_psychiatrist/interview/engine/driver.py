"""Leads an interview about goals from step to step with the agents' help.

Each step either gives the interview that follows, or the one it began with, marked as failed: of a
step that fails nothing is kept but what it cost.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, TypeVar

from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import (
    AnswerKind,
    EndReason,
    GivenAnswer,
    InterviewState,
    Question,
)
from ai_psychiatrist.interview.agents_port import InterviewAgentsPort
from ai_psychiatrist.interview.engine.goals import (
    Digest,
    ProposedQuestion,
    apply_digest,
    end_reason,
    question_of,
    set_goals,
    targets,
    targets_ahead,
)
from ai_psychiatrist.interview.engine.record import Interview
from ai_psychiatrist.interview.engine.replies import (
    analysis_of,
    digest_of,
    drift_of,
    facts_of,
    proposed_question,
    updates_of,
)
from ai_psychiatrist.interview.engine.turn_clock import timed
from ai_psychiatrist.interview.engine.turns import end, is_repeated, put_question
from ai_psychiatrist.interview.engine.view import view_of
from ai_psychiatrist.interview.limits import InterviewLimits
from ai_psychiatrist.interview.protocol.records import (
    DriftPolicy,
    InterviewProtocol,
)
from ai_psychiatrist.llm.call_log import CallLog
from ai_psychiatrist.llm.definition import OutputT
from ai_psychiatrist.llm.runner import Outcome

T = TypeVar("T")
Step: TypeAlias = Callable[[CallLog], Awaitable[Interview]]

REPORT_CALLS: Final = 6
"""Calls that are kept back for the report, however long the interview is."""


class StepFailed(Exception):
    """A model gave nothing that could be used."""

    def __init__(self, code: FailureCode) -> None:
        super().__init__(code.value)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalsDriver:
    """Takes the steps of interviews that follow one protocol."""

    protocol: InterviewProtocol
    agents: InterviewAgentsPort
    limits: InterviewLimits

    async def prepare(self, interview: Interview) -> Interview:
        """Set the goals and put the first question."""

        async def step(calls: CallLog) -> Interview:
            prepared = set_goals(interview, await self._goal_texts(interview, calls))
            proposed = await self._propose(prepared, targets(prepared), calls)
            return self._put(prepared, proposed)

        return await self._take(interview, step, reserved=REPORT_CALLS)

    async def turn(self, interview: Interview) -> Interview:
        """Work the stored answer in, and put the next question or end."""

        async def step(calls: CallLog) -> Interview:
            return await self._work_in(interview, calls)

        taken = await self._take(interview, step, reserved=REPORT_CALLS)
        if taken.failure is not FailureCode.CALL_BUDGET_SPENT:
            return taken
        return end(self.protocol, taken, EndReason.BUDGET_SPENT)

    async def analyse(self, interview: Interview) -> Interview:
        """Write the report on an interview that is over."""

        async def step(calls: CallLog) -> Interview:
            view = view_of(self.protocol, interview, is_whole=True)
            output = _required(await self.agents.generate_analysis(view, calls))
            return replace(
                interview,
                state=InterviewState.DONE,
                analysis=analysis_of(output),
                failure=None,
                failed_from=None,
            )

        return await self._take(interview, step, reserved=0)

    async def _take(self, interview: Interview, step: Step, *, reserved: int) -> Interview:
        left = self.limits.max_calls - reserved - interview.spent.calls
        calls = CallLog.of(left)
        try:
            async with timed(calls, self.limits.turn_timeout_seconds) as in_time:
                following = await step(in_time)
        except TimeoutError:
            following = _failed(interview, FailureCode.DEADLINE_EXCEEDED)
        except StepFailed as failed:
            following = _failed(interview, failed.code)
        return replace(following, spent=interview.spent.with_calls(calls.attempts))

    async def _goal_texts(self, interview: Interview, calls: CallLog) -> tuple[str, ...]:
        goals = self.protocol.goals
        if goals is not None and goals.fixed:
            return goals.fixed
        view = view_of(self.protocol, interview)
        return _required(await self.agents.generate_goals(view, calls)).goals

    async def _work_in(self, interview: Interview, calls: CallLog) -> Interview:
        if not _is_offered(interview) or not self.limits.speculates:
            return await self._go_on(interview, await self._digest(interview, calls), calls)
        ahead = targets_ahead(interview)
        async with asyncio.TaskGroup() as both:
            digesting = both.create_task(_caught(self._digest(interview, calls)))
            asking = both.create_task(_caught(self._ask_model(interview, ahead, calls)))
        digest, proposed = digesting.result(), asking.result()
        if isinstance(digest, StepFailed):
            raise digest
        prepared = None if isinstance(proposed, StepFailed) else proposed
        return await self._go_on(interview, digest, calls, prepared=prepared)

    async def _go_on(
        self,
        interview: Interview,
        digest: Digest,
        calls: CallLog,
        *,
        prepared: ProposedQuestion | None = None,
    ) -> Interview:
        """Apply what was found, then end or ask.

        `prepared` was written with the answer in view, so it is asked even when the same answer has
        completed its goal: nobody waits for another call.
        """
        worked_in = apply_digest(interview, digest)
        reason = end_reason(self.protocol, worked_in)
        if reason is not None:
            return end(self.protocol, worked_in, reason)
        if prepared is None or is_repeated(worked_in, prepared.text):
            prepared = await self._propose(worked_in, targets(worked_in), calls)
        return self._put(worked_in, prepared)

    def _put(self, interview: Interview, proposed: ProposedQuestion) -> Interview:
        question = question_of(self.protocol, interview, proposed)
        return put_question(self.protocol, interview, question)

    async def _digest(self, interview: Interview, calls: CallLog) -> Digest:
        if _is_declined(interview):
            return Digest()
        view = view_of(self.protocol, interview)
        is_drift_wanted = self.protocol.drift is not DriftPolicy.NEVER
        if self.protocol.facts and (is_drift_wanted or _is_offered(interview)):
            outcome = await self.agents.digest(view, calls)
            if outcome.failure is not None:
                raise StepFailed(outcome.failure)
            return digest_of(outcome)
        return await self._digest_in_parts(interview, calls)

    async def _digest_in_parts(self, interview: Interview, calls: CallLog) -> Digest:
        """Ask only for what the protocol wants to know of an answer."""
        view = view_of(self.protocol, interview)
        is_drift_wanted = self.protocol.drift is not DriftPolicy.NEVER and not _is_offered(
            interview
        )
        async with asyncio.TaskGroup() as parts:
            updates = parts.create_task(self.agents.update_goals(view, calls))
            facts = (
                parts.create_task(self.agents.extract_facts(view, calls))
                if self.protocol.facts
                else None
            )
            drift = (
                parts.create_task(self.agents.detect_drift(view, calls))
                if is_drift_wanted
                else None
            )
        return Digest(
            updates=updates_of(_required(updates.result())),
            facts=() if facts is None else facts_of(_required(facts.result())),
            drift=None if drift is None else drift_of(_required(drift.result())),
        )

    async def _propose(
        self, interview: Interview, ids: tuple[str, ...], calls: CallLog
    ) -> ProposedQuestion:
        """Ask a model for a question; once more when it repeats one."""
        proposed = await self._ask_model(interview, ids, calls)
        if is_repeated(interview, proposed.text):
            proposed = await self._ask_model(interview, ids, calls)
        if is_repeated(interview, proposed.text):
            raise StepFailed(FailureCode.OUTPUT_REJECTED)
        return proposed

    async def _ask_model(
        self, interview: Interview, ids: tuple[str, ...], calls: CallLog
    ) -> ProposedQuestion:
        view = view_of(self.protocol, interview)
        if interview.question is not None and ids != (interview.question.goal_id,):
            view = replace(view, redirect="")
        outcome = await self.agents.generate_question_with_answers(view, ids, calls)
        proposed = proposed_question(_required(outcome))
        # A wish to wrap up, or any other goal than those named, is none of the model's to decide.
        if proposed.goal_id not in ids:
            raise StepFailed(FailureCode.OUTPUT_REJECTED)
        return proposed


def _required(outcome: Outcome[OutputT]) -> OutputT:
    if outcome.output is None:
        raise StepFailed(outcome.failure or FailureCode.OUTPUT_REJECTED)
    return outcome.output


async def _caught(work: Awaitable[T]) -> T | StepFailed:
    """Let what runs beside it end before a failure counts."""
    try:
        return await work
    except StepFailed as failed:
        return failed


def _failed(interview: Interview, code: FailureCode) -> Interview:
    step = interview.failed_from or interview.state
    return replace(interview, state=InterviewState.FAILED, failed_from=step, failure=code)


def _chosen(question: Question | None, answer: GivenAnswer | None) -> AnswerKind | None:
    if question is None or answer is None or answer.option_id is None:
        return None
    option = question.option(answer.option_id)
    return None if option is None else option.kind


def _is_offered(interview: Interview) -> bool:
    return _chosen(interview.question, interview.answer) is AnswerKind.OFFERED


def _is_declined(interview: Interview) -> bool:
    return _chosen(interview.question, interview.answer) is AnswerKind.DECLINE
