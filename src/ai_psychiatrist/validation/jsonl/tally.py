"""Count what became of the units, and show that none is lost."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Final, NamedTuple, Self

from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.validation.checks.verdict import UnitError
from ai_psychiatrist.validation.jsonl.unit import UnitOutcome

MOST_NAMES: Final = 1_000
"""Rules that are told apart; the names of providers' errors come from outside."""


class FailedPlace(NamedTuple):
    """What failed, and where in the answer."""

    stage: str
    field: str
    rule: str


_OTHERS: Final = FailedPlace(stage="(others)", field="(others)", rule="(others)")


@dataclass(slots=True, kw_only=True)
class Occurrences:
    """How often something failed, and where first."""

    count: int = 0
    first_line: int | None = None

    def add(self, count: int, line: int | None) -> None:
        """Add so many of which the first was on a line."""
        self.count += count
        numbers = [one for one in (self.first_line, line) if one is not None]
        self.first_line = min(numbers, default=None)


@dataclass(slots=True, kw_only=True)
class LineCounts:
    """What is counted of every line and unit."""

    lines: int = 0
    blank_lines: int = 0
    objects: int = 0
    """Lines that are one JSON object, valid or not; counted, as the next, when they are read."""
    unreadable_lines: int = 0
    """Lines that are none, more than one, or too long."""
    valid: int = 0
    unidentified: int = 0
    """Failed lines that name no unit."""
    unexpected: int = 0
    """Lines of units that were not asked for."""
    coercions: int = 0
    repaired: int = 0


@dataclass(slots=True, kw_only=True)
class Tally(LineCounts):
    """The counters of a run or of one worker's part of it."""

    failed_lines: int = 0
    """Lines with a failure record."""
    missing: int = 0
    """Units that were asked for and have no line."""
    read_seconds: float = 0.0
    """Reading and parsing lines, and joining them with their context."""
    structure_seconds: float = 0.0
    """Coercion, schema and field checks."""
    rules_seconds: float = 0.0
    write_seconds: float = 0.0
    stages: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    """Errors by rule."""
    warnings: Counter[str] = field(default_factory=Counter)
    skipped_rules: Counter[str] = field(default_factory=Counter)
    kinds: dict[FailedPlace, Occurrences] = field(default_factory=dict)
    """Errors by category, field and rule."""

    def count(self, outcome: UnitOutcome, field_of: Callable[[UnitError], str]) -> None:
        """Count one unit; `field_of` tells where an error is, without words of the answer."""
        verdict = outcome.verdict
        if verdict.stage is None:
            self.valid += 1
        else:
            self._count_failure(outcome, verdict.stage, field_of)
        for warning in verdict.warnings:
            self.warnings[warning.rule] += 1
        for name in verdict.skipped_rules:
            self.skipped_rules[name] += 1
        self.coercions += len(verdict.coercions)
        self.repaired += verdict.repaired or outcome.unit.is_repaired

    def add(self, other: Self) -> None:
        """Add the counters of another worker."""
        for counter in fields(self):
            if counter.name != "kinds":
                both = getattr(self, counter.name) + getattr(other, counter.name)
                setattr(self, counter.name, both)
        for kind, found in other.kinds.items():
            self._occurrences(kind).add(found.count, found.first_line)

    def _occurrences(self, kind: FailedPlace) -> Occurrences:
        known = kind in self.kinds or len(self.kinds) < MOST_NAMES
        return self.kinds.setdefault(kind if known else _OTHERS, Occurrences())

    def _count_failure(
        self, outcome: UnitOutcome, stage: FailureStage, field_of: Callable[[UnitError], str]
    ) -> None:
        if stage is FailureStage.MISSING:
            self.missing += 1
        else:
            self.failed_lines += 1
            self.unidentified += outcome.unit.unit_id is None
        self.stages[stage.value] += 1
        for error in outcome.verdict.errors:
            known = error.rule in self.rules or len(self.rules) < MOST_NAMES
            rule = error.rule if known else "other"
            self.rules[rule] += 1
            kind = FailedPlace(stage=stage.value, field=field_of(error), rule=rule)
            self._occurrences(kind).add(1, outcome.unit.number)
