"""Probabilities in place of words: of one-token answers, and from decision models."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Final

from pydantic import Field, JsonValue, TypeAdapter, ValidationError
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest, UserPromptPart
from pydantic_ai.models import Model
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
from pydantic_ai.settings import ModelSettings

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import CallPath, FailureCode, RejectionCode
from ai_psychiatrist.domain.model_call import RequestMessage
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.llm.agent_calls import AgentCalls, Call
from ai_psychiatrist.llm.definition import Prompt
from ai_psychiatrist.llm.endpoints import ModelEndpoint
from ai_psychiatrist.llm.replies import (
    ChatReply,
    ModelOutput,
    ReplyReading,
    ReplyRejected,
    read_reply,
)

MOST_LISTED: Final = 20
"""How many of the likeliest tokens are asked for: the most that the protocol allows."""
LEAST_MASS: Final = 0.5
"""Less than this on all answers together, and the model was about to say something else."""


class AnswerShares(ModelOutput):
    """Probabilities of the answers that were listed; they add up to no more than 1."""

    shares: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenQuestion:
    """A prompt whose answer is one of a few characters."""

    prompt: Prompt = field(repr=False)
    answers: tuple[str, ...]


async def token_shares(
    endpoint: ModelEndpoint, question: TokenQuestion, calls: AgentCalls
) -> dict[str, float]:
    """Return the probabilities of the answers, which add up to 1; one never listed has 0.

    Raises `ModelCallFailed` when no call succeeds, and `ReplyRejected` when the server gives no
    probabilities, or the model was about to give none of the answers.
    """
    model, prompt = endpoint.agent_model, question.prompt
    if model is None:
        raise ModelCallFailed(FailureCode.REQUEST_REFUSED)
    calls.prompt_digest = prompt.digest
    call = Call(
        endpoint=endpoint,
        path=CallPath.PLAIN,
        asked_for=lambda: (
            *(endpoint.name, "token", prompt.system, prompt.user),
            *(question.answers, MOST_LISTED),
        ),
        messages=lambda: (
            RequestMessage("system", prompt.system),
            RequestMessage("user", prompt.user),
        ),
        send=lambda: _asked(model, prompt),
        read=lambda reply: _read(reply, question.answers),
    )
    with calls.as_one_run((endpoint,)):
        reading = await calls.make(call)
        found = await calls.judge(_extract, reading.text)
    whole = math.fsum(found.shares.values())
    return {answer: found.shares.get(answer, 0.0) / whole for answer in question.answers}


async def _asked(model: Model, prompt: Prompt) -> ChatReply:
    wanted = {"logprobs": True, "top_logprobs": MOST_LISTED}
    settings = ModelSettings(temperature=0.0, max_tokens=1, extra_body=wanted)
    request = ModelRequest(parts=[UserPromptPart(prompt.user)], instructions=prompt.system)
    response = await model_request(model, [request], model_settings=settings, instrument=False)
    return ChatReply.of(response)


def _read(reply: ChatReply, answers: tuple[str, ...]) -> ReplyReading:
    """Read the first token's alternatives; what stands there is JSON of this program's making."""
    listed = _listed(reply)
    shares = dict.fromkeys(answers, 0.0)
    for token, log in listed:
        answer = token.strip()
        if answer in shares:
            shares[answer] += math.exp(min(log, 0.0))
    text = json.dumps({answer: share for answer, share in shares.items() if share > 0})
    return ReplyReading(text=text, refusal=None if listed else _no_probabilities())


def _no_probabilities() -> ReplyRejected:
    return ReplyRejected(
        RejectionCode.NO_PROBABILITIES, "The server gives no probabilities of tokens."
    )


def _listed(reply: ChatReply) -> list[tuple[str, float]]:
    """Return the first token's alternatives with their log-probabilities; servers send anything."""
    details = None if reply.response is None else reply.response.provider_details
    tokens = details.get("logprobs") if isinstance(details, dict) else None
    first = tokens[0] if isinstance(tokens, list) and tokens else None
    listed = first.get("top_logprobs") if isinstance(first, dict) else None
    found = []
    for one in listed if isinstance(listed, list) else ():
        token, log = (one.get("token"), one.get("logprob")) if isinstance(one, dict) else (None, 0)
        if isinstance(token, str) and isinstance(log, int | float) and not math.isnan(log):
            found.append((token, float(log)))
    return found


def _extract(text: str) -> AnswerShares:
    shares: dict[str, float] = json.loads(text)
    if math.fsum(shares.values()) < LEAST_MASS:
        raise ReplyRejected(
            RejectionCode.NOT_A_CHOICE, "Reply with one of the characters that the task lists."
        )
    return AnswerShares(shares=shares)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedSubject:
    """The subject of a rating: ordered levels, and whether the text mentions it at all."""

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
class Question:
    """Subjects to be rated by some words."""

    state: Mapping[str, Sequence[Mapping[str, str]]] = field(repr=False)
    """The words by subject, and nothing else."""
    subjects: Mapping[str, RatedSubject]


async def decide(endpoint: ModelEndpoint, asked: Question, calls: AgentCalls) -> Decisions:
    """Return the probabilities; raises `ModelCallFailed` and `ReplyRejected`."""
    model = endpoint.agent_model
    if not isinstance(model, DecisionModel):
        raise ModelCallFailed(FailureCode.REQUEST_REFUSED)
    sent = json.dumps(asked.state, ensure_ascii=False)
    questions = {name: asdict(one) for name, one in asked.subjects.items()}
    calls.prompt_digest = keyed_digest(f"{sent}\n{json.dumps(questions)}")
    call = Call(
        endpoint=endpoint,
        path=CallPath.PLAIN,
        asked_for=lambda: (endpoint.name, "decision", sent, questions),
        messages=lambda: (
            RequestMessage("system", json.dumps(questions, ensure_ascii=False)),
            RequestMessage("user", sent),
        ),
        send=lambda: _decided(model, asked),
        read=lambda reply: read_reply(reply, max_bytes=endpoint.max_reply_bytes),
    )
    with calls.as_one_run((endpoint,)):
        reading = await calls.make(call)
        return await calls.judge(lambda text: _rated(text, asked), reading.text)


async def _decided(model: DecisionModel, asked: Question) -> ChatReply:
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


def _subjects(response: DecisionResponse, asked: Question) -> dict[str, object]:
    """Return what was answered; the library refuses answers of another kind than the question."""
    found: dict[str, object] = {}
    for name in asked.subjects:
        told, levels = response.answers.get(_told(name)), response.answers.get(name)
        if isinstance(told, NoulAnswer) and isinstance(levels, ScoreAnswer):
            shares = [levels.probabilities[level] for level in sorted(levels.probabilities)]
            found[name] = {"told": told.noul, "levels": shares}
    return found


def _rated(text: str, asked: Question) -> Decisions:
    try:
        found = TypeAdapter(Decisions).validate_json(text)
    except ValidationError:
        raise ReplyRejected(RejectionCode.SCHEMA_BROKEN, "Answer every question.") from None
    if set(found.subjects) != set(asked.subjects):
        raise ReplyRejected(RejectionCode.MISSING_ITEM, "Answer every question.")
    return found
