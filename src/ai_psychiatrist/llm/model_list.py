"""Ask a server whether it is there, takes the key and has a model, without asking the model."""

from typing import Final

import httpx2

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.llm.backends import Backend
from ai_psychiatrist.llm.call_failures import call_failure, http_failure
from ai_psychiatrist.llm.http_json import json_object

_PATIENCE_SECONDS: Final = 3.0
_LATEST: Final = ":latest"
_ANY_NAME_OWNERS: Final = frozenset({"llamacpp", "koboldcpp"})
"""Servers of one model, which answer under whatever name they are asked."""
_REASONS: Final = frozenset(
    {FailureCode.NOT_AUTHORISED, FailureCode.MODEL_NOT_FOUND, FailureCode.BACKEND_ERROR}
)


async def unserved(
    http: httpx2.AsyncClient, backend: Backend, model: str
) -> ModelCallFailed | None:
    """Return why a server would not answer for a model, as far as it can be known beforehand.

    A server without a list, or with one that cannot be read, counts as ready when it answers.
    """
    url = backend.models_url.format(model=model)
    is_list = url == backend.models_url
    try:
        response = await http.get(url, headers=backend.headers, timeout=_PATIENCE_SECONDS)
        if not response.is_success:
            failure = http_failure(response.status_code, response.text, response.headers)
            is_list_unknown = response.status_code == 404 and is_list
            return failure if failure.code in _REASONS and not is_list_unknown else None
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
