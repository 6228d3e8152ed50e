"""The account of a whole run, in numbers alone."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from ai_psychiatrist.validation.checks.verdict import FailureStage
from ai_psychiatrist.validation.jsonl.tally import Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """How many units were asked for, and what became of each."""

    step: str
    requested: int
    """Units of the context; without one, units that the lines name and lines that name none."""
    valid: int
    failed: int
    """Requested units that are not valid."""
    pending: int
    """Requested units without a verdict: always 0 when a run has come to its end."""
    failure_records: int
    """Lines of the failures: failed units, and lines that are beside the account of units."""
    lines: int
    blank_lines: int
    objects: int
    """Lines that are one JSON object, valid or not."""
    unreadable_lines: int
    """Lines that are none, more than one, or too long."""
    unidentified: int
    """Lines that name no unit."""
    duplicates: int
    """Lines of units that were answered already."""
    unexpected: int
    """Lines of units that were not asked for."""
    by_stage: Mapping[str, int]
    by_rule: Mapping[str, int]
    by_field: Sequence[Mapping[str, object]]
    """`stage`, `field`, `rule`, `count` and `first_line` of every kind of error, the most first."""
    warnings: Mapping[str, int]
    skipped_rules: Mapping[str, int]
    coercions: int
    repaired: int
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


def summarise(
    tally: Tally, *, step: str, asked: int | None, ruleset_digest: str, schema_digest: str
) -> Summary:
    """Return the account; `asked` is the number of units in the context, `None` without one."""
    duplicates = tally.stages[FailureStage.DUPLICATE]
    beside = duplicates + (0 if asked is None else tally.unidentified + tally.unexpected)
    failed = tally.failed_lines + tally.missing - beside
    requested = tally.lines - tally.blank_lines - duplicates if asked is None else asked
    pending = requested - tally.valid - failed
    read = tally.blank_lines + tally.objects + tally.unreadable_lines
    told = tally.blank_lines + tally.valid + tally.failed_lines
    return Summary(
        step=step,
        requested=requested,
        valid=tally.valid,
        failed=failed,
        pending=pending,
        failure_records=tally.failed_lines + tally.missing,
        lines=tally.lines,
        blank_lines=tally.blank_lines,
        objects=tally.objects,
        unreadable_lines=tally.unreadable_lines,
        unidentified=tally.unidentified,
        duplicates=duplicates,
        unexpected=tally.unexpected,
        by_stage=dict(sorted(tally.stages.items())),
        by_rule=dict(sorted(tally.rules.items())),
        by_field=_by_field(tally),
        warnings=dict(sorted(tally.warnings.items())),
        skipped_rules=dict(sorted(tally.skipped_rules.items())),
        coercions=tally.coercions,
        repaired=tally.repaired,
        ruleset_digest=ruleset_digest,
        schema_digest=schema_digest,
        is_balanced=pending == 0 and tally.lines == read == told,
        seconds={name: round(spent, 3) for name, spent in asdict(tally.seconds).items()},
    )


def _by_field(tally: Tally) -> Sequence[Mapping[str, object]]:
    kinds = sorted(tally.fields.items(), key=lambda item: (-item[1].count, item[0]))
    return tuple({**kind._asdict(), **asdict(found)} for kind, found in kinds)
