"""Hostile replies of models: what they cost in memory and in waits, and how the calls end."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tests.attack.callers import Answer, ask, posted
from tests.attack.costly_replies import COSTLIEST
from tests.attack.health import BAR_MILLISECONDS, BUSY_MILLISECONDS, Waits, watching
from tests.attack.hostile_server import (
    EVERY_COSTLY,
    HOSTILE_REPLIES,
    TRANSPORTED,
    WIRES,
    HostileServer,
    model_settings,
)
from tests.attack.memory import BAR_MEGABYTES, watching_memory
from tests.attack.server import attacked
from tests.attack.verdicts import Verdict, all_of, at_most
from tests.sweeps import ASSESSMENTS_OF_COSTLY_REPLIES

TEXT: Final = "Interviewer: How do you sleep?\nParticipant: Badly, nearly every night.\n"
_GIVEN_UP_SECONDS: Final = 15.0
AT_ONCE: Final = ASSESSMENTS_OF_COSTLY_REPLIES.whole
_ALL_READ_SECONDS: Final = 120.0
_SETTINGS: Final = {
    "PYDANTIC_AI_TIMEOUT_SECONDS": "1",
    "PYDANTIC_AI_RETRIES": "1",
    "API_REQUEST_TIMEOUT_SECONDS": "10",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied:
    """An assessment whose model sent one kind of reply."""

    name: str
    began: float
    ended: float
    megabytes: float
    answer: Answer

    @property
    def is_typed(self) -> bool:
        """Whether the answer is a problem or a result, which says what failed."""
        if self.answer.status not in {200, 502, 504}:
            return False
        return bool(self.answer.json().get("failures"))


def attack_with_replies(wires: tuple[str, ...] = WIRES) -> Iterator[Verdict]:
    """Have models reply in every way over each wire, and yield what is to be said of it."""
    for wire in wires:
        names = list(HOSTILE_REPLIES if wire == wires[0] else TRANSPORTED)
        all_waits, replied = Waits(), []
        with HostileServer(wire) as model:
            while names:
                with (
                    attacked(_SETTINGS | model_settings(wire, model.url)) as server,
                    watching(server.url) as waits,
                ):
                    # One that hangs must not be held against those that come after it.
                    is_answering = True
                    while names and is_answering:
                        model.choose(names[0])
                        replied.append(_replied(server.url, server.pid, names.pop(0)))
                        is_answering = replied[-1].answer.status != 0
                all_waits.server += waits.server
                all_waits.control += waits.control
        yield from _verdicts(wire, replied, all_waits)


def _replied(url: str, pid: int, name: str) -> Replied:
    path = "/assess/qualitative" if name in TRANSPORTED else "/full_pipeline"
    began = time.monotonic()
    with watching_memory(pid) as peak:
        answer = asyncio.run(
            ask(url, posted(path, {"transcript_text": TEXT}), seconds=_GIVEN_UP_SECONDS)
        )
    return Replied(
        name=name,
        began=began,
        ended=time.monotonic(),
        megabytes=peak.megabytes,
        answer=answer,
    )


def _verdicts(wire: str, replied: list[Replied], waits: Waits) -> Iterator[Verdict]:
    waited = {one.name: waits.worst(one.began, one.ended) for one in replied}
    worst = max(replied, key=lambda one: waited[one.name])
    control = waits.worst_control(worst.began, worst.ended)
    busy = ", machine busy" if control > BUSY_MILLISECONDS else ""
    yield at_most(
        f"{wire}: /healthz under {len(replied)} hostile replies",
        waited[worst.name],
        BAR_MILLISECONDS,
        "ms",
        note=f"{worst.name}; control {control:.0f} ms{busy}",
    )
    largest = max(replied, key=lambda one: one.megabytes)
    yield at_most(f"{wire}: peak memory", largest.megabytes, BAR_MEGABYTES, "MB", note=largest.name)
    statuses = Counter(one.answer.status for one in replied)
    untyped = ", ".join(one.name for one in replied if not one.is_typed)
    yield all_of(
        f"{wire}: calls that end as a typed failure",
        sum(one.is_typed for one in replied),
        len(replied),
        note=untyped or str(dict(statuses)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """Assessments that one server made at the same time."""

    statuses: Mapping[int, int]
    """Status → how many answers."""
    seconds: float
    waited_milliseconds: float
    """For /healthz, at worst."""
    control_milliseconds: float
    """For a server that does nothing, at worst."""
    megabytes: float
    """At the peak, of the server and its workers."""
    left_megabytes: float
    """A second after the last answer."""


def assessed_at_once(settings: Mapping[str, str], count: int = AT_ONCE) -> Burst:
    """Have a server of its own make so many assessments at once, and watch it."""
    settings = {"PYDANTIC_AI_RETRIES": "1", "API_MAX_CONCURRENCY": str(count)} | dict(settings)
    with attacked(settings) as server:
        # The first assessment of a server loads what all others use.
        asyncio.run(_asked_at_once(server.url, 1))
        with watching(server.url) as waits, watching_memory(server.pid) as peak:
            began = time.monotonic()
            statuses = Counter(asyncio.run(_asked_at_once(server.url, count)))
            ended = time.monotonic()
        time.sleep(1)
        with watching_memory(server.pid) as left:
            pass
    return Burst(
        statuses=statuses,
        seconds=ended - began,
        waited_milliseconds=waits.worst(began, ended),
        control_milliseconds=waits.worst_control(began, ended),
        megabytes=peak.megabytes,
        left_megabytes=left.megabytes,
    )


def attack_with_costly_replies(wire: str = WIRES[0]) -> Iterator[Verdict]:
    """Have many assessments get replies at once that are as costly to read as any are."""
    with HostileServer(wire, has_bombs=False) as model:
        for name in (*COSTLIEST, EVERY_COSTLY):
            model.choose(name)
            burst = assessed_at_once(model_settings(wire, model.url))
            control, statuses = burst.control_milliseconds, burst.statuses
            busy = ", machine busy" if control > BUSY_MILLISECONDS else ""
            note = f"{name}; {dict(statuses)} in {burst.seconds:.0f} s"
            yield at_most(
                f"{wire}: /healthz under {AT_ONCE} costly replies",
                burst.waited_milliseconds,
                BAR_MILLISECONDS,
                "ms",
                note=f"{note}; control {control:.0f} ms{busy}",
            )
            note = f"{name}; afterwards {burst.left_megabytes:.0f} MB"
            yield at_most(f"{wire}: peak memory", burst.megabytes, BAR_MEGABYTES, "MB", note=note)
            typed = sum(count for status, count in statuses.items() if status in {200, 502, 504})
            yield all_of(f"{wire}: assessments that are answered", typed, AT_ONCE, note=name)


async def _asked_at_once(url: str, count: int) -> list[int]:
    request = posted("/assess/quantitative", {"transcript_text": TEXT})
    asked = (ask(url, request, seconds=_ALL_READ_SECONDS) for _ in range(count))
    return [answer.status for answer in await asyncio.gather(*asked)]
