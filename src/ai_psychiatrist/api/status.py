"""The routes that say how the service is."""

from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel

from ai_psychiatrist.api.problems import problem
from ai_psychiatrist.api.served import ServicesOf

router = APIRouter(tags=["status"])


class Health(BaseModel):
    """Whether the models of every agent can be reached."""

    status: Literal["healthy", "degraded"]
    models: dict[str, bool]


class Alive(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


@router.get("/health")
async def health(services: ServicesOf) -> Health:
    """Say which models can be reached; always 200, so use /readyz to take a server out."""
    reachable = await services.connections.reachable()
    is_degraded = bool(services.unready_agents(reachable))
    return Health(status="degraded" if is_degraded else "healthy", models=reachable)


@router.get("/healthz")
async def healthz() -> Alive:
    """Say that the process is alive."""
    return Alive()


@router.get(
    "/readyz",
    response_model=Alive,
    responses={503: {"description": "An agent has no model that can be reached."}},
)
async def readyz(services: ServicesOf) -> Response:
    """Say whether every agent has a model that can be reached."""
    unready = services.unready_agents(await services.connections.reachable())
    if unready:
        return problem(
            503,
            "backend_unreachable",
            "No model of these agents can be reached; check the MODEL_ and backend settings.",
            more={"agents": unready},
        )
    return Response(Alive().model_dump_json(), media_type="application/json")
