"""The account of a whole run, in numbers alone."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields

from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.jsonl.tally import LineCounts, Tally


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
    """Lines of the failures: failed units, and lines that are beside the account of units."""
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
    """By phase; with several workers their times are added up."""

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
    beside = duplicates + (0 if asked is None else tally.unidentified + tally.unexpected)
    failed = tally.failed_lines + tally.missing - beside
    requested = tally.lines - tally.blank_lines - duplicates if asked is None else asked
    pending = requested - tally.valid - failed
    read = tally.blank_lines + tally.objects + tally.unreadable_lines
    written = tally.blank_lines + tally.valid + tally.failed_lines
    kinds = sorted(tally.kinds.items(), key=lambda item: (-item[1].count, item[0]))
    seconds = {
        "read": tally.read_seconds,
        "structure": tally.structure_seconds,
        "rules": tally.rules_seconds,
        "write": tally.write_seconds,
    }
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
        by_field=tuple({**kind._asdict(), **asdict(found)} for kind, found in kinds),
        warnings=dict(sorted(tally.warnings.items())),
        skipped_rules=dict(sorted(tally.skipped_rules.items())),
        ruleset_digest=validator.ruleset_digest,
        schema_digest=validator.schema_digest,
        is_balanced=pending == 0 and tally.lines == read == written,
        seconds={phase: round(spent, 3) for phase, spent in seconds.items()},
    )
