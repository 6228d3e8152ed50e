"""The command that makes one run of the shards that several processes made."""

from pathlib import Path
from typing import Annotated

import typer

from ai_psychiatrist.cli.console import ExitCode, refusing_bad_input
from ai_psychiatrist.cli.evaluation_run import conclude
from ai_psychiatrist.cli.progress import step_progress
from ai_psychiatrist.cli.run_source import run_cipher
from ai_psychiatrist.evaluation.runs.shards import merge_shards

EXAMPLES = """
Examples:

  ai-psychiatrist evaluate run interviews/ --out parts/1 --shard 1/2

  ai-psychiatrist evaluate run interviews/ --out parts/2 --shard 2/2

  ai-psychiatrist evaluate merge parts/* --out runs/all

  ai-psychiatrist evaluate merge parts/* --out runs/so-far --partial

The shards are only read. Their results become what one process would have written, and every
command on runs works with them.

Exit status: as of run; 2 for shards that make no whole run, with what is missing or differs.
"""


def merge(
    shards: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="The folders of all shards.", show_default=False),
    ],
    *,
    out: Annotated[Path, typer.Option("--out", metavar="RUN", help="Folder for the one run.")],
    partial: Annotated[
        bool,
        typer.Option("--partial", help="Merge what is there, and say what is missing."),
    ] = False,
) -> None:
    """Make one run of the shards of `evaluate run --shard`: one ledger, one account."""
    with refusing_bad_input():
        with step_progress("merging") as on_progress:
            runs = merge_shards(
                shards, out, is_partial=partial, cipher=run_cipher(), on_progress=on_progress
            )
        codes = set()
        for run, state in runs.items():
            if len(runs) > 1:
                typer.echo(f"{run.path.name}:", err=True)
            code, missing = conclude(state), run.require_run().get("missing_shards")
            if isinstance(missing, list):
                typer.echo(f"shards missing: {', '.join(missing)}", err=True)
                code = max(code, ExitCode.PARTIAL)
            codes.add(code)
    what = "report" if len(runs) == 1 else "compare"
    typer.echo(f"next: ai-psychiatrist evaluate {what} {out}", err=True)
    raise typer.Exit(codes.pop() if len(codes) == 1 else ExitCode.PARTIAL)
