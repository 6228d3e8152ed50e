"""Interviews about an incident with a model that always replies well, and what a turn costs."""

import asyncio
import json
from dataclasses import dataclass, field, replace
from enum import StrEnum
from random import Random
from typing import Final

from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from ai_psychiatrist.agents.interview.interview_agents import InterviewAgents
from ai_psychiatrist.domain.interview import AnswerKind, Question
from ai_psychiatrist.interview.interview_store import InterviewStore
from ai_psychiatrist.interview.protocol import load_protocol
from ai_psychiatrist.interview.service import AnswerSubmission, InterviewService
from ai_psychiatrist.llm.endpoints import ModelEndpoint
from ai_psychiatrist.llm.settings import PydanticAISettings
from tests.fakes.interview_replies import good_reply
from tests.fakes.noted_agents import NotedAgents, brief

INPUTS: Final = {
    "title": "The lost document",
    "summary": "A document was on the desk on Monday and gone on Tuesday.",
    "interviewee_name": "Robin",
    "interviewee_role": "works at the next desk",
}
_DRIFTING: Final = 0.2
_ROUNDS_OF_A_CALL: Final = 200
"""For so many rounds of the event loop a call is under way: all that can start beside it does."""


class Step(StrEnum):
    """What a caller waits for."""

    BEGIN = "begin"
    OFFERED = "offered answer"
    FREE_TEXT = "free text"
    REPORT = "report"
    REPORT_AGAIN = "report again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one step cost."""

    step: Step
    calls: int
    sequential: int
    """The longest chain of calls of which each began after another had ended."""


@dataclass(slots=True)
class CallPath:
    """Counts the calls of one step, and how many of them had to wait for others."""

    calls: int = 0
    sequential: int = 0
    _ended: int = 0

    async def pass_through(self) -> None:
        """Be under way for the time of one call."""
        self.calls += 1
        place = self._ended + 1
        self.sequential = max(self.sequential, place)
        for _ in range(_ROUNDS_OF_A_CALL):
            await asyncio.sleep(0)
        self._ended = max(self._ended, place)


class GoodModel(Model):
    """Calls the tool that it is given as it should."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.path = CallPath()
        self._draw = Random(f"incident/{seed}")  # noqa: S311 - repeatable

    @property
    def model_name(self) -> str:
        """The name under which accounts show it."""
        return "good"

    @property
    def system(self) -> str:
        """The provider's name."""
        return "good"

    async def request(
        self,
        messages: list[ModelMessage],  # noqa: ARG002  fixed by the library
        model_settings: ModelSettings | None,  # noqa: ARG002
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Reply well."""
        tool = model_request_parameters.output_tools[0].name
        is_addressed = self._draw.random() >= _DRIFTING
        arguments = good_reply(tool, self._draw, replace(brief.get(), is_addressed=is_addressed))
        await self.path.pass_through()
        usage = RequestUsage(input_tokens=100, output_tokens=50)
        return ModelResponse(parts=[ToolCallPart(tool, json.dumps(arguments))], usage=usage)


@dataclass(slots=True, kw_only=True)
class IncidentInterview:
    """Leads one interview and writes down what each step cost."""

    service: InterviewService
    model: GoodModel
    seed: int
    costs: list[Cost] = field(default_factory=list)

    async def lead(self) -> list[Cost]:
        """Answer until the end, and ask for the report twice."""
        draw = Random(f"answers/{self.seed}")  # noqa: S311 - repeatable
        shown = await self.service.create("incident", INPUTS)
        self._note(Step.BEGIN)
        while shown.question is not None:
            is_chosen = draw.random() < 0.5
            submission = AnswerSubmission(
                question_id=shown.question.id,
                idempotency_key=f"key-{shown.version}",
                version=shown.version,
                option_id=_offered(draw, shown.question) if is_chosen else None,
                text=None if is_chosen else "I put it on the desk on Monday, I think.",
            )
            shown = await self.service.answer(shown.id, submission)
            assert shown.failure is None
            self._note(Step.OFFERED if is_chosen else Step.FREE_TEXT)
        for step in (Step.REPORT, Step.REPORT_AGAIN):
            await self.service.make_report(shown.id)
            self._note(step)
        return self.costs

    def _note(self, step: Step) -> None:
        path, self.model.path = self.model.path, CallPath()
        self.costs.append(Cost(step=step, calls=path.calls, sequential=path.sequential))


def _offered(draw: Random, question: Question) -> str:
    return draw.choice([one.id for one in question.options if one.kind is AnswerKind.OFFERED])


async def lead_incidents(
    store: InterviewStore, count: int, *, is_combined: bool
) -> tuple[Cost, ...]:
    """Lead interviews one after the other; `is_combined`: digest each answer in one call."""
    protocols = {"incident": load_protocol("incident")}
    costs: list[Cost] = []
    for seed in range(count):
        model = GoodModel(seed)
        route = ModelEndpoint(name="good", agent_model=model, chat=None)
        agents = InterviewAgents((route,), PydanticAISettings(), is_combined=is_combined)
        service = InterviewService(protocols, store, NotedAgents(agents, "It narrows it down."))
        costs += await IncidentInterview(service=service, model=model, seed=seed).lead()
    return tuple(costs)
