"""OpenAI's client without the work of its that no call of ours needs.

It would go through every part of every message twice to look for files and other names, and make
each request anew from a dozen objects: a fifth of the CPU time of an assessment.
"""

from functools import cached_property
from ssl import SSLError
from typing import Any, Final

import httpx2
from openai import APIConnectionError, APITimeoutError, AsyncOpenAI, NotGiven, Omit
from openai.resources.chat import AsyncChat, AsyncCompletions
from openai.types.chat import ChatCompletion

from ai_psychiatrist.llm.http_json import json_object

_PATH: Final = "chat/completions"


class OpenAIClient(AsyncOpenAI):
    """OpenAI's client, whose chat completions are sent as they stand, once and whole."""

    def __init__(self, *, address: str, key: str, http: httpx2.AsyncClient, seconds: float) -> None:
        """`address`: of the server; `seconds`: to wait for a reply."""
        # The runner decides what is asked again; retries of an SDK would be calls nobody counts.
        super().__init__(
            base_url=address, api_key=key, timeout=seconds, max_retries=0, http_client=http
        )
        self.http = http

    @cached_property
    def chat(self) -> AsyncChat:
        """The chat protocol."""
        return _Chat(self)

    @cached_property
    def completions_url(self) -> httpx2.URL:
        """Where chat completions are made."""
        return self.base_url.join(_PATH)

    @cached_property
    def fixed_headers(self) -> dict[str, str]:
        """What every request is sent with."""
        sent = {**self.default_headers, **self.auth_headers}
        return {name: value for name, value in sent.items() if isinstance(value, str)}


class _Chat(AsyncChat):
    @cached_property
    def completions(self) -> AsyncCompletions:
        return _Completions(self._client)


class _Completions(AsyncCompletions):
    _client: OpenAIClient

    async def create(  # type: ignore[override]
        self,
        *,
        stream: bool,
        timeout: float | httpx2.Timeout | NotGiven | None,  # noqa: ASYNC109  the SDK's
        extra_headers: dict[str, str],
        extra_body: object,
        **sent: Any,  # noqa: ANN401  JSON
    ) -> ChatCompletion:
        """Make a request; raises what the SDK raises, and `ModelCallFailed` for no object."""
        body = {name: value for name, value in sent.items() if not isinstance(value, Omit)}
        if isinstance(extra_body, dict):
            body |= extra_body
        request = self._client.http.build_request(
            "POST",
            self._client.completions_url,
            json=body | {"stream": stream},
            headers=self._client.fixed_headers | extra_headers,
            timeout=self._client.timeout if isinstance(timeout, NotGiven) else timeout,
        )
        try:
            response = await self._client.http.send(request)
        except httpx2.TimeoutException as error:
            raise APITimeoutError(request=request) from error
        except (httpx2.RequestError, SSLError) as error:
            raise APIConnectionError(request=request) from error
        if not response.is_success:
            raise self._client._make_status_error_from_response(response)  # noqa: SLF001
        received: dict[str, Any] = json_object(response.content)
        return ChatCompletion.construct(**received)
