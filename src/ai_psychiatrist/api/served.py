"""What the routes work with."""

from typing import Annotated, TypeAlias

from fastapi import Depends, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from ai_psychiatrist.wiring import Services


def services_of(request: Request) -> Services:
    """Return the services that the app was opened with."""
    services: Services = request.app.state.services
    return services


async def _services(request: Request) -> Services:
    # A dependency that is no coroutine is called in a thread.
    return services_of(request)


ServicesOf: TypeAlias = Annotated[Services, Depends(_services)]


def json_of(result: BaseModel, status: int = 200) -> Response:
    """Return a result that is sound already, written without a second look."""
    return Response(result.model_dump_json(), status, media_type=JSONResponse.media_type)
