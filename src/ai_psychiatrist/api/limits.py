"""What a credential may use in a day, kept where requests come in, are read and ask models."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final

from fastapi import Request
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ai_psychiatrist.access.limits.day_counts import CountsUnusable, DayCounts
from ai_psychiatrist.access.limits.spending import COUNTERS, SpendingAccount
from ai_psychiatrist.access.limits.usage import Reached, Usage, seconds_to_midnight
from ai_psychiatrist.api.doors import is_open
from ai_psychiatrist.api.doors_of import known_principal
from ai_psychiatrist.api.own_path import own_path
from ai_psychiatrist.api.problems import Refusal, problem
from ai_psychiatrist.api.risk import kept_risk
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.worker_threads import WorkTimedOut
from ai_psychiatrist.llm.calls import metered

logger = get_logger(__name__)

_ACCOUNT: Final = "account"
_FREE: Final = frozenset({"/health", "/v1/health"})
"""Beside what is open to anybody."""
_ONE_REQUEST: Final = Usage(requests=1)
_ANY_CALL: Final = Usage(calls=1, tokens=1)


@dataclass(slots=True, kw_only=True)
class Account(SpendingAccount):
    """What one request uses."""

    async def take(self, wanted: Usage) -> Reached | None:
        """Count what is wanted, or return the limit in its way; raises `Refusal`."""
        return await _counted(partial(self.counts.take, self.principal, wanted))

    async def reached(self, wanted: Usage) -> Reached | None:
        """Return the limit in the way of what is wanted; raises `Refusal`."""
        return await _counted(partial(self.counts.reached, self.principal, wanted))


class DailyLimits:
    """ASGI middleware: counts the requests of each credential, and what their work costs."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request that the limits allow."""
        account = _account_of(scope) if scope["type"] == "http" else None
        if account is None:
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})[_ACCOUNT] = account
        try:
            reached = await account.take(_ONE_REQUEST)
        except Refusal as refusal:
            await refusal.response(scope, receive, send)
            return
        if reached is not None:
            await limit_reached(reached, {})(scope, receive, send)
            return

        async def paid_send(message: Message) -> None:
            # Whoever asks again with the answer in hand is not to find less counted.
            if message["type"] == "http.response.start":
                await account.written()
            await send(message)

        try:
            with metered(account):
                await self._app(scope, receive, paid_send)
        finally:
            await account.written()


async def refuse_spent(request: Request) -> None:
    """Raise `Refusal` where the credential may ask no model any more today."""
    account = _kept_account(request.scope)
    reached = None if account is None else await account.reached(_ANY_CALL)
    if reached is not None:
        raise Refusal(limit_reached(reached, {}))


async def charge_characters(request: Request, count: int) -> None:
    """Count the characters of a transcript that was read; raises `Refusal` for too many."""
    account = _kept_account(request.scope)
    reached = None if account is None else await account.take(Usage(characters=count))
    if reached is not None:
        raise Refusal(limit_reached(reached, kept_risk(request.scope)))


async def charge_requests(request: Request, count: int) -> None:
    """Count further requests that came with one; raises `Refusal` for too many."""
    account = _kept_account(request.scope)
    reached = None if account is None else await account.take(Usage(requests=count))
    if reached is not None:
        raise Refusal(limit_reached(reached, {}))


def limit_reached(reached: Reached, more: dict[str, object]) -> JSONResponse:
    """Return the problem of a limit of the day; the day ends at midnight UTC."""
    return problem(
        429,
        "limit_reached",
        f"{reached.setting} allows {reached.limit}, of which {reached.left} are left today, and "
        "the request needs more; the next day begins at midnight UTC.",
        headers={"Retry-After": str(seconds_to_midnight(datetime.now(UTC)))},
        more={"setting": reached.setting, "limit": reached.limit, "left": reached.left, **more},
    )


def _account_of(scope: Scope) -> Account | None:
    counts: DayCounts | None = scope["app"].state.services.day_counts
    principal = known_principal(scope)
    path = own_path(scope)
    if counts is None or principal is None or is_open(path) or path in _FREE:
        return None
    return Account(counts=counts, principal=principal)


def _kept_account(scope: Scope) -> Account | None:
    account = scope.get("state", {}).get(_ACCOUNT)
    return account if isinstance(account, Account) else None


async def _counted(work: "partial[Reached | None]") -> Reached | None:
    try:
        return await COUNTERS.run(work)
    except (CountsUnusable, WorkTimedOut) as error:
        logger.error("usage_not_counted", error_type=type(error).__name__)
        detail = (
            "What was used today cannot be counted, so the limits cannot be kept. The operator of "
            "the service has to look after its disk."
        )
        unusable = problem(503, "limits_unavailable", detail, headers={"Retry-After": "60"})
        raise Refusal(unusable) from None
