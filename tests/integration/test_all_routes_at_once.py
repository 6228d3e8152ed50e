"""What several people do at the same time ends for each of them: nobody waits for ever."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import httpx
import pytest

from ai_psychiatrist.domain.access import Scope
from tests.integration.running_app import RunningApp, settings_with
from tests.integration.test_reviews_http import ASYNC, PLACE, RATINGS, TEXT, Doors
from tests.sweeps import REQUESTS_AT_ONCE

_PEOPLE: Final = 8
_PAGES: Final = (
    *("/", "/next", "/agreement", "/v1/agreement", "/v1/queue", "/v1/jobs", "/v1/export"),
    *("/?band=mild&sort=width", f"{PLACE}?sort=width", f"{PLACE}?state=finished", "/readyz"),
)
_OFTEN: Final = 0.9
"""Of all that is done, the part that removes nothing."""
_PARTS: Final = (
    "",
    "/transcript",
    "/evidence",
    "/certificate",
    "/html",
    "/review",
    "/acknowledgements",
)


class Someone:
    """A person who does anything with any assessment that anybody made."""

    def __init__(self, client: httpx.Client, known: list[str], seed: int) -> None:
        self._client = client
        self._known = known
        self._chance = random.Random(seed)  # noqa: S311  drawn again from the same seed
        self.seen: Counter[tuple[str, int]] = Counter()

    def act(self, times: int) -> None:
        """Do so many things, one after the other."""
        for _ in range(times):
            does = self._chance.choice(
                [self._make, self._begin, self._begin_many, self._look, self._read, self._rate]
                if self._chance.random() < _OFTEN
                else [self._remove]
            )
            answer = does()
            self.seen[(does.__name__, answer.status_code)] += 1

    def _body(self) -> dict[str, object]:
        subject = self._chance.choice(["Ada", "Bo", "Cy", None])
        return {"transcript_text": TEXT, "subject": subject}

    def _make(self) -> httpx.Response:
        answer = self._client.post(PLACE, json=self._body())
        self._known.append(answer.headers.get("Location", PLACE))
        return answer

    def _begin(self) -> httpx.Response:
        key = {"Idempotency-Key": f"key-{self._chance.randrange(20)}"}
        headers = ASYNC | (key if self._chance.random() < 0.5 else {})
        answer = self._client.post(PLACE, json=self._body(), headers=headers)
        place = answer.headers.get("Location", "")
        self._known.append(place.replace("/v1/jobs/", f"{PLACE}/") or PLACE)
        return answer

    def _begin_many(self) -> httpx.Response:
        return self._client.post("/v1/batches", json={"requests": [self._body()] * 3})

    def _look(self) -> httpx.Response:
        return self._client.get(self._chance.choice(_PAGES))

    def _read(self) -> httpx.Response:
        return self._client.get(self._one() + self._chance.choice(_PARTS))

    def _rate(self) -> httpx.Response:
        place = f"{self._one()}/review"
        self._client.post(place)
        return self._client.post(f"{place}/ratings", json=RATINGS)

    def _remove(self) -> httpx.Response:
        place = self._one()
        match self._chance.randrange(3):
            case 0:
                return self._client.delete(place)
            case 1:
                return self._client.delete(place.replace(PLACE, "/v1/jobs"))
            case _:
                subject = self._client.get(place).json().get("subject_id", "none")
                return self._client.delete(f"/v1/subjects/{subject}")

    def _one(self) -> str:
        return self._chance.choice(self._known)


@pytest.mark.sweep
def test_every_request_is_answered_whatever_else_is_done(tmp_path: Path, *, is_whole: bool) -> None:
    settings = settings_with(
        tmp_path, AUTH_REQUIRED="true", MODEL_DEFAULT="baseline", API_MAX_CONCURRENCY="4"
    )
    times = REQUESTS_AT_ONCE.size(is_whole=is_whole) // _PEOPLE
    known = [f"{PLACE}/00000000-0000-0000-0000-000000000000"]
    with RunningApp(settings) as app, ExitStack() as stack:
        doors = Doors(app.url, tmp_path, stack)
        scopes = (frozenset(Scope), frozenset(Scope) - {Scope.ADMIN})
        people = [Someone(doors.client(scopes[one % 2]), known, one) for one in range(_PEOPLE)]
        with ThreadPoolExecutor(_PEOPLE) as pool:
            for done in [pool.submit(one.act, times) for one in people]:
                done.result()
    seen = sum((one.seen for one in people), Counter[tuple[str, int]]())
    assert not [one for one in seen if one[1] >= 500 and one[1] != 503], seen
    assert {("_make", 201), ("_begin", 202), ("_begin_many", 202), ("_look", 200)} <= seen.keys()
    assert {("_read", 200), ("_rate", 201)} <= seen.keys()
