"""Whether a caller would rather be answered before the work is done, after RFC 7240."""

from typing import Final

from fastapi import Request

ASYNC: Final = "respond-async"
RETRY_AFTER_SECONDS: Final = 2


def is_async_preferred(request: Request) -> bool:
    """Return whether the header Prefer asks for it."""
    preferences = ",".join(request.headers.getlist("prefer")).split(",")
    return any(one.partition(";")[0].strip().lower() == ASYNC for one in preferences)
