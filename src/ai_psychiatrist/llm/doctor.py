"""Try one model step by step, from its address to what its replies can hold."""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeVar

import httpx2
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest, ModelResponse, ThinkingPart, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings

from ai_psychiatrist.domain.errors import ModelCallFailed, OutputRejected
from ai_psychiatrist.domain.failures import FailureCode, RejectionCode
from ai_psychiatrist.llm.chat_model import ODD_FIELDS, ChatModel, json_object
from ai_psychiatrist.llm.endpoints import ModelEndpoint
from ai_psychiatrist.llm.failures import call_failure, http_failure
from ai_psychiatrist.llm.providers import OLLAMA, OPENAI_CHAT
from ai_psychiatrist.llm.reasons import hint, thinking_hint
from ai_psychiatrist.llm.replies import ChatReply
from ai_psychiatrist.llm.servers import Server, call_settings
from ai_psychiatrist.llm.settings import ModelCallSettings
from ai_psychiatrist.validation.reply.thinking import without_thinking

FoundT = TypeVar("FoundT")

THINKING_FIELDS: Final = frozenset({"think", "reasoning_effort", "chat_template_kwargs"})
"""In which servers are told how much to think."""
SCHEMA_FIELDS: Final = frozenset({"response_format", "format"})
"""In which servers are told what replies keep to."""
_SYSTEM: Final = "You answer briefly."
"""Sent so that a model without a role of the system is met here."""
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
    code: FailureCode | RejectionCode | None = None
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
    thinks: bool = False
    """Whether the first reply held thinking beside its words."""
    left_out: tuple[str, ...] = ()
    """Parameters that the server refused, so that calls go without them; `system` for its role."""
    odd_fields: tuple[str, ...] = ()
    """Of the first reply's envelope, those missing, null or of another type: bookkeeping."""

    @property
    def is_usable(self) -> bool:
        """Whether the model can do the tasks: schema and probabilities are extras."""
        return self.address is None or self.first_reply.is_ok


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
    """Return the weights that an Ollama server reports for models, as far as it does.

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


async def probe(server: Server, endpoint: ModelEndpoint, models: ModelCallSettings) -> ModelProbe:
    """Try a model; what a step depends on and failed is not tried any further.

    `models`: what its calls are sent with.
    """
    name = endpoint.name.partition(":")[2]
    failure = await unserved(server, name)
    settings = call_settings(endpoint.name, models)
    if models.temperature is not None:
        settings["temperature"] = models.temperature
    model = server.build(name, settings)
    # A list is not the last word: some servers answer under names that they do not list.
    if failure is not None and failure.code is not FailureCode.MODEL_NOT_FOUND:
        return _failed_probe(endpoint, model, failure, unreachable=_UNREACHABLE | _NO_LIST)
    started = time.perf_counter()
    reply = await _tried(endpoint, _first_reply(model))
    seconds = time.perf_counter() - started
    if isinstance(reply, ModelCallFailed):
        return _failed_probe(endpoint, model, reply, unreachable=_UNREACHABLE)
    first_reply, json_schema, log_probabilities = _OK, _NOT_TRIED, _NOT_TRIED
    if _is_only_thinking(reply):
        cure = await _answering_cure(endpoint, settings, lambda given: server.build(name, given))
        first_reply = Check(
            outcome=CheckOutcome.FAILED,
            code=RejectionCode.ONLY_THINKING,
            cure=thinking_hint(endpoint.name, reply.output_tokens, cure),
        )
    else:
        json_schema = await _checked(endpoint, _keeps_to_schema(model))
        asked = _LOG_PROBABILITIES.get(server.access.provider.name)
        if asked is not None:
            log_probabilities = await _checked(endpoint, _tells_probabilities(model, asked))
    parts = () if reply.response is None else reply.response.parts
    details = None if reply.response is None else reply.response.provider_details
    return ModelProbe(
        model=endpoint.name,
        address=endpoint.address,
        first_reply=first_reply,
        reply_seconds=seconds,
        tokens_per_second=reply.output_tokens / seconds if reply.output_tokens else None,
        json_schema=json_schema,
        log_probabilities=log_probabilities,
        thinks=any(isinstance(part, ThinkingPart) and part.content for part in parts),
        left_out=_left_out(model),
        odd_fields=(details or {}).get(ODD_FIELDS, ()),
    )


_UNREACHABLE: Final = frozenset({FailureCode.CONNECTION_FAILED})
_NO_LIST: Final = frozenset({FailureCode.TIMED_OUT, FailureCode.BACKEND_ERROR})


def _failed_probe(
    endpoint: ModelEndpoint,
    model: Model,
    failure: ModelCallFailed,
    *,
    unreachable: frozenset[FailureCode],
) -> ModelProbe:
    """Return the step that a failure is of as failed: those before went well, no other was tried.

    `unreachable`: codes that say that no server was reached.
    """
    own = (unreachable, {FailureCode.NOT_AUTHORISED}, {FailureCode.MODEL_NOT_FOUND})
    before = next((step for step, codes in enumerate(own) if failure.code in codes), len(own))
    after = [_NOT_TRIED] * (len(own) - before)
    checks = [*[_OK] * before, _failed(endpoint, failure), *after]
    reachable, key_accepted, model_present, first_reply = checks
    return ModelProbe(
        model=endpoint.name,
        address=endpoint.address,
        reachable=reachable,
        key_accepted=key_accepted,
        model_present=model_present,
        first_reply=first_reply,
        left_out=_left_out(model),
    )


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


async def _first_reply(model: Model) -> ChatReply:
    reply = ChatReply.of(await _asked(model, _PROMPT))
    if not _is_only_thinking(reply) and not reply.text.strip():
        raise ModelCallFailed(FailureCode.OUTPUT_REJECTED)
    return reply


def _is_only_thinking(reply: ChatReply) -> bool:
    """Return whether a reply is reasoning without an answer, in any form that servers use."""
    try:
        is_left_empty = bool(reply.text.strip()) and not without_thinking(reply.text)
    except OutputRejected:
        return True
    return reply.is_only_thinking or is_left_empty


async def _answering_cure(
    endpoint: ModelEndpoint, settings: ModelSettings, build: Callable[[ModelSettings], Model]
) -> str:
    """Say with which other setting a model answers that only thinks; each is tried."""
    tried = []
    for name in ("off", "low", ""):
        given = ModelSettings(**settings)
        before = given.pop("thinking", None)
        if name:
            given["thinking"] = "low" if name == "low" else False
        if given.get("thinking") == before:
            continue
        model = build(given)
        reply = await _tried(endpoint, _first_reply(model))
        refused = THINKING_FIELDS & {*_left_out(model)}
        # How much to think goes out in a second field as well.
        is_sent = not refused or (name == "low" and refused == {"chat_template_kwargs"})
        if is_sent and isinstance(reply, ChatReply) and not _is_only_thinking(reply):
            told = f"set MODEL_THINKING to {name}" if name else "leave MODEL_THINKING empty"
            return f"{told}, with which it answers here"
        tried.append(name or "empty")
    return (
        f"MODEL_THINKING {', '.join(tried)} were tried and do not help; raise "
        "MODEL_MAX_OUTPUT_TOKENS, switch thinking off at the server, or choose another model"
    )


def _left_out(model: Model) -> tuple[str, ...]:
    return tuple(sorted(model.left_out)) if isinstance(model, ChatModel) else ()


async def _tried(endpoint: ModelEndpoint, step: Awaitable[FoundT]) -> FoundT | ModelCallFailed:
    """Return what a step found, or why it found nothing in the time of one call."""
    try:
        async with asyncio.timeout(endpoint.timeout_seconds):
            return await step
    except Exception as error:  # noqa: BLE001  a backend may make a library fail in any way
        return call_failure(error)


async def _checked(endpoint: ModelEndpoint, step: Awaitable[bool]) -> Check:
    works = await _tried(endpoint, step)
    if isinstance(works, ModelCallFailed):
        return _failed(endpoint, works)
    return _OK if works else Check(outcome=CheckOutcome.FAILED, code=FailureCode.OUTPUT_REJECTED)


async def _keeps_to_schema(model: Model) -> bool:
    wanted = OutputObjectDefinition(json_schema=_SCHEMA, name="ready")
    parameters = ModelRequestParameters(output_mode="native", output_object=wanted)
    response = await _asked(model, _SCHEMA_PROMPT, parameters=parameters)
    try:
        reply = json.loads(response.text or "")
    except (ValueError, RecursionError):
        return False
    return isinstance(reply, dict) and isinstance(reply.get("ready"), bool)


async def _tells_probabilities(model: Model, asked: Mapping[str, object]) -> bool:
    settings = ModelSettings(extra_body=dict(asked), max_tokens=_MOST_PROBED_TOKENS)
    response = await _asked(model, _PROMPT, settings=settings)
    return bool((response.provider_details or {}).get("logprobs"))


async def _asked(
    model: Model,
    prompt: str,
    *,
    settings: ModelSettings | None = None,
    parameters: ModelRequestParameters | None = None,
) -> ModelResponse:
    """Return the reply, once the server has refused every parameter that it does not take."""
    request = ModelRequest(parts=[UserPromptPart(prompt)], instructions=_SYSTEM)
    while True:
        try:
            return await model_request(
                model,
                [request],
                model_settings=settings,
                model_request_parameters=parameters,
                instrument=False,
            )
        except ModelCallFailed as failure:
            # Without the schema there would be nothing left to try.
            if not failure.is_adjusted or (parameters and SCHEMA_FIELDS & {*_left_out(model)}):
                raise
