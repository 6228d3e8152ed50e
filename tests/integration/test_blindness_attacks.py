"""Ways by which somebody could get at scores and still count as blind."""

import re
import uuid
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.store.store import Store
from tests.integration.running_app import client_of, settings_with
from tests.integration.stored import Scores, rate, store

PLACE = "/v1/assessments"
LOW, HIGH = [0] * 8, [3] * 8
ORDERS = ("created", "width", "danger", "total")
STEERED: tuple[dict[str, object], ...] = (
    {"sort": "created"},
    {"sort": "width"},
    {"sort": "danger"},
    {"sort": "total"},
    {"band": "severe"},
    {"band": "minimal"},
    {"unknown": 0},
)


class Attacker:
    """Somebody with all scopes, and the store behind the server."""

    def __init__(self, client: httpx.Client, store: Store) -> None:
        self.client = client
        self.store = store
        self._made = 0

    def stored(self, scores: Scores) -> str:
        record_id = str(uuid.UUID(int=self._made))
        self._made += 1
        store(self.store, record_id, scores, subject=record_id, width=sum(s or 0 for s in scores))
        return record_id

    def lists(self, **query: object) -> tuple[list[str], int]:
        params = {name: str(value) for name, value in query.items()}
        answer = self.client.get(PLACE, params=params).raise_for_status().json()
        return [one["assessment_id"] for one in answer["assessments"]], answer["total"]

    def begins(self, record_id: str) -> str:
        answer = self.client.post(f"{PLACE}/{record_id}/review").raise_for_status()
        phase: str = answer.json()["phase"]
        return phase


@pytest.fixture
def attacker(tmp_path: Path) -> Iterator[Attacker]:
    app = create_app(settings_with(tmp_path))
    with client_of(app) as client:
        yield Attacker(client, app.state.services.stores.open(LOCAL.tenant))


@pytest.mark.parametrize(
    "query",
    [{"band": "severe"}, {"unknown": 0}, {"sort": "total"}, {"sort": "width"}],
    ids=lambda query: next(iter(query)) + "-" + str(next(iter(query.values()))),
)
def test_a_list_that_scores_steer_makes_nobody_blind_to_what_it_leaves_out(
    attacker: Attacker, query: dict[str, object]
) -> None:
    """The length of the list, or the place of another, tells of what is not on the page."""
    target = attacker.stored(HIGH)
    attacker.stored(HIGH)
    attacker.lists(**query, limit=1)
    assert attacker.begins(target) == "seen"


def test_a_list_that_stays_blind_tells_nothing_by_order_filter_or_length(
    attacker: Attacker,
) -> None:
    found = []
    for scores in (LOW, HIGH):
        target = attacker.stored(scores)
        for sort in ORDERS:
            order, _ = attacker.lists(sort=sort, blind="true")
            assert order[0] == target
        found.append([attacker.lists(band=band, blind="true")[1] for band in ("minimal", "severe")])
        assert attacker.begins(target) == "blind"
        rate(attacker.store, target, LOCAL.id, LOW)
        attacker.store.removal.erase(target)
    assert found[0] == found[1] == [0, 0]


def test_whoever_rates_blind_gets_the_same_lists_whatever_the_scores_are(
    attacker: Attacker,
) -> None:
    others = [attacker.stored([1] * 8) for _ in range(2)]
    answers = []
    for scores in (LOW, HIGH):
        target = attacker.stored(scores)
        assert attacker.begins(target) == "blind"
        answers.append(
            [
                [one if one in others else "target" for one in attacker.lists(**query)[0]]
                for query in STEERED
            ]
        )
        attacker.store.removal.erase(target)
    assert answers[0] == answers[1]


READING = ("", "/evidence", "/certificate")


@pytest.mark.parametrize("path", READING)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_no_answer_to_a_blind_rater_depends_on_the_scores(
    attacker: Attacker, path: str, method: str
) -> None:
    shown = []
    for scores in (LOW, HIGH):
        target = attacker.stored(scores)
        attacker.begins(target)
        answer = attacker.client.request(
            method,
            f"{PLACE}/{target}{path}",
            headers={"If-None-Match": "*", "Range": "bytes=0-10", "Accept": "*/*"},
        )
        assert answer.status_code == 403
        kept = {
            name: value
            for name, value in answer.headers.items()
            if name not in {"date", "x-request-id"}
        }
        shown.append((answer.text, kept))
    assert shown[0] == shown[1]


@pytest.mark.parametrize("path", ["/v1/jobs/{}", PLACE + "/{}/review"])
def test_what_a_blind_rater_is_given_is_the_same_for_all_scores(
    attacker: Attacker, path: str
) -> None:
    shown = []
    for scores in (LOW, HIGH):
        target = attacker.stored(scores)
        attacker.begins(target)
        rate(attacker.store, target, "ann", scores)
        answer = attacker.client.get(path.format(target))
        assert answer.is_success or answer.status_code == 303
        told = answer.text.replace(target, "target")
        shown.append(re.sub(r'"created_at":"[^"]*"', "", told))
    assert shown[0] == shown[1]


def test_the_queue_and_the_figures_are_the_same_whatever_a_case_to_be_rated_scores(
    attacker: Attacker,
) -> None:
    figures = []
    for scores in (LOW, HIGH):
        target = attacker.stored(scores)
        attacker.begins(target)
        rate(attacker.store, target, "ann", scores)
        figures.append(attacker.client.get("/v1/agreement").json())
        assert "drawn" not in attacker.client.get("/v1/queue").text
        attacker.store.removal.erase(target)
    assert figures[0] == figures[1]


def test_ratings_are_committed_once_and_never_changed_or_removed(attacker: Attacker) -> None:
    target = attacker.stored(LOW)
    path = f"{PLACE}/{target}/review"
    ratings = {"items": {item.value: {"score": 1} for item in Item}}
    other = {"items": {item.value: {"score": 2} for item in Item}}
    assert attacker.client.post(f"{path}/ratings", json=ratings).status_code == 409
    attacker.begins(target)
    assert attacker.client.post(f"{path}/ratings", json=ratings).status_code == 201
    before = attacker.client.get(path).json()["rows"]
    assert attacker.client.post(f"{path}/ratings", json=other).status_code == 409
    for method in ("PUT", "PATCH", "DELETE"):
        for place in (path, f"{path}/ratings", f"{path}/rows", f"{path}/rows/1"):
            answer = attacker.client.request(method, place, json=other)
            assert answer.status_code in {404, 405}, place
    assert attacker.begins(target) == "revealed"
    assert attacker.client.get(path).json()["rows"] == before


def test_nobody_says_in_which_phase_or_for_whom_they_rate(attacker: Attacker) -> None:
    target = attacker.stored(HIGH)
    assert attacker.client.get(f"{PLACE}/{target}").status_code == 200
    attacker.begins(target)
    path = f"{PLACE}/{target}/review/ratings"
    ratings = {item.value: {"score": 3} for item in Item}
    for more in ({"phase": "blind"}, {"rater": "ann"}):
        refused = attacker.client.post(path, json={"items": ratings, **more})
        assert refused.status_code == 422
        assert "The one field of the body is items" in refused.text
    assert attacker.client.post(path, json={"items": ratings}).status_code == 201
    (row,) = attacker.store.reviews.of(target)
    assert (row.rater, getattr(row.said, "phase", None)) == (LOCAL.id, ReviewPhase.SEEN)
