"""A model that is asked by batches alone: a call is answered from one, or waits for one.

The library's own capability for batches goes round models that wrap others, so that no account
would see its calls; here each comes by as a live one does.
"""

from dataclasses import replace
from typing import Final

from pydantic_ai.messages import (
    CachePoint,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.batch import BatchRequest, BatchResult
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.llm.batches.desk import DESK, BatchAnswer, CallState, EncodedCall

_CACHE_SETTINGS: Final = frozenset(
    {"anthropic_cache_instructions", "anthropic_cache_tool_definitions"}
)


class BatchedModel(WrapperModel):
    """Collects the requests that nothing has answered yet."""

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
        """Return the reply of a batch, or wait; raises what the library does for a failed call.

        Raises `ModelCallFailed` when the call was handed in as often as allowed.
        """
        desk = DESK.get()
        call = desk.asked()
        request = BatchRequest(
            custom_id=call.custom_id,
            messages=list(map(_unmarked, messages)),
            model_settings=_unmarked_settings(model_settings),
            model_request_parameters=model_request_parameters,
        )
        if call.answer is not None:
            return self.wrapped.batch_decode(_result(call.answer), request)
        if call.state is CallState.GIVEN_UP:
            raise ModelCallFailed(FailureCode.TIMED_OUT)
        if call.state is CallState.NEW:
            encoded = await self.wrapped.batch_encode(request)
            desk.collect(
                EncodedCall(
                    model=self._name,
                    custom_id=encoded.custom_id,
                    kin=encoded.group,
                    body=encoded.body,
                    size=self.wrapped.batch_request_size(encoded),
                )
            )
        return await desk.wait()


def _result(answer: BatchAnswer) -> BatchResult:
    if answer.status == "succeeded":
        return BatchResult(custom_id=answer.custom_id, status="succeeded", body=answer.body)
    return BatchResult(custom_id=answer.custom_id, status="errored", body=answer.body)


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
