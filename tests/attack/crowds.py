"""The memory of the server and its workers while as many requests are under way as may be."""

import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from typing import Final

from tests.attack.bodies import LARGEST_CHARACTERS, ROUTES, hostile_bodies, of_text
from tests.attack.callers import Answer, Call, ask
from tests.attack.hostile_texts import HOSTILE_TEXTS
from tests.attack.memory import BAR_MEGABYTES, watching_memory
from tests.attack.server import attacked
from tests.attack.verdicts import Verdict, at_most
from tests.integration.running_app import model_at

CROWD: Final = 64
_GIVEN_UP_SECONDS: Final = 120.0
_TEXTS: Final = (
    "astral letters",
    "emoji sequences",
    "ligature of eighteen letters",
    "marks on every letter",
    "danger in every sentence",
    "symptoms that differ",
    "words that differ",
    "nearly too many turns",
)


def attack_with_crowds() -> Iterator[Verdict]:
    """Let a crowd send texts to the baseline, then to a slow model, then bodies."""
    texts = _crowd(
        [
            of_text(path, HOSTILE_TEXTS[name](LARGEST_CHARACTERS))
            for name in _TEXTS
            for path in ROUTES
        ]
    )
    yield _met("largest texts, baseline", {}, texts)
    with slow_model() as url:
        yield _met("largest texts, slow model", model_at(url), texts)
    bodies = _crowd([call for _, call in hostile_bodies()])
    yield _met("largest bodies", {}, bodies)


def _crowd(calls: Sequence[Call]) -> list[Call]:
    return list(islice(cycle(calls), CROWD))


def _met(name: str, settings: Mapping[str, str], calls: Sequence[Call]) -> Verdict:
    with attacked(settings) as server, watching_memory(server.pid) as peak:
        answers = asyncio.run(_asked(server.url, calls))
    statuses = Counter(answer.status for answer in answers)
    return at_most(
        f"peak memory, {len(calls)} requests: {name}",
        peak.megabytes,
        BAR_MEGABYTES,
        "MB",
        note=f"{peak} MB; answers {dict(statuses)}",
    )


async def _asked(url: str, calls: Sequence[Call]) -> list[Answer]:
    return await asyncio.gather(*(ask(url, call, seconds=_GIVEN_UP_SECONDS) for call in calls))


@contextmanager
def slow_model(milliseconds: int = 1_000) -> Iterator[str]:
    """Serve models that take their time, in a process of its own; yields the address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.fakes.model_server", "--delay-ms", str(milliseconds)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[-1]
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
