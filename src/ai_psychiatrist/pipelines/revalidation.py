"""Apply rules again to the answers of a run; no model is asked and nothing is taken away."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.errors import ConfigurationError, InputError
from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.pipelines.pipeline_run import PipelineRun, StepChecks
from ai_psychiatrist.store.run_records import AttemptRecord, CurrentRow, Origin
from ai_psychiatrist.validation.checks.verdict import refusal

_CUT: Final = frozenset({"parse_truncated", "parse_reply_too_large"})
_VALID: Final = "valid"
"""Stands beside the failure stages in the table of old and new outcomes."""


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
    run: PipelineRun,
    checks: Mapping[str, StepChecks],
    *,
    steps: Sequence[str] | None = None,
    is_dry_run: bool = False,
    demotes: bool = False,
) -> list[StepChanges]:
    """Check every answer of the steps again and append an attempt where the outcome changed.

    Each step is one transaction. A valid unit that is now rejected is reported, and made a failure
    only with `demotes`; one that now passes is queued for the step that follows. `checks`: by
    step. `steps`: these alone. The caller holds the run's lock.

    Raises `InputError` when the run keeps no answers, and `ConfigurationError` when a step has no
    rules; both before anything is written.
    """
    chosen = steps or run.store.steps
    if not run.store.keeps_raw:
        msg = "the run was made without raw text (--no-raw): there are no answers to check again"
        raise InputError(msg, field="RUN")
    for step in chosen:
        if step not in checks:
            msg = f"step {step!r} has no rules: nothing is checked again; name a step that has"
            raise ConfigurationError(msg)
    return [
        _checked_again(run, checks[step], step, is_dry_run=is_dry_run, demotes=demotes)
        for step in chosen
    ]


def _checked_again(
    run: PipelineRun, checks: StepChecks, step: str, *, is_dry_run: bool, demotes: bool
) -> StepChanges:
    changes, outcomes = StepChanges(step=step), Counter[tuple[str, str]]()
    has_following = run.following(step) is not None
    with run.store.transaction():
        for row in run.store.current(step):
            old = row.record
            # A reply that is cut is not whole, which no rule can see in its text.
            if old.raw is None or any(error.get("rule") in _CUT for error in old.errors):
                changes.without_answer += 1
                continue
            record = _judged_again(run, checks, row, old.raw)
            outcomes[old.stage or _VALID, record.stage or _VALID] += 1
            if row.is_valid and record.is_valid:
                changes.changed_outputs += record.output != old.output
                continue
            if row.is_valid:
                changes.regressions.append(old.unit_id)
                # A crash says nothing about the answer.
                if not demotes or record.stage == FailureStage.PIPELINE_INTERNAL:
                    continue
                changes.demoted += 1
            if _finding(record) == _finding(old):
                continue
            changes.changed += 1
            changes.promoted += record.is_valid
            changes.queued += record.is_valid and has_following
            if not is_dry_run:
                run.record([record])
    changes.outcomes = dict(sorted(outcomes.items()))
    return changes


def _judged_again(run: PipelineRun, checks: StepChecks, row: CurrentRow, raw: str) -> AttemptRecord:
    old = row.record
    attempt = AttemptRecord(
        unit_id=old.unit_id,
        step=old.step,
        round=old.round,
        attempt=row.newest_attempt + 1,
        origin=Origin.REVALIDATE,
        raw=raw,
    )
    context = run.context(old.unit_id, old.step)
    try:
        verdict = checks.check(old.unit_id, raw, context)
    except Exception as error:  # noqa: BLE001 - one unit's crash must not cost the others
        message = f"the rules failed: {type(error).__name__}"
        verdict = refusal(FailureStage.PIPELINE_INTERNAL, "internal_error", message)
    return checks.judged(attempt, verdict)


def _finding(record: AttemptRecord) -> tuple[str | None, list[tuple[object, object]]]:
    """Return what an attempt came to, however it is worded."""
    return record.stage, [(error.get("path"), error.get("rule")) for error in record.errors]
