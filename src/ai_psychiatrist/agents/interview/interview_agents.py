"""The seven agents of an interview, each a verb; none of them raises for what a model does."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Final, TypeVar

from ai_psychiatrist.agents.interview import schemas
from ai_psychiatrist.agents.interview.outputs import (
    AnalysisOutput,
    Digest,
    DriftOutput,
    FactsOutput,
    FrequencyOutput,
    GoalsOutput,
    GoalUpdatesOutput,
    InterviewOutput,
    QuestionOutput,
    asks_the_same,
)
from ai_psychiatrist.agents.interview.prompts import prompt_for
from ai_psychiatrist.agents.settings import limited_chain, repairing_once
from ai_psychiatrist.domain.failures import FailureCode, RejectionCode
from ai_psychiatrist.domain.interview import InterviewView
from ai_psychiatrist.llm.agent_calls import Review
from ai_psychiatrist.llm.calls import CallRecorder
from ai_psychiatrist.llm.definition import AgentDefinition
from ai_psychiatrist.llm.endpoints import (
    INTERVIEW_RETRIES,
    CallRetries,
    FallbackChain,
    ModelEndpoint,
)
from ai_psychiatrist.llm.replies import ModelOutput, ReplyRejected
from ai_psychiatrist.llm.runner import NO_PLAIN_CALL, AgentOutcome, AgentRunner, create_agent
from ai_psychiatrist.llm.settings import OutputModeSetting, PydanticAISettings

OutputT = TypeVar("OutputT", bound=InterviewOutput)

DEFAULT_CALL_TIMEOUT_SECONDS: Final = 20.0


class InterviewAgents:
    """Built once and used for every interview."""

    def __init__(
        self,
        chain: FallbackChain,
        pydantic_ai_settings: PydanticAISettings,
        *,
        output_mode: OutputModeSetting = "auto",
        is_combined: bool = False,
        call_timeout_seconds: float = DEFAULT_CALL_TIMEOUT_SECONDS,
        temperature: float | None = 0.0,
        retries: CallRetries = INTERVIEW_RETRIES,
    ) -> None:
        """`is_combined`: digest an answer in one call instead of three at the same time."""
        limited = limited_chain(chain, call_timeout_seconds=call_timeout_seconds, retries=retries)
        most_repairs = repairing_once(pydantic_ai_settings).retries

        def runner(
            definition: AgentDefinition[OutputT],
            models: FallbackChain = limited,
            repairs: int = most_repairs,
        ) -> AgentRunner[OutputT]:
            return AgentRunner(
                definition,
                partial(create_agent, definition, retries=repairs),
                models,
                pydantic_ai_settings,
                temperature=temperature,
                output_mode=output_mode,
                no_plain_call_after=NO_PLAIN_CALL | {FailureCode.OUTPUT_REJECTED},
            )

        self._is_combined = is_combined
        self._goals = cache(lambda low, high: runner(schemas.goals_definition(low, high)))
        self._facts = runner(schemas.EXTRACT_FACTS)
        self._drift = runner(schemas.DETECT_DRIFT)
        self._updates = runner(schemas.UPDATE_GOALS)
        self._question = runner(schemas.GENERATE_QUESTION)
        self._analysis = runner(schemas.GENERATE_ANALYSIS)
        self._digest = runner(schemas.DIGEST_ANSWER)
        once = tuple(_asked_once(route, pydantic_ai_settings) for route in limited[:1])
        self._frequency = runner(schemas.MATCH_FREQUENCY, once, 0)

    async def generate_goals(
        self, view: InterviewView, calls: CallRecorder
    ) -> AgentOutcome[GoalsOutput]:
        """Set the goals of an interview, as many as the view says."""
        return await _ask(self._goals(view.min_goals, view.max_goals), view, calls)

    async def extract_facts(
        self, view: InterviewView, calls: CallRecorder
    ) -> AgentOutcome[FactsOutput]:
        """Find the facts of the view's answer."""
        return await _ask(self._facts, view, calls)

    async def detect_drift(
        self, view: InterviewView, calls: CallRecorder
    ) -> AgentOutcome[DriftOutput]:
        """Tell whether the view's answer speaks to its question."""
        return await _ask(self._drift, view, calls)

    async def update_goals(
        self, view: InterviewView, calls: CallRecorder
    ) -> AgentOutcome[GoalUpdatesOutput]:
        """Propose what the view's answer changes in the goals, by their ids."""
        return await _ask(self._updates, view, calls)

    async def generate_question_with_answers(
        self, view: InterviewView, target_goal_ids: tuple[str, ...], calls: CallRecorder
    ) -> AgentOutcome[QuestionOutput]:
        """Ask for one of the goals named, and offer four answers."""
        return await _ask(self._question, view, calls, target_goal_ids)

    async def match_frequency(
        self, view: InterviewView, calls: CallRecorder
    ) -> AgentOutcome[FrequencyOutput]:
        """Tell which frequency the view's answer stands for; one call, whatever comes of it."""
        return await _ask(self._frequency, view, calls)

    async def generate_analysis(
        self, view: InterviewView, calls: CallRecorder
    ) -> AgentOutcome[AnalysisOutput]:
        """Report on the whole interview."""
        return await _ask(self._analysis, view, calls)

    async def digest(
        self,
        view: InterviewView,
        calls: CallRecorder,
        *,
        wants_facts: bool = True,
        wants_drift: bool = True,
    ) -> Digest:
        """Find changes of goals in the view's answer, and what else is wanted, at once."""
        if self._is_combined and wants_facts:
            whole = await _ask(self._digest, view, calls)
            if whole.output is None:
                return Digest(failure=whole.failure)
            found = whole.output
            drift_found = found.drift if wants_drift else None
            return Digest(facts=found.facts, drift=drift_found, goal_updates=found.goal_updates)
        async with asyncio.TaskGroup() as parts:
            updating = parts.create_task(self.update_goals(view, calls))
            finding = parts.create_task(self.extract_facts(view, calls)) if wants_facts else None
            judging = parts.create_task(self.detect_drift(view, calls)) if wants_drift else None
        updates = updating.result()
        facts = None if finding is None else finding.result()
        drift = None if judging is None else judging.result()
        failures = (part.failure for part in (facts, drift, updates) if part and part.failure)
        failure = next(failures, None)
        if failure is not None or updates.output is None:
            return Digest(failure=failure or FailureCode.OUTPUT_REJECTED)
        return Digest(
            facts=facts.output.facts if facts and facts.output else (),
            drift=drift.output if drift else None,
            goal_updates=updates.output.goal_updates,
        )


def _asked_once(route: ModelEndpoint, settings: PydanticAISettings) -> ModelEndpoint:
    """Return a route without a second way or try."""
    is_agent = route.agent_model is not None and settings.enabled
    return replace(route, retries=CallRetries(), chat=None if is_agent else route.chat)


async def _ask(
    runner: AgentRunner[OutputT],
    view: InterviewView,
    calls: CallRecorder,
    target_goal_ids: tuple[str, ...] = (),
) -> AgentOutcome[OutputT]:
    prompt = prompt_for(runner.definition.name, view, target_goal_ids)
    return await runner.run(prompt, calls, review=kept_to(view, target_goal_ids))


def kept_to(view: InterviewView, target_goal_ids: Sequence[str]) -> Review:
    """Refuse questions for other goals than those named, and those asked before.

    Updates of goals that there are not are no reason to refuse the others: they are dropped and
    counted where updates are applied.
    """

    async def review(output: ModelOutput) -> None:
        if not isinstance(output, QuestionOutput):
            return
        if output.target_goal_id not in target_goal_ids:
            rule = (
                f"has to be one of the target ids: {', '.join(target_goal_ids) or 'there are none'}"
            )
            raise _refused(RejectionCode.UNKNOWN_ID, "target_goal_id", rule)
        if any(asks_the_same(output.question, before) for before in view.said_before):
            rule = "was asked before; ask something else"
            raise _refused(RejectionCode.NOT_DISTINCT, "question", rule)

    return review


def _refused(code: RejectionCode, place: str, rule: str) -> ReplyRejected:
    return ReplyRejected(code, f"Correct this: {place} {rule}.", {place: rule})
