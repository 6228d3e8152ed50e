"""Try one model step by step, from its address to what its replies can hold."""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Mapping, Sequence
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
from ai_psychiatrist.llm.chat_model import json_object
from ai_psychiatrist.llm.endpoints import ModelEndpoint
from ai_psychiatrist.llm.failures import call_failure, http_failure
from ai_psychiatrist.llm.providers import OLLAMA, OPENAI_CHAT
from ai_psychiatrist.llm.reasons import hint
from ai_psychiatrist.llm.servers import Server

_PROMPT: Final = "Reply with the single word: ready"
_SCHEMA_PROMPT: Final = 'Reply with the JSON object {"ready": true} and nothing else.'
_SCHEMA: Final = {
    "type": "object",
    "properties": {"ready": {"type": "boolean"}},
    "required": ["ready"],
    "additionalProperties": False,
}
_LOG_PROBABILITIES: Final[Mapping[str, Mapping[str, object]]] = {
    OLLAMA.name: {"logprobs": True},
    OPENAI_CHAT.name: {"logprobs": True, "top_logprobs": 1},
}
"""What asks for the log-probabilities of a reply, by the provider's name."""
_MOST_PROBED_TOKENS: Final = 200
_PATIENCE_SECONDS: Final = 3.0
_WEIGHTS: Final = re.compile(r"[\w.:-]{1,80}", re.ASCII)
_LATEST: Final = ":latest"
_ANY_NAME_OWNERS: Final = frozenset({"llamacpp", "koboldcpp"})
"""Servers of one model, which answer under whatever name they are asked."""
_UNSERVED: Final = frozenset(
    {FailureCode.NOT_AUTHORISED, FailureCode.MODEL_NOT_FOUND, FailureCode.BACKEND_ERROR}
)


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
    reachable: Check = _OK
    key_accepted: Check = _OK
    model_present: Check = _OK
    first_reply: Check = _NOT_TRIED
    reply_seconds: float | None = None
    tokens_per_second: float | None = None
    """Tokens of the first reply per second of the whole call."""
    json_schema: Check = _NOT_TRIED
    """Whether a reply keeps to a schema that the server is given."""
    log_probabilities: Check = _NOT_TRIED
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


async def unserved(server: Server, model: str) -> ModelCallFailed | None:
    """Return why a server would not answer for a model, as far as it can be known beforehand.

    A server without a list, or with one that cannot be read, counts as ready when it answers.
    """
    path = server.models_path.format(model=model)
    is_list = path == server.models_path
    url = server.access.address + path
    try:
        response = await server.access.http.get(
            url, headers=server.headers, timeout=_PATIENCE_SECONDS
        )
        if not response.is_success:
            failure = http_failure(response.status_code, response.text, response.headers)
            is_list_unknown = response.status_code == 404 and is_list
            return failure if failure.code in _UNSERVED and not is_list_unknown else None
        names = _names(json_object(response.content)) if is_list else None
    except Exception as error:  # noqa: BLE001  a backend may make a library fail in any way
        failure = call_failure(error)
        return None if failure.code is FailureCode.MALFORMED_RESPONSE else failure
    if names is None or names & {model, f"{model}{_LATEST}"}:
        return None
    return ModelCallFailed(FailureCode.MODEL_NOT_FOUND)


def _names(body: dict[str, object]) -> frozenset[str] | None:
    """Return the names of a list of Ollama's kind or OpenAI's; `None` where any name will do."""
    listed = body.get("data", body.get("models"))
    if not isinstance(listed, list):
        return None
    entries = [entry for entry in listed if isinstance(entry, dict)]
    if len(entries) == 1 and entries[0].get("owned_by") in _ANY_NAME_OWNERS:
        return None
    return frozenset(
        str(entry[key]) for entry in entries for key in ("id", "name", "model") if key in entry
    )


async def told_weights(
    http: httpx2.AsyncClient, address: str, models: Sequence[str]
) -> dict[str, list[str]]:
    """Return what an Ollama server tells of the weights of models, as far as it tells anything.

    `MODEL digest` → the digest, `MODEL quantisation` → such as `Q4_K_M`, each alone in a list.
    """
    try:
        response = await http.get(f"{address}/api/tags", timeout=_PATIENCE_SECONDS)
        listed = json_object(response.content).get("models")
    except Exception:  # noqa: BLE001  a backend may make a library fail in any way
        return {}
    found: dict[str, list[str]] = {}
    for entry in listed if isinstance(listed, list) else []:
        for model in models:
            name = model.partition(":")[2]
            if isinstance(entry, dict) and entry.get("name") in (name, f"{name}{_LATEST}"):
                details = entry.get("details")
                level = details.get("quantization_level") if isinstance(details, dict) else None
                told = {"digest": entry.get("digest"), "quantisation": level}
                found |= {
                    f"{model} {what}": [value]
                    for what, value in told.items()
                    if isinstance(value, str) and _WEIGHTS.fullmatch(value)
                }
    return found


async def probe(server: Server, endpoint: ModelEndpoint) -> ModelProbe:
    """Try a model; what a step depends on and failed is not tried any further."""
    failure = await unserved(server, endpoint.name.partition(":")[2])
    # A list is not the last word: some servers answer under names that they do not list.
    is_worth_asking = failure is None or failure.code is FailureCode.MODEL_NOT_FOUND
    reply = await _first_reply(endpoint) if is_worth_asking else _FirstReply(failure=failure)
    failure = reply.failure
    unreachable = _UNREACHABLE if is_worth_asking else _UNREACHABLE | _NO_LIST
    unknown = unreachable | _NO_ENTRY
    json_schema = log_probabilities = _NOT_TRIED
    if failure is None:
        json_schema = await _checked(endpoint, _keeps_to_schema(endpoint))
        asked = _LOG_PROBABILITIES.get(server.access.provider.name)
        if asked is not None:
            log_probabilities = await _checked(endpoint, _tells_probabilities(endpoint, asked))
    return ModelProbe(
        model=endpoint.name,
        address=endpoint.address,
        reachable=_step(endpoint, failure, own=unreachable),
        key_accepted=_step(endpoint, failure, own=_NO_ENTRY, after=unreachable),
        model_present=_step(endpoint, failure, own=_NO_MODEL, after=unknown),
        first_reply=_step(endpoint, failure, after=unknown | _NO_MODEL),
        reply_seconds=reply.seconds,
        tokens_per_second=reply.tokens_per_second,
        json_schema=json_schema,
        log_probabilities=log_probabilities,
    )


_UNREACHABLE: Final = frozenset({FailureCode.CONNECTION_FAILED})
_NO_LIST: Final = frozenset({FailureCode.TIMED_OUT, FailureCode.BACKEND_ERROR})
_NO_ENTRY: Final = frozenset({FailureCode.NOT_AUTHORISED})
_NO_MODEL: Final = frozenset({FailureCode.MODEL_NOT_FOUND})


def _step(
    endpoint: ModelEndpoint,
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
    return _failed(endpoint, failure) if failure.code in own else _OK


def _failed(endpoint: ModelEndpoint, failure: ModelCallFailed) -> Check:
    return Check(
        outcome=CheckOutcome.FAILED,
        code=failure.code,
        http_status=failure.http_status,
        cure=hint(
            failure.code,
            model=endpoint.name,
            address=endpoint.address,
            http_status=failure.http_status,
        ),
    )


async def _first_reply(endpoint: ModelEndpoint) -> _FirstReply:
    started = time.perf_counter()
    try:
        if endpoint.chat is None:
            raise ModelCallFailed(FailureCode.REQUEST_REFUSED)
        async with asyncio.timeout(endpoint.timeout_seconds):
            reply = await endpoint.chat.simple_chat(_PROMPT)
        if isinstance(reply, str) or not reply.text.strip():
            raise ModelCallFailed(FailureCode.OUTPUT_REJECTED)
    except Exception as error:  # noqa: BLE001  a backend may make a library fail in any way
        return _FirstReply(failure=call_failure(error))
    seconds = time.perf_counter() - started
    speed = reply.output_tokens / seconds if reply.output_tokens else None
    return _FirstReply(failure=None, seconds=seconds, tokens_per_second=speed)


async def _checked(endpoint: ModelEndpoint, step: Awaitable[bool]) -> Check:
    try:
        async with asyncio.timeout(endpoint.timeout_seconds):
            works = await step
    except Exception as error:  # noqa: BLE001  a backend may make a library fail in any way
        return _failed(endpoint, call_failure(error))
    if works:
        return _OK
    return Check(outcome=CheckOutcome.FAILED, code=FailureCode.OUTPUT_REJECTED)


async def _keeps_to_schema(endpoint: ModelEndpoint) -> bool:
    wanted = OutputObjectDefinition(json_schema=_SCHEMA, name="ready")
    parameters = ModelRequestParameters(output_mode="native", output_object=wanted)
    response = await _asked(endpoint, _SCHEMA_PROMPT, parameters=parameters)
    try:
        reply = json.loads(response.text or "")
    except (ValueError, RecursionError):
        return False
    return isinstance(reply, dict) and isinstance(reply.get("ready"), bool)


async def _tells_probabilities(endpoint: ModelEndpoint, asked: Mapping[str, object]) -> bool:
    settings = ModelSettings(extra_body=dict(asked), max_tokens=_MOST_PROBED_TOKENS)
    response = await _asked(endpoint, _PROMPT, settings=settings)
    return bool((response.provider_details or {}).get("logprobs"))


async def _asked(
    endpoint: ModelEndpoint,
    prompt: str,
    *,
    settings: ModelSettings | None = None,
    parameters: ModelRequestParameters | None = None,
) -> ModelResponse:
    if endpoint.agent_model is None:
        raise ModelCallFailed(FailureCode.REQUEST_REFUSED)
    return await model_request(
        endpoint.agent_model,
        [ModelRequest.user_text_prompt(prompt)],
        model_settings=settings,
        model_request_parameters=parameters,
        instrument=False,
    )
