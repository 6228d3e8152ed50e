"""Nothing stored is shown, changed, exported or erased without a row in the audit trail."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from fastapi import Request
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ai_psychiatrist.access.audit.entry import BEGUN, Action
from ai_psychiatrist.access.audit.errors import AuditUnusable
from ai_psychiatrist.access.audit.trails import NO_TENANT, Trails
from ai_psychiatrist.api.audited_actions import (
    ACTIONS,
    ACTIONS_WHERE_STORED,
    ANSWERED_ANYWAY,
    RouteKey,
)
from ai_psychiatrist.api.doors_of import known_principal
from ai_psychiatrist.api.login_guard import is_refused_login
from ai_psychiatrist.api.own_path import own_path
from ai_psychiatrist.api.problems import problem
from ai_psychiatrist.api.risk import kept_risk
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.worker_threads import WorkerThreads, WorkTimedOut

logger = get_logger(__name__)

_WRITERS: Final = WorkerThreads(count=4, seconds=10.0)
_RECORD: Final = "audited_record"
_UNANSWERED: Final = "unanswered"
"""Outcome of a change whose request ended without an answer."""
_REFUSED: Final = 401
_NOBODY: Final = "nobody"
_CURE: Final = (
    "The operator of the service has to look after its disk: ai-psychiatrist audit verify"
)
_NOT_BEGUN: Final = f"The audit trail cannot be written, so nothing was changed. {_CURE}"
_NOT_SHOWN: Final = f"The audit trail cannot be written, so nothing is shown. {_CURE}"
_NOT_ENDED: Final = (
    f"What was asked for may have been done; the audit trail could not note how it ended. {_CURE}"
)
_LOCATION: Final = re.compile(r"/v1/(?:assessments|batches|interviews|jobs)/([^/?]+)")


def note_record(request: Request, record_id: str) -> None:
    """Let the row of a request name a record that is neither in its path nor in `Location`."""
    request.scope.setdefault("state", {})[_RECORD] = record_id


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """A route in the map."""

    method: str
    path: re.Pattern[str]
    action: Action


@dataclass(frozen=True, slots=True, kw_only=True)
class _Deed:
    """What a request does, and to which record."""

    action: Action
    is_change: bool
    record_id: str


def _known(actions: Mapping[RouteKey, Action]) -> tuple[_Known, ...]:
    return tuple(
        _Known(method=key.method, path=compile_path(key.path)[0], action=action)
        for key, action in actions.items()
    )


_KNOWN: Final = _known(ACTIONS)
_KNOWN_WHERE_STORED: Final = _KNOWN + _known(ACTIONS_WHERE_STORED)


class AuditedRequests:
    """ASGI middleware: an answer leaves only once its row is written.

    A change has a row before it begins, and one that says how it ended.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it where the trail cannot be written."""
        deed = _deed(scope) if scope["type"] == "http" else None
        if deed is None:
            await self._app(scope, receive, send)
            return
        if deed.is_change and not await _write(scope, deed, BEGUN):
            await _unavailable(scope, _NOT_BEGUN)(scope, receive, send)
            return
        answer = _AuditedAnswer(scope=scope, deed=deed, receive=receive, send=send)
        try:
            await self._app(scope, receive, answer)
        except BaseException:
            if deed.is_change and not answer.is_begun:
                await _write(scope, deed, _UNANSWERED)
            raise


@dataclass(slots=True, kw_only=True)
class _AuditedAnswer:
    """Takes the place of `send`."""

    scope: Scope
    deed: _Deed
    receive: Receive = field(repr=False)
    send: Send = field(repr=False)
    is_begun: bool = False
    is_refused: bool = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.is_begun = True
            record_id = self.deed.record_id or _told_record(self.scope, message)
            deed = replace(self.deed, record_id=record_id)
            status = _REFUSED if is_refused_login(self.scope) else message["status"]
            self.is_refused = not await _write(self.scope, deed, str(status))
            if self.is_refused:
                detail = _NOT_ENDED if self.deed.is_change else _NOT_SHOWN
                await _unavailable(self.scope, detail)(self.scope, self.receive, self.send)
        if not self.is_refused:
            await self.send(message)


def _deed(scope: Scope) -> _Deed | None:
    method = "GET" if scope["method"] == "HEAD" else scope["method"]
    path = own_path(scope)
    is_stored = scope["app"].state.services.settings.store.assessments
    for known in _KNOWN_WHERE_STORED if is_stored else _KNOWN:
        found = known.path.match(path) if known.method == method else None
        if found is not None:
            return _Deed(
                action=known.action,
                is_change=method != "GET" and known.action not in ANSWERED_ANYWAY,
                record_id=next(iter(found.groupdict().values()), ""),
            )
    return None


def _told_record(scope: Scope, start: Message) -> str:
    """Return the id of a record that was just made."""
    noted = scope.get("state", {}).get(_RECORD)
    if isinstance(noted, str):
        return noted
    found = _LOCATION.match(Headers(raw=start["headers"]).get("location", ""))
    return "" if found is None else found[1]


async def _write(scope: Scope, deed: _Deed, outcome: str) -> bool:
    """Return whether the row is on the disk."""
    trails: Trails = scope["app"].state.services.audit
    principal = known_principal(scope)
    client = scope.get("client") or ("",)
    try:
        await _WRITERS.run(
            partial(
                trails.record,
                NO_TENANT if principal is None else principal.tenant,
                actor=_NOBODY if principal is None else principal.id,
                action=deed.action,
                outcome=outcome,
                record_id=deed.record_id or (client[0] if principal is None else ""),
            )
        )
    except (AuditUnusable, WorkTimedOut) as error:
        logger.error("audit_not_written", error_type=type(error).__name__, reason=str(error))
        return False
    return True


def _unavailable(scope: Scope, detail: str) -> JSONResponse:
    more: Mapping[str, object] = kept_risk(scope)
    return problem(503, "audit_unavailable", detail, headers={"Retry-After": "60"}, more=more)
