"""Which of the media types that a route has the caller would rather get, after RFC 9110."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from fastapi import Request

from ai_psychiatrist.api.problems import Refusal, problem

_RANGE: Final = re.compile(r"([!#$%&'*+.^_`|~0-9a-z-]+)/([!#$%&'*+.^_`|~0-9a-z-]+)")
_QUALITY: Final = re.compile(r"0(\.\d{0,3})?|1(\.0{0,3})?")
_MOST_RANGES: Final = 100
_FHIR_VERSION: Final = "4.0"


@dataclass(frozen=True, slots=True)
class _Range:
    kind: str
    subtype: str
    quality: float

    @property
    def specificity(self) -> int:
        return (self.kind != "*") + (self.subtype != "*")

    def has(self, media_type: str) -> bool:
        kind, _, subtype = media_type.partition("/")
        return self.kind in {"*", kind} and self.subtype in {"*", subtype}


def accepted_type(request: Request, offered: Sequence[str]) -> str:
    """Return the type that is wanted most; of those wanted alike the first.

    Raises `Refusal` (406) when the caller wants none of them.
    """
    header = ",".join(request.headers.getlist("accept"))
    best = best_of(header, offered)
    if best is None:
        detail = f"Accept names nothing that this route has; send one of {', '.join(offered)}."
        raise Refusal(problem(406, "not_acceptable", detail, headers={"Vary": "Accept"}))
    return best


def best_of(header: str, offered: Sequence[str]) -> str | None:
    """Return the best of the types for an Accept header; without one the first."""
    if not header.strip():
        return offered[0]
    ranges = tuple(_ranges(header))
    qualities = {media_type: _quality(media_type, ranges) for media_type in offered}
    best = max(offered, key=lambda media_type: qualities[media_type])
    return best if qualities[best] > 0 else None


def _ranges(header: str) -> Iterator[_Range]:
    for one in header.lower().split(",")[:_MOST_RANGES]:
        name, *parameters = (part.strip() for part in one.split(";"))
        found = _RANGE.fullmatch(name)
        if found is None:
            continue
        given = dict(parameter.partition("=")[::2] for parameter in parameters)
        if given.get("fhirversion", _FHIR_VERSION).strip('"') != _FHIR_VERSION:
            continue
        quality = given.get("q", "1")
        if _QUALITY.fullmatch(quality) is not None:
            yield _Range(found[1], found[2], float(quality))


def _quality(media_type: str, ranges: Sequence[_Range]) -> float:
    """Return how much a type is wanted: the range that says most about it decides."""
    fitting = [one for one in ranges if one.has(media_type)]
    if not fitting:
        return 0.0
    most = max(one.specificity for one in fitting)
    return max(one.quality for one in fitting if one.specificity == most)
