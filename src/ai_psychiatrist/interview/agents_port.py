"""What the steps ask of the agents."""

from typing import Protocol

from ai_psychiatrist.agents.interview.outputs import (
    AnalysisOutput,
    Digest,
    FrequencyOutput,
    GoalsOutput,
    QuestionOutput,
)
from ai_psychiatrist.domain.interview import InterviewView
from ai_psychiatrist.llm.calls import CallRecorder
from ai_psychiatrist.llm.runner import AgentOutcome


class InterviewAgentsPort(Protocol):
    """None of these raises for what a model or its backend does; see `InterviewAgents`."""

    async def generate_goals(
        self, view: InterviewView, calls: CallRecorder
    ) -> AgentOutcome[GoalsOutput]: ...

    async def digest(
        self, view: InterviewView, calls: CallRecorder, *, wants_facts: bool, wants_drift: bool
    ) -> Digest: ...

    async def generate_question_with_answers(
        self, view: InterviewView, target_goal_ids: tuple[str, ...], calls: CallRecorder
    ) -> AgentOutcome[QuestionOutput]: ...

    async def match_frequency(
        self, view: InterviewView, calls: CallRecorder
    ) -> AgentOutcome[FrequencyOutput]: ...

    async def generate_analysis(
        self, view: InterviewView, calls: CallRecorder
    ) -> AgentOutcome[AnalysisOutput]: ...
