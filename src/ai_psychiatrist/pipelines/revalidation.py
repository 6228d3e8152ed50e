"""Apply rules again to the answers of a run; no model is asked and nothing is taken away."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.pipelines.checker import Checker, judged
from ai_psychiatrist.pipelines.contexts import ContextOf
from ai_psychiatrist.store.run_records import AttemptRecord, CurrentRow, Origin
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.checks.verdict import UnitError, Verdict

_CUT: Final = frozenset({"parse_truncated", "parse_reply_too_large"})
_VALID: Final = "valid"
"""Stands beside the failure stages in the table of old and new outcomes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What is applied, and where to."""

    checkers: Mapping[str, Checker]
    """By step."""
    steps: Sequence[str] | None = None
    """The steps that have to have rules; all of the run's when not given."""
    next_steps: Mapping[str, str] = field(default_factory=dict)
    """Step → the one that units are requested for that pass it now."""
    context_of: ContextOf | None = None
    """Gives what a step was asked about, where that is more than the run keeps for it."""


@dataclass(slots=True, kw_only=True)
class StepChanges:
    """What applying the rules again changes at one step."""

    step: str
    outcomes: dict[tuple[str, str], int] = field(default_factory=dict)
    """(old outcome, new outcome) → units; an outcome is `valid` or a failure stage."""
    changed: int = 0
    """Attempts that are written, or would be."""
    promoted: int = 0
    """Units that failed and are now valid."""
    queued: int = 0
    """Promoted units that the next step is now asked for."""
    regressions: list[str] = field(default_factory=list)
    """Ids of valid units that these rules reject."""
    demoted: int = 0
    """Regressions that are now failures, because that was wished."""
    changed_outputs: int = 0
    """Valid units whose object would be another one now; they are left as they are."""
    without_answer: int = 0
    """Units without a text to look at, such as those whose call failed or whose reply was cut."""


def revalidate(
    ledger: RunStore,
    rules: Rules,
    *,
    steps: Sequence[str] | None = None,
    is_dry_run: bool = False,
    demotes: bool = False,
) -> list[StepChanges]:
    """Check every answer of the steps again and append an attempt where the outcome changed.

    Each step is one transaction. A valid unit that is now rejected is reported, and made a failure
    only with `demotes`. `steps`: these alone. The caller holds the run's lock.

    Raises `InputError` when the run keeps no answers, and `ConfigurationError` when a step has no
    rules; both before anything is written.
    """
    chosen = steps or rules.steps or ledger.steps
    if not ledger.keeps_raw:
        msg = "the run was made without raw text (--no-raw): there are no answers to check again"
        raise InputError(msg, field="RUN")
    for step in chosen:
        if step not in rules.checkers:
            msg = f"step {step!r} has no rules: nothing is checked again; name a step that has"
            raise ConfigurationError(msg)
    revisions = [
        _Revision(ledger, rules, is_dry_run, demotes, StepChanges(step=step)) for step in chosen
    ]
    for revision in revisions:
        with ledger.transaction():
            revision.carry_out()
    return [revision.changes for revision in revisions]


@dataclass(frozen=True, slots=True)
class _Revision:
    """One step under other rules."""

    ledger: RunStore
    rules: Rules
    is_dry_run: bool
    demotes: bool
    changes: StepChanges

    def carry_out(self) -> None:
        outcomes: Counter[tuple[str, str]] = Counter()
        for row in self.ledger.current(self.changes.step):
            if row.record.raw is None or _is_cut(row.record):
                self.changes.without_answer += 1
                continue
            record = self._judged_again(row, row.record.raw)
            outcomes[row.record.stage or _VALID, record.stage or _VALID] += 1
            if row.is_valid and not self._is_demoted(row, record):
                continue
            if _finding(record) != _finding(row.record):
                self._append(record)
        self.changes.outcomes = dict(sorted(outcomes.items()))

    def _judged_again(self, row: CurrentRow, raw: str) -> AttemptRecord:
        old = row.record
        attempt = AttemptRecord(
            unit_id=old.unit_id,
            step=old.step,
            round=old.round,
            attempt=row.newest_attempt + 1,
            origin=Origin.REVALIDATE,
            raw=raw,
        )
        checker = self.rules.checkers[old.step]
        context_of = self.rules.context_of or self.ledger.units.step_context
        context = context_of(old.unit_id, old.step)
        return judged(attempt, self._verdict(checker, old.unit_id, raw, context), checker)

    def _verdict(self, checker: Checker, unit_id: str, raw: str, context: bytes | None) -> Verdict:
        try:
            return checker.check(unit_id, raw, context)
        except Exception as error:  # noqa: BLE001 - one unit's crash must not cost the others
            crash = UnitError(
                rule="internal_error", message=f"the rules failed: {type(error).__name__}"
            )
            return Verdict(value=None, stage=FailureStage.PIPELINE_INTERNAL, errors=(crash,))

    def _is_demoted(self, row: CurrentRow, record: AttemptRecord) -> bool:
        """Note what became of a valid unit and return whether it is to be a failure now."""
        if record.stage is None:
            self.changes.changed_outputs += record.output != row.record.output
            return False
        self.changes.regressions.append(record.unit_id)
        # A crash says nothing about the answer.
        is_demoted = self.demotes and record.stage != FailureStage.PIPELINE_INTERNAL
        self.changes.demoted += is_demoted
        return is_demoted

    def _append(self, record: AttemptRecord) -> None:
        following = self.rules.next_steps.get(record.step)
        next_step = following if record.stage is None else None
        self.changes.changed += 1
        self.changes.promoted += record.stage is None
        self.changes.queued += next_step is not None
        if self.is_dry_run:
            return
        self.ledger.record([record])
        if next_step is not None:
            self.ledger.request(record.unit_id, next_step, round=record.round)


def _is_cut(record: AttemptRecord) -> bool:
    """Return whether a reply is not whole, which no rule can see in its text."""
    return any(error.get("rule") in _CUT for error in record.errors)


def _finding(record: AttemptRecord) -> tuple[str | None, list[tuple[object, object]]]:
    """Return what an attempt came to, however it is worded."""
    return record.stage, [(error.get("path"), error.get("rule")) for error in record.errors]
