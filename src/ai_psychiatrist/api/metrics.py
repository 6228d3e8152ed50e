"""The route that Prometheus reads."""

from typing import Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from ai_psychiatrist.api.doors_of import requires
from ai_psychiatrist.api.jobs_of import jobs_of
from ai_psychiatrist.api.problems import Refusal, problem
from ai_psychiatrist.api.served import ServicesOf
from ai_psychiatrist.domain.access import Scope

_OFF: Final = "This server counts nothing: it was started without TELEMETRY_METRICS=true."

router = APIRouter(tags=["status"])


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    dependencies=[requires(Scope.METRICS)],
    responses={404: {"description": "The server counts nothing, as its settings have it."}},
)
async def read_metrics(request: Request, services: ServicesOf) -> Response:
    """Give what this process has counted since its start, in Prometheus's text form."""
    counts = services.telemetry.counts
    if counts is None:
        raise Refusal(problem(404, "metrics_off", _OFF))
    from ai_psychiatrist.infrastructure.telemetry.prometheus_counts import (  # noqa: PLC0415
        MEDIA_TYPE,
    )

    return Response(counts.text(await jobs_of(request).seen()), media_type=MEDIA_TYPE)
