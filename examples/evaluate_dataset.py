"""Assess a folder of interviews as a run that can be stopped at any time and gone on with."""

import asyncio
import sys
from pathlib import Path

import ai_psychiatrist as ap

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "run")
IS_BEGUN = FOLDER.exists()


async def main() -> None:
    """Print how many units are done, and where the run stands."""
    async with ap.open() as app:
        run = await app.evaluate(
            Path(__file__).parent / "interview.txt",
            FOLDER,
            resume=IS_BEGUN,
            on_progress=lambda done, requested: print(f"{done} of {requested}"),
        )
    print(run)


asyncio.run(main())
