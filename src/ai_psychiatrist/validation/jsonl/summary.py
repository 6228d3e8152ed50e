"""Count what became of the lines and units of a run, and show that none is lost."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Final, NamedTuple

from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.jsonl.unit import Unit

MOST_NAMES: Final = 1_000
"""Rules that are told apart; the names of providers' errors come from outside."""
PHASES: Final = ("read", "structure", "rules", "write")


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


class FailedPlace(NamedTuple):
    """What failed, and where in the answer."""

    stage: str
    field: str
    rule: str


_OTHERS: Final = FailedPlace("(others)", "(others)", "(others)")


@dataclass(slots=True, kw_only=True)
class Tally(LineCounts):
    """The counters of a run."""

    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PHASES, 0.0))
    """By phase: reading a line with its context; coercion, schema and fields; rules; writing."""
    stages: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    """Errors by rule."""
    warnings: Counter[str] = field(default_factory=Counter)
    skipped_rules: Counter[str] = field(default_factory=Counter)
    places: Counter[FailedPlace] = field(default_factory=Counter)
    """Errors by category, field and rule."""
    first_lines: dict[FailedPlace, int | None] = field(default_factory=dict)

    @property
    def missing(self) -> int:
        """Units that were asked for and have no line."""
        return self.stages[FailureStage.MISSING]

    @property
    def failed_lines(self) -> int:
        """Lines with a failure record."""
        return self.stages.total() - self.missing

    def count(self, unit: Unit, validator: StepValidator) -> None:
        """Count one unit."""
        verdict = unit.verdict
        if verdict.stage is None:
            self.valid += 1
        else:
            self._count_failure(unit, verdict.stage, validator)
        for warning in verdict.warnings:
            self.warnings[warning.rule] += 1
        for name in verdict.skipped_rules:
            self.skipped_rules[name] += 1
        self.coercions += len(verdict.coercions)
        self.repaired += verdict.repaired or unit.is_repaired

    def _count_failure(self, unit: Unit, stage: FailureStage, validator: StepValidator) -> None:
        if stage is not FailureStage.MISSING:
            self.unidentified += unit.unit_id is None
        self.stages[stage.value] += 1
        for error in unit.verdict.errors:
            known = error.rule in self.rules or len(self.rules) < MOST_NAMES
            rule = error.rule if known else "other"
            self.rules[rule] += 1
            place = FailedPlace(stage.value, validator.field_of(error), rule)
            if place not in self.places and len(self.places) >= MOST_NAMES:
                place = _OTHERS
            self.places[place] += 1
            self.first_lines.setdefault(place, unit.number)


@dataclass(slots=True, kw_only=True)
class Summary(LineCounts):
    """How many units were asked for, and what became of each."""

    step: str
    requested: int
    """Units of the context; without one, units that the lines name and lines that name none."""
    failed: int
    """Requested units that are not valid."""
    pending: int
    """Requested units without a verdict: always 0 when a run has come to its end."""
    failure_records: int
    """Lines of the failures: failed units, and lines outside the account of units."""
    duplicates: int
    """Lines of units that were answered already."""
    by_stage: Mapping[str, int]
    by_rule: Mapping[str, int]
    by_field: Sequence[Mapping[str, object]]
    """`stage`, `field`, `rule`, `count` and `first_line` of every kind of error, the most first."""
    warnings: Mapping[str, int]
    skipped_rules: Mapping[str, int]
    ruleset_digest: str
    schema_digest: str
    is_balanced: bool
    """Whether every line and every requested unit is accounted for exactly once."""
    seconds: Mapping[str, float]
    """By phase."""

    @property
    def is_all_valid(self) -> bool:
        """Whether nothing failed and nothing is lost."""
        return self.is_balanced and self.failure_records == 0

    @property
    def is_nothing_valid(self) -> bool:
        """Whether units failed and none is left for a next step."""
        return self.valid == 0 and self.failure_records > 0


def summarise(tally: Tally, validator: StepValidator, *, asked: int | None) -> Summary:
    """Return the account; `asked` is the number of units in the context, `None` without one."""
    duplicates = tally.stages[FailureStage.DUPLICATE]
    outside = duplicates + (0 if asked is None else tally.unidentified + tally.unexpected)
    failed = tally.failed_lines + tally.missing - outside
    requested = tally.lines - tally.blank_lines - duplicates if asked is None else asked
    pending = requested - tally.valid - failed
    read = tally.blank_lines + tally.objects + tally.unreadable_lines
    written = tally.blank_lines + tally.valid + tally.failed_lines
    places = sorted(tally.places.items(), key=lambda item: (-item[1], item[0]))
    return Summary(
        **{counter.name: getattr(tally, counter.name) for counter in fields(LineCounts)},
        step=validator.name,
        requested=requested,
        failed=failed,
        pending=pending,
        failure_records=tally.failed_lines + tally.missing,
        duplicates=duplicates,
        by_stage=dict(sorted(tally.stages.items())),
        by_rule=dict(sorted(tally.rules.items())),
        by_field=tuple(
            {**place._asdict(), "count": count, "first_line": tally.first_lines[place]}
            for place, count in places
        ),
        warnings=dict(sorted(tally.warnings.items())),
        skipped_rules=dict(sorted(tally.skipped_rules.items())),
        ruleset_digest=validator.ruleset_digest,
        schema_digest=validator.schema_digest,
        is_balanced=pending == 0 and tally.lines == read == written,
        seconds={phase: round(tally.seconds[phase], 3) for phase in PHASES},
    )
