"""The command that does the jobs which servers hand in."""

import asyncio
import os
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from ai_psychiatrist.cli.console import announce
from ai_psychiatrist.cli.settings import ModelOption, overridden, read_settings
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.errors import StoreUnusable

EXAMPLES: Final = """
Examples:

  ai-psychiatrist worker

  ai-psychiatrist worker --concurrency 16 --health-file /tmp/worker

  DATABASE_URL=postgresql://user@host/assessments DATA_KEY_FILE=key ai-psychiatrist worker

Start as many as you like: on the machine of the server, with its DATA_STATE_DIR; or on any machine,
with the DATABASE_URL, the DATA_KEY_FILE and the models of the server, and nothing else. Set
JOBS_CONCURRENCY=0 for a server that does no jobs itself. Ctrl-C or SIGTERM ends a worker: it
leaves what it has begun to others. It ends by itself, with status 75, when its database is away,
so let something start it again: systemd, or compose.yaml.
"""
TRY_AGAIN: Final = 75
"""Exit status of a worker whose database is away; it is the usual one for what may pass."""
_AWAY: Final = (
    "The worker ended: its database cannot be used. Look at DATABASE_URL, or at DATA_STATE_DIR. "
    "Start it again once the database is back."
)


def worker(
    *,
    concurrency: Annotated[
        int | None,
        typer.Option(
            "--concurrency",
            min=1,
            max=1_000,
            help="Jobs at once in this worker, instead of JOBS_CONCURRENCY.",
        ),
    ] = None,
    health_file: Annotated[
        Path | None,
        typer.Option(
            "--health-file", help="File to touch every second while the worker is healthy."
        ),
    ] = None,
    model: ModelOption = None,
) -> None:
    """Run the jobs that servers accept, and the units of `evaluate run --database`."""
    settings = overridden(read_settings(model), "jobs", concurrency=concurrency)
    try:
        status = asyncio.run(_worked(settings, health_file))
    finally:
        if health_file is not None:
            health_file.unlink(missing_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads that still wait for a database which is away would keep the process.
    os._exit(status)


async def _worked(settings: Settings, health_file: Path | None) -> int:
    # The database's library takes a quarter of a second, which only workers are worth.
    from ai_psychiatrist.interface.shared_run import UnitWork  # noqa: PLC0415
    from ai_psychiatrist.wiring import bootstrap  # noqa: PLC0415
    from ai_psychiatrist.wiring.jobs import run_worker  # noqa: PLC0415

    def touch() -> None:
        if health_file is not None:
            health_file.touch(mode=0o600)

    tell = partial(announce, log_format=settings.log.format)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    try:
        async with bootstrap(settings) as services:
            await services.open_references()
            units = UnitWork(services=services)
            await run_worker(
                services,
                stop,
                on_ready=lambda name: tell(
                    "worker_ready", f"Worker {name} takes jobs; Ctrl-C leaves them to others."
                ),
                on_alive=touch,
                units=units,
                left=units.left,
            )
    except StoreUnusable:
        tell("store_away", _AWAY)
        return TRY_AGAIN
    return 0
