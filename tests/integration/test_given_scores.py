"""Whoever was told of scores, at whatever moment and by whatever figure, rates blind no more."""

import asyncio
import json
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send

from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.api.limits import Limits, renew_deadline
from ai_psychiatrist.config import load_settings
from ai_psychiatrist.domain import access
from ai_psychiatrist.domain.access import LOCAL, Principal
from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.infrastructure.tasks import GracefulShutdown
from ai_psychiatrist.reviews.agreed import agreed
from ai_psychiatrist.reviews.blindness import list_for
from ai_psychiatrist.store.listing import RecordListRequest
from ai_psychiatrist.store.store import Store
from ai_psychiatrist.wiring.records import stores_of
from tests.fakes.permuting_loop import run_permuted
from tests.integration.running_app import client_of, settings_with
from tests.integration.stored import rate, store

SCORES = [1] * 8
RACES = 60
SECONDS = 20
BEGUN = ReviewPhase.BLIND


class Service:
    """A client, and the store behind the server."""

    def __init__(self, client: httpx.Client, store: Store) -> None:
        self.client = client
        self.store = store

    def stored(self, place: int) -> str:
        record_id = str(uuid.UUID(int=place))
        store(self.store, record_id, SCORES, subject=record_id)
        return record_id


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    app = create_app(settings_with(tmp_path))
    with client_of(app) as client:
        yield Service(client, app.state.services.stores.open(LOCAL.tenant))


def test_whoever_is_given_all_figures_has_seen_the_cases_in_them(service: Service) -> None:
    """Two answers, before and after somebody commits, tell how that case was scored."""
    rated, other = service.stored(0), service.stored(1)
    service.client.get("/v1/agreement").raise_for_status()
    rate(service.store, rated, "ann", SCORES)
    service.client.get("/v1/agreement").raise_for_status()
    phases = [
        service.client.post(f"/v1/assessments/{one}/review").json()["phase"]
        for one in (rated, other)
    ]
    assert phases == ["seen", "blind"]


def test_a_key_that_only_reads_gets_no_figure_that_its_holder_may_not_have(
    service: Service,
) -> None:
    """A holder can have two keys: one to rate with, one to read with."""
    rated = service.stored(0)
    rate(service.store, rated, "ann", SCORES)
    service.store.reviews.begin(rated, "ben")
    reading = Principal(
        id="ben", name="ben", tenant=LOCAL.tenant, scopes=frozenset({access.Scope.READ})
    )
    found = agreed(service.store, reading).figures
    assert (found.cases, found.withheld) == (0, 1)


def test_a_review_that_begins_while_a_list_is_read_is_not_blind_beside_its_scores(
    service: Service, tmp_path: Path
) -> None:
    """Two windows of one person: in one the list is loaded, in the other rating begins."""
    stores = stores_of(settings_with(tmp_path))
    other = stores.open(LOCAL.tenant)
    wanted = RecordListRequest(rater="ben", limit=1, hidden=frozenset({BEGUN}))
    with ThreadPoolExecutor(2) as pool:
        for place in range(RACES):
            record_id = service.stored(place)
            begun = pool.submit(other.reviews.begin, record_id, "ben")
            (line,) = pool.submit(list_for, service.store, wanted).result().records
            assert line.summary.id == record_id
            assert line.is_hidden or begun.result() is not BEGUN
    stores.close()


def test_an_export_says_how_many_it_leaves_out(service: Service) -> None:
    ids = [service.stored(place) for place in range(3)]
    path, ratings = "/v1/export", {"what": "ratings"}
    for place, record_id in enumerate(ids[:2]):
        rate(service.store, record_id, "ann", SCORES)
        service.store.reviews.begin(record_id, LOCAL.id)
        answer = service.client.get(path, params=ratings)
        assert answer.headers["X-Left-Out"] == str(place + 1)
        assert service.client.head(path, params=ratings).headers["X-Left-Out"] == str(place + 1)
        assert not answer.content
    rate(service.store, ids[2], "ann", SCORES)
    answer = service.client.get(path, params=ratings)
    assert {json.loads(line)["assessment_id"] for line in answer.text.splitlines()} == {ids[2]}
    assert answer.headers["X-Left-Out"] == "2"


def test_an_answer_in_parts_may_take_longer_than_a_request_as_long_as_more_comes() -> None:
    sent: list[Message] = []

    async def parts(scope: Scope, _: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _part in range(6):
            await asyncio.sleep(SECONDS)
            renew_deadline(scope)
            await send({"type": "http.response.body", "body": b"x", "more_body": True})
        await asyncio.sleep(60 * SECONDS)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    settings = load_settings({"API_REQUEST_TIMEOUT_SECONDS": str(2 * SECONDS)}, None).api
    deadline = Limits(parts, settings=settings, stopping=GracefulShutdown(), margin_seconds=SECONDS)
    with pytest.raises(TimeoutError):
        run_permuted(
            deadline({"type": "http", "method": "GET", "path": "/v1/export"}, receive, send), 0
        )
    assert [message.get("body") for message in sent] == [None, *[b"x"] * 6]
