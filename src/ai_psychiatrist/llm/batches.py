"""The batch interfaces of providers: submit, poll, fetch, find again; and a model asked by them.

The library's own capability for batches goes round models that wrap others, so that no recorder
would see its calls; here each comes by as a live one does.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import orjson
from pydantic import TypeAdapter
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import (
    CachePoint,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.batch import Batch, BatchRequest, BatchResult, EncodedBatchRequest
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from ai_psychiatrist.domain.errors import ConfigurationError, ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.model_call import BatchAnswer
from ai_psychiatrist.infrastructure.tasks import Pending
from ai_psychiatrist.llm.failures import call_failure

_HANDLES: Final = TypeAdapter(Batch)
_NOT_FOUND: Final = 404
_AHEAD: Final = timedelta(hours=1)
"""By so much a provider's clock may be behind this one's."""
_CACHE_SETTINGS: Final = frozenset(
    {"anthropic_cache_instructions", "anthropic_cache_tool_definitions"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedCall:
    """A call in its provider's form."""

    model: str
    """As in the settings."""
    custom_id: str
    group: str
    """Calls of one batch share it; no secret."""
    body: str = field(repr=False)
    """JSON of the request."""
    size: int
    """Bytes that it adds to a batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchCall:
    """A call that no model is asked live: what batches gave of it, or who takes it for the next."""

    custom_id: str
    """What it has or would have in a batch."""
    answer: BatchAnswer | None
    is_submitted: bool
    """Whether it was in a batch before."""
    is_given_up: bool
    """Whether it was submitted as often as allowed, and no batch made it."""
    note: Callable[[EncodedCall], None]
    """Takes the call for the next batch."""


BATCH_CALL: Final[ContextVar[BatchCall]] = ContextVar("batch_call")
"""The call that the running task looked for among those that are kept, and did not find."""


class BatchNotTaken(Exception):
    """The provider said that it does not take a batch."""

    def __init__(self, failure: ModelCallFailed) -> None:
        super().__init__(failure.code)
        self.failure = failure


class BatchVanished(Exception):
    """The provider knows of no such batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStatus:
    """Where a batch is."""

    handle: str = field(repr=False)
    """As JSON, with what the provider says by now."""
    has_ended: bool


class BatchModels:
    """The models of a run that can be asked by batches, by their names in the settings."""

    def __init__(self) -> None:
        self._models: dict[str, Model] = {}

    def add(self, name: str, model: Model) -> bool:
        """Take a model, or return that its provider has no batch interface for it."""
        if model.batch_max_requests is None:
            return False
        self._models[name] = model
        return True

    def refuse_others(self, names: Collection[str], *, local: Collection[str]) -> None:
        """Raise `ConfigurationError` unless these models can be asked by batches.

        `local`: those of this process, which answer at once and need none.
        """
        asked = [name for name in names if name not in local]
        others = sorted({name for name in asked if name not in self._models})
        if others or not asked:
            what = ", ".join(others) if others else "what answers in this process"
            msg = (
                f"--batch: {what} has no batch interface; those of anthropic:, google: and openai: "
                "have one (openai: is OpenAI's Responses API; openai-chat: and ollama: servers "
                "have none). Name such a model, or leave out --batch"
            )
            raise ConfigurationError(msg)

    def most_calls(self, name: str) -> int:
        """Return how many calls the provider takes in one batch."""
        return self._models[name].batch_max_requests or 0

    def most_bytes(self, name: str) -> int | None:
        """Return how many bytes of calls it takes in one; `None`: as many as they have."""
        return self._models[name].batch_max_bytes

    async def submit(self, name: str, calls: Sequence[EncodedCall]) -> str:
        """Return the handle of a new batch, as JSON.

        Raises `BatchNotTaken` when the provider refused it, and `ModelCallFailed` when nobody knows
        whether it took it.
        """
        try:
            batch = await self._models[name].batch_create(
                [
                    EncodedBatchRequest(custom_id=one.custom_id, group=one.group, body=one.body)
                    for one in calls
                ]
            )
        except Exception as error:  # noqa: BLE001  a provider may make a library fail in any way
            failure = call_failure(error)
            if isinstance(error, ModelHTTPError) and error.status_code < 500:
                raise BatchNotTaken(failure) from None
            raise failure from None
        return _HANDLES.dump_json(batch).decode()

    async def status(self, name: str, handle: str) -> BatchStatus:
        """Return where a batch is; raises `BatchVanished` and `ModelCallFailed`."""
        try:
            batch = await self._model(name).batch_status(_HANDLES.validate_json(handle))
        except Exception as error:  # noqa: BLE001  a provider may make a library fail in any way
            if isinstance(error, ModelHTTPError) and error.status_code == _NOT_FOUND:
                raise BatchVanished from None
            raise call_failure(error) from None
        return BatchStatus(
            handle=_HANDLES.dump_json(batch).decode(), has_ended=batch.status == "ended"
        )

    async def answers(self, name: str, handle: str) -> list[BatchAnswer]:
        """Return what a batch that has ended gave, in any order, each call once or more or never.

        Raises `BatchVanished`, and `ModelCallFailed` when they cannot be read as a whole.
        """
        try:
            results = await self._model(name).batch_results(_HANDLES.validate_json(handle))
        except Exception as error:  # noqa: BLE001  a provider may make a library fail in any way
            if isinstance(error, ModelHTTPError) and error.__cause__ is None:
                # No request failed: the library says so of a job that ended without results.
                return []
            if isinstance(error, ModelHTTPError) and error.status_code == _NOT_FOUND:
                raise BatchVanished from None
            raise call_failure(error) from None
        return [
            BatchAnswer(custom_id=one.custom_id, status=one.status, body=one.body)
            for one in results
        ]

    async def find(
        self, name: str, *, group: str, since: datetime, ids: Collection[str], known: Sequence[str]
    ) -> list[str] | None:
        """Return the handles of batches that may be one whose handle was not kept.

        `ids`: of its calls; `known`: handles of other batches. `None`: the provider does not list
        its batches. Raises `ModelCallFailed`.
        """
        others = {_HANDLES.validate_json(handle).id for handle in known}
        model = self._model(name)
        client: Any = getattr(model, "client", None)
        try:
            if model.system == "anthropic":
                found = await _of_anthropic(client, since - _AHEAD, len(ids))
            elif model.system == "openai":
                found = await _of_openai(client, since - _AHEAD, ids)
            else:
                return None
        except Exception as error:  # noqa: BLE001  a provider may make a library fail in any way
            raise call_failure(error) from None
        return [
            _HANDLES.dump_json(
                Batch(
                    id=batch_id,
                    model_name=model.model_name,
                    provider_name=model.system,
                    group=group,
                    status="in_progress",
                    created_at=created_at,
                    request_count=len(ids),
                )
            ).decode()
            for batch_id, created_at in found.items()
            if batch_id not in others
        ]

    async def forget(self, name: str, handle: str) -> None:
        """Have the provider delete what it keeps of a batch whose results are kept here."""
        model, batch = self._model(name), _HANDLES.validate_json(handle)
        client = getattr(model, "client", None)
        # What cannot be deleted now is deleted by the provider later.
        with suppress(Exception):
            if model.system == "anthropic" and client is not None:
                await client.beta.messages.batches.delete(batch.id)
            elif model.system == "openai" and client is not None:
                details = batch.provider_details or {}
                for file in ("input_file_id", "output_file_id", "error_file_id"):
                    if details.get(file):
                        await client.files.delete(details[file])

    def _model(self, name: str) -> Model:
        if name not in self._models:
            # The run was begun with other models, which its record refuses, too.
            raise ModelCallFailed(FailureCode.MODEL_NOT_FOUND)
        return self._models[name]


class BatchedModel(WrapperModel):
    """Answers requests from batches, and notes those that none has answered yet."""

    def __init__(self, name: str, wrapped: Model) -> None:
        """`name`: as in the settings."""
        super().__init__(wrapped)
        self._name = name

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Return the reply of a batch; raises what the library does for a failed call.

        Raises `Pending` when the next batch has to give it, and `ModelCallFailed` when the call was
        submitted as often as allowed.
        """
        call = BATCH_CALL.get()
        request = BatchRequest(
            custom_id=call.custom_id,
            messages=list(map(_unmarked, messages)),
            model_settings=_unmarked_settings(model_settings),
            model_request_parameters=model_request_parameters,
        )
        if call.answer is not None:
            result = BatchResult(
                custom_id=call.answer.custom_id,
                status="succeeded" if call.answer.status == "succeeded" else "errored",
                body=call.answer.body,
            )
            return self.wrapped.batch_decode(result, request)
        if call.is_given_up:
            raise ModelCallFailed(FailureCode.TIMED_OUT)
        encoded = await self.wrapped.batch_encode(request)
        call.note(
            EncodedCall(
                model=self._name,
                custom_id=encoded.custom_id,
                group=encoded.group,
                body=encoded.body,
                size=self.wrapped.batch_request_size(encoded),
            )
        )
        raise Pending


def _unmarked_settings(settings: ModelSettings | None) -> ModelSettings | None:
    """Leave out marks for a cache: what a batch writes there costs more, and few calls find it."""
    if settings is None:
        return None
    kept = settings.copy()
    for name in _CACHE_SETTINGS & settings.keys():
        kept.pop(name)  # type: ignore[misc]
    return kept


def _unmarked(message: ModelMessage) -> ModelMessage:
    if not isinstance(message, ModelRequest):
        return message
    return replace(message, parts=list(map(_unmarked_part, message.parts)))


def _unmarked_part(part: ModelRequestPart) -> ModelRequestPart:
    if not isinstance(part, UserPromptPart) or isinstance(part.content, str):
        return part
    return replace(part, content=[one for one in part.content if not isinstance(one, CachePoint)])


async def _of_anthropic(client: Any, since: datetime, calls: int) -> dict[str, datetime]:  # noqa: ANN401
    """Return id → when it was made, of the batches of this many calls made since."""
    found = {}
    # The newest come first.
    async for one in client.beta.messages.batches.list(limit=100):
        if one.created_at < since:
            break
        counts = one.request_counts
        asked = counts.processing + counts.succeeded + counts.errored
        if asked + counts.canceled + counts.expired == calls:
            found[one.id] = one.created_at
    return found


async def _of_openai(client: Any, since: datetime, ids: Collection[str]) -> dict[str, datetime]:  # noqa: ANN401
    """Return id → when it was made, of the batches of these calls made since."""
    found = {}
    async for one in client.batches.list(limit=100):
        created_at = datetime.fromtimestamp(one.created_at, tz=UTC)
        if created_at < since:
            break
        first = (await client.files.content(one.input_file_id)).content.partition(b"\n")[0]
        if orjson.loads(first).get("custom_id") in ids:
            found[one.id] = created_at
    return found
