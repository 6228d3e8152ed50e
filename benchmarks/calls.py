"""How an assessment uses its model calls: levels, wall time, and bytes that a cache can reuse."""

import asyncio
import itertools
import statistics
import time
from dataclasses import dataclass
from os.path import commonpath
from typing import Final

from tests.fakes.model_server import ModelServer, Request

from ai_psychiatrist.config import load_settings
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.wiring import bootstrap
from benchmarks.subjects import environment, interview

DELAY_SECONDS: Final = 0.1
LEVELS: Final = 3
ROUNDS: Final = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class CallUse:
    """The model calls of one assessment."""

    calls: int
    levels: int
    """Groups of calls that had to wait for one another."""
    median_wall_seconds: float
    sharing_calls: int
    """Calls after the first that begin with the same system text and transcript block."""
    shared_characters: int
    """Characters of those beginnings, in all calls after the first."""
    prompt_characters: int


async def measure_calls() -> CallUse:
    """Assess one interview several times against a server that answers after 100 ms."""
    walls = []
    async with ModelServer(delay_seconds=DELAY_SECONDS) as server:
        with_danger = environment(server.url) | {"DANGER_MODEL": ""}
        async with bootstrap(load_settings(with_danger, None)) as services:
            transcript = parse_transcript(interview(0), services.settings.transcript.labels)
            await services.assessor.assess(transcript)
            for _ in range(ROUNDS):
                server.reset()
                start = time.perf_counter()
                await services.assessor.assess(transcript)
                walls.append(time.perf_counter() - start)
        return _call_use(server.requests, statistics.median(walls))


def _call_use(requests: list[Request], wall_seconds: float) -> CallUse:
    prompts = ["\n".join(message.content for message in request.messages) for request in requests]
    first, *others = prompts
    block = first[: first.index("Task: ")]
    sharing = [prompt for prompt in others if prompt.startswith(block)]
    return CallUse(
        calls=len(prompts),
        levels=_levels([request.arrived_at for request in requests]),
        median_wall_seconds=wall_seconds,
        sharing_calls=len(sharing),
        shared_characters=sum(len(commonpath([first, prompt])) for prompt in others),
        prompt_characters=sum(map(len, prompts)),
    )


def _levels(arrivals: list[float]) -> int:
    """Count the groups of arrivals that are more than half a delay apart."""
    ordered = sorted(arrivals)
    gaps = [later - earlier for earlier, later in itertools.pairwise(ordered)]
    return 1 + sum(gap > DELAY_SECONDS / 2 for gap in gaps)


def main() -> None:
    """Print the table."""
    use = asyncio.run(measure_calls())
    ideal = LEVELS * DELAY_SECONDS
    share = use.shared_characters / use.prompt_characters
    print("| figure | earlier system | ours | target |")
    print("| --- | ---: | ---: | ---: |")
    print(f"| sequential model calls, one judge round | 8 | {use.levels} of {use.calls} | 3 |")
    print(
        f"| wall time at 100 ms a call | 0.87 s | {use.median_wall_seconds:.3f} s "
        f"({use.median_wall_seconds / ideal:.2f} × 3 calls) | 1.25 × |"
    )
    others = use.calls - 1
    print(
        f"| calls that share their beginning | 0 of 7 | {use.sharing_calls} of {others} "
        f"| {others} of {others} |"
    )
    print(f"| share of all prompt text in it | 0.3 % | {share:.0%} | – |")


if __name__ == "__main__":
    main()
