"""A worker of its own process that does filed work: `python -m tests.jobs.worker_process`."""

import argparse
import asyncio
import os
import signal
import sys
from functools import partial
from pathlib import Path

from ai_psychiatrist.domain.errors import StoreUnusable
from ai_psychiatrist.infrastructure.logging import setup_logging
from ai_psychiatrist.jobs.engine import Engine
from ai_psychiatrist.store.jobs import JobRef
from ai_psychiatrist.store.stores import Stores
from ai_psychiatrist.wiring.job_work import Claimed
from tests.jobs.filed_work import FiledWork
from tests.jobs.places import Place

LOST = 75


def main() -> None:
    """Work until a signal comes, or the database is away."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--url", default="")
    parser.add_argument("--state", type=Path)
    parser.add_argument("--calls", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--per-tenant", type=int, default=0)
    parser.add_argument("--reap", type=float, default=3.0)
    parser.add_argument("--tend", type=float, default=0.5)
    given = parser.parse_args()
    setup_logging("INFO")
    place = Place(url=given.url, folder=given.folder)
    stores = place.stores(folder=given.state, dead_seconds=given.reap)

    claim = partial(stores.claim, per_tenant=given.per_tenant)

    async def worked() -> int:
        work = FiledWork(
            stores=stores,
            folder=given.folder,
            calls=given.calls,
            seconds=given.seconds,
            claimed=Claimed(stores),
        )
        engine = Engine(claim=claim, work=work, concurrency=given.concurrency)
        return await _worked(engine, stores, given.tend)

    status = asyncio.run(worked())
    os._exit(status)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def _worked(engine: Engine[JobRef], stores: Stores, tend_seconds: float) -> int:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    try:
        name = await asyncio.to_thread(lambda: stores.runner)
    except StoreUnusable:
        _say("away")
        return LOST
    async with engine.running():
        _say(f"worker {name}")
        while not stop.is_set():
            try:
                await stores.take_back(engine.under_way)
            except StoreUnusable as error:
                sys.stderr.write(f"{error}\n")
            try:
                async with asyncio.timeout(tend_seconds):
                    await stop.wait()
            except TimeoutError:
                continue
    await stores.take_back(())
    stores.close()
    return 0


if __name__ == "__main__":
    main()
