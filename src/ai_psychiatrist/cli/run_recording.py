"""Record in a run what `validate` finds."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer

from ai_psychiatrist.cli.run_source import open_or_create_run
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.pipelines.intake import Intake
from ai_psychiatrist.pipelines.pipeline_run import PipelineRun, StepChecks
from ai_psychiatrist.store.runs import RunStore
from ai_psychiatrist.validation.checks.step_validator import StepValidator
from ai_psychiatrist.validation.jsonl.run import Earlier
from ai_psychiatrist.validation.jsonl.unit import OnOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A run that takes the outcomes of one step."""

    take: OnOutcome
    earlier: Earlier
    """Gives what the run's earlier steps know of a unit."""


@contextmanager
def recording(
    run: Path, config: Path, validator: StepValidator, *, is_told: bool
) -> Iterator[Recording]:
    """Yield a run for every outcome; all of them are recorded when the block ends, or none.

    `is_told`: whether the account is printed on standard error. Raises `InputError` when another
    process works on the run, or it was made with another pipeline.
    """
    with open_or_create_run(run, config) as ledger, ledger.lock():
        recorded = PipelineRun.of(ledger)
        intake = Intake(run=recorded, step=validator.name, checks=StepChecks.of(validator))
        with ledger.transaction():
            yield Recording(
                take=intake.take, earlier=lambda key: recorded.before(key, validator.name)
            )
        _tell(ledger, intake, is_told=is_told)


def _tell(ledger: RunStore, intake: Intake, *, is_told: bool) -> None:
    account = ledger.counts(intake.step)
    if not account.balances:
        msg = "units of the run are unaccounted for: its ledger is damaged"
        raise InputError(msg, field="--run")
    if not is_told:
        return
    typer.echo(
        f"run: {intake.recorded:,} attempts recorded, {intake.known:,} answers known already, "
        f"{intake.exhausted:,} for units whose attempts are used up",
        err=True,
    )
    typer.echo(
        f"run: {account.requested:,} requested = {account.valid:,} valid + {account.failed:,} "
        f"failed + {account.pending:,} pending",
        err=True,
    )
