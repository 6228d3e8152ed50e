"""Hostile transcript files that are sent to the real server as they are."""

import asyncio
from collections.abc import Iterator
from typing import Final

from tests.attack.bodies import LARGEST_BYTES, ROUTES, of_text
from tests.attack.callers import Answer, Call, ask
from tests.attack.files import CANARY, Attack, attacks
from tests.attack.health import watching
from tests.attack.memory import BAR_MEGABYTES, watching_memory
from tests.attack.server import attacked
from tests.attack.shapes import Shape, asked_at_once, verdicts_on
from tests.attack.verdicts import Verdict, all_of, at_most

_ROUTES: Final = (*ROUTES[:2], *ROUTES[:1], "/assess/qualitative")
"""All that take files, asked at once."""
_MEDIA_TYPES: Final = {
    ".csv": "text/csv",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".json": "application/octet-stream",
    ".jsonl": "application/jsonl",
    ".sbv": "text/plain",
    ".srt": "application/x-subrip",
    ".tsv": "text/tab-separated-values",
    ".txt": "text/plain",
    ".vtt": "text/vtt",
}
_TEXT: Final = "Interviewer: How do you sleep?\nParticipant: Badly, nearly every night.\n"


def attack_with_sent_files() -> Iterator[Verdict]:
    """Send every file in the largest size to all routes at once, and yield what came of it."""
    with attacked() as server:
        with watching(server.url) as waits, watching_memory(server.pid) as peak:
            shapes = asyncio.run(_sent(server.url))
        usual = asyncio.run(ask(server.url, of_text(ROUTES[0], _TEXT)))
        said = server.stop().err
    yield from verdicts_on(shapes, waits)
    untold = [one.name for one in shapes if not all(map(is_told, one.answers))]
    yield all_of(
        "files whose answers are results, or problems with a code",
        len(shapes) - len(untold),
        len(shapes),
        note=", ".join(untold),
    )
    yield at_most(
        "peak memory under sent files", peak.megabytes, BAR_MEGABYTES, "MB", note=f"{peak} MB"
    )
    leaks = said.count(CANARY) + said.count("Traceback")
    yield at_most("words of files, or tracebacks, in the log", leaks, 0)
    note = f"status {usual.status}"
    yield Verdict(
        figure="the next assessment",
        measured=f"{usual.seconds:.1f} s",
        bar="status 200",
        is_met=usual.status == 200,
        note=note,
    )


def sent(attack: Attack, path: str, content: bytes) -> Call:
    """Return the request that sends a file to a route."""
    return Call(path=path, body=content, content_type=_MEDIA_TYPES[attack.ending])


def is_told(answer: Answer) -> bool:
    """Whether an answer is a result, or a problem that has a code and only labels of the file."""
    if answer.status == 200:
        return True
    if not 400 <= answer.status < 500:
        return False
    problem = answer.json()
    problem.pop("labels", None)
    return bool(problem.get("code")) and CANARY not in str(problem)


async def _sent(url: str) -> list[Shape]:
    shapes = []
    for attack in attacks():
        content = attack.content(LARGEST_BYTES)
        calls = [sent(attack, path, content) for path in _ROUTES]
        shapes.append(await asked_at_once(url, attack.name, calls))
    return shapes
