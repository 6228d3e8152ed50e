"""What a caller waits for who begins a job, or a batch of a thousand, over HTTP.

A real server stores them; a real worker looks into the store, and does them with the rule baseline.
Files and database lie on the machine's own disk.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import httpx
from tests.jobs.places import Place

from benchmarks.processes import served, worked
from benchmarks.transcripts import numbered_interview, synthetic_interview

JOBS: Final = 60
BATCH: Final = 1_000
_PATIENCE_SECONDS: Final = 120.0
_LOOK_SECONDS: Final = 0.02
_SENTENCE: Final = "Participant: I sleep badly every night.\n"


@contextmanager
def begun_site(place: Place) -> Iterator[httpx.Client]:
    """Yield a client of a server on that queue, beside which a worker waits."""
    settings = {**place.settings, "MODEL_DEFAULT": "baseline", "LOG_LEVEL": "ERROR"}
    with (
        served(place.folder, {**settings, "JOBS_CONCURRENCY": "0"}) as url,
        worked(place.folder, settings),
        httpx.Client(base_url=url, trust_env=False, timeout=_PATIENCE_SECONDS) as client,
    ):
        yield client


def begun(client: httpx.Client, *, chars: int) -> list[float]:
    """Return the milliseconds of each answer; each job has ended before the next is begun.

    `chars`: of each transcript; 0: one sentence.
    """
    text = synthetic_interview(chars) if chars else _SENTENCE
    times = []
    for number in range(-5, JOBS):
        body = {"transcript_text": numbered_interview(text, number)}
        since = time.perf_counter()
        answer = client.post("/v1/assessments", json=body, headers={"Prefer": "respond-async"})
        took = (time.perf_counter() - since) * 1_000
        assert answer.status_code == httpx.codes.ACCEPTED, answer.text
        while client.get(answer.headers["Location"]).status_code != httpx.codes.SEE_OTHER:
            time.sleep(_LOOK_SECONDS)
        if number >= 0:
            times.append(took)
    return times


def begun_batch(client: httpx.Client) -> float:
    """Return the seconds until a batch of a thousand is answered."""
    requests = [
        {"transcript_text": numbered_interview(_SENTENCE, number)} for number in range(BATCH)
    ]
    since = time.perf_counter()
    answer = client.post("/v1/batches", json={"requests": requests})
    took = time.perf_counter() - since
    assert answer.status_code == httpx.codes.ACCEPTED, answer.text
    assert len(answer.json()["jobs"]) == BATCH
    return took
