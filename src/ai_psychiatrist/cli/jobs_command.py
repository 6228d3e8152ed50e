"""The `jobs` commands: look after what is told of jobs."""

import json
from datetime import UTC, datetime
from typing import Annotated, Final

import typer

from ai_psychiatrist.cli.exits import refusing_bad_input
from ai_psychiatrist.cli.records_command import opened_stores
from ai_psychiatrist.cli.settings_source import quiet, read_settings
from ai_psychiatrist.store.database import Found

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
        settings = quiet(read_settings())
    with opened_stores(settings) as stores:
        found = [
            (tenant, one)
            for tenant in stores.tenants()
            for one in stores.open(tenant).deliveries.given_up()
        ]
        for tenant, one in sorted(found, key=lambda pair: pair[1].due):
            typer.echo(json.dumps(_shown(tenant, one)) if as_json else _line(tenant, one))
        if not found:
            typer.echo("no webhook was given up", err=True)
        if again:
            now = datetime.now(UTC)
            redone = (stores.open(tenant).deliveries.redo(now=now) for tenant in stores.tenants())
            typer.echo(f"{sum(redone)} webhooks are tried anew", err=True)


def _line(tenant: str, one: Found) -> str:
    tries, reason = f"{one.tries} tries", one.reason or "broken_off"
    return "  ".join((one.record_id, tenant, one.host, _moment(one), tries, reason))


def _moment(one: Found) -> str:
    return datetime.fromisoformat(one.due).isoformat(timespec="seconds")


def _shown(tenant: str, one: Found) -> dict[str, object]:
    return {
        "job_id": one.record_id,
        "tenant": tenant,
        "host": one.host,
        "given_up_at": _moment(one),
        "tries": one.tries,
        "reason": one.reason,
    }
