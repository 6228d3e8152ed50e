"""How a run over lines is done, beside what is checked and where it goes."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from ai_psychiatrist.validation.checks.expression_step import Find
from ai_psychiatrist.validation.jsonl.lines import LONGEST_LINE_BYTES
from ai_psychiatrist.validation.jsonl.unit import OnOutcome

Clock: TypeAlias = Callable[[], float]

Earlier: TypeAlias = Callable[[str], Mapping[str, object] | None]
"""Gives what earlier steps of a pipeline know of a unit; `None` when that is nothing."""

OnProgress: TypeAlias = Callable[[int, int], None]
"""Told after each block how many bytes and lines it had."""


def say_nothing(_size: int, _lines: int) -> None:
    """Take no notice of the progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationOptions:
    """How a run is done."""

    deadline_seconds: float | None = None
    """What is not checked by then fails as `pipeline_internal`."""
    longest_line: int = LONGEST_LINE_BYTES
    needs_unit_ids: bool = True
    """Whether a line that names no unit fails; else it is a unit without a name."""
    on_outcome: OnOutcome | None = None
    on_progress: OnProgress = say_nothing
    earlier: Earlier | None = None
    """What the context file gives of a unit lies over this."""
    find: Find | None = None
    """Answers in the place of the lines, which are then contexts."""
    clock: Clock = time.monotonic

    def deadline(self) -> float | None:
        """Return the clock's time at which the deadline passes, counted from now."""
        return None if self.deadline_seconds is None else self.clock() + self.deadline_seconds


DEFAULT_OPTIONS: Final = ValidationOptions()
