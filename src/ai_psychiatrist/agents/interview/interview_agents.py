"""The six agents of an interview, each a verb; none of them raises for what a model does."""

import asyncio
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from ai_psychiatrist.agents.interview import prompts, schemas
from ai_psychiatrist.agents.interview.outputs import (
    AnalysisOutput,
    DigestOutput,
    DriftOutput,
    FactsOutput,
    GoalsOutput,
    GoalUpdatesOutput,
    InterviewOutput,
    QuestionOutput,
)
from ai_psychiatrist.agents.interview.reviews import asks_for, names_known_goals
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import InterviewView
from ai_psychiatrist.llm.agent import create_agent
from ai_psychiatrist.llm.call_log import CallLog
from ai_psychiatrist.llm.definition import AgentDefinition
from ai_psychiatrist.llm.output_mode import OutputModeSetting
from ai_psychiatrist.llm.retries import INTERVIEW_RETRIES, CallRetries
from ai_psychiatrist.llm.routes import ModelChain
from ai_psychiatrist.llm.runner import AgentRunner, Outcome
from ai_psychiatrist.llm.settings import PydanticAISettings

OutputT = TypeVar("OutputT", bound=InterviewOutput)

DEFAULT_CALL_TIMEOUT_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestOutcome:
    """What became of one answer.

    Of a combined digest each part lists the attempts of the one call; a call log counts them once.
    """

    facts: Outcome[FactsOutput]
    drift: Outcome[DriftOutput] | None
    """`None` when the answer was chosen among those offered: it cannot drift."""
    goal_updates: Outcome[GoalUpdatesOutput]

    @property
    def failure(self) -> FailureCode | None:
        """Why a part of it has no output; `None` when all have."""
        parts = (self.facts, self.drift, self.goal_updates)
        return next((part.failure for part in parts if part is not None and part.failure), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Models:
    """Whom the agents ask, and how."""

    chain: ModelChain
    pydantic_ai: PydanticAISettings
    output_mode: OutputModeSetting
    temperature: float

    def runner(self, definition: AgentDefinition[OutputT]) -> AgentRunner[OutputT]:
        return AgentRunner(
            definition,
            create_agent(definition, retries=self.pydantic_ai.retries),
            self.chain,
            self.pydantic_ai,
            temperature=self.temperature,
            output_mode=self.output_mode,
        )


class InterviewAgents:
    """Built once and used for every interview."""

    def __init__(
        self,
        chain: ModelChain,
        pydantic_ai_settings: PydanticAISettings,
        *,
        output_mode: OutputModeSetting = "auto",
        is_combined: bool = False,
        call_timeout_seconds: float = DEFAULT_CALL_TIMEOUT_SECONDS,
        temperature: float = 0.0,
        retries: CallRetries = INTERVIEW_RETRIES,
    ) -> None:
        """`is_combined`: digest an answer in one call instead of three at the same time."""
        self._is_combined = is_combined
        self._models = _Models(
            chain=tuple(
                replace(
                    route,
                    timeout_seconds=min(route.timeout_seconds, call_timeout_seconds),
                    retries=retries,
                )
                for route in chain
            ),
            pydantic_ai=pydantic_ai_settings,
            output_mode=output_mode,
            temperature=temperature,
        )
        self._goals: dict[tuple[int, int], AgentRunner[GoalsOutput]] = {}
        self._facts = self._models.runner(schemas.EXTRACT_FACTS)
        self._drift = self._models.runner(schemas.DETECT_DRIFT)
        self._updates = self._models.runner(schemas.UPDATE_GOALS)
        self._question = self._models.runner(schemas.GENERATE_QUESTION)
        self._analysis = self._models.runner(schemas.GENERATE_ANALYSIS)
        self._digest = self._models.runner(schemas.DIGEST_ANSWER)

    async def generate_goals(self, view: InterviewView, calls: CallLog) -> Outcome[GoalsOutput]:
        """Set the goals of an interview, as many as the view says."""
        count = (view.min_goals, view.max_goals)
        if count not in self._goals:
            self._goals[count] = self._models.runner(schemas.goals_definition(*count))
        return await self._goals[count].run(prompts.goals_prompt(view), calls)

    async def extract_facts(self, view: InterviewView, calls: CallLog) -> Outcome[FactsOutput]:
        """Find the facts of the view's answer."""
        return await self._facts.run(prompts.facts_prompt(view), calls)

    async def detect_drift(self, view: InterviewView, calls: CallLog) -> Outcome[DriftOutput]:
        """Tell whether the view's answer speaks to its question."""
        return await self._drift.run(prompts.drift_prompt(view), calls)

    async def update_goals(self, view: InterviewView, calls: CallLog) -> Outcome[GoalUpdatesOutput]:
        """Propose what the view's answer changes in the goals, by their ids."""
        review = names_known_goals(view)
        return await self._updates.run(prompts.updates_prompt(view), calls, review=review)

    async def generate_question_with_answers(
        self, view: InterviewView, target_goal_ids: tuple[str, ...], calls: CallLog
    ) -> Outcome[QuestionOutput]:
        """Ask for one of the goals named, and offer four answers."""
        prompt = prompts.question_prompt(view, target_goal_ids)
        return await self._question.run(prompt, calls, review=asks_for(target_goal_ids, view))

    async def generate_analysis(
        self, view: InterviewView, calls: CallLog
    ) -> Outcome[AnalysisOutput]:
        """Report on the whole interview."""
        return await self._analysis.run(prompts.analysis_prompt(view), calls)

    async def digest(self, view: InterviewView, calls: CallLog) -> DigestOutcome:
        """Find facts, drift and changes of goals in the view's answer at once."""
        is_chosen = view.answer is not None and view.answer.option_id is not None
        if self._is_combined:
            return await self._digest_together(view, calls, is_chosen=is_chosen)
        async with asyncio.TaskGroup() as parts:
            facts = parts.create_task(self.extract_facts(view, calls))
            updates = parts.create_task(self.update_goals(view, calls))
            drift = None if is_chosen else parts.create_task(self.detect_drift(view, calls))
        return DigestOutcome(
            facts=facts.result(),
            drift=None if drift is None else drift.result(),
            goal_updates=updates.result(),
        )

    async def _digest_together(
        self, view: InterviewView, calls: CallLog, *, is_chosen: bool
    ) -> DigestOutcome:
        review = names_known_goals(view)
        whole = await self._digest.run(prompts.digest_prompt(view), calls, review=review)
        output = whole.output
        return DigestOutcome(
            facts=_part(whole, None if output is None else FactsOutput(facts=output.facts)),
            drift=None if is_chosen else _part(whole, _drift_of(output)),
            goal_updates=_part(
                whole,
                None if output is None else GoalUpdatesOutput(goal_updates=output.goal_updates),
            ),
        )


def _drift_of(output: DigestOutput | None) -> DriftOutput | None:
    return None if output is None else DriftOutput(**output.drift.model_dump())


def _part(whole: Outcome[DigestOutput], output: OutputT | None) -> Outcome[OutputT]:
    return Outcome(
        output=output,
        failure=whole.failure,
        attempts=whole.attempts,
        rejection=whole.rejection,
    )
