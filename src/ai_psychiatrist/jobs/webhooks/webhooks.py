"""Send what is due, to each host so much at once that a slow one holds up no other."""

import asyncio
import random
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Final

from standardwebhooks import Webhook

from ai_psychiatrist.domain.errors import AssessmentServiceError, InputError
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.options import is_of_this_machine
from ai_psychiatrist.jobs.webhooks.settings import WebhookSettings, host_of, signing_keys
from ai_psychiatrist.store.database import written
from ai_psychiatrist.store.deliveries import MOST_TRIES, DeliveryState, DueDelivery
from ai_psychiatrist.store.jobs import Callback
from ai_psychiatrist.store.stores import Records, Stores

if TYPE_CHECKING:
    import httpx2

logger = get_logger(__name__)

AT_ONCE: Final = 4
"""Tries of this process under way at one host."""
WAITS_SECONDS: Final = (5, 15, 45, 135, 405, 1_215, 3_645, 10_935, 21_600)
"""After the first try and each further one; the last of twelve comes a little less than a day after
the first."""
MOST_ASKED_SECONDS: Final = 86_400.0
"""A receiver that asks for more is waited for no longer than this."""
MOST_READ_BYTES: Final = 4_096
MOST_URL_CHARACTERS: Final = 2_048
_GONE: Final = "http_410"
"""The receiver wants this webhook never again."""
_USER: Final = re.compile(r"[^/]*//[^/?#]*@")


@dataclass(slots=True, kw_only=True)
class Webhooks:
    """Notifies receivers of the ends of jobs; several processes may do so at once."""

    settings: WebhookSettings
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    look_seconds: float = 2.0
    """Between two looks for what other processes have made due."""
    try_seconds: float = 15.0
    """Longest time of a try."""
    _under_way: Counter[str] = field(default_factory=Counter)
    """By host."""
    _wake: asyncio.Event = field(default_factory=asyncio.Event)

    def wake(self) -> None:
        """Look now: something is due."""
        self._wake.set()

    @asynccontextmanager
    async def running(self, stores: Stores) -> AsyncIterator[None]:
        """Send what is due while the block runs; what is under way then is tried again later."""
        keys = signing_keys(self.settings)
        if not keys:
            yield
            return
        import httpx2  # noqa: PLC0415  only who makes callbacks needs it

        # No redirect and no proxy of the environment is followed, and no cookie is kept.
        verify = await asyncio.to_thread(lambda: httpx2.create_ssl_context(trust_env=False))
        async with httpx2.AsyncClient(
            verify=verify,
            trust_env=False,
            follow_redirects=False,
            timeout=httpx2.Timeout(self.try_seconds, connect=5.0),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            headers={"User-Agent": "ai-psychiatrist", "Accept-Encoding": "identity"},
        ) as client:
            signers = tuple(map(Webhook, keys))
            sending = asyncio.create_task(self._send_due(stores, client, signers))
            try:
                yield
            finally:
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)

    async def _send_due(
        self, stores: Stores, client: "httpx2.AsyncClient", signers: Sequence[Webhook]
    ) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                self._wake.clear()
                for tenant in await stores.known(due=written(self.now())):
                    records = stores.records(tenant)
                    for due in await self._claimed(records):
                        self._under_way[due.callback.host] += 1
                        group.create_task(self._send(due, records, client, signers))
                with suppress(TimeoutError):
                    # `wait_for` of Python 3.11 can swallow the end of this task.
                    async with asyncio.timeout(self.look_seconds):
                        await self._wake.wait()

    async def _claimed(self, records: Records) -> tuple[DueDelivery, ...]:
        free = {host: AT_ONCE - self._under_way[host] for host in self.settings.hosts}
        if not any(free.values()):
            return ()
        try:
            return await records.ask(lambda store: store.deliveries.claim(free, now=self.now()))
        except AssessmentServiceError as error:
            # One tenant's store that cannot be used keeps nobody else's webhooks.
            logger.error("webhooks_unavailable", error_type=type(error).__name__)
            return ()

    async def _send(
        self,
        due: DueDelivery,
        records: Records,
        client: "httpx2.AsyncClient",
        signers: Sequence[Webhook],
    ) -> None:
        try:
            reason, answer = await self._post(due, client, signers)
            now, state = self.now(), DeliveryState.PENDING
            asked = None if answer is None else asked_wait(answer.headers.get("Retry-After"), now)
            at = now + timedelta(seconds=wait_after(due.tries, asked))
            if reason is None:
                state, at = DeliveryState.DELIVERED, now
            elif reason == _GONE or due.tries >= MOST_TRIES:
                state, at = DeliveryState.GIVEN_UP, now
            await records.ask(lambda store: store.deliveries.note(due, state, reason, due=at))
            logger.info(
                "webhook_tried",
                assessment_id=due.job_id,
                outcome="to_be_tried_again" if state is DeliveryState.PENDING else state.value,
                reason=reason,
                http_status=None if answer is None else answer.status_code,
                count=due.tries,
            )
        except Exception as error:  # noqa: BLE001  one webhook must not end the delivery of all
            # It stays claimed for a while, and is then tried again with the same id.
            logger.error("webhooks_unavailable", error_type=type(error).__name__)
        finally:
            self._under_way[due.callback.host] -= 1
            self.wake()

    async def _post(
        self, due: DueDelivery, client: "httpx2.AsyncClient", signers: Sequence[Webhook]
    ) -> "tuple[str | None, httpx2.Response | None]":
        """Return the code of why a webhook was not taken, and what was answered."""
        import httpx2  # noqa: PLC0415  loaded with the client

        now, body, url = self.now(), due.body.decode(), due.callback.url
        headers = {
            "Content-Type": "application/json",
            "Webhook-Id": due.id,
            "Webhook-Timestamp": str(int(now.timestamp())),
            "Webhook-Signature": " ".join(one.sign(due.id, now, body) for one in signers),
        }
        reason, answer = "connection_failed", None
        try:
            async with (
                asyncio.timeout(self.try_seconds),
                client.stream("POST", url, content=due.body, headers=headers) as answer,
            ):
                # A short answer is read to its end, so that the connection serves again.
                async for _ in answer.aiter_raw():
                    if answer.num_bytes_downloaded > MOST_READ_BYTES:
                        break
        except (TimeoutError, httpx2.TimeoutException):
            reason = "timed_out"
        except (httpx2.HTTPError, OSError):
            pass
        if answer is None:
            return reason, None
        return None if answer.is_success else f"http_{answer.status_code}", answer


def callback_to(address: str, settings: WebhookSettings) -> Callback:
    """Return whom a `callback_url` names; raises `InputError`, which repeats nothing of it."""
    host = host_of(address) if len(address) <= MOST_URL_CHARACTERS else None
    is_here = settings.allow_http and is_of_this_machine((host or "").rpartition(":")[0])
    schemes = ("https://", "http://") if is_here else ("https://",)
    faults = {
        "no callbacks are made here: JOBS_WEBHOOK_HOSTS names the hosts that may get some": (
            not settings.hosts
        ),
        f"is no address of at most {MOST_URL_CHARACTERS} characters that begins with https://": (
            host is None
        ),
        "holds no user, no password and no fragment: leave out what is before @ or after #": (
            _USER.match(address) is not None or "#" in address
        ),
        "begins with https://; http:// is for this machine alone, with JOBS_WEBHOOK_ALLOW_HTTP": (
            not address.lower().startswith(schemes)
        ),
        "names a host and port that JOBS_WEBHOOK_HOSTS does not name: add it there": (
            host not in settings.hosts
        ),
    }
    for fault, is_so in faults.items():
        if is_so:
            raise InputError(fault, field="callback_url")
    return Callback(host=host or "", url=address)


def wait_after(
    tries: int, asked_seconds: float | None = None, draw: Callable[[], float] = random.random
) -> float:
    """Return the seconds until the next try, up to a fifth more or less: not all come at once.

    `tries`: made so far, one at least; `asked_seconds`: what the receiver asks to wait for;
    `draw`: returns a number from 0 to 1.
    """
    wait = WAITS_SECONDS[min(tries, len(WAITS_SECONDS)) - 1] * (0.8 + 0.4 * draw())
    return max(wait, min(asked_seconds or 0.0, MOST_ASKED_SECONDS))


def asked_wait(retry_after: str | None, now: datetime) -> float | None:
    """Return the seconds that a `Retry-After` asks for, `None` where it is none."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    # A date without a zone cannot be compared.
    with suppress(TypeError, ValueError, OverflowError):
        return max(0.0, (parsedate_to_datetime(text) - now).total_seconds())
    return None
