"""What is wrong with a configuration file, and where."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

KeyPath: TypeAlias = tuple[str | int, ...]
"""Keys and positions from the top of the file to a place."""

_PLAIN_KEY: Final = re.compile(r"[\w-]+\Z")


class ProblemLevel(StrEnum):
    """Whether a file can be used in spite of a problem."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class LintProblem:
    """One thing that is wrong with a configuration file."""

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
        """Whether the file cannot be used."""
        return self.level is ProblemLevel.ERROR

    def place_in(self, file: str) -> str:
        """Return `file:line:column`, as far as the problem has a place."""
        return ":".join(str(part) for part in (file, self.line, self.column) if part is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePosition:
    """A position in a file; line and column from 1."""

    line: int
    column: int


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


def unusable_file(what: str, file: str, problems: Sequence[LintProblem]) -> str:
    """Return the first errors of a file with their places, as one error for the caller."""
    errors = [problem for problem in problems if problem.is_error]
    lines = [f"the {what} {file} cannot be used"]
    lines += [f"  {error.place_in(file)}: {error.message}" for error in errors[:_SHOWN]]
    if len(errors) > _SHOWN:
        lines.append(f"  and {len(errors) - _SHOWN} more; see lint-config")
    return "\n".join(lines)


_SHOWN: Final = 5
