"""One try to deliver a webhook: one request, bounded in time and in what is read."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Final

from ai_psychiatrist.jobs.webhooks.letter import Answer, Letter
from ai_psychiatrist.jobs.webhooks.schedule import asked_wait
from ai_psychiatrist.jobs.webhooks.signing import signature

if TYPE_CHECKING:
    import httpx2

CONNECT_SECONDS: Final = 5.0
WHOLE_SECONDS: Final = 15.0
MOST_READ_BYTES: Final = 4_096
_ASKING_TO_WAIT: Final = frozenset({429, 503})


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Sends webhooks with one client; raises nothing."""

    client: "httpx2.AsyncClient"
    keys: Sequence[bytes]
    now: Callable[[], float]
    whole_seconds: float = WHOLE_SECONDS

    async def send(self, letter: Letter) -> Answer:
        """Try once, and return what the receiver answered; its status alone counts."""
        import httpx2  # noqa: PLC0415  loaded with the client

        seconds = int(self.now())
        headers = {
            "Content-Type": "application/json",
            "Webhook-Id": letter.id,
            "Webhook-Timestamp": str(seconds),
            "Webhook-Signature": signature(letter.id, seconds, letter.body, self.keys),
        }
        answer: Answer | None = None
        try:
            async with (
                asyncio.timeout(self.whole_seconds),
                self.client.stream(
                    "POST", letter.url, content=letter.body, headers=headers
                ) as response,
            ):
                answer = self._answer(response)
                await _read_a_little(response)
        except (TimeoutError, httpx2.TimeoutException):
            return answer or Answer(reason="timed_out")
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError):
            return answer or Answer(reason="connection_failed")
        return answer

    def _answer(self, response: "httpx2.Response") -> Answer:
        status = response.status_code
        if response.is_success:
            return Answer(reason=None, http_status=status)
        asked = None
        if status in _ASKING_TO_WAIT:
            asked = asked_wait(response.headers.get("Retry-After"), self.now())
        return Answer(reason=f"http_{status}", http_status=status, asked_seconds=asked)


@asynccontextmanager
async def webhook_client() -> "AsyncIterator[httpx2.AsyncClient]":
    """Yield a client that follows no redirect and no environment proxy, and has no cookies."""
    import httpx2  # noqa: PLC0415  only who makes callbacks needs it

    verify = await asyncio.to_thread(lambda: httpx2.create_ssl_context(trust_env=False))
    async with httpx2.AsyncClient(
        verify=verify,
        trust_env=False,
        follow_redirects=False,
        timeout=httpx2.Timeout(WHOLE_SECONDS, connect=CONNECT_SECONDS),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        headers={"User-Agent": "ai-psychiatrist", "Accept-Encoding": "identity"},
    ) as client:
        yield client


async def _read_a_little(response: "httpx2.Response") -> None:
    """Read a short answer to its end, so that the connection serves again; a long one is left."""
    read = 0
    async for chunk in response.aiter_raw():
        read += len(chunk)
        if read > MOST_READ_BYTES:
            return
