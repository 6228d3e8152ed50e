"""The routes that say how the service is."""

import math
import time
from dataclasses import dataclass
from typing import Final, Literal

from anyio import to_thread
from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, ConfigDict

from ai_psychiatrist.agents.pydantic_agents import OPTIONAL_AGENTS
from ai_psychiatrist.api.authorization import known_principal, requires
from ai_psychiatrist.api.dependencies import ServicesOf, jobs_of
from ai_psychiatrist.api.lifespan import state_fault
from ai_psychiatrist.api.problems import ModelProblem, Problem, causes_field
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.domain.errors import ConfigurationError, StoreUnusable
from ai_psychiatrist.store.audit import NO_TENANT
from ai_psychiatrist.wiring import Services

_LOOK_SECONDS: Final = 1.0

router = APIRouter(tags=["status"])


class Health(BaseModel):
    """Whether the models of every agent would answer."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    status: Literal["healthy", "degraded"]
    """`degraded` where an agent has no model that would answer."""
    models: dict[str, bool]
    """Whether each model is there, by its name in the settings."""
    problems: list[ModelProblem]
    """Why models would not answer, and what to do."""


class Alive(BaseModel):
    """The process answers."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    status: Literal["ok"] = "ok"
    """Always the same."""


@dataclass(slots=True)
class StateLook:
    """What of the state folder cannot be used; a look writes a file, and anybody may ask."""

    problem: str | None = None
    """The code of a problem."""
    at: float = -math.inf

    async def current(self, services: Services) -> str | None:
        """Return what a look of this second found, or while it lasts the one before."""
        now = time.monotonic()
        if now - self.at >= _LOOK_SECONDS:
            self.at = now
            self.problem = await to_thread.run_sync(_problem_of_state, services)
        return self.problem


def _problem_of_state(services: Services) -> str | None:
    """Return the code of the problem with which requests would be refused, if they would be."""
    if state_fault(services.settings) is not None:
        return "state_unwritable"
    if not services.stores.is_made():
        # It is made by the first request that needs it, and not by who asks for this.
        return None
    try:
        # It makes what is missing.
        services.stores.tenants()
        services.stores.require_files()
    except (ConfigurationError, StoreUnusable):
        return "assessments_unavailable"
    try:
        services.sessions.find("", takes_raters=False)
    except StoreUnusable:
        return "entrance_unusable"
    try:
        for log in services.audit.all():
            if log.tenant != NO_TENANT:
                log.require_whole()
    except (ConfigurationError, StoreUnusable):
        return "audit_unavailable"
    return None


@router.get("/health", dependencies=[requires()])
async def read_health(services: ServicesOf) -> Health:
    """Say which models would answer; always 200, so use /readyz to take a server out."""
    unready = await services.connections.unready()
    return Health(
        status="degraded" if services.unready_agents(unready) else "healthy",
        models={name: name not in unready for name in services.connections.names},
        problems=unready.values(),
    )


@router.get("/healthz")
async def check_liveness() -> Alive:
    """Say that the process is alive."""
    return Alive()


@router.get(
    "/readyz",
    responses={503: {"description": "The code names what requests would be refused for."}},
)
async def check_readiness(request: Request, services: ServicesOf) -> Alive:
    """Say whether requests can be served: models, the state folder, the audit log, keys."""
    look: StateLook = request.app.state.state_look
    if (problem := await look.current(services)) is not None:
        raise Problem(problem)
    unready = await services.connections.unready()
    agents = [agent for agent in services.unready_agents(unready) if agent not in OPTIONAL_AGENTS]
    if agents:
        # Names of models are for those whom the service knows.
        causes = causes_field(unready.values()) if known_principal(request.scope) else {}
        more = {"agents": agents, **causes}
        raise Problem("backend_unreachable", more=more)
    return Alive()


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    dependencies=[requires(Scope.METRICS)],
    responses={404: {"description": "The server counts nothing, as its settings have it."}},
)
async def read_metrics(request: Request, services: ServicesOf) -> Response:
    """Give what this process has counted since its start, in Prometheus's text form."""
    counts = services.telemetry.prometheus
    if counts is None:
        raise Problem("metrics_off")
    from ai_psychiatrist.infrastructure.telemetry.prometheus import (  # noqa: PLC0415
        MEDIA_TYPE,
    )

    return Response(counts.text(await jobs_of(request).seen()), media_type=MEDIA_TYPE)
