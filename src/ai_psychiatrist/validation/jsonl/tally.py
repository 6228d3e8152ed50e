"""Count what became of the units, and show that none is lost."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Self

from ai_psychiatrist.validation.checks.verdict import FailureStage, UnitError
from ai_psychiatrist.validation.jsonl.outcome import Outcome

MOST_NAMES: Final = 1_000
"""Rules that are told apart; the names of providers' errors come from outside."""


@dataclass(slots=True, kw_only=True)
class Seconds:
    """Where the time went."""

    read: float = 0.0
    """Reading and parsing lines, and joining them with their context."""
    structure: float = 0.0
    """Coercion, schema and field checks."""
    rules: float = 0.0
    write: float = 0.0

    def add(self, other: Self) -> None:
        """Add the time of another worker."""
        self.read += other.read
        self.structure += other.structure
        self.rules += other.rules
        self.write += other.write


class FailureKind(NamedTuple):
    """What failed, and where in the answer."""

    stage: str
    field: str
    rule: str


_OTHERS: Final = FailureKind(stage="(others)", field="(others)", rule="(others)")


@dataclass(slots=True, kw_only=True)
class Found:
    """How often something failed, and where first."""

    count: int = 0
    first_line: int | None = None

    def add(self, other: Self) -> None:
        """Add what was found elsewhere."""
        self.count += other.count
        numbers = [one for one in (self.first_line, other.first_line) if one is not None]
        self.first_line = min(numbers, default=None)


@dataclass(slots=True, kw_only=True)
class Tally:
    """The counters of a run or of one worker's part of it."""

    lines: int = 0
    blank_lines: int = 0
    objects: int = 0
    """Lines that are one JSON object; counted, as the next, when they are read."""
    unreadable_lines: int = 0
    """Lines that are none, more than one, or too long."""
    valid: int = 0
    failed_lines: int = 0
    """Lines with a failure record."""
    unidentified: int = 0
    """Of these, lines that name no unit."""
    unexpected: int = 0
    """Of these, units that were not asked for."""
    missing: int = 0
    """Units that were asked for and have no line."""
    coercions: int = 0
    repaired: int = 0
    stages: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    """Errors by rule."""
    warnings: Counter[str] = field(default_factory=Counter)
    skipped_rules: Counter[str] = field(default_factory=Counter)
    fields: dict[FailureKind, Found] = field(default_factory=dict)
    """Errors by category, field and rule."""
    seconds: Seconds = field(default_factory=Seconds)

    def count(self, outcome: Outcome, field_of: Callable[[UnitError], str]) -> None:
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
        self.lines += other.lines
        self.blank_lines += other.blank_lines
        self.objects += other.objects
        self.unreadable_lines += other.unreadable_lines
        self.valid += other.valid
        self.failed_lines += other.failed_lines
        self.unidentified += other.unidentified
        self.unexpected += other.unexpected
        self.missing += other.missing
        self.coercions += other.coercions
        self.repaired += other.repaired
        self.stages.update(other.stages)
        self.rules.update(other.rules)
        self.warnings.update(other.warnings)
        self.skipped_rules.update(other.skipped_rules)
        self.seconds.add(other.seconds)
        for failure, found in other.fields.items():
            self._field(failure).add(found)

    def _field(self, kind: "FailureKind") -> Found:
        known = kind in self.fields or len(self.fields) < MOST_NAMES
        return self.fields.setdefault(kind if known else _OTHERS, Found())

    def _count_failure(
        self, outcome: Outcome, stage: FailureStage, field_of: Callable[[UnitError], str]
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
            kind = FailureKind(stage=stage.value, field=field_of(error), rule=rule)
            self._field(kind).add(Found(count=1, first_line=outcome.unit.number))
