"""Interview agents that say what a test tells them to, and count how they are asked."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ai_psychiatrist.agents.interview.outputs import (
    AnalysisOutput,
    Digest,
    DriftOutput,
    FactsOutput,
    FrequencyOutput,
    GoalsOutput,
    GoalUpdatesOutput,
    QuestionOutput,
)
from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import Attempt, AttemptOutcome, CallPath, FailureCode
from ai_psychiatrist.domain.interview import InterviewView
from ai_psychiatrist.llm.calls import CallRecorder
from ai_psychiatrist.llm.definition import OutputT
from ai_psychiatrist.llm.runner import AgentOutcome

GOALS = ("Who was there", "What was said", "When it began", "Why it began", "What came of it")
RATIONALE = "HIDDEN-RATIONALE"
ANALYSIS: dict[str, Any] = {
    "timeline": [{"time": "Monday", "event": "The kettle broke."}],
    "key_facts": ["The kettle is broken."],
    "gaps": ["Nobody knows who did it."],
    "verdict": {
        "primary_responsibility": "Sam",
        "percentage": 70,
        "reasoning": "Sam used it last.",
        "contributing_factors": "It was old.",
        "drama_rating": 2,
        "drama_rating_explanation": "It is a kettle.",
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One call as an agent got it."""

    verb: str
    view: InterviewView
    targets: tuple[str, ...] = ()


@dataclass(slots=True)
class ScriptedAgents:
    """Answers each verb from its own queue, and in a plausible way once that is empty.

    A queued `FailureCode` makes the call fail, an exception is raised.
    """

    script: Mapping[str, Sequence[object]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    """Set as soon as an agent is asked."""
    waves: int = 0
    """How many calls came one after another; calls at the same time are one wave."""
    _queues: dict[str, deque[object]] = field(init=False)
    _wave: asyncio.Future[None] | None = None

    def __post_init__(self) -> None:
        self._queues = defaultdict(deque, {k: deque(v) for k, v in self.script.items()})

    def queue(self, verb: str, *replies: object) -> None:
        """Have the next calls of a verb answered so."""
        self._queues[verb].extend(replies)

    def count(self, verb: str) -> int:
        """Return how often a verb was called."""
        return sum(one.verb == verb for one in self.asked)

    def reset(self) -> None:
        """Count from 0."""
        self.asked.clear()
        self.begun.clear()
        self.waves = 0

    async def generate_goals(
        self, view: InterviewView, calls: CallRecorder
    ) -> AgentOutcome[GoalsOutput]:
        """Set five goals."""
        return await self._reply("generate_goals", GoalsOutput, {"goals": GOALS}, view, calls)

    async def extract_facts(
        self, view: InterviewView, calls: CallRecorder
    ) -> AgentOutcome[FactsOutput]:
        """Find one fact: what was answered."""
        said = view.answer.text if view.answer else ""
        fact = {"topic": "answer", "claim": said, "timestamp": "", "confidence": "certain"}
        return await self._reply("extract_facts", FactsOutput, {"facts": [fact]}, view, calls)

    async def detect_drift(
        self, view: InterviewView, calls: CallRecorder
    ) -> AgentOutcome[DriftOutput]:
        """Find that the question was addressed."""
        plain = {"addressed_question": True, "drift_reason": "", "redirect_suggestion": ""}
        return await self._reply("detect_drift", DriftOutput, plain, view, calls)

    async def update_goals(
        self, view: InterviewView, calls: CallRecorder
    ) -> AgentOutcome[GoalUpdatesOutput]:
        """Bring the goal that was asked for 10 further."""
        asked_for = view.question.goal_id if view.question else "g1"
        confidence = next((g.confidence for g in view.goals if g.id == asked_for), 0)
        plain = updates(**{asked_for: min(confidence + 10, 79)})
        return await self._reply("update_goals", GoalUpdatesOutput, plain, view, calls)

    async def generate_question_with_answers(
        self, view: InterviewView, target_goal_ids: tuple[str, ...], calls: CallRecorder
    ) -> AgentOutcome[QuestionOutput]:
        """Ask a question that was not asked before, for the first goal named."""
        plain = question(f"Question number {len(view.said_before)}?", target_goal_ids[0])
        return await self._reply(
            "generate_question_with_answers", QuestionOutput, plain, view, calls, target_goal_ids
        )

    async def match_frequency(
        self, view: InterviewView, calls: CallRecorder
    ) -> AgentOutcome[FrequencyOutput]:
        """Take the answer for none of the frequencies."""
        plain = {"frequency": "unclear", "words": ""}
        return await self._reply("match_frequency", FrequencyOutput, plain, view, calls)

    async def generate_analysis(
        self, view: InterviewView, calls: CallRecorder
    ) -> AgentOutcome[AnalysisOutput]:
        """Report on a kettle."""
        return await self._reply("generate_analysis", AnalysisOutput, ANALYSIS, view, calls)

    async def digest(
        self, view: InterviewView, calls: CallRecorder, *, wants_facts: bool, wants_drift: bool
    ) -> Digest:
        """Ask for all wanted parts at once."""
        async with asyncio.TaskGroup() as parts:
            facts = parts.create_task(self.extract_facts(view, calls)) if wants_facts else None
            changes = parts.create_task(self.update_goals(view, calls))
            drift = parts.create_task(self.detect_drift(view, calls)) if wants_drift else None
        found = facts.result() if facts else None
        drifted_away = drift.result() if drift else None
        for part in (found, drifted_away, changes.result()):
            if part is not None and part.failure is not None:
                return Digest(failure=part.failure)
        updated = changes.result().output
        assert updated is not None
        return Digest(
            facts=found.output.facts if found and found.output else (),
            drift=drifted_away.output if drifted_away else None,
            goal_updates=updated.goal_updates,
        )

    async def _reply(
        self,
        verb: str,
        output: type[OutputT],
        plain: Mapping[str, object],
        view: InterviewView,
        calls: CallRecorder,
        targets: tuple[str, ...] = (),
    ) -> AgentOutcome[OutputT]:
        self.asked.append(Asked(verb=verb, view=view, targets=targets))
        self.begun.set()
        try:
            calls.budget.spend()
        except ModelCallFailed as error:
            return AgentOutcome(output=None, failure=error.code, attempts=())
        calls.attempts.append(
            Attempt(
                agent=verb,
                model="scripted",
                path=CallPath.AGENT,
                outcome=AttemptOutcome.ACCEPTED,
                code=None,
            )
        )
        await self._join_wave()
        scripted = self._queues[verb].popleft() if self._queues[verb] else plain
        if isinstance(scripted, FailureCode):
            return AgentOutcome(output=None, failure=scripted, attempts=())
        if isinstance(scripted, BaseException):
            raise scripted
        return AgentOutcome(output=output.model_validate(scripted), failure=None, attempts=())

    async def _join_wave(self) -> None:
        """Wait together with all calls that are made until the loop is idle."""
        if self._wave is None:
            loop = asyncio.get_running_loop()
            self._wave = loop.create_future()
            loop.call_later(0.002, self._end_wave)
        await asyncio.shield(self._wave)

    def _end_wave(self) -> None:
        if self._wave is not None and not self._wave.done():
            self._wave.set_result(None)
        self._wave = None
        self.waves += 1


def updates(**confidences: int) -> dict[str, object]:
    """Return what the tracker says, by goal id."""
    return {
        "goal_updates": [
            {
                "goal_id": goal_id,
                "confidence": confidence,
                "status": "complete" if confidence >= 80 else "in_progress",
                "reasoning": RATIONALE,
            }
            for goal_id, confidence in confidences.items()
        ]
    }


def question(text: str, goal_id: str) -> dict[str, object]:
    """Return a question with its four answers."""
    texts = ("It was Sam.", "It was Kim.", "Nobody did it.", "I am not sure.")
    return {
        "question": text,
        "target_goal_id": goal_id,
        "reasoning": RATIONALE,
        "answers": [{"answer": one, "reasoning": RATIONALE} for one in texts],
    }


def drifted(redirect: str = "Back to the kettle, please.") -> dict[str, object]:
    """Return that the question was not addressed."""
    return {
        "addressed_question": False,
        "drift_reason": "Speaks of lunch.",
        "redirect_suggestion": redirect,
    }
