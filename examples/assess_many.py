"""Assess several interviews at the same time, with one set of clients."""

import asyncio
from pathlib import Path

import ai_psychiatrist as ap

EXAMPLES = Path(__file__).parent
INTERVIEWS = (EXAMPLES / "interview.txt", EXAMPLES / "short_interview.txt")


async def main() -> None:
    """Print where each assessment stands."""
    async with ap.open() as app:
        results = await asyncio.gather(*map(app.assess, INTERVIEWS))
    for path, result in zip(INTERVIEWS, results, strict=True):
        print(path.name, result.status.value)


asyncio.run(main())
