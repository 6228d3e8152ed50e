"""What the engine asks of the agents."""

from typing import Protocol

from ai_psychiatrist.agents.interview.interview_agents import DigestOutcome
from ai_psychiatrist.agents.interview.outputs import (
    AnalysisOutput,
    DriftOutput,
    FactsOutput,
    FrequencyOutput,
    GoalsOutput,
    GoalUpdatesOutput,
    QuestionOutput,
)
from ai_psychiatrist.domain.interview import InterviewView
from ai_psychiatrist.llm.call_log import CallLog
from ai_psychiatrist.llm.runner import Outcome


class InterviewAgentsPort(Protocol):
    """The seven agents; none of their methods raises for what a model or its backend does."""

    async def generate_goals(self, view: InterviewView, calls: CallLog) -> Outcome[GoalsOutput]:
        """Set the goals of an interview."""
        ...

    async def extract_facts(self, view: InterviewView, calls: CallLog) -> Outcome[FactsOutput]:
        """Find the facts of the view's answer."""
        ...

    async def detect_drift(self, view: InterviewView, calls: CallLog) -> Outcome[DriftOutput]:
        """Tell whether the view's answer speaks to its question."""
        ...

    async def update_goals(self, view: InterviewView, calls: CallLog) -> Outcome[GoalUpdatesOutput]:
        """Propose what the view's answer changes in the goals."""
        ...

    async def generate_question_with_answers(
        self, view: InterviewView, target_goal_ids: tuple[str, ...], calls: CallLog
    ) -> Outcome[QuestionOutput]:
        """Ask for one of the goals named, and offer four answers."""
        ...

    async def match_frequency(
        self, view: InterviewView, calls: CallLog
    ) -> Outcome[FrequencyOutput]:
        """Tell which frequency the view's answer stands for, in one call."""
        ...

    async def generate_analysis(
        self, view: InterviewView, calls: CallLog
    ) -> Outcome[AnalysisOutput]:
        """Report on the whole interview."""
        ...

    async def digest(self, view: InterviewView, calls: CallLog) -> DigestOutcome:
        """Find facts, drift and changes of goals in the view's answer at once."""
        ...
