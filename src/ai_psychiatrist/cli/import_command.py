"""The command `import`: outcomes of another program taken into a run."""

from collections import deque
from pathlib import Path
from typing import Annotated, Final

import typer

from ai_psychiatrist.cli.exits import refusing_bad_input
from ai_psychiatrist.cli.run_source import open_or_create_run
from ai_psychiatrist.pipelines.contexts import AccumulatedContexts
from ai_psychiatrist.pipelines.intake import Intake, read_outcomes
from ai_psychiatrist.pipelines.run_folder import (
    checker_of,
    following_steps,
    kept_pipeline,
)

EXAMPLES: Final = """
Examples:

  ai-psychiatrist import runs/old score_failures.jsonl --step score --config pipeline.yaml

  ai-psychiatrist import runs/old score_validated.jsonl --step score

Failures keep their stage and their retries; valid units are judged by the run's rules. Nothing is
imported when a line cannot be used.

Exit status: 0 imported, 2 a line, the run or the configuration cannot be used.
"""


def import_outcomes(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Failures or valid units.")],
    *,
    step: Annotated[str, typer.Option("--step", help="The step whose outcomes these are.")],
    config: Annotated[
        Path | None, typer.Option("--config", help="The pipeline file, to make a new run.")
    ] = None,
) -> None:
    """Take outcomes that were exported, or written by another program, into a run."""
    with refusing_bad_input():
        # Before a run is made: a line that cannot be used is named.
        deque(read_outcomes(file), maxlen=0)
        with open_or_create_run(run, config) as ledger, ledger.lock(), ledger.transaction():
            pipeline = kept_pipeline(run)
            contexts = AccumulatedContexts.of(ledger, pipeline)
            intake = Intake(
                run=ledger,
                step=step,
                checker=checker_of(ledger, step),
                limits=pipeline.retry,
                next_step=following_steps(ledger.steps).get(step),
            )
            intake.take_outcomes(file, earlier=lambda unit_id: contexts.before(unit_id, step))
    typer.echo(f"{step}: {intake.recorded} imported, {intake.known} known already", err=True)
