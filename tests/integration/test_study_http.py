"""Agreement and the queue over HTTP, and what they do not tell whoever still rates blind."""

import csv
import io
import json
import re
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.reviews import agreed
from ai_psychiatrist.store.store import Store
from tests.integration.command_here import run_here
from tests.integration.running_app import client_of, settings_with
from tests.integration.stored import rate, store

RISING = [0, 1, 2, 3, 0, 1, 2, 3]
FALLING = RISING[::-1]


class Study:
    """A server, and the store behind it."""

    def __init__(self, client: httpx.Client, folder: Path, store: Store) -> None:
        self.client = client
        self.folder = folder
        self.store = store

    def printed(self, *options: str) -> str:
        command = ["reviews", "agreement", *options]
        done = run_here(command, self.folder, {"DATA_STATE_DIR": str(self.folder)})
        assert (done.code, done.err) == (0, "")
        return done.out

    def agreement(self) -> dict[str, object]:
        response = self.client.get("/v1/agreement")
        assert response.status_code == 200, response.text
        found: dict[str, object] = response.json()
        return found

    def queue(self, **query: int) -> list[dict[str, object]]:
        response = self.client.get("/v1/queue", params=query)
        assert response.status_code == 200, response.text
        found: list[dict[str, object]] = response.json()["cases"]
        return found


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    app = create_app(settings_with(tmp_path))
    with client_of(app) as client:
        yield Study(client, tmp_path, app.state.services.stores.open(LOCAL.tenant))


def at(found: object, path: str) -> object:
    for name in path.split("/"):
        assert isinstance(found, dict), path
        found = found[name]
    return found


def ids(count: int) -> list[str]:
    return [str(uuid.UUID(int=place)) for place in range(count)]


def test_a_service_without_ratings_says_why_there_are_no_figures(study: Study) -> None:
    found = study.agreement()
    kappa = at(found, "blind/raters/all_items/kappa")
    assert kappa == {
        "value": None,
        "interval": None,
        "reason": "no item has scores of both",
        "n": 0,
    }
    assert study.queue() == []


def test_without_the_extra_route_and_page_say_what_to_install(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agreed, "find_spec", lambda _: None)
    cure = "Figures need the extra evaluation where the service runs: pip install "
    answer = study.client.get("/v1/agreement")
    assert (answer.status_code, answer.json()["code"]) == (409, "not_available")
    assert answer.json()["detail"].startswith(cure)
    page = study.client.get("/agreement")
    assert page.status_code == 409
    assert cure in page.text


def test_raters_are_compared_with_one_another_and_with_the_program(study: Study) -> None:
    for record_id in ids(12):
        store(study.store, record_id, RISING, subject=record_id)
        rate(study.store, record_id, "ann", RISING, spans=[(0, 10)])
        rate(study.store, record_id, "ben", [None, *RISING[1:]], spans=[(5, 10)])
    found = study.agreement()
    assert at(found, "blind/raters/all_items/kappa/value") == 1
    assert at(found, "blind/raters/all_items/exact/value") == 7 / 8
    assert at(found, "blind/raters/all_items/answers") == {"both": 84, "one": 12, "none": 0}
    assert at(found, "blind/raters/all_items/span_characters/value") == pytest.approx(2 / 3)
    assert at(found, "blind/program/items/PHQ8_Sleep/alpha/reason") is not None
    assert at(found, "blind/program/all_items/span_overlap/value") == 1
    assert found["raters"] == [
        {"label": "rater 1", "is_you": False, "blind": 12, "seen": 0},
        {"label": "rater 2", "is_you": False, "blind": 12, "seen": 0},
    ]
    assert "ann" not in str(found)


def test_the_page_draws_what_is_rated_and_leaves_out_what_nobody_rated(study: Study) -> None:
    """Without scores of an item, or marked words, there is a word in place of a figure."""
    bare = [None, *RISING[1:]]
    for at_once, record_id in enumerate(ids(12)):
        store(study.store, record_id, [None, *FALLING[1:]], subject=record_id)
        rate(study.store, record_id, "ann", bare)
        rate(study.store, record_id, "ben", [None, *(RISING if at_once else FALLING)[1:]])
    page = study.client.get("/agreement").text
    words = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    assert "Interest or pleasure no figure" in words
    assert re.search(r"All items between raters: 0\.\d\d \(-?0\.\d\d to 1\.00\)", words)
    assert re.search(r'<line class="raters" x1="[\d.]+%" x2="[\d.]+%"', page)
    assert re.search(r'<circle class="raters" cx="[\d.]+%"', page)
    assert "Evidence, F1, between raters: no one marked evidence" in words
    assert re.search(r"Interest or pleasure(?: –(?: [a-z])?){8} ", words), words


def test_a_table_has_a_row_for_each_figure_and_names_raters_to_admins(study: Study) -> None:
    for record_id in ids(12):
        store(study.store, record_id, RISING, subject=record_id)
        rate(study.store, record_id, "local:ann", RISING)
        rate(study.store, record_id, "local:ben", FALLING)
    answer = study.client.get("/v1/agreement", params={"format": "csv"})
    assert answer.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    (pair,) = [
        row
        for row in rows
        if (row["section"], row["compared"], row["figure"]) == ("blind", "raters", "limits")
    ]
    assert (pair["first"], pair["second"], pair["n"]) == ("local:ann", "local:ben", "12")
    found = study.agreement()
    assert study.printed("--csv").splitlines() == answer.text.splitlines()
    assert json.loads(study.printed("--json")) == found
    assert re.search(
        r"blind +raters +local:ann +local:ben +limits +0\.000 +0\.000", study.printed()
    )
    (kappa,) = [
        row
        for row in rows
        if (row["section"], row["compared"], row["first"], row["item"], row["figure"])
        == ("blind", "program", "", "PHQ8_Sleep", "exact")
    ]
    assert float(kappa["value"]) == at(found, "blind/program/items/PHQ8_Sleep/exact/value")
    assert study.client.get("/v1/agreement", params={"format": "xml"}).status_code == 422


def test_figures_follow_ratings_and_removals(study: Study) -> None:
    first, second = ids(2)
    for record_id in (first, second):
        store(study.store, record_id, RISING, subject=record_id)
    rate(study.store, first, "ann", RISING)
    assert study.agreement()["cases"] == 1
    rate(study.store, second, "ann", RISING)
    assert study.agreement()["cases"] == 2
    study.store.removal.erase(first)
    assert study.agreement()["cases"] == 1


def test_a_rater_gets_no_figure_of_a_case_that_is_still_to_be_rated(study: Study) -> None:
    """What others and the program say of it changes nothing that this rater is given."""
    mine, others = ids(2)
    for record_id in (mine, others):
        store(study.store, record_id, RISING, subject=record_id)
        rate(study.store, record_id, "ann", RISING)
    assert study.agreement()["cases"] == 2
    study.store.reviews.begin(mine, LOCAL.id)
    found = study.agreement()
    assert (found["cases"], found["withheld"]) == (0, 2)
    assert at(found, "blind/program/all_items/exact/value") is None
    rate(study.store, mine, LOCAL.id, FALLING)
    before = study.agreement()
    assert (before["cases"], before["withheld"]) == (1, 1)
    rate(study.store, others, "ben", FALLING)
    assert study.agreement() == before


def test_figures_tell_of_no_case_that_could_be_rated_blind_afterwards(study: Study) -> None:
    """Nor of one that somebody else rates while they are computed."""
    records = ids(100)
    for record_id in records:
        store(study.store, record_id, RISING, subject=record_id)

    def rate_all() -> None:
        for record_id in records:
            rate(study.store, record_id, "ann", RISING)

    rating = threading.Thread(target=rate_all)
    rating.start()
    told = 0
    while told < len(records):
        told = int(str(study.agreement()["cases"]))
        phases = [study.store.reviews.standing(one, LOCAL.id) for one in records]
        assert phases.count(ReviewPhase.SEEN) == told
    rating.join()


def test_assessments_are_stored_and_erased_while_figures_are_computed(study: Study) -> None:
    for record_id in ids(40):
        store(study.store, record_id, RISING, subject=record_id)
        rate(study.store, record_id, "ann", RISING)

    def change() -> None:
        for record_id in ids(40):
            other = record_id.replace("0000-", "0001-", 1)
            store(study.store, other, RISING, subject=other)
            rate(study.store, other, "ann", RISING)
            study.store.removal.erase(record_id)

    with ThreadPoolExecutor() as pool:
        changing = pool.submit(change)
        while not changing.done():
            assert study.agreement()["cases"]
        changing.result()
    assert study.agreement()["cases"] == 40


def test_who_was_given_scores_counts_apart(study: Study) -> None:
    (record_id,) = ids(1)
    store(study.store, record_id, RISING, subject="one")
    assert study.client.get(f"/v1/assessments/{record_id}").status_code == 200
    rate(study.store, record_id, LOCAL.id, RISING)
    found = study.agreement()
    assert (at(found, "blind/cases"), at(found, "seen/cases")) == (0, 1)


def test_the_queue_holds_what_is_not_rated_and_tells_no_score(study: Study) -> None:
    first, second, third, fourth = ids(4)
    for width, record_id in enumerate((first, second, third, fourth)):
        store(study.store, record_id, RISING, subject=record_id, width=5 * width)
    rate(study.store, second, LOCAL.id, RISING)
    study.store.reviews.begin(first, LOCAL.id)
    waiting = study.queue()
    assert {one["assessment_id"] for one in waiting} == {first, third, fourth}
    assert (waiting[0]["assessment_id"], waiting[0]["phase"]) == (first, "blind")
    assert set(waiting[0]) == {
        "assessment_id",
        "created_at",
        "subject_id",
        "danger",
        "raters",
        "phase",
    }
    assert len(study.queue(limit=1)) == 1
    assert study.client.get("/v1/queue").json()["waiting"] == 3


def test_reading_the_queue_or_the_figures_makes_nobody_a_rater_who_has_seen(study: Study) -> None:
    (record_id,) = ids(1)
    store(study.store, record_id, RISING, subject="one")
    study.queue()
    study.agreement()
    assert study.store.reviews.begin(record_id, LOCAL.id).value == "blind"


@pytest.mark.parametrize("limit", ["0", "101", "x"])
def test_a_wrong_limit_is_a_problem(study: Study, limit: str) -> None:
    response = study.client.get("/v1/queue", params={"limit": limit})
    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")


def test_the_service_answers_others_while_it_computes(study: Study) -> None:
    for record_id in ids(80):
        store(study.store, record_id, RISING, subject=record_id)
        rate(study.store, record_id, "ann", RISING)
        rate(study.store, record_id, "ben", FALLING)
    done = threading.Event()

    def compute() -> None:
        study.agreement()
        done.set()

    thread = threading.Thread(target=compute)
    thread.start()
    answered = 0
    while not done.is_set():
        assert study.client.get("/healthz").status_code == 200
        answered += 1
    thread.join()
    assert answered > 3
