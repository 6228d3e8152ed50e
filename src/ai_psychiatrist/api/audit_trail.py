"""Nothing stored is shown, changed, exported or erased without a row in the audit log."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from fastapi import FastAPI, Request
from starlette.datastructures import Headers
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ai_psychiatrist.access.failed_logins import FailedLogins
from ai_psychiatrist.api.audited_actions import (
    ACTIONS,
    ACTIONS_WHERE_STORED,
    ANSWERED_ANYWAY,
)
from ai_psychiatrist.api.authorization import LOGIN_REFUSED, address_of, known_principal
from ai_psychiatrist.api.paths import own_path
from ai_psychiatrist.api.problems import Problem
from ai_psychiatrist.api.risk import kept_risk
from ai_psychiatrist.domain.errors import ConfigurationError, StoreUnusable
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads, WorkTimedOut
from ai_psychiatrist.store.audit import BEGUN, NO_TENANT, Action
from ai_psychiatrist.wiring import Services

logger = get_logger(__name__)

_WRITERS: Final = WorkerThreads(count=4, seconds=10.0)
_RECORD: Final = "audited_record"
_UNANSWERED: Final = "unanswered"
"""Outcome of a change whose request ended without an answer."""
_REFUSED: Final = 401
_UNAVAILABLE: Final = "audit_unavailable"
_NOTHING_DONE: Final = frozenset({503, 507})
"""Answers of a store that takes or gives nothing."""
_NOBODY: Final = "nobody"
_CURE: Final = "The operator has to check the disk: ai-psychiatrist audit verify"
_NOT_BEGUN: Final = f"The audit log cannot be written, so nothing was changed. {_CURE}"
_NOT_SHOWN: Final = f"The audit log cannot be written, so nothing is shown. {_CURE}"
_NOT_ENDED: Final = (
    f"What was asked for may have been done; the audit log could not note how it ended. {_CURE}"
)
_LOCATION: Final = re.compile(r"/v1/(?:assessments|batches|interviews|jobs)/([^/?]+)")


def note_record(request: Request, record_id: str) -> None:
    """Let the row of a request name a record that is neither in its path nor in `Location`."""
    request.scope.setdefault("state", {})[_RECORD] = record_id


async def record_reading(request: Request, participant_id: int) -> None:
    """Add a row of a stored transcript that was read; raises `Problem` where that cannot be."""
    record_id = f"participant {participant_id}"
    event = _AuditEvent(action="transcript_read", is_change=False, record_id=record_id)
    if await _write(request.scope, event, "200") is not None:
        raise Problem(_UNAVAILABLE, _NOT_SHOWN)


async def record_one_of_several(
    request: Request, action: Action, record_id: str, outcome: str
) -> None:
    """Add a row of one record of a request that changes several; raises `Problem` without it."""
    event = _AuditEvent(action=action, is_change=True, record_id=record_id)
    if await _write(request.scope, event, outcome) is not None:
        raise Problem(_UNAVAILABLE, _NOT_BEGUN if outcome == BEGUN else _NOT_ENDED)


async def record_refused_logins(app: FastAPI) -> None:
    """Add one row for all that strangers were refused since the last one, if anything was."""
    failures: FailedLogins = app.state.failed_logins
    count = failures.unrecorded
    if count:
        services: Services = app.state.services

        def record() -> None:
            log = services.audit.of(NO_TENANT)
            log.append(actor=_NOBODY, action="logins_refused", outcome=str(count))

        if await _fault_of(record) is None:
            failures.unrecorded -= count


@dataclass(frozen=True, slots=True, kw_only=True)
class _AuditEvent:
    """What a request does, and to which record."""

    action: Action
    is_change: bool
    record_id: str


_ALL_ACTIONS: Final = ACTIONS | ACTIONS_WHERE_STORED
_PATHS: Final = {key: compile_path(key.path)[0] for key in _ALL_ACTIONS}


class AuditedRequests:
    """ASGI middleware: an answer leaves only once its row is written.

    A change has a row before it begins, and one that says how it ended. Whoever is not known has
    no rows of their own: they could fill the disk. What they are refused is counted.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; raises `Problem` for a change where the log cannot be written."""
        event = _event(scope)
        if event is None:
            await self._app(scope, receive, send)
            return
        fault = await _write(scope, event, BEGUN) if event.is_change else None
        if fault is not None:
            detail = _NOT_BEGUN if fault == _UNAVAILABLE else ""
            raise Problem(fault, detail, more=kept_risk(scope))
        is_begun = is_refused = False

        async def audited_send(message: Message) -> None:
            nonlocal is_begun, is_refused
            if message["type"] == "http.response.start":
                is_begun = True
                record_id = event.record_id or _told_record(scope, message)
                status = _REFUSED if scope["state"].get(LOGIN_REFUSED) else message["status"]
                if event.action in ANSWERED_ANYWAY:
                    _count_failure(scope, status)
                row = replace(event, record_id=record_id)
                fault = await _write(scope, row, str(status))
                # What cannot be stored is told as such, though that cannot be noted either.
                is_refused = fault is not None and status not in _NOTHING_DONE
                if is_refused:
                    detail = _NOT_ENDED if event.is_change else _NOT_SHOWN
                    problem = Problem(_UNAVAILABLE, detail, more=kept_risk(scope))
                    await problem.response(scope)(scope, receive, send)
            if not is_refused:
                await send(message)

        try:
            await self._app(scope, receive, audited_send)
        except BaseException:
            if event.is_change and not is_begun:
                await _write(scope, event, _UNANSWERED)
            raise


def _event(scope: Scope) -> _AuditEvent | None:
    path = own_path(scope)
    is_stored = scope["app"].state.services.settings.store.assessments
    for key, action in (_ALL_ACTIONS if is_stored else ACTIONS).items():
        found = _PATHS[key].match(path) if key.method == scope["method"] else None
        if found is not None:
            return _AuditEvent(
                action=action,
                is_change=key.method != "GET" and action not in ANSWERED_ANYWAY,
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


async def _write(scope: Scope, event: _AuditEvent, outcome: str) -> str | None:
    """Return the code of what kept the row off the disk; `None` also where there has to be none."""
    services: Services = scope["app"].state.services
    principal = known_principal(scope)
    if principal is None:
        return None

    def record() -> None:
        services.audit.of(principal.tenant).append(
            actor=principal.id,
            action=event.action,
            outcome=outcome,
            record_id=event.record_id,
        )

    return await _fault_of(record)


def _count_failure(scope: Scope, status: int) -> None:
    """Count a login that was refused; of a stranger also a malformed one, and an end of none."""
    failures: FailedLogins = scope["app"].state.failed_logins
    is_stranger = known_principal(scope) is None
    if scope["state"].get(LOGIN_REFUSED) or (is_stranger and 400 <= status < 500):
        failures.failed(address_of(scope))
    if is_stranger:
        failures.unrecorded += 1


async def _fault_of(record: Callable[[], None]) -> str | None:
    """Return the code of the problem that kept a row from being written, `None` without one."""
    try:
        await _WRITERS.run(record)
    except (ConfigurationError, StoreUnusable, WorkTimedOut) as error:
        logger.error("audit_not_written", error_type=type(error).__name__, reason=str(error))
        if isinstance(error, ConfigurationError):
            return "assessments_unavailable"
        return error.problem_code if isinstance(error, StoreUnusable) else _UNAVAILABLE
    return None
