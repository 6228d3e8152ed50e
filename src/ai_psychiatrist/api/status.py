"""The routes that say how the service is."""

from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict

from ai_psychiatrist.agents.pydantic_agents import OPTIONAL_AGENTS
from ai_psychiatrist.api.doors_of import known_principal, requires
from ai_psychiatrist.api.problems import ModelProblem, Refusal, causes_field, problem
from ai_psychiatrist.api.served import ServicesOf

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


@router.get("/readyz", responses={503: {"description": "An agent has no model that would answer."}})
async def check_readiness(request: Request, services: ServicesOf) -> Alive:
    """Say whether every agent has a model that would answer, but for the optional ones."""
    unready = await services.connections.unready()
    agents = [agent for agent in services.unready_agents(unready) if agent not in OPTIONAL_AGENTS]
    if agents:
        detail = "No model of these agents would answer; the causes say what to do."
        # Names of models are for those whom the service knows.
        causes = causes_field(unready.values()) if known_principal(request.scope) else {}
        more = {"agents": agents, **causes}
        raise Refusal(problem(503, "backend_unreachable", detail, more=more))
    return Alive()
