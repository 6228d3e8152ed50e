"""Post JSON to a model backend and read JSON back, every failure typed and free of text."""

import asyncio
import json
from typing import Final

import httpx

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.llm.call_failures import http_failure

_MAX_ERROR_BYTES: Final = 65_536
_LARGE_BODY_BYTES: Final = 262_144
_PROBE_TIMEOUT_SECONDS: Final = 3.0


class JsonBackend:
    """One HTTP backend with its connection pool; built once and shared by all calls to it."""

    def __init__(
        self,
        base_url: str,
        *,
        timeout_seconds: float,
        max_response_bytes: int,
        headers: dict[str, str] | None = None,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._max_response_bytes = max_response_bytes
        self._client = httpx.AsyncClient(timeout=timeout_seconds, headers=headers)

    async def post(self, path: str, payload: dict[str, object]) -> dict[str, object]:
        """Return the JSON object that the backend answers with; raises `ModelCallFailed`."""
        try:
            async with self._client.stream(
                "POST", f"{self.base_url}{path}", json=payload
            ) as response:
                body = await self._read(response)
        except httpx.TimeoutException:
            raise ModelCallFailed(FailureCode.TIMED_OUT) from None
        except (httpx.HTTPError, httpx.InvalidURL):
            raise ModelCallFailed(FailureCode.CONNECTION_FAILED) from None
        if len(body) > _LARGE_BODY_BYTES:
            return await asyncio.to_thread(_json_object, body)
        return _json_object(body)

    async def _read(self, response: httpx.Response) -> bytes:
        limit = self._max_response_bytes if response.is_success else _MAX_ERROR_BYTES
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > limit:
                break
        if not response.is_success:
            raise http_failure(
                response.status_code, body.decode("utf-8", "replace"), response.headers
            )
        if len(body) > limit:
            raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE)
        return bytes(body)

    async def answers(self, path: str) -> bool:
        """Return whether the backend answers a GET with anything but a server error."""
        try:
            response = await self._client.get(
                f"{self.base_url}{path}", timeout=_PROBE_TIMEOUT_SECONDS
            )
        except (httpx.HTTPError, httpx.InvalidURL):
            return False
        return response.status_code < 500

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _json_object(body: bytes) -> dict[str, object]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE) from None
    if not isinstance(value, dict):
        raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE)
    return value


def text_at(value: object, *path: str | int) -> str:
    """Return the text at a path of a response; raises `ModelCallFailed` when it is not there.

    A null text is an empty one: backends send it for replies without content.
    """
    for step in path:
        match value, step:
            case dict(), str():
                value = value.get(step)
            case list(), int() if len(value) > step:
                value = value[step]
            case _:
                raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE)
    return value


def count_at(value: object, *path: str) -> int | None:
    """Return the count at a path of a response, or `None` when there is none."""
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
