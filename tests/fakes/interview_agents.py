"""One incident under way and good arguments of all its tools, for tests of the interview agents."""

import asyncio
import copy
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ai_psychiatrist.agents.interview.interview_agents import InterviewAgents
from ai_psychiatrist.domain.failures import Attempt
from ai_psychiatrist.domain.interview import (
    AnswerKind,
    AnswerOption,
    Certainty,
    Fact,
    GivenAnswer,
    Goal,
    InterviewView,
    Message,
    MessageSpeaker,
    Question,
)
from ai_psychiatrist.llm.calls import CallRecorder, CallStore
from ai_psychiatrist.llm.endpoints import CallRetries, FallbackChain
from ai_psychiatrist.llm.replies import ModelOutput
from ai_psychiatrist.llm.runner import AgentOutcome
from ai_psychiatrist.llm.settings import OutputModeSetting, PydanticAISettings
from tests.fakes.scripted import ScriptedChat, ScriptedModel, route

Arguments: TypeAlias = dict[str, Any]

SAID: Final = "Honestly I put the violin into the blue van myself."
ASKED: Final = "Where was the violin before the concert?"
INTERVIEW_HASH: Final = "5e5510a11d00"

QUESTION: Final = Question(
    id="q1",
    text=ASKED,
    goal_id="g1",
    options=(AnswerOption(id="a1", text="In the hall.", kind=AnswerKind.OFFERED),),
    allows_free_text=True,
    turn=1,
)
VIEW: Final = InterviewView(
    title="The lost violin",
    summary="A violin was missing after the concert.",
    interviewee_name="Noor",
    interviewee_role="Stage hand who packed the van.",
    tone="calm",
    goals=(
        Goal(id="g1", text="Where the violin was", confidence=20),
        Goal(id="g2", text="Who had a key"),
        Goal(id="g3", text="When it was missed", confidence=90),
    ),
    facts=(
        Fact(
            id="f1",
            topic="keys",
            claim="Two people have a key.",
            timestamp="",
            certainty=Certainty.UNCERTAIN,
            turn=1,
            goal_ids=(),
        ),
    ),
    messages=(
        Message(id="m1", speaker=MessageSpeaker.INTERVIEWER, text="Hello Noor.", turn=1),
        Message(id="m2", speaker=MessageSpeaker.INTERVIEWER, text=ASKED, turn=1),
    ),
    question=QUESTION,
    answer=GivenAnswer(question_id="q1", option_id=None, text=SAID, turn=1),
    said_before=("Hello Noor.", ASKED),
    interview_hash=INTERVIEW_HASH,
)

_VERDICT: Final = {
    "primary_responsibility": "Noor",
    "percentage": 60,
    "reasoning": "Noor packed the van.",
    "contributing_factors": "The hall was dark.",
    "drama_rating": 4,
    "drama_rating_explanation": "The violin was found.",
    "shares": [{"name": "Noor", "percentage": 60}, {"name": "Kim", "percentage": 40}],
}
_FACTS: Final = [
    {
        "topic": "violin",
        "claim": "Noor put the violin into the van.",
        "timestamp": "after the concert",
        "confidence": "certain",
    }
]
_DRIFT: Final = {"addressed_question": True, "drift_reason": "", "redirect_suggestion": ""}
_UPDATES: Final = [
    {
        "goal_id": "g1",
        "confidence": 85,
        "status": "complete",
        "reasoning": "Noor says where it was.",
    },
    {"goal_id": "g2", "confidence": 10, "status": "in_progress", "reasoning": "Keys are named."},
]
GOOD: Final[dict[str, Arguments]] = {
    "generate_goals": {"goals": [f"What happened at stop {stop}" for stop in range(5)]},
    "extract_facts": {"facts": _FACTS},
    "detect_drift": _DRIFT,
    "update_goals": {"goal_updates": _UPDATES},
    "generate_question_with_answers": {
        "question": "Who else was at the van?",
        "target_goal_id": "g2",
        "reasoning": "Keys matter.",
        "answers": [
            {"answer": "Only me.", "reasoning": "alone"},
            {"answer": "Kim was there.", "reasoning": "witness"},
            {"answer": "The whole band.", "reasoning": "crowd"},
            {"answer": "I don't remember.", "reasoning": "not sure"},
        ],
    },
    "match_frequency": {"frequency": "several_days", "words": "put the violin into"},
    "generate_analysis": {
        "timeline": [{"time": "after the concert", "event": "The van was packed."}],
        "key_facts": ["Noor packed the van."],
        "gaps": ["Who locked it."],
        "verdict": _VERDICT,
    },
    "digest_answer": {"facts": _FACTS, "drift": _DRIFT, "goal_updates": _UPDATES},
}
"""Arguments that keep to everything, by verb."""

TOOLS: Final = {
    "generate_goals": "generate_investigation_goals",
    "extract_facts": "extract_facts",
    "detect_drift": "detect_answer_drift",
    "update_goals": "update_goal_progress",
    "generate_question_with_answers": "generate_question_with_answers",
    "match_frequency": "match_answer_to_frequency",
    "generate_analysis": "generate_analysis_report",
}
"""Each verb's tool, in the order in which an interview uses them."""

OPEN_GOALS: Final = ("g1", "g2")


def changed(verb: str, *path: str | int, value: object) -> Arguments:
    """Return good arguments with another value at a path."""
    arguments = copy.deepcopy(GOOD[verb])
    parent: Any = arguments
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = value
    return arguments


def without(verb: str, *path: str | int) -> Arguments:
    """Return good arguments without the field at a path."""
    arguments = copy.deepcopy(GOOD[verb])
    parent: Any = arguments
    for step in path[:-1]:
        parent = parent[step]
    del parent[path[-1]]
    return arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an agent gave, and the account of its calls."""

    outcome: AgentOutcome[Any]
    attempts: list[Attempt]
    slept: list[float]

    @property
    def output(self) -> ModelOutput | None:
        """The accepted output."""
        return self.outcome.output

    @property
    def codes(self) -> list[str | None]:
        """How each call ended; `None` for the accepted one."""
        return [attempt.code for attempt in self.attempts]


def ask(
    verb: str,
    chain: FallbackChain | ScriptedModel,
    *,
    view: InterviewView = VIEW,
    targets: Sequence[str] = OPEN_GOALS,
    retries: int = 2,
    output_mode: OutputModeSetting = "auto",
    enabled: bool = True,
    max_calls: int = 20,
    call_timeout_seconds: float = 20.0,
    store: CallStore | None = None,
) -> Asked:
    """Let one agent do its work; a wait between tries is noted and takes no time."""
    calls = CallRecorder.of(max_calls, store=store)
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    agents = InterviewAgents(
        (route(chain),) if isinstance(chain, ScriptedModel) else chain,
        PydanticAISettings(enabled=enabled, retries=retries),
        output_mode=output_mode,
        call_timeout_seconds=call_timeout_seconds,
        retries=CallRetries(waits_seconds=(1.0, 2.0), sleep=sleep),
    )
    verbs: dict[str, Callable[[], Awaitable[AgentOutcome[Any]]]] = {
        "generate_goals": lambda: agents.generate_goals(view, calls),
        "extract_facts": lambda: agents.extract_facts(view, calls),
        "detect_drift": lambda: agents.detect_drift(view, calls),
        "update_goals": lambda: agents.update_goals(view, calls),
        "generate_question_with_answers": lambda: agents.generate_question_with_answers(
            view, tuple(targets), calls
        ),
        "match_frequency": lambda: agents.match_frequency(view, calls),
        "generate_analysis": lambda: agents.generate_analysis(view, calls),
    }

    async def run() -> AgentOutcome[Any]:
        return await verbs[verb]()

    return Asked(outcome=asyncio.run(run()), attempts=calls.attempts, slept=slept)


def plain(*replies: str) -> ScriptedChat:
    """Return a plain chat client that replies so."""
    return ScriptedChat(list(replies))
