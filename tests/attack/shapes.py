"""The worst wait for the server's health over all hostile shapes at full size."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ai_psychiatrist.infrastructure.off_loop import LARGE_TEXT_CHARACTERS
from tests.attack.bodies import LARGEST_CHARACTERS, ROUTES, hostile_bodies, of_text, text_calls
from tests.attack.callers import Answer, Call, ask, posted
from tests.attack.health import BAR_MILLISECONDS, BUSY_MILLISECONDS, Waits, watching
from tests.attack.hostile_texts import HOSTILE_TEXTS
from tests.attack.server import attacked
from tests.attack.verdicts import Verdict, all_of, at_most

_ANSWER_CHARACTERS: Final = 2_000
"""The longest answer that the protocol takes."""
_IN_A_THREAD_CHARACTERS: Final = LARGE_TEXT_CHARACTERS
"""Texts of more characters are worked on in other processes."""
_AT_ONCE: Final = 4
_WORST: Final = 10
_STORED_SHAPES: Final = (
    "marks out of order",
    "ligature of eighteen letters",
    "danger in every sentence",
    "symptoms that differ",
)
_ROWS: Final = "start_time\tstop_time\tspeaker\tvalue\n1\t2\tParticipant\t{}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What was asked in one go, and when."""

    name: str
    began: float
    ended: float
    answers: tuple[Answer, ...]


def attack_with_shapes(folder: Path, names: Sequence[str] | None = None) -> Iterator[Verdict]:
    """Send every shape to every route that takes it, and yield what is to be said of it."""
    chosen = list(HOSTILE_TEXTS) if names is None else list(names)
    with (
        attacked({"DATA_TRANSCRIPTS_DIR": str(_stored(folder))}) as server,
        watching(server.url) as waits,
    ):
        shapes = asyncio.run(_sent(server.url, chosen))
    yield from verdicts_on(shapes, waits)


def _stored(folder: Path) -> Path:
    for number, name in enumerate(_STORED_SHAPES, 300):
        path = folder / f"{number}_P" / f"{number}_TRANSCRIPT.csv"
        path.parent.mkdir(parents=True)
        words = " ".join(HOSTILE_TEXTS[name](LARGEST_CHARACTERS - 100).split())
        path.write_text(_ROWS.format(words), encoding="utf-8")
    return folder


async def _sent(url: str, names: Sequence[str]) -> list[Shape]:
    shapes = [await asked_at_once(url, name, text_calls(name)) for name in names]
    shapes += [await asked_at_once(url, name, [call] * _AT_ONCE) for name, call in hostile_bodies()]
    for number, name in enumerate(_STORED_SHAPES, 300):
        calls = [posted(path, {"participant_id": number}) for path in ROUTES[:2]]
        shapes.append(await asked_at_once(url, f"stored: {name}", calls))
    for name in names:
        small = of_text(ROUTES[0], HOSTILE_TEXTS[name](_IN_A_THREAD_CHARACTERS))
        shapes.append(await asked_at_once(url, f"small: {name}", [small] * _AT_ONCE))
    for name in names:
        shapes.append(await _answered(url, name))
    return shapes


async def asked_at_once(url: str, name: str, calls: Sequence[Call]) -> Shape:
    """Send all calls together, and return what came of them."""
    began = time.monotonic()
    answers = await asyncio.gather(*(ask(url, call) for call in calls))
    return Shape(name=name, began=began, ended=time.monotonic(), answers=tuple(answers))


async def _answered(url: str, name: str) -> Shape:
    """Give an answer of the shape in several interviews."""
    begun = posted("/v1/interviews", {"protocol": "phq8"})
    interviews = await asyncio.gather(*(ask(url, begun) for _ in range(_AT_ONCE)))
    text = HOSTILE_TEXTS[name](_ANSWER_CHARACTERS)
    calls = [_answer(interview, text) for interview in interviews]
    return await asked_at_once(url, f"answer: {name}", calls)


def _answer(interview: Answer, text: str) -> Call:
    begun = interview.json()
    return posted(
        f"/v1/interviews/{begun['interview_id']}/answers",
        {
            "question_id": begun["question"]["id"],
            "version": begun["version"],
            "idempotency_key": "attack",
            "text": text,
        },
    )


def verdicts_on(shapes: Sequence[Shape], waits: Waits) -> Iterator[Verdict]:
    """Yield what is to be said of the waits for the health, and of the answers."""
    waited = sorted(
        ((waits.worst(one.began, one.ended), one) for one in shapes),
        key=lambda pair: pair[0],
        reverse=True,
    )
    for milliseconds, shape in waited[:_WORST]:
        control = waits.worst_control(shape.began, shape.ended)
        busy = ", machine busy" if control > BUSY_MILLISECONDS else ""
        yield at_most(
            f"/healthz: {shape.name}",
            milliseconds,
            BAR_MILLISECONDS,
            "ms",
            note=f"control {control:.0f} ms{busy}",
        )
    answers = [answer for shape in shapes for answer in shape.answers]
    statuses = Counter(answer.status for answer in answers)
    told = ", ".join(f"{status}: {count}" for status, count in sorted(statuses.items()))
    well = sum(count for status, count in statuses.items() if 200 <= status < 500)
    slowest = max(answers, key=lambda answer: answer.seconds)
    largest = max(len(answer.body) for answer in answers)
    yield all_of(f"answers below 500 to {len(shapes)} shapes", well, len(answers), note=told)
    yield at_most(
        "slowest answer", slowest.seconds, 30, "s", note=f"largest answer {largest / 1e6:.1f} MB"
    )
