"""Agents that note, for a scripted model, what they are asked about."""

from contextvars import ContextVar
from dataclasses import dataclass

from ai_psychiatrist.agents.interview.outputs import (
    AnalysisOutput,
    Digest,
    FrequencyOutput,
    GoalsOutput,
    QuestionOutput,
)
from ai_psychiatrist.domain.interview import GoalStatus, InterviewView
from ai_psychiatrist.interview.agents_port import InterviewAgentsPort
from ai_psychiatrist.llm.calls import CallRecorder
from ai_psychiatrist.llm.runner import AgentOutcome
from tests.fakes.interview_replies import Brief

brief: ContextVar[Brief] = ContextVar("brief")
"""What the agents were shown last, in the task that asks the model."""


@dataclass(frozen=True, slots=True)
class NotedAgents:
    """Passes every question on; `rationale` is what models give as their hidden reasons."""

    agents: InterviewAgentsPort
    rationale: str

    async def generate_goals(
        self, view: InterviewView, calls: CallRecorder
    ) -> AgentOutcome[GoalsOutput]:
        """Pass on."""
        self._note(view)
        return await self.agents.generate_goals(view, calls)

    async def generate_question_with_answers(
        self, view: InterviewView, target_goal_ids: tuple[str, ...], calls: CallRecorder
    ) -> AgentOutcome[QuestionOutput]:
        """Pass on."""
        self._note(view, target_goal_ids)
        return await self.agents.generate_question_with_answers(view, target_goal_ids, calls)

    async def match_frequency(
        self, view: InterviewView, calls: CallRecorder
    ) -> AgentOutcome[FrequencyOutput]:
        """Pass on."""
        self._note(view)
        return await self.agents.match_frequency(view, calls)

    async def generate_analysis(
        self, view: InterviewView, calls: CallRecorder
    ) -> AgentOutcome[AnalysisOutput]:
        """Pass on."""
        self._note(view)
        return await self.agents.generate_analysis(view, calls)

    async def digest(
        self, view: InterviewView, calls: CallRecorder, *, wants_facts: bool, wants_drift: bool
    ) -> Digest:
        """Pass on."""
        self._note(view)
        return await self.agents.digest(
            view, calls, wants_facts=wants_facts, wants_drift=wants_drift
        )

    def _note(self, view: InterviewView, targets: tuple[str, ...] = ()) -> None:
        open_goals = {
            goal.id: goal.confidence
            for goal in view.goals
            if goal.status is not GoalStatus.COMPLETE
        }
        noted = Brief(
            open_goals=open_goals,
            targets=targets,
            rationale=self.rationale,
            answer=view.answer.text if view.answer else "",
        )
        brief.set(noted)
