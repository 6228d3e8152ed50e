"""The batch interfaces of providers: hand in, look, fetch, find again, forget."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

from pydantic import TypeAdapter
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models import Model

# The error of a job that ended without results; it has no public name.
from pydantic_ai.models._batch_codec import BatchJobError
from pydantic_ai.models.batch import Batch, EncodedBatchRequest

from ai_psychiatrist.domain.errors import ConfigurationError, ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.llm.batches.desk import BatchAnswer, EncodedCall
from ai_psychiatrist.llm.batches.lost import handed_in_since
from ai_psychiatrist.llm.batches.outcomes import BatchNotTaken, BatchVanished, Looked
from ai_psychiatrist.llm.call_failures import call_failure

_HANDLES: Final = TypeAdapter(Batch)
_NOT_FOUND: Final = 404


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

    async def hand_in(self, name: str, calls: Sequence[EncodedCall]) -> str:
        """Return the handle of a new batch, as JSON.

        Raises `BatchNotTaken` when the provider refused it, and `ModelCallFailed` when nobody knows
        whether it took it.
        """
        try:
            batch = await self._models[name].batch_create(
                [
                    EncodedBatchRequest(custom_id=one.custom_id, group=one.kin, body=one.body)
                    for one in calls
                ]
            )
        except Exception as error:  # noqa: BLE001  a provider may make a library fail in any way
            failure = call_failure(error)
            if isinstance(error, ModelHTTPError) and error.status_code < 500:
                raise BatchNotTaken(failure) from None
            raise failure from None
        return _HANDLES.dump_json(batch).decode()

    async def look(self, name: str, handle: str) -> Looked:
        """Return where a batch is; raises `BatchVanished` and `ModelCallFailed`."""
        try:
            batch = await self._model(name).batch_status(_HANDLES.validate_json(handle))
        except Exception as error:  # noqa: BLE001  a provider may make a library fail in any way
            if isinstance(error, ModelHTTPError) and error.status_code == _NOT_FOUND:
                raise BatchVanished from None
            raise call_failure(error) from None
        return Looked(handle=_HANDLES.dump_json(batch).decode(), has_ended=batch.status == "ended")

    async def answers(self, name: str, handle: str) -> list[BatchAnswer]:
        """Return what a batch that has ended gave, in any order, each call once or more or never.

        Raises `BatchVanished`, and `ModelCallFailed` when they cannot be read as a whole.
        """
        try:
            results = await self._model(name).batch_results(_HANDLES.validate_json(handle))
        except BatchJobError:
            return []
        except Exception as error:  # noqa: BLE001  a provider may make a library fail in any way
            if isinstance(error, ModelHTTPError) and error.status_code == _NOT_FOUND:
                raise BatchVanished from None
            raise call_failure(error) from None
        return [
            BatchAnswer(custom_id=one.custom_id, status=one.status, body=one.body)
            for one in results
        ]

    async def find(
        self, name: str, *, kin: str, since: datetime, ids: Collection[str], known: Sequence[str]
    ) -> list[str] | None:
        """Return the handles of batches that may be one whose handle was not kept.

        `ids`: of its calls; `known`: handles of other batches. `None`: the provider does not list
        its batches. Raises `ModelCallFailed`.
        """
        others = {_HANDLES.validate_json(handle).id for handle in known}
        model = self._model(name)
        try:
            found = await handed_in_since(model, since, ids)
        except Exception as error:  # noqa: BLE001  a provider may make a library fail in any way
            raise call_failure(error) from None
        if found is None:
            return None
        return [
            _HANDLES.dump_json(
                Batch(
                    id=one.id,
                    model_name=model.model_name,
                    provider_name=model.system,
                    group=kin,
                    status="in_progress",
                    created_at=one.created_at,
                    request_count=len(ids),
                )
            ).decode()
            for one in found
            if one.id not in others
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
