"""Every problem that the service answers with: its HTTP status, sentence and hint, by its code."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemKind:
    """One row of the table."""

    status: int
    """HTTP status, 400–599."""
    sentence: str
    """What went wrong, where nothing more precise is known."""
    hint: str
    """What the caller, or the operator, can do."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of the answer."""
    field: str = ""
    """The field of the request at fault, where it is always the same."""


@cache
def problem_kinds() -> Mapping[str, ProblemKind]:
    """Return all of them by their codes, ordered by status."""
    table = (files("ai_psychiatrist.domain") / "problems.toml").read_text("utf-8")
    return {code: ProblemKind(**row) for code, row in tomllib.loads(table).items()}
