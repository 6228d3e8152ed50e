"""What a body is said to be, and which of the types that a route has the caller accepts."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from fastapi import Request
from starlette.datastructures import Headers
from starlette.types import Scope

from ai_psychiatrist.api.problems import Problem

JSON_TYPE: Final = "application/json"
FORM_TYPE: Final = "application/x-www-form-urlencoded"
_QUALITY: Final = re.compile(r"0(\.\d{0,3})?|1(\.0{0,3})?")
_MOST_RANGES: Final = 100
_FHIR_VERSION: Final = "4.0"


def content_type(scope: Scope) -> str:
    """Return the content type of a request without its parameters."""
    return media_type(Headers(scope=scope).get("content-type", ""))


def media_type(header: str) -> str:
    """Return what a header names, without its parameters."""
    return header.partition(";")[0].strip().casefold()


def accepted_type(request: Request, offered: Sequence[str]) -> str:
    """Return the type that is wanted most; of those wanted alike the first.

    Raises `Problem` (406) when the caller wants none of them.
    """
    header = ",".join(request.headers.getlist("accept"))
    best = best_of(header, offered)
    if best is None:
        detail = f"Accept names nothing that this route has; send one of {', '.join(offered)}."
        raise Problem("not_acceptable", detail)
    return best


def best_of(header: str, offered: Sequence[str]) -> str | None:
    """Return the best of the types for an Accept header; without one the first."""
    if not header.strip():
        return offered[0]
    ranges = tuple(_ranges(header))
    qualities = {media_type: _quality(media_type, ranges) for media_type in offered}
    best = max(offered, key=lambda media_type: qualities[media_type])
    return best if qualities[best] > 0 else None


def _ranges(header: str) -> Iterator[tuple[str, float]]:
    """Yield each range that can be read, such as `text/*`, with how much it is wanted, 0–1."""
    for one in header.lower().split(",")[:_MOST_RANGES]:
        name, *parameters = (part.strip() for part in one.split(";"))
        given = dict(parameter.partition("=")[::2] for parameter in parameters)
        if given.get("fhirversion", _FHIR_VERSION).strip('"') != _FHIR_VERSION:
            continue
        quality = given.get("q", "1")
        if _QUALITY.fullmatch(quality) is not None:
            yield name, float(quality)


def _quality(media_type: str, ranges: Sequence[tuple[str, float]]) -> float:
    """Return how much a type is wanted: the range that says most about it decides."""
    for fitting in (media_type, f"{media_type.partition('/')[0]}/*", "*/*"):
        found = [quality for name, quality in ranges if name == fitting]
        if found:
            return max(found)
    return 0.0
