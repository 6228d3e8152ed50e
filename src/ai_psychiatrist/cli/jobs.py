"""The `jobs` commands, which list and retry webhooks of jobs."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from ai_psychiatrist.cli.command_app import CommandGroup
from ai_psychiatrist.cli.console import print_json, say
from ai_psychiatrist.cli.options import JsonLinesOption
from ai_psychiatrist.cli.stores import opened_stores

jobs_app = CommandGroup(
    help="List the webhooks of jobs, and send them again.",
    epilog="""
Examples:

  ai-psychiatrist jobs webhooks

  ai-psychiatrist jobs webhooks --again

A server may be running. Exit status: 0 done, 2 bad input or settings.
""",
)


@jobs_app.callback()
def _jobs() -> None:
    """List and retry webhooks that were given up."""


@jobs_app.command()
def webhooks(
    *,
    again: Annotated[
        bool, typer.Option("--again", help="Try all of them again; a server sends them.")
    ] = False,
    as_json: JsonLinesOption = False,
) -> None:
    """Print the failed webhooks, the oldest first, without the paths of their addresses."""
    with opened_stores() as stores:
        opened = {tenant: stores.open(tenant) for tenant in stores.tenants()}
        found = [(tenant, one) for tenant, of in opened.items() for one in of.deliveries.given_up()]
        for tenant, one in sorted(found, key=lambda pair: pair[1].due):
            moment = datetime.fromisoformat(one.due).isoformat(timespec="seconds")
            shown = {
                # Null for one of an interview, whose id opens it.
                "job_id": one.record_id,
                "event": one.event,
                "tenant": tenant,
                "host": one.host,
                "given_up_at": moment,
                "tries": one.tries,
                "reason": one.reason,
            }
            words = {
                **shown,
                "job_id": one.record_id or "interview",
                "tries": f"{one.tries} tries",
                "reason": one.reason or "broken_off",
            }
            line = "  ".join(map(str, words.values()))
            print_json(shown, is_line=True) if as_json else typer.echo(line)
        if not found:
            say("no webhook was given up")
        if again:
            now = datetime.now(UTC)
            redone = sum(of.deliveries.redo(now=now) for of in opened.values())
            say(f"{redone} webhooks are tried again")
