"""A worker of its own process that does filed work: `python -m tests.jobs.worker_process`."""

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path

from pydantic import SecretStr

from ai_psychiatrist.infrastructure.logging import setup_logging
from ai_psychiatrist.jobs.dbos.database import jobs_database
from ai_psychiatrist.jobs.dbos.slots import SlotLost
from ai_psychiatrist.jobs.dbos.worker import Worker, WorkerOptions
from ai_psychiatrist.jobs.engine import EngineAway
from tests.jobs.filed_work import FiledWork

LOST = 75


def main() -> None:
    """Work until a signal comes, or the place is lost."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--url", default="")
    parser.add_argument("--calls", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--per-tenant", type=int, default=0)
    parser.add_argument("--reap", type=float, default=1.0)
    given = parser.parse_args()
    setup_logging("INFO")
    worker = Worker(
        database=jobs_database(url=SecretStr(given.url), state_dir=given.folder),
        work=FiledWork(folder=given.folder, calls=given.calls, seconds=given.seconds),
        options=WorkerOptions(
            concurrency=given.concurrency, per_tenant=given.per_tenant, reap_seconds=given.reap
        ),
    )
    status = asyncio.run(_worked(worker))
    os._exit(status)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def _worked(worker: Worker) -> int:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    try:
        await worker.run(stop, on_ready=_say)
    except (EngineAway, SlotLost) as error:
        _say(type(error).__name__)
        return LOST
    return 0


if __name__ == "__main__":
    main()
