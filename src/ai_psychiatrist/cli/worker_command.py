"""The command that does the jobs which servers hand in."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from ai_psychiatrist.cli.exits import refusing_bad_input
from ai_psychiatrist.cli.settings_source import ModelOption, read_settings
from ai_psychiatrist.config import Settings
from ai_psychiatrist.jobs.dbos.slots import SlotLost
from ai_psychiatrist.jobs.engine import EngineAway

EXAMPLES: Final = """
Examples:

  JOBS_ENGINE=dbos ai-psychiatrist serve

  JOBS_ENGINE=dbos ai-psychiatrist worker

  JOBS_ENGINE=dbos ai-psychiatrist worker --concurrency 16 --health-file /tmp/worker

Start as many as you like on the machine of the server; they share DATA_STATE_DIR, and the queue in
JOBS_DATABASE_URL (without it: a file there). Ctrl-C or SIGTERM ends one: it leaves what it has
begun to others. It ends by itself, with status 75, when it loses its database, so let something
start it again: systemd, or compose.yaml.
"""
TRY_AGAIN: Final = 75
"""Exit status of a worker whose database is away; it is the usual one for what may pass."""


def worker(
    *,
    concurrency: Annotated[
        int | None,
        typer.Option(
            "--concurrency",
            min=1,
            max=1_000,
            help="Jobs at once in each worker, instead of JOBS_CONCURRENCY; the worker that "
            "starts last says it for all.",
        ),
    ] = None,
    health_file: Annotated[
        Path | None,
        typer.Option(
            "--health-file", help="File that is touched each second that the worker may go on."
        ),
    ] = None,
    model: ModelOption = None,
) -> None:
    """Do the jobs that servers hand in (JOBS_ENGINE=dbos)."""
    with refusing_bad_input():
        settings = _with_concurrency(read_settings(model), concurrency)
        try:
            status = asyncio.run(_worked(settings, health_file))
        finally:
            if health_file is not None:
                health_file.unlink(missing_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads that still wait for a database which is away would keep the process.
    os._exit(status)


def _with_concurrency(settings: Settings, concurrency: int | None) -> Settings:
    if concurrency is None:
        return settings
    jobs = settings.jobs.model_copy(update={"concurrency": concurrency})
    return settings.model_copy(update={"jobs": jobs})


async def _worked(settings: Settings, health_file: Path | None) -> int:
    # The library behind it is imported by workers alone.
    from ai_psychiatrist.wiring import bootstrap  # noqa: PLC0415
    from ai_psychiatrist.wiring.jobs import run_worker  # noqa: PLC0415

    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    try:
        async with bootstrap(settings) as services:
            await services.open_references()
            await run_worker(
                services, stop, on_ready=_announce, on_alive=lambda: _touch(health_file)
            )
    except (EngineAway, SlotLost) as error:
        typer.echo(
            f"The worker ended: {error}. Start it again once the database is back.", err=True
        )
        return TRY_AGAIN
    return 0


def _announce(name: str) -> None:
    typer.echo(f"Worker {name} takes jobs; Ctrl-C leaves them to others.", err=True)


def _touch(health_file: Path | None) -> None:
    if health_file is not None:
        health_file.touch(mode=0o600)
