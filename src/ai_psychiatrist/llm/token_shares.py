"""How likely a model holds each of a few one-token answers, from the server's log-probabilities."""

import json
import math
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest, ModelResponse, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIChatModelSettings

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import CallPath, FailureCode, RejectionCode
from ai_psychiatrist.domain.model_call import RequestMessage
from ai_psychiatrist.llm.agent_calls import AgentCalls, Call
from ai_psychiatrist.llm.call_store import call_digest
from ai_psychiatrist.llm.output import ModelOutput
from ai_psychiatrist.llm.prompt import Prompt
from ai_psychiatrist.llm.rejection import ReplyRejected
from ai_psychiatrist.llm.reply_reading import Reply, ReplyReading
from ai_psychiatrist.llm.routes import ModelRoute

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
    route: ModelRoute, question: TokenQuestion, calls: AgentCalls
) -> dict[str, float]:
    """Return the probabilities of the answers, which add up to 1; one never listed has 0.

    Raises `ModelCallFailed` when no call succeeds, and `ReplyRejected` when the server gives no
    probabilities, or the model was about to give none of the answers.
    """
    model, prompt = route.agent_model, question.prompt
    if model is None:
        raise ModelCallFailed(FailureCode.REQUEST_REFUSED)
    calls.prompt_digest = prompt.digest
    call = Call(
        route=route,
        path=CallPath.PLAIN,
        digest=lambda: call_digest(
            route.name, "token", prompt.system, prompt.user, question.answers, MOST_LISTED
        ),
        messages=lambda: (
            RequestMessage("system", prompt.system),
            RequestMessage("user", prompt.user),
        ),
        send=partial(_send, model, prompt),
        read=partial(_read, answers=question.answers),
    )
    with calls.as_one_run(route):
        reading = await calls.make(call)
        found = await calls.judge(_extract, reading.text)
    whole = math.fsum(found.shares.values())
    return {answer: found.shares.get(answer, 0.0) / whole for answer in question.answers}


async def _send(model: Model, prompt: Prompt) -> ModelResponse:
    settings = OpenAIChatModelSettings(
        temperature=0.0, max_tokens=1, openai_logprobs=True, openai_top_logprobs=MOST_LISTED
    )
    request = ModelRequest(parts=[UserPromptPart(prompt.user)], instructions=prompt.system)
    return await model_request(model, [request], model_settings=settings, instrument=False)


def _read(reply: Reply, *, answers: tuple[str, ...]) -> ReplyReading:
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


def _listed(reply: Reply) -> list[tuple[str, float]]:
    """Return the first token's alternatives with their log-probabilities; servers send anything."""
    details = getattr(reply, "provider_details", None)
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
