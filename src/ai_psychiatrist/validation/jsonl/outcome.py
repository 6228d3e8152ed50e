"""What became of one unit, as it is told to every output."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ai_psychiatrist.validation.checks.verdict import Verdict
from ai_psychiatrist.validation.jsonl.unit import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A unit with its context and the verdict on its answer."""

    unit: Unit
    context: Mapping[str, object] | None = field(repr=False)
    """What rules knew beside the answer; `None` when that is nothing, or nobody asked."""
    given: Mapping[str, object] | None = field(default=None, repr=False)
    """Of that what the context file gave."""
    verdict: Verdict


OnOutcome: TypeAlias = Callable[[Outcome], None]
"""Told of every line that is not blank and of every unit that was not answered, in order."""
