"""Every problem that the service can answer with: when it arises, and what to do about it."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

PROBLEM_TYPE: Final = "urn:ai-psychiatrist:problem:"
"""Followed by a code it is the `type` of a problem."""


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """One code, at one status."""

    status: int
    code: str
    meaning: str
    cure: str


@cache
def problem_kinds() -> tuple[ProblemKind, ...]:
    """Return all of them, by status."""
    place = files("ai_psychiatrist.api") / "reference" / "problem_kinds.toml"
    told = tomllib.loads(place.read_text("utf-8"))
    return tuple(
        ProblemKind(int(status), code, words["meaning"], words["cure"])
        for status, codes in told.items()
        for code, words in codes.items()
    )


def kinds_of(status: str) -> tuple[ProblemKind, ...]:
    """Return the problems that come with a status."""
    return tuple(kind for kind in problem_kinds() if str(kind.status) == status)
