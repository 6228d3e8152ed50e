"""The routes that say how the service is."""

from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel

from ai_psychiatrist.api.problems import problem
from ai_psychiatrist.api.served import ServicesOf
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.llm.cures import Cause

router = APIRouter(tags=["status"])


class ModelProblem(BaseModel):
    """Why a model would not answer now."""

    model: str
    """Its name in the settings."""
    code: FailureCode
    http_status: int | None
    """Status of the backend's response, where there was one."""
    cure: str
    """What to do about it."""


class Health(BaseModel):
    """Whether the models of every agent would answer."""

    status: Literal["healthy", "degraded"]
    models: dict[str, bool]
    """Whether each model is there, by its name in the settings."""
    problems: list[ModelProblem]


class Alive(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


@router.get("/health")
async def health(services: ServicesOf) -> Health:
    """Say which models would answer; always 200, so use /readyz to take a server out."""
    unready = await services.connections.unready()
    return Health(
        status="degraded" if services.unready_agents(unready) else "healthy",
        models={name: name not in unready for name in services.connections.names},
        problems=[_problem(cause) for cause in unready.values()],
    )


@router.get("/healthz")
async def healthz() -> Alive:
    """Say that the process is alive."""
    return Alive()


@router.get(
    "/readyz",
    response_model=Alive,
    responses={503: {"description": "An agent has no model that would answer."}},
)
async def readyz(services: ServicesOf) -> Response:
    """Say whether every agent has a model that would answer."""
    unready = await services.connections.unready()
    agents = services.unready_agents(unready)
    if agents:
        causes = [_problem(cause).model_dump(mode="json") for cause in unready.values()]
        return problem(
            503,
            "backend_unreachable",
            "No model of these agents would answer; the causes say what to do.",
            more={"agents": agents, "causes": causes},
        )
    return Response(Alive().model_dump_json(), media_type="application/json")


def _problem(cause: Cause) -> ModelProblem:
    return ModelProblem(
        model=cause.model, code=cause.code, http_status=cause.http_status, cure=cause.cure
    )
