"""Record in a run what `validate` finds."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from ai_psychiatrist.ledger.answer_intake import AnswerIntake
    from ai_psychiatrist.ledger.ledger import Ledger
    from ai_psychiatrist.validation.jsonl.outcome import OnOutcome
    from ai_psychiatrist.validation.step import StepValidator


@contextmanager
def recording(
    run: Path, config: Path, validator: "StepValidator", *, is_told: bool
) -> "Iterator[OnOutcome]":
    """Yield what takes every outcome; all of them are recorded when the block ends, or none.

    `is_told`: whether the account is printed on standard error. Raises `InputError` when another
    process works on the run, or it was made with another pipeline.
    """
    from ai_psychiatrist.cli.run_source import open_or_create_run  # noqa: PLC0415
    from ai_psychiatrist.ledger.answer_intake import AnswerIntake, judged_answer  # noqa: PLC0415
    from ai_psychiatrist.ledger.pipeline_runs import (  # noqa: PLC0415
        PipelineChecker,
        following_steps,
        kept_pipeline,
    )
    from ai_psychiatrist.validation.jsonl.outcome import Outcome  # noqa: PLC0415

    with open_or_create_run(run, config) as ledger, ledger.lock():
        intake = AnswerIntake(
            ledger=ledger,
            step=validator.name,
            checker=PipelineChecker(validator=validator),
            limits=kept_pipeline(run).retry,
            next_step=following_steps(ledger.steps).get(validator.name),
        )

        def take(outcome: Outcome) -> None:
            answer = judged_answer(outcome)
            if answer is not None:
                intake.take(answer)

        with ledger.transaction():
            yield take
        _tell(ledger, intake, is_told=is_told)


def _tell(ledger: "Ledger", intake: "AnswerIntake", *, is_told: bool) -> None:
    from ai_psychiatrist.domain.errors import InputError  # noqa: PLC0415

    account = ledger.account(intake.step)
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
