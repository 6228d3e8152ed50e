"""What a body is said to be."""

from typing import Final

from starlette.datastructures import Headers
from starlette.types import Scope

FORM_TYPE: Final = "application/x-www-form-urlencoded"


def content_type(scope: Scope) -> str:
    """Return the content type of a request without its parameters."""
    return media_type(Headers(scope=scope).get("content-type", ""))


def media_type(header: str) -> str:
    """Return what a header names, without its parameters."""
    return header.partition(";")[0].strip().casefold()
