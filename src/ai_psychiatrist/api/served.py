"""What the routes work with."""

from typing import Annotated, TypeAlias

from fastapi import Depends, Request

from ai_psychiatrist.wiring import Services


def services_of(request: Request) -> Services:
    """Return the services that the app was opened with."""
    services: Services = request.app.state.services
    return services


ServicesOf: TypeAlias = Annotated[Services, Depends(services_of)]
