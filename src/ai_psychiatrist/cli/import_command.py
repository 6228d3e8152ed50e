"""The command `import`: outcomes of another program taken into a run."""

from collections import deque
from pathlib import Path
from typing import Annotated, Final

import typer

from ai_psychiatrist.cli.exits import refusing_bad_input
from ai_psychiatrist.cli.run_source import open_or_create_run
from ai_psychiatrist.pipelines.intake import Intake, read_outcomes
from ai_psychiatrist.pipelines.pipeline_run import PipelineRun

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
            imported_into = PipelineRun.of(ledger)
            checks = imported_into.checks(step)
            intake = Intake(run=imported_into, step=step, checks=checks)
            intake.take_outcomes(file)
    typer.echo(f"{step}: {intake.recorded} imported, {intake.known} known already", err=True)
