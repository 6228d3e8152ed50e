"""Apply rules again to the answers of a run; no model is asked and nothing is taken away."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.ledger.attempt_records import AttemptOf, attempt_record
from ai_psychiatrist.ledger.ledger import Ledger
from ai_psychiatrist.ledger.records import (
    AttemptRecord,
    CurrentRow,
    Origin,
    QueuedUnit,
)
from ai_psychiatrist.validation.verdict import UnitError, Verdict

VALID: Final = "valid"
"""Stands beside the failure stages in the table of old and new outcomes."""

_BATCH: Final = 500


class Checker(Protocol):
    """The rules of one step."""

    @property
    def ruleset_digest(self) -> str:
        """Digest of the rules."""
        ...

    @property
    def schema_digest(self) -> str:
        """Digest of the schema."""
        ...

    def check(self, unit_id: str, raw: str, context: bytes | None) -> Verdict:
        """Return what becomes of an answer under these rules."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StepChanges:
    """What applying the rules again changes at one step."""

    step: str
    outcomes: Mapping[tuple[str, str], int]
    """(old outcome, new outcome) → units; an outcome is `valid` or a failure stage."""
    changed: int
    """Attempts that are written, or would be."""
    promoted: int
    """Units that failed and are now valid."""
    queued: int
    """Promoted units that the next step is now asked for."""
    regressions: tuple[str, ...]
    """Ids of valid units that these rules reject."""
    demoted: int
    """Regressions that are now failures, because that was wished."""
    changed_outputs: int
    """Valid units whose object would be another one now; they are left as they are."""
    without_answer: int
    """Units without a text to look at, such as those whose call failed."""


@dataclass(slots=True)
class _Tally:
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    regressions: list[str] = field(default_factory=list)
    changed: int = 0
    promoted: int = 0
    queued: int = 0
    demoted: int = 0
    changed_outputs: int = 0
    without_answer: int = 0


def revalidate(
    ledger: Ledger,
    checkers: Mapping[str, Checker],
    *,
    steps: Sequence[str] | None = None,
    next_steps: Mapping[str, str] | None = None,
    is_dry_run: bool = False,
    demotes: bool = False,
) -> list[StepChanges]:
    """Check every answer of the steps again and append an attempt where the outcome changed.

    Each step is one transaction. Units that become valid are requested for the step that follows
    in `next_steps`. A valid unit that is now rejected is reported, and made a failure only with
    `demotes`. `steps`: all of the run's when not given. The caller holds the run's lock.

    Raises `InputError` when the run keeps no answers, and `ConfigurationError` when a step has no
    rules; both before anything is written.
    """
    chosen = ledger.steps if steps is None else steps
    if not ledger.keeps_raw:
        msg = "the run was made without raw text (--no-raw): there are no answers to check again"
        raise InputError(msg, field="RUN")
    for step in chosen:
        if step not in checkers:
            msg = f"step {step!r} has no rules: nothing is checked again; name a step that has"
            raise ConfigurationError(msg)
    following = next_steps or {}
    changes = []
    for step in chosen:
        with ledger.transaction():
            revision = _Revision(
                ledger=ledger,
                step=step,
                checker=checkers[step],
                next_step=following.get(step),
                is_dry_run=is_dry_run,
                demotes=demotes,
            )
            changes.append(revision.carry_out())
    return changes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Revision:
    """One step under other rules."""

    ledger: Ledger
    step: str
    checker: Checker
    next_step: str | None
    is_dry_run: bool
    demotes: bool
    _tally: _Tally = field(default_factory=_Tally, init=False)

    def carry_out(self) -> StepChanges:
        batch: list[AttemptRecord] = []
        for record in self._revised():
            batch.append(record)
            if len(batch) == _BATCH:
                self._write(batch)
                batch = []
        self._write(batch)
        tally = self._tally
        return StepChanges(
            step=self.step,
            outcomes=dict(sorted(tally.outcomes.items())),
            changed=tally.changed,
            promoted=tally.promoted,
            queued=tally.queued,
            regressions=tuple(tally.regressions),
            demoted=tally.demoted,
            changed_outputs=tally.changed_outputs,
            without_answer=tally.without_answer,
        )

    def _revised(self) -> Iterator[AttemptRecord]:
        """Yield the attempts to append."""
        for row in self.ledger.current(self.step):
            if row.record.raw is None:
                self._tally.without_answer += 1
                continue
            record = self._judged_again(row, row.record.raw)
            self._tally.outcomes[_outcome(row.record), _outcome(record)] += 1
            if row.is_valid and not self._is_demoted(row, record):
                continue
            if _finding(record) != _finding(row.record):
                self._tally.promoted += record.stage is None
                yield record

    def _judged_again(self, row: CurrentRow, raw: str) -> AttemptRecord:
        old = row.record
        about = AttemptOf(
            unit_id=old.unit_id,
            step=old.step,
            round=old.round,
            attempt=row.newest_attempt + 1,
            origin=Origin.REVALIDATE,
            ruleset_digest=self.checker.ruleset_digest,
            schema_digest=self.checker.schema_digest,
        )
        context = self.ledger.step_context(old.unit_id, old.step, round=old.round)
        return attempt_record(self._verdict(old.unit_id, raw, context), about, raw=raw)

    def _verdict(self, unit_id: str, raw: str, context: bytes | None) -> Verdict:
        try:
            return self.checker.check(unit_id, raw, context)
        except Exception as error:  # noqa: BLE001 - one unit's crash must not cost the others
            crash = UnitError(
                rule="internal_error", message=f"the rules failed: {type(error).__name__}"
            )
            return Verdict(value=None, stage=FailureStage.PIPELINE_INTERNAL, errors=(crash,))

    def _is_demoted(self, row: CurrentRow, record: AttemptRecord) -> bool:
        """Note what became of a valid unit and return whether it is to be a failure now."""
        if record.stage is None:
            self._tally.changed_outputs += record.output != row.record.output
            return False
        self._tally.regressions.append(record.unit_id)
        # A crash says nothing about the answer.
        is_demoted = self.demotes and record.stage != FailureStage.PIPELINE_INTERNAL
        self._tally.demoted += is_demoted
        return is_demoted

    def _write(self, records: Sequence[AttemptRecord]) -> None:
        promoted = [QueuedUnit(made.unit_id, made.round) for made in records if made.stage is None]
        self._tally.changed += len(records)
        if self.next_step is not None:
            self._tally.queued += len(promoted)
        if self.is_dry_run:
            return
        self.ledger.record(records)
        if self.next_step is not None:
            self.ledger.request_all(promoted, self.next_step)


def _outcome(record: AttemptRecord) -> str:
    return VALID if record.stage is None else record.stage


def _finding(record: AttemptRecord) -> tuple[str | None, list[tuple[object, object]]]:
    """Return what an attempt came to, however it is worded."""
    return record.stage, [(error.get("path"), error.get("rule")) for error in record.errors]
