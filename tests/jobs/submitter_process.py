"""A server's part in a process of its own: it stores jobs first, and hands in what has no end.

`python -m tests.jobs.submitter_process FOLDER --url URL --jobs N`
"""

import argparse
import asyncio
import sys
from pathlib import Path

from pydantic import SecretStr

from ai_psychiatrist.jobs.dbos.database import jobs_database
from ai_psychiatrist.jobs.dbos.engine import DbosEngine
from ai_psychiatrist.jobs.engine import EngineAway, JobRef
from tests.jobs.filed_work import ended

_TEND_SECONDS = 0.5


def main() -> None:
    """Hand in jobs until all have their end."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--url", default="")
    parser.add_argument("--jobs", type=int, required=True)
    given = parser.parse_args()
    engine = DbosEngine(jobs_database(url=SecretStr(given.url), state_dir=given.folder))
    asyncio.run(_tended(engine, given.folder, given.jobs))
    engine.close()


async def _tended(engine: DbosEngine, folder: Path, count: int) -> None:
    stored = {f"t{number % 3}/j{number:04}" for number in range(count)}
    while left := stored - ended(folder):
        try:
            known = {f"{job.tenant}/{job.id}" for job, _ in await engine.list()}
            for name in sorted(left - known):
                tenant, _, job_id = name.partition("/")
                await engine.submit(JobRef(tenant=tenant, id=job_id))
        except EngineAway as error:
            sys.stderr.write(f"{error}\n")
        await asyncio.sleep(_TEND_SECONDS)


if __name__ == "__main__":
    main()
