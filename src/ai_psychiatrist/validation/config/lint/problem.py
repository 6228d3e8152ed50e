"""What is wrong with a pipeline file, and where."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeAlias

KeyPath: TypeAlias = tuple[str | int, ...]
"""Keys and positions from the top of the file to a place."""

_PLAIN_KEY: Final = re.compile(r"[\w-]+\Z")


MOST_PROBLEMS: Final = 500
"""Problems that are told of one file; each of them costs a search for what was meant."""


class TooManyProblems(Exception):
    """A file has so many problems that the rest of it is not looked at."""


class ProblemLevel(StrEnum):
    """Whether a pipeline can be used in spite of a problem."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class LintProblem:
    """One thing that is wrong with a pipeline file."""

    level: ProblemLevel
    code: str
    """A stable `snake_case` name of the kind of problem."""
    where: str
    """The place as a path of keys, such as `validation.rate.rules[0].expr`; empty for the file."""
    line: int | None
    """From 1; `None` when the problem has no place in the file."""
    column: int | None
    """From 1, in characters."""
    message: str

    @property
    def is_error(self) -> bool:
        """Whether the pipeline cannot be used."""
        return self.level is ProblemLevel.ERROR

    def place_in(self, file: str) -> str:
        """Return `file:line:column`, as far as the problem has a place."""
        return ":".join(str(part) for part in (file, self.line, self.column) if part is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A position in a file; line and column from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Problems:
    """Collects the problems of one file; every check reports here and goes on.

    Reporting one more than `MOST_PROBLEMS` raises `TooManyProblems`.
    """

    _found: list[LintProblem] = field(default_factory=list)

    def error(self, code: str, path: KeyPath, message: str, place: Place | None) -> None:
        """Add a problem that makes the pipeline unusable."""
        self._add(ProblemLevel.ERROR, code, path, message, place)

    def warn(self, code: str, path: KeyPath, message: str, place: Place | None) -> None:
        """Add a problem that the pipeline can be used with."""
        self._add(ProblemLevel.WARNING, code, path, message, place)

    def _add(
        self, level: ProblemLevel, code: str, path: KeyPath, message: str, place: Place | None
    ) -> None:
        if len(self._found) == MOST_PROBLEMS:
            raise TooManyProblems
        self._found.append(
            LintProblem(
                level=level,
                code=code,
                where=dotted(path),
                line=None if place is None else place.line,
                column=None if place is None else place.column,
                message=message,
            )
        )

    def in_order(self) -> list[LintProblem]:
        """Return every problem once, by line; those without a line come first."""
        found = set(self._found)
        if len(self._found) == MOST_PROBLEMS:
            found.add(_AND_MORE)
        return sorted(
            found,
            key=lambda found: (found.line or 0, found.column or 0, found.where, found.code),
        )


_AND_MORE: Final = LintProblem(
    level=ProblemLevel.ERROR,
    code="too_many_problems",
    where="",
    line=None,
    column=None,
    message=f"these are the first {MOST_PROBLEMS} problems; the rest was not looked at",
)


def dotted(path: Sequence[str | int]) -> str:
    """Return a key path as `validation.rate.rules[0]`; keys that are no plain words are quoted."""
    shown = ""
    for part in path:
        if isinstance(part, int):
            shown += f"[{part}]"
        elif _PLAIN_KEY.match(part):
            shown += f".{part}" if shown else part
        else:
            shown += f"[{json.dumps(part)}]"
    return shown
