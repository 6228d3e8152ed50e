"""Assessments by models that reply from a function, after waits of their own."""

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from tests.fakes.replies import good_text, participant_quotes

from ai_psychiatrist.agents.danger import DangerAgent
from ai_psychiatrist.agents.judge import JudgeAgent
from ai_psychiatrist.agents.meta_review import MetaReviewAgent
from ai_psychiatrist.agents.qualitative import QualitativeAssessmentAgent
from ai_psychiatrist.agents.quantitative import QuantitativeAssessmentAgent
from ai_psychiatrist.agents.settings import FeedbackSettings
from ai_psychiatrist.assessment.assessor import AssessmentOptions, Assessor
from ai_psychiatrist.assessment.refinement import FeedbackLoop
from ai_psychiatrist.distribution.estimator import DistributionEstimator
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.llm.endpoints import ModelEndpoint
from ai_psychiatrist.llm.replies import ChatReply
from ai_psychiatrist.llm.settings import PydanticAISettings
from ai_psychiatrist.services.reader.reading import TranscriptReading
from ai_psychiatrist.services.reader.second_voice import VoicedRisk
from ai_psychiatrist.services.risk.detector import detect_risk
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

INTERVIEW = """\
Interviewer: How have you been sleeping?
Participant: I wake up at four nearly every night and cannot go back to sleep.
Interviewer: And your mood?
Participant: I have felt sad and hopeless on most days for a month.
"""
_GROUPS = ("qualitative", "quantitative", "judge", "meta_review", "danger")
_TASK = re.compile(r"^Task: (\w+)$", re.MULTILINE)

Answer = Callable[[str, str, int], str]
"""Task, prompt and number of the call with that task → reply."""


def good(task: str, _: str, __: int) -> str:
    """Reply as the task asks."""
    return good_text(task, participant_quotes(INTERVIEW))


@dataclass
class Server:
    """A model whose replies take a time drawn by a seed; it counts what reaches it."""

    answer: Answer
    waits: Random
    calls: int = 0
    tasks: dict[str, int] = field(default_factory=dict)

    @property
    def route(self) -> ModelEndpoint:
        """The model, by both paths."""
        model = FunctionModel(self._reply, model_name="served")
        return ModelEndpoint(name="served", agent_model=model, chat=_Chat(self))

    async def reply(self, prompt: str) -> str:
        """Answer one call."""
        self.calls += 1
        task = _TASK.findall(prompt)[-1]
        number = self.tasks[task] = self.tasks.get(task, 0) + 1
        await asyncio.sleep(self.waits.uniform(0.1, 10.0))
        return self.answer(task, prompt, number)

    async def _reply(self, messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        prompt = "".join(str(getattr(part, "content", "")) for part in messages[0].parts)
        return ModelResponse(parts=[TextPart(await self.reply(prompt))])


@dataclass
class _Chat:
    server: Server
    model: str = "served"

    async def simple_chat(self, user_prompt: str, *, system_prompt: str = "") -> ChatReply:  # noqa: ARG002
        return ChatReply(text=await self.server.reply(user_prompt))


def pipeline(
    server: Server, *, max_calls: int = 60, retries: int = 1, part_characters: int | None = None
) -> Assessor:
    """Build a pipeline whose agents all ask one server."""
    built: Any = {"pydantic_ai_settings": PydanticAISettings(retries=retries)}
    chain = (server.route,)
    return Assessor(
        feedback_loop=FeedbackLoop(
            qualitative=QualitativeAssessmentAgent(chain, **built),
            judge=JudgeAgent(chain, **built),
            settings=FeedbackSettings(),
        ),
        quantitative=QuantitativeAssessmentAgent(chain, **built),
        meta_review=MetaReviewAgent(chain, **built),
        danger=DangerAgent(chain, **built),
        estimator=DistributionEstimator(),
        max_calls=max_calls,
        part_characters=part_characters,
        agent_models=dict.fromkeys(_GROUPS, ("served",)),
    )


def assess(
    server: Server, *, deadline_seconds: float | None = None, max_calls: int = 60, **built: Any
) -> Any:
    """Return the work of assessing the interview."""
    transcript = parse_transcript(INTERVIEW)
    return partial(
        pipeline(server, max_calls=max_calls, **built).assess,
        transcript,
        AssessmentOptions(
            # Made in a thread otherwise, which a loop with a time of its own does not wait for.
            risk=VoicedRisk(report=detect_risk(transcript), reading=TranscriptReading()),
            deadline_seconds=deadline_seconds,
        ),
    )()


def untimed(assessment: Assessment) -> str:
    """Return the whole result as JSON, without what differs from run to run."""
    attempts = tuple(replace(one, duration_ms=0.0) for one in assessment.attempts)
    comparable = replace(assessment, assessment_id="", attempts=attempts)
    return json.dumps(comparable.model_dump(), sort_keys=True)
