"""Decision models: typed questions about a few words, answered by probabilities and no text."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial

from pydantic import Field, JsonValue, TypeAdapter, ValidationError
from pydantic_ai.models.decision import (
    DecisionModel,
    DecisionModelSettings,
    DecisionQuestion,
    DecisionRequest,
    DecisionResponse,
    NoulAnswer,
    NoulQuestion,
    ScoreAnswer,
    ScoreQuestion,
)

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import CallPath, FailureCode, RejectionCode
from ai_psychiatrist.domain.model_call import RequestMessage
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.llm.agent_calls import AgentCalls, Call
from ai_psychiatrist.llm.call_store import call_digest
from ai_psychiatrist.llm.chat import ChatReply
from ai_psychiatrist.llm.output import ModelOutput
from ai_psychiatrist.llm.output_mode import OutputMode
from ai_psychiatrist.llm.rejection import ReplyRejected
from ai_psychiatrist.llm.reply_reading import read_reply
from ai_psychiatrist.llm.routes import ModelRoute


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedSubject:
    """What is to be rated: by ordered levels, if it is told at all."""

    how_much: str
    levels: Sequence[str]
    is_told: str


class SubjectShares(ModelOutput):
    """Probabilities of one subject."""

    told: float = Field(ge=0, le=1)
    levels: tuple[float, ...]
    """Of its levels, where it is told; they add up to about 1."""


class Decisions(ModelOutput):
    """The answers by subject."""

    subjects: dict[str, SubjectShares]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Subjects to be rated by some words."""

    state: Mapping[str, Sequence[Mapping[str, str]]] = field(repr=False)
    """The words by subject, and nothing else."""
    subjects: Mapping[str, RatedSubject]


async def decide(route: ModelRoute, asked: Asked, calls: AgentCalls) -> Decisions:
    """Return the probabilities; raises `ModelCallFailed` and `ReplyRejected`."""
    model = route.agent_model
    if not isinstance(model, DecisionModel):
        raise ModelCallFailed(FailureCode.REQUEST_REFUSED)
    sent = json.dumps(asked.state, ensure_ascii=False)
    questions = {name: asdict(one) for name, one in asked.subjects.items()}
    calls.prompt_digest = keyed_digest(f"{sent}\n{json.dumps(questions)}")
    call = Call(
        route=route,
        path=CallPath.PLAIN,
        digest=lambda: call_digest(route.name, "decision", sent, questions),
        messages=lambda: (
            RequestMessage("system", json.dumps(questions, ensure_ascii=False)),
            RequestMessage("user", sent),
        ),
        send=partial(_send, model, asked),
        read=partial(read_reply, mode=OutputMode.TEXT, tool=None, max_bytes=route.max_reply_bytes),
    )
    with calls.as_one_run(route):
        reading = await calls.make(call)
        return await calls.judge(partial(_extract, asked=asked), reading.text)


async def _send(model: DecisionModel, asked: Asked) -> ChatReply:
    questions: dict[str, DecisionQuestion] = {}
    for name, one in asked.subjects.items():
        questions[name] = ScoreQuestion(criteria=list(one.levels), instructions=one.how_much)
        questions[_told(name)] = NoulQuestion(instructions=one.is_told)
    state: dict[str, JsonValue] = {
        name: [dict(one) for one in said] for name, said in asked.state.items()
    }
    request = DecisionRequest(state=state, questions=questions)
    response = await model.decide(request, DecisionModelSettings())
    return ChatReply(
        text=json.dumps({"subjects": _subjects(response, asked)}),
        input_tokens=response.usage.input_tokens or None,
        output_tokens=response.usage.output_tokens or None,
    )


def _told(name: str) -> str:
    return f"{name}_told"


def _subjects(response: DecisionResponse, asked: Asked) -> dict[str, object]:
    """Return what was answered; the library refuses answers of another kind than the question."""
    found: dict[str, object] = {}
    for name in asked.subjects:
        told, levels = response.answers.get(_told(name)), response.answers.get(name)
        if isinstance(told, NoulAnswer) and isinstance(levels, ScoreAnswer):
            shares = [levels.probabilities[level] for level in sorted(levels.probabilities)]
            found[name] = {"told": told.noul, "levels": shares}
    return found


def _extract(text: str, *, asked: Asked) -> Decisions:
    try:
        found = TypeAdapter(Decisions).validate_json(text)
    except ValidationError:
        raise ReplyRejected(RejectionCode.SCHEMA_BROKEN, "Answer every question.") from None
    if set(found.subjects) != set(asked.subjects):
        raise ReplyRejected(RejectionCode.MISSING_ITEM, "Answer every question.")
    return found
