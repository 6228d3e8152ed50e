"""The `jobs` commands: look after what is told of jobs."""

import json
import time
from datetime import UTC, datetime
from typing import Annotated, Final

import typer

from ai_psychiatrist.cli.exits import refusing_bad_input
from ai_psychiatrist.cli.settings_source import quiet, read_settings
from ai_psychiatrist.jobs.webhooks.letter import GivenUp
from ai_psychiatrist.jobs.webhooks.outbox import FILE_NAME, Outbox

EXAMPLES: Final = """
Examples:

  ai-psychiatrist jobs webhooks

  ai-psychiatrist jobs webhooks --again

A server may run meanwhile. Exit status: 0 done, 2 bad input or settings.
"""

jobs_app = typer.Typer(
    help="Look after what is told of jobs.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    epilog=EXAMPLES,
)


@jobs_app.callback()
def _jobs() -> None:
    """Look after what is told of jobs."""


@jobs_app.command()
def webhooks(
    *,
    again: Annotated[
        bool, typer.Option("--again", help="Try all of them anew; a server sends them.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
) -> None:
    """Print the webhooks that were given up, the oldest first, without their addresses' paths."""
    with refusing_bad_input():
        folder = quiet(read_settings()).data.state_folder
        if not (folder / FILE_NAME).exists():
            typer.echo("no webhook was ever asked for", err=True)
            return
        outbox = Outbox.open(folder / FILE_NAME)
        try:
            given_up = outbox.given_up()
            if not given_up:
                typer.echo("no webhook was given up", err=True)
            for one in given_up:
                typer.echo(json.dumps(_shown(one)) if as_json else _line(one))
            if again:
                count = outbox.redo(now=time.time())
                typer.echo(f"{count} webhooks are tried anew", err=True)
        finally:
            outbox.close()


def _moment(one: GivenUp) -> str:
    return datetime.fromtimestamp(one.given_up, UTC).isoformat(timespec="seconds")


def _line(one: GivenUp) -> str:
    reason = one.reason or "broken_off"
    return (
        f"{one.job.id}  {one.job.tenant}  {one.place}  {_moment(one)}  {one.tries} tries  {reason}"
    )


def _shown(one: GivenUp) -> dict[str, object]:
    return {
        "job_id": one.job.id,
        "tenant": one.job.tenant,
        "host": one.place,
        "given_up_at": _moment(one),
        "tries": one.tries,
        "reason": one.reason,
    }
