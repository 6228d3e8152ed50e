"""The layers that every request goes through before it reaches a route."""

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware

from ai_psychiatrist.access.limits.usage import Limits
from ai_psychiatrist.api.audit_trail import AuditedRequests
from ai_psychiatrist.api.body_limit import BodyLimit
from ai_psychiatrist.api.credentials import KEY_HEADER
from ai_psychiatrist.api.doors import DoorRules, Doors
from ai_psychiatrist.api.edge import Edge
from ai_psychiatrist.api.export_routes import LEFT_OUT
from ai_psychiatrist.api.forgery_check import ForgeryCheck
from ai_psychiatrist.api.head_requests import HeadRequests
from ai_psychiatrist.api.host_check import HostCheck
from ai_psychiatrist.api.limits import DailyLimits
from ai_psychiatrist.api.login_guard import LoginGuard
from ai_psychiatrist.api.opened import Opened
from ai_psychiatrist.api.request_deadline import RequestDeadline
from ai_psychiatrist.api.trusted_proxies import TrustedProxies
from ai_psychiatrist.config import Settings
from ai_psychiatrist.infrastructure.stopping import Stopping


def add_layers(app: FastAPI, settings: Settings) -> None:
    """Put the layers around an application whose state is made."""
    stopping: Stopping = app.state.stopping
    # The one added last is the outermost: a refused body, too, has to be readable for web pages.
    app.add_middleware(AuditedRequests)
    app.add_middleware(ForgeryCheck)
    app.add_middleware(
        BodyLimit,
        max_body_bytes=settings.api.max_body_bytes,
        seconds=settings.api.body_timeout_seconds,
    )
    if Limits.of(settings.limit).are_set:
        app.add_middleware(DailyLimits)
    app.add_middleware(LoginGuard)
    friends = frozenset(settings.api.cors_origins)
    rules = DoorRules(
        is_required=settings.auth.required,
        friends=friends,
        is_open_to_others=settings.api.allow_unauthenticated,
    )
    # No body is read of a caller whom nobody knows.
    app.add_middleware(Doors, rules=rules)
    app.add_middleware(
        RequestDeadline,
        seconds=settings.api.request_timeout_seconds,
        stopping=stopping,
    )
    if settings.api.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.api.cors_origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Content-Type", "Authorization", KEY_HEADER],
            expose_headers=["X-Request-ID", "Retry-After", LEFT_OUT],
        )
    hosts = (settings.api.host, *settings.api.allowed_hosts)
    app.add_middleware(HostCheck, allowed_hosts=hosts)
    app.add_middleware(HeadRequests)
    app.add_middleware(Edge)
    app.add_middleware(Opened)
    if settings.api.trusted_proxies:
        app.add_middleware(TrustedProxies, proxies=settings.api.trusted_proxies)
