"""Routes are built before the first request, which would hold up all others for 0.2 s."""

import threading
from typing import Final

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

_ONE_AT_A_TIME: Final = threading.Lock()
"""The framework quiets a warning of the whole process meanwhile: two at once would undo that."""


def build_routes(app: FastAPI) -> None:
    """Let the framework make of each route what it otherwise makes of it when somebody calls."""
    with _ONE_AT_A_TIME:
        for _ in iter_route_contexts(app.routes):
            pass
