"""What a model that reads for danger adds to the rules, and what it alarms for nothing.

Asks the model of the settings: `DANGER_MODEL=ollama:gemma3 python -m benchmarks.danger_model`.
"""

import argparse
import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ai_psychiatrist.agents.context import assessment_context
from ai_psychiatrist.agents.danger import DangerAgent
from ai_psychiatrist.config import load_settings
from ai_psychiatrist.domain.risk import ReadingStatus, RiskLevel, RiskReport, with_model_reading
from ai_psychiatrist.services.risk.detector import detect_risk
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.wiring import bootstrap
from benchmarks.risk import STATEMENTS, Labelled, labelled_statements

AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A labelled statement as the rules report on it, and as rules and model do together."""

    labelled: Labelled
    rules: RiskReport
    both: RiskReport


async def pairs(agent: DangerAgent, statements: Iterable[Labelled]) -> list[Pair]:
    """Have each statement read as the answer to its question."""
    places = asyncio.Semaphore(AT_ONCE)

    async def read(one: Labelled) -> Pair:
        transcript = parse_transcript(f"Interviewer: {one.question}\nParticipant: {one.text}")
        rules = detect_risk(transcript)
        async with places:
            reading = await agent.read(assessment_context(transcript))
        return Pair(labelled=one, rules=rules, both=with_model_reading(rules, reading))

    return await asyncio.gather(*map(read, statements))


def rows(read: Sequence[Pair]) -> Iterator[str]:
    """Write what raises the alarm, a signal of at least moderate level, as a Markdown table."""
    urgent = [one for one in read if one.labelled.is_urgent]
    harmless = [one for one in read if not one.labelled.is_danger]
    yield "| statements | of | rules alone | with the model |"
    yield "| --- | ---: | ---: | ---: |"
    for name, of in (("danger, alarmed", urgent), ("look-alike, alarmed", harmless)):
        yield f"| {name} | {len(of)} | {_alarmed(of, _rules)} | {_alarmed(of, _both)} |"
    failed = sum(one.both.model.status is ReadingStatus.FAILED for one in read)
    refused = sum(one.both.model.refused_count for one in read)
    yield f"| readings that failed | {len(read)} | – | {failed} |"
    yield f"| signs in words that nobody said | {len(read)} | – | {refused} |"


def _rules(pair: Pair) -> RiskReport:
    return pair.rules


def _both(pair: Pair) -> RiskReport:
    return pair.both


def _alarmed(of: Sequence[Pair], report: Callable[[Pair], RiskReport]) -> int:
    return sum(report(one).level.rank >= RiskLevel.MODERATE.rank for one in of)


async def _measure(path: Path, most: int | None) -> Iterator[str]:
    async with bootstrap(load_settings()) as services:
        agent = services.assessor.danger
        if agent is None:
            return iter(["no model reads for danger: set DANGER_MODEL"])
        return rows(await pairs(agent, labelled_statements(path)[:most]))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", type=Path, default=STATEMENTS, help="a labelled set")
    parser.add_argument("--most", type=int, default=None, help="how many statements at most")
    options = parser.parse_args(arguments)
    print(*asyncio.run(_measure(options.set, options.most)), sep="\n")


if __name__ == "__main__":
    main()
