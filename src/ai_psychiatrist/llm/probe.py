"""Try one model step by step, from its address to what its replies can hold."""

import asyncio
import json
import time
from collections.abc import Awaitable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import httpx2
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.llm.backends import Backend
from ai_psychiatrist.llm.call_failures import call_failure
from ai_psychiatrist.llm.cures import cure
from ai_psychiatrist.llm.model_list import unserved
from ai_psychiatrist.llm.provider_settings import LOG_PROBABILITIES
from ai_psychiatrist.llm.routes import ModelRoute

_PROMPT: Final = "Reply with the single word: ready"
_SCHEMA_PROMPT: Final = 'Reply with the JSON object {"ready": true} and nothing else.'
_SCHEMA: Final = {
    "type": "object",
    "properties": {"ready": {"type": "boolean"}},
    "required": ["ready"],
    "additionalProperties": False,
}


class CheckOutcome(StrEnum):
    """What came of one step."""

    OK = "ok"
    FAILED = "failed"
    NOT_TRIED = "not_tried"
    """A step before it failed, or there is nothing to try."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One step, and what to do where it failed."""

    outcome: CheckOutcome
    code: FailureCode | None = None
    http_status: int | None = None
    cure: str | None = None

    @property
    def is_ok(self) -> bool:
        """Whether it went well."""
        return self.outcome is CheckOutcome.OK


_OK: Final = Check(outcome=CheckOutcome.OK)
_NOT_TRIED: Final = Check(outcome=CheckOutcome.NOT_TRIED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProbe:
    """What one model can do now."""

    model: str
    address: str | None
    """URL of its server; `None` for a model of this process."""
    reachable: Check
    key_accepted: Check
    model_present: Check
    first_reply: Check
    reply_seconds: float | None
    tokens_per_second: float | None
    """Tokens of the first reply per second of the whole call."""
    json_schema: Check
    """Whether a reply keeps to a schema that the server is given."""
    log_probabilities: Check
    """Whether the server tells how likely the tokens of its reply are."""

    @property
    def is_usable(self) -> bool:
        """Whether the model can do the tasks: schema and probabilities are extras."""
        return self.address is None or self.first_reply.is_ok


@dataclass(frozen=True, slots=True, kw_only=True)
class _FirstReply:
    failure: ModelCallFailed | None
    seconds: float | None = None
    tokens_per_second: float | None = None


def local_probe(route: ModelRoute) -> ModelProbe:
    """Return what can be said of a model of this process: it is there."""
    return ModelProbe(
        model=route.name,
        address=None,
        reachable=_OK,
        key_accepted=_OK,
        model_present=_OK,
        first_reply=_NOT_TRIED,
        reply_seconds=None,
        tokens_per_second=None,
        json_schema=_NOT_TRIED,
        log_probabilities=_NOT_TRIED,
    )


async def probe(http: httpx2.AsyncClient, backend: Backend, route: ModelRoute) -> ModelProbe:
    """Try a model; what a step depends on and failed is not tried any further."""
    failure = await unserved(http, backend, route.name.partition(":")[2])
    # A list is not the last word: some servers answer under names that they do not list.
    is_worth_asking = failure is None or failure.code is FailureCode.MODEL_NOT_FOUND
    reply = await _first_reply(route) if is_worth_asking else _FirstReply(failure=failure)
    failure = reply.failure
    answers = failure is None
    unreachable = _UNREACHABLE if is_worth_asking else _UNREACHABLE | _NO_LIST
    unknown = unreachable | _NO_ENTRY
    return ModelProbe(
        model=route.name,
        address=route.address,
        reachable=_step(route, failure, own=unreachable),
        key_accepted=_step(route, failure, own=_NO_ENTRY, after=unreachable),
        model_present=_step(route, failure, own=_NO_MODEL, after=unknown),
        first_reply=_step(route, failure, after=unknown | _NO_MODEL),
        reply_seconds=reply.seconds,
        tokens_per_second=reply.tokens_per_second,
        json_schema=await _checked(route, _keeps_to_schema(route)) if answers else _NOT_TRIED,
        log_probabilities=(
            await _checked(route, _tells_probabilities(route, backend))
            if answers and backend.provider.name in LOG_PROBABILITIES
            else _NOT_TRIED
        ),
    )


_UNREACHABLE: Final = frozenset({FailureCode.CONNECTION_FAILED})
_NO_LIST: Final = frozenset({FailureCode.TIMED_OUT, FailureCode.BACKEND_ERROR})
_NO_ENTRY: Final = frozenset({FailureCode.NOT_AUTHORISED})
_NO_MODEL: Final = frozenset({FailureCode.MODEL_NOT_FOUND})


def _step(
    route: ModelRoute,
    failure: ModelCallFailed | None,
    *,
    own: frozenset[FailureCode] = frozenset(FailureCode),
    after: frozenset[FailureCode] = frozenset(),
) -> Check:
    """Say of one step whether the failure is an earlier one's, its own, a later one's or none."""
    if failure is None:
        return _OK
    if failure.code in after:
        return _NOT_TRIED
    return _failed(route, failure) if failure.code in own else _OK


def _failed(route: ModelRoute, failure: ModelCallFailed) -> Check:
    return Check(
        outcome=CheckOutcome.FAILED,
        code=failure.code,
        http_status=failure.http_status,
        cure=cure(
            failure.code,
            model=route.name,
            address=route.address,
            http_status=failure.http_status,
        ),
    )


async def _first_reply(route: ModelRoute) -> _FirstReply:
    started = time.perf_counter()
    try:
        if route.chat is None:
            raise ModelCallFailed(FailureCode.REQUEST_REFUSED)
        async with asyncio.timeout(route.timeout_seconds):
            reply = await route.chat.simple_chat(_PROMPT)
        if not reply.text.strip():
            raise ModelCallFailed(FailureCode.OUTPUT_REJECTED)
    except Exception as error:  # noqa: BLE001  a backend may make a library fail in any way
        return _FirstReply(failure=call_failure(error))
    seconds = time.perf_counter() - started
    speed = reply.output_tokens / seconds if reply.output_tokens else None
    return _FirstReply(failure=None, seconds=seconds, tokens_per_second=speed)


async def _checked(route: ModelRoute, step: Awaitable[bool]) -> Check:
    try:
        async with asyncio.timeout(route.timeout_seconds):
            works = await step
    except Exception as error:  # noqa: BLE001  a backend may make a library fail in any way
        return _failed(route, call_failure(error))
    if works:
        return _OK
    return Check(outcome=CheckOutcome.FAILED, code=FailureCode.OUTPUT_REJECTED)


async def _keeps_to_schema(route: ModelRoute) -> bool:
    response = await _asked(
        route,
        _SCHEMA_PROMPT,
        parameters=ModelRequestParameters(
            output_mode="native",
            output_object=OutputObjectDefinition(json_schema=_SCHEMA, name="ready"),
        ),
    )
    try:
        reply = json.loads(response.text or "")
    except (ValueError, RecursionError):
        return False
    return isinstance(reply, dict) and isinstance(reply.get("ready"), bool)


async def _tells_probabilities(route: ModelRoute, backend: Backend) -> bool:
    response = await _asked(route, _PROMPT, settings=LOG_PROBABILITIES[backend.provider.name])
    return bool((response.provider_details or {}).get("logprobs"))


async def _asked(
    route: ModelRoute,
    prompt: str,
    *,
    settings: ModelSettings | None = None,
    parameters: ModelRequestParameters | None = None,
) -> ModelResponse:
    model = route.agent_model
    if model is None:
        raise ModelCallFailed(FailureCode.REQUEST_REFUSED)
    return await model_request(
        model,
        [ModelRequest.user_text_prompt(prompt)],
        model_settings=settings,
        model_request_parameters=parameters,
        instrument=False,
    )
