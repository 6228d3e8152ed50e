"""When the assessments of a process are over, it holds nothing of what was said."""

import asyncio
import gc
import itertools
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.services.language.memory import IDLE_SECONDS, remembering_clauses
from ai_psychiatrist.services.risk.statement import match_danger
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.wiring import Services, bootstrap
from tests.fakes.model_server import ModelServerThread, Reply, Request
from tests.fakes.permuting_loop import run_permuted
from tests.integration.running_app import client_of, model_at, settings_with
from tests.patience import PATIENCE_SECONDS

SAID = "i wake at four nearly every night because of quillaya and i feel tired"
_LEAST_LENGTH = len(SAID) / 2
_AT_ONCE = 10_000
"""Objects whose referents are asked for in one call: it takes seconds to ask for each."""
TURNS = "".join(f"Interviewer: and {n}?\nParticipant: {SAID} {n}.\n" for n in range(20))
TEXTS = (
    TURNS,
    # One turn without stops, and one without spaces.
    f"Participant: {f'{SAID} ' * 40}",
    f"Participant: {'ich-bin-müde-quillaya' * 400}",
)


def held() -> Iterator[object]:
    """Yield what the process holds of a transcript: the object, or the text of some length."""
    holders = gc.get_objects()
    yield from (one for one in holders if isinstance(one, Transcript))
    for start in range(0, len(holders), _AT_ONCE):
        for one in gc.get_referents(*holders[start : start + _AT_ONCE]):
            if isinstance(one, str) and len(one) > _LEAST_LENGTH and "quillaya" in one:
                yield one


async def held_in_the_end(known: set[int], *, is_collected: bool = True) -> list[object]:
    """Return what stays when loop and threads have come to the end of what they were at."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        await asyncio.sleep(0.01)
        if is_collected:
            gc.collect()
        left = [one for one in held() if id(one) not in known]
        if not left or time.monotonic() > end:
            return left


async def assess_together(services: Services) -> None:
    texts = [f"{text} {number}" for text in TEXTS for number in range(3)]
    await asyncio.gather(*(services.assessor.assess(parse_transcript(one)) for one in texts))


def test_nothing_that_was_said_stays_in_the_process(tmp_path: Path) -> None:
    known = {id(one) for one in held()}

    async def left() -> list[object]:
        async with bootstrap(settings_with(tmp_path)) as services:
            await assess_together(services)
        return await held_in_the_end(known)

    assert asyncio.run(left()) == []


def test_nothing_of_a_refused_reply_waits_for_the_collector(tmp_path: Path) -> None:
    lengths = itertools.cycle([2_000, 100_000])

    def refused(_: Request) -> Reply:
        return Reply(text="quillaya " * (next(lengths) // 9))

    async def left(settings: Mapping[str, str]) -> list[object]:
        async with bootstrap(settings_with(tmp_path, **settings)) as services:
            known = {id(one) for one in held()}
            await services.assessor.assess(parse_transcript("Participant: i sleep badly"))
            return await held_in_the_end(known, is_collected=False)

    with ModelServerThread(refused) as models:
        gc.disable()
        try:
            # Runs of the library are circles, which the collector finds soon.
            settings = model_at(models.url) | {"PYDANTIC_AI_ENABLED": "false"}
            assert asyncio.run(left(settings)) == []
        finally:
            gc.enable()


def test_nothing_of_an_answer_or_a_refused_transcript_stays_in_a_server(tmp_path: Path) -> None:
    known = {id(one) for one in held()}
    with client_of(settings_with(tmp_path)) as client:
        asked = client.post("/v1/interviews", json={"protocol": "phq8"}).json()
        answer = {
            "question_id": asked["question"]["id"],
            "text": f"not sure, {SAID}",
            "idempotency_key": "k",
            "version": asked["version"],
        }
        route = f"/v1/interviews/{asked['interview_id']}/answers"
        assert client.post(route, json=answer).status_code == 200
        refused = {"transcript_text": TURNS, "mode": 1}
        assert client.post("/full_pipeline", json=refused).status_code == 409
        del answer, refused
        client.get("/healthz")
    gc.collect()
    assert [one for one in held() if id(one) not in known] == []


def test_readings_of_clauses_are_forgotten_a_while_after_the_last_transcript() -> None:
    async def work() -> list[int]:
        with remembering_clauses():
            match_danger(SAID)
        remembered = []
        for seconds in (IDLE_SECONDS - 1, 2):
            await asyncio.sleep(seconds)
            remembered.append(match_danger.cache_info().currsize)
        return remembered

    soon, later = run_permuted(work(), 0)
    assert soon > later == 0
