"""Send webhooks that are due, to each host so many at once that a slow one holds up no other."""

import asyncio
import random
import ssl
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Final

from standardwebhooks import Webhook

from ai_psychiatrist.domain.errors import AssessmentServiceError
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.jobs.engine import Engine
from ai_psychiatrist.jobs.settings import WebhookSettings, host_of, signing_keys
from ai_psychiatrist.store.database import written
from ai_psychiatrist.store.deliveries import MOST_TRIES, DeliveryState, DueDelivery
from ai_psychiatrist.store.stores import Stores

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
_GONE: Final = "http_410"
"""The receiver wants this webhook never again."""


@dataclass(slots=True, kw_only=True)
class Webhooks:
    """Notifies receivers of ends of jobs and of held interviews; in any number of processes."""

    settings: WebhookSettings
    stores: Stores
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    look_seconds: float = 2.0
    """Between two looks for what other processes have made due."""
    try_seconds: float = 15.0
    """Longest time of a try."""
    _signers: tuple[Webhook, ...] = field(init=False)
    _engine: Engine[DueDelivery] = field(init=False)
    _under_way: Counter[str] = field(default_factory=Counter)
    """By host."""

    def __post_init__(self) -> None:
        self._signers = tuple(map(Webhook, signing_keys(self.settings)))
        self._engine = Engine(
            claim=self._claim,
            work=self._send,
            concurrency=AT_ONCE * len(self.settings.hosts),
            look_seconds=self.look_seconds,
        )

    def wake(self) -> None:
        """Look now: something is due."""
        self._engine.wake()

    def running(self) -> AbstractAsyncContextManager[None]:
        """Send what is due while the block runs; what is under way then is tried again later."""
        return self._engine.running()

    async def _claim(self) -> DueDelivery | None:
        """Take a webhook to a host at which there is a place, of any tenant."""
        named, now = self.settings.hosts, self.now()
        free = [host for host in named if self._under_way[host] < AT_ONCE]
        for tenant in await self.stores.known(due=written(now)):
            try:
                due = await self.stores.ask(
                    tenant, lambda store: store.deliveries.claim(named, free, now=now)
                )
            except AssessmentServiceError as error:
                # One tenant's store that cannot be used keeps nobody else's webhooks.
                logger.error("webhooks_unavailable", error_type=type(error).__name__)
                continue
            if due is not None:
                self._under_way[due.callback.host] += 1
                return due
        return None

    async def _send(self, due: DueDelivery) -> None:
        try:
            reason, answer = await self._post(due)
            now, state = self.now(), DeliveryState.PENDING
            asked = None if answer is None else asked_wait(answer.headers.get("Retry-After"), now)
            at = now + timedelta(seconds=wait_after(due.tries, asked))
            if reason is None:
                state, at = DeliveryState.DELIVERED, now
            elif reason == _GONE or due.tries >= MOST_TRIES:
                state, at = DeliveryState.GIVEN_UP, now
            await self.stores.ask(
                due.tenant, lambda store: store.deliveries.note(due, state, reason, due=at)
            )
            logger.info(
                "webhook_tried",
                assessment_id=due.job_id,
                interview_hash=due.interview_id and keyed_digest(due.interview_id),
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

    async def _post(self, due: DueDelivery) -> "tuple[str | None, httpx2.Response | None]":
        """Return the code of why a webhook was not taken, and what was answered.

        What an answer says is not read.
        """
        import httpx2  # noqa: PLC0415  only who makes callbacks needs it

        if host_of(due.callback.url) != due.callback.host:
            # Of an interview that was changed before it was imported.
            return "host_not_named", None
        # In a thread, for it reads certificates.
        verify = await asyncio.to_thread(_certificates)
        now, body, answer = self.now(), due.body.decode(), None
        reason: str | None = "connection_failed"
        headers = {
            "User-Agent": "ai-psychiatrist",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
            "Webhook-Id": due.id,
            "Webhook-Timestamp": str(int(now.timestamp())),
            "Webhook-Signature": " ".join(one.sign(due.id, now, body) for one in self._signers),
        }
        try:
            async with (
                asyncio.timeout(self.try_seconds),
                # One for each try keeps no cookie. No proxy of the environment is used, and no
                # redirect is followed.
                httpx2.AsyncClient(verify=verify, trust_env=False, timeout=None) as client,
                client.stream("POST", due.callback.url, content=body, headers=headers) as answer,
            ):
                pass
        except TimeoutError:
            reason = "timed_out"
        except (httpx2.HTTPError, OSError):
            pass
        if answer is not None:
            reason = None if answer.is_success else f"http_{answer.status_code}"
        return reason, answer


@cache
def _certificates() -> ssl.SSLContext:
    import httpx2  # noqa: PLC0415  as above

    return httpx2.create_ssl_context(trust_env=False)


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
