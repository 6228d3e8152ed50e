"""Stored assessments and blind reviews over HTTP, with keys of several people and tenants."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from ai_psychiatrist.access.keys import KeyRequest
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.domain.phq8 import Item
from tests.fakes.access import Access
from tests.fakes.model_server import ModelServerThread, fault
from tests.integration.running_app import RunningApp, client_at, client_of, model_at, settings_with
from tests.patience import wait_until

Json = dict[str, Any]
WORD = "quillaya"
TEXT = (
    "Interviewer: How do you sleep?\n"
    f"Participant: I sleep badly every night, {WORD}.\n"
    "Interviewer: And your energy?\n"
    "Participant: I feel tired nearly every day.\n"
)
MARKED = {"start": TEXT.index("I sleep"), "end": TEXT.index(", quillaya")}
RATINGS = {"items": {item.value: {"score": 1, "evidence": [MARKED]} for item in Item}}
ASYNC = {"Prefer": "respond-async"}
ALL = frozenset(Scope)
RATER = frozenset({Scope.REVIEW})
PLACE = "/v1/assessments"


class Doors:
    """A server that asks for keys, and clients that have some."""

    def __init__(self, url: str, folder: Path, stack: ExitStack) -> None:
        self._url = url
        self._folder = folder
        self._stack = stack

    def client(self, scopes: frozenset[Scope] = ALL, tenant: str = "clinic") -> httpx.Client:
        with closing(Access(self._folder)) as access:
            made = access.keys.create(KeyRequest(name="one", tenant=tenant, scopes=scopes))
        client = self._stack.enter_context(client_at(self._url))
        client.headers["Authorization"] = f"Bearer {made.text}"
        return client


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    folder = tmp_path_factory.mktemp("state")
    settings = settings_with(folder, AUTH_REQUIRED="true", MODEL_DEFAULT="baseline")
    with RunningApp(settings) as app, ExitStack() as stack:
        yield Doors(app.url, folder, stack)


@pytest.fixture(scope="module")
def owner(doors: Doors) -> httpx.Client:
    return doors.client()


@pytest.fixture
def made(owner: httpx.Client) -> str:
    """The path of an assessment that was made in the background: nobody was given its scores."""
    return begun(owner)


def begun(client: httpx.Client, **fields: object) -> str:
    answer = client.post(PLACE, json={"transcript_text": TEXT, **fields}, headers=ASYNC)
    assert answer.status_code == 202, answer.text
    status: str = answer.headers["Location"]
    wait_until(lambda: client.get(status).status_code == 303)
    return result_of(status)


def result_of(job: str) -> str:
    return job.replace("/v1/jobs/", f"{PLACE}/")


def code_of(answer: httpx.Response) -> tuple[int, str]:
    assert WORD not in answer.text
    return answer.status_code, answer.json()["code"]


def commit(client: httpx.Client, path: str, ratings: Json = RATINGS) -> httpx.Response:
    assert client.post(f"{path}/review").status_code == 201
    return client.post(f"{path}/review/ratings", json=ratings)


def test_what_was_made_while_the_caller_waited_is_read_as_it_was(owner: httpx.Client) -> None:
    answer = owner.post(PLACE, json={"transcript_text": TEXT, "subject": f"{WORD} Smith"})
    assert answer.status_code == 201, answer.text
    path = answer.headers["Location"]
    assert owner.get(path).content == answer.content
    transcript = owner.get(f"{path}/transcript").json()
    assert transcript["text"] == TEXT
    assert [turn["speaker"] for turn in transcript["turns"]] == [
        "interviewer",
        "participant",
    ] * 2
    evidence = owner.get(f"{path}/evidence").json()["items"]
    assert evidence.keys() == {item.value for item in Item}
    quote = evidence["PHQ8_Sleep"]["evidence"][0]
    (segment,) = quote["segments"]
    assert TEXT[segment["start"] : segment["end"]] == quote["text"]
    certificate = owner.get(f"{path}/certificate").json()
    assert certificate["text"].startswith('{"certificate":')
    assert WORD not in certificate["text"]


def test_a_plain_text_file_is_assessed_and_stored_too(owner: httpx.Client) -> None:
    answer = owner.post(PLACE, content=TEXT, headers={"Content-Type": "text/plain"})
    assert answer.status_code == 201, answer.text
    assert owner.get(answer.headers["Location"]).json()["transcript"]["turns"] == 4


def test_a_blind_rater_is_given_no_scores_before_committing(doors: Doors, made: str) -> None:
    rater = doors.client(frozenset({Scope.READ, Scope.REVIEW}))
    review = rater.post(f"{made}/review").json()
    assert (review["phase"], review["begun"], review["rows"]) == ("blind", True, [])
    for part in ("", "/evidence", "/certificate"):
        assert code_of(rater.get(made + part)) == (403, "still_blind")
    (line,) = [one for one in listed(rater) if made.endswith(one["assessment_id"])]
    assert (line["hidden"], line["total_min"], line["width"]) == (True, None, None)
    assert line["danger"] == "none"
    assert rater.get(f"{made}/transcript").json()["risk"]["level"] == "none"

    answer = rater.post(f"{made}/review/ratings", json=RATINGS)
    assert answer.status_code == 201, answer.text
    assert answer.json()["phase"] == "revealed"
    assert answer.json()["rows"][0]["phase"] == "blind"
    assert rater.get(made).json()["quantitative"]["items"]
    assert code_of(rater.post(f"{made}/review/ratings", json=RATINGS)) == (409, "already_committed")


def test_a_list_for_raters_tells_no_scores_and_leaves_them_blind(doors: Doors, made: str) -> None:
    rater = doors.client(frozenset({Scope.READ, Scope.REVIEW}))
    assert all(one["total_min"] is None for one in listed(rater, blind="true"))
    assert rater.post(f"{made}/review").json()["phase"] == "blind"
    looker = doors.client(frozenset({Scope.READ, Scope.REVIEW}))
    assert any(one["total_min"] is not None for one in listed(looker))
    assert looker.post(f"{made}/review").json()["phase"] == "seen"


def test_a_rater_without_read_is_given_scores_after_committing_alone(
    doors: Doors, made: str
) -> None:
    rater = doors.client(RATER)
    assert code_of(rater.get(made)) == (403, "still_blind")
    assert commit(rater, made).status_code == 201
    assert rater.get(made).status_code == 200


def test_two_raters_see_each_other_only_after_their_own_ratings(doors: Doors, made: str) -> None:
    one, two = doors.client(RATER), doors.client(RATER)
    assert commit(one, made).status_code == 201
    two.post(f"{made}/review")
    assert two.get(f"{made}/review").json()["rows"] == []
    two.post(f"{made}/review/ratings", json=RATINGS)
    rows = two.get(f"{made}/review").json()["rows"]
    assert [row["mine"] for row in rows] == [False, True]
    assert len({row["rater"] for row in rows}) == 2
    (line,) = [line for line in listed(one) if made.endswith(line["assessment_id"])]
    assert (line["raters"], line["phase"]) == (2, "revealed")


def test_remarks_come_after_the_ratings_and_fit_the_assessment(doors: Doors, made: str) -> None:
    rater = doors.client(RATER)
    rows = f"{made}/review/rows"
    score = {"kind": "score", "item": "PHQ8_Sleep", "cannot_tell": True}
    assert code_of(rater.post(rows, json=score)) == (409, "not_committed")
    commit(rater, made)
    good: list[Json] = [
        score,
        {"kind": "missed", "item": "PHQ8_Tired", **MARKED},
        {"kind": "evidence", "item": "PHQ8_Sleep", "evidence": 0, "verdict": "accepted"},
        {
            "kind": "evidence",
            "item": "PHQ8_Sleep",
            "evidence": 0,
            "verdict": "rejected",
            "reason": "irony",
        },
    ]
    for row in good:
        answer = rater.post(rows, json=row)
        assert answer.status_code == 201, answer.text
    bad: list[tuple[Json, str]] = [
        (good[2] | {"evidence": 999}, "evidence"),
        (good[2] | {"verdict": "rejected"}, "reason"),
        (good[2] | {"score": 1}, "score"),
        (good[1] | {"end": 10**6}, "start"),
        (good[1] | {"start": 0, "end": 5}, "start"),
        (score | {"score": 1}, "score"),
        ({"kind": "missed", "item": "PHQ8_Tired", "start": 3}, "end"),
    ]
    for row, field in bad:
        answer = rater.post(rows, json=row)
        assert (answer.status_code, answer.json()["field"]) == (422, field), row
    assert len(rater.get(f"{made}/review").json()["rows"]) == 1 + len(good)


BAD_RATINGS: dict[str, Json] = {
    "seven items": {"items": dict(list(RATINGS["items"].items())[:7])},
    "an unknown item": {"items": RATINGS["items"] | {"PHQ8_Other": {"score": 1}}},
    "a score of four": {"items": RATINGS["items"] | {"PHQ8_Sleep": {"score": 4}}},
    "neither": {"items": RATINGS["items"] | {"PHQ8_Sleep": {}}},
    "both": {"items": RATINGS["items"] | {"PHQ8_Sleep": {"score": 1, "cannot_tell": True}}},
    "the interviewer": {
        "items": RATINGS["items"]
        | {"PHQ8_Sleep": {"score": 1, "evidence": [{"start": 0, "end": 9}]}}
    },
    "two turns": {
        "items": RATINGS["items"]
        | {"PHQ8_Sleep": {"score": 1, "evidence": [MARKED | {"end": len(TEXT) - 2}]}}
    },
    "nothing marked": {
        "items": RATINGS["items"]
        | {"PHQ8_Sleep": {"score": 1, "evidence": [MARKED | {"end": MARKED["start"]}]}}
    },
    "too many spans": {
        "items": RATINGS["items"] | {"PHQ8_Sleep": {"score": 1, "evidence": [MARKED] * 51}}
    },
}


@pytest.mark.parametrize("case", BAD_RATINGS)
def test_ratings_that_do_not_fit_are_refused_and_not_kept(
    doors: Doors, owner: httpx.Client, case: str
) -> None:
    path = begun(owner)
    rater = doors.client(RATER)
    answer = commit(rater, path, BAD_RATINGS[case])
    assert answer.status_code == 422
    assert "items" in answer.json()["detail"] or answer.json()["field"] == "items"
    assert rater.get(f"{path}/review").json()["rows"] == []


@pytest.mark.parametrize(
    ("part", "body", "code"),
    [
        ("ratings", b'{"items": {}, "items": {}}', "duplicate_key"),
        ("rows", b'{"kind": "score", "score": 1, "score": 2}', "duplicate_key"),
        ("ratings", b'{"items": "\xff"}', "malformed_json"),
        ("rows", b'{"item": NaN}', "malformed_json"),
    ],
)
def test_json_of_a_review_is_looked_at_as_any_other(
    doors: Doors, made: str, part: str, body: bytes, code: str
) -> None:
    headers = {"Content-Type": "application/json"}
    answer = doors.client(RATER).post(f"{made}/review/{part}", content=body, headers=headers)
    assert code_of(answer)[1] == code


def test_of_ratings_sent_at_once_one_is_kept(doors: Doors, made: str) -> None:
    rater = doors.client(RATER)
    rater.post(f"{made}/review")
    with ThreadPoolExecutor() as pool:
        sent = [pool.submit(rater.post, f"{made}/review/ratings", json=RATINGS) for _ in range(6)]
    codes = sorted(one.result().status_code for one in sent)
    assert codes == [201] + [409] * 5


def test_nothing_of_another_tenant_can_be_had(doors: Doors, made: str) -> None:
    stranger = doors.client(tenant="other")
    subject_id = listed(doors.client())[0]["subject_id"]
    for method, part in (
        ("GET", ""),
        ("GET", "/transcript"),
        ("GET", "/evidence"),
        ("GET", "/certificate"),
        ("GET", "/acknowledgements"),
        ("GET", "/review"),
        ("POST", "/review"),
        ("DELETE", ""),
    ):
        answer = stranger.request(method, made + part)
        assert code_of(answer) == (404, "assessment_not_found"), (method, part)
    for part, body in (("ratings", RATINGS), ("rows", {"kind": "score", "item": "PHQ8_Sleep"})):
        assert stranger.post(f"{made}/review/{part}", json=body).status_code in {404, 422}
    assert stranger.post(f"{made}/acknowledgements", json={}).status_code == 404
    assert stranger.delete(f"/v1/subjects/{subject_id}").status_code == 404
    assert stranger.get(PLACE).json()["total"] == 0


def test_only_who_may_erase_erases(doors: Doors, made: str) -> None:
    reader = doors.client(frozenset({Scope.READ, Scope.REVIEW, Scope.ASSESS}))
    assert reader.delete(made).status_code == 403
    assert doors.client(frozenset({Scope.ADMIN})).delete(made).status_code == 204
    assert reader.get(made).status_code == 404


def test_erasing_a_subject_erases_all_of_it(owner: httpx.Client) -> None:
    paths = [begun(owner, subject="somebody of this test") for _ in range(2)]
    (subject_id,) = {
        line["subject_id"]
        for line in listed(owner)
        if any(path.endswith(line["assessment_id"]) for path in paths)
    }
    subject = owner.get(f"/v1/subjects/{subject_id}").json()
    assert (subject["subject"], subject["assessments"]) == ("somebody of this test", 2)
    assert owner.delete(f"/v1/subjects/{subject_id}").status_code == 204
    assert [owner.get(path).status_code for path in paths] == [404, 404]
    assert code_of(owner.delete(f"/v1/subjects/{subject_id}")) == (404, "subject_not_found")


def listed(client: httpx.Client, **query: str) -> list[Json]:
    answer = client.get(PLACE, params={"limit": "500", **query})
    assert answer.status_code == 200, answer.text
    found: list[Json] = answer.json()["assessments"]
    return found


def test_a_failed_assessment_says_why(tmp_path: Path) -> None:
    with (
        ModelServerThread(fault("status_400")) as model,
        client_of(settings_with(tmp_path, **model_at(model.url))) as client,
    ):
        status = client.post(PLACE, json={"transcript_text": TEXT}, headers=ASYNC).headers[
            "Location"
        ]
        wait_until(lambda: client.get(status).json()["state"] == "failed")
        assert client.get(status).json()["reason"] == "backend_failed"
        path = result_of(status)
        assert code_of(client.get(path)) == (409, "assessment_failed")
        assert client.get(f"{path}/transcript").json()["text"] == TEXT


def test_plain_routes_store_where_that_is_set(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, MODEL_DEFAULT="baseline", STORE_ASSESSMENTS="true")
    with client_of(settings) as client:
        for route in ("/full_pipeline", "/assess/quantitative", "/assess/qualitative"):
            made = client.post(route, json={"transcript_text": TEXT}).json()
            stored = client.get(f"{PLACE}/{made['assessment_id']}").json()
            assert stored["assessment_id"] == made["assessment_id"]
    with client_of(settings_with(tmp_path, MODEL_DEFAULT="baseline")) as client:
        client.post("/full_pipeline", json={"transcript_text": TEXT})
        assert client.get(PLACE).json()["total"] == 3


def test_damage_is_a_problem_and_no_defect(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, MODEL_DEFAULT="baseline")
    with client_of(settings) as client:
        path = client.post(PLACE, json={"transcript_text": TEXT}).headers["Location"]
    file = tmp_path / "store.sqlite"
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE bodies SET body = zeroblob(length(body))")
    with client_of(settings) as client:
        assert code_of(client.get(path)) == (409, "assessment_unreadable")
        assert client.get(PLACE).json()["total"] == 1
        assert client.delete(path).status_code == 204


def test_a_full_store_takes_no_more(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, MODEL_DEFAULT="baseline", STORE_MAX_RECORDS="1")
    with client_of(settings) as client:
        body = {"transcript_text": TEXT}
        assert client.post(PLACE, json=body).status_code == 201
        assert code_of(client.post(PLACE, json=body)) == (507, "assessments_full")


def test_a_key_that_is_gone_is_no_defect(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, MODEL_DEFAULT="baseline")
    with client_of(settings) as client:
        client.post(PLACE, json={"transcript_text": TEXT})
    (tmp_path / "records.key").unlink()
    with client_of(settings) as client:
        assert code_of(client.get(PLACE)) == (503, "assessments_unavailable")


def test_gold_scores_are_for_admins_alone(doors: Doors, made: str) -> None:
    for _ in range(2):
        commit(doors.client(RATER), made)
    rater = doors.client(frozenset({Scope.READ, Scope.REVIEW}))
    assert code_of(rater.post(f"{made}/review/gold", json={"items": {}})) == (403, "forbidden")
    page = made.replace("/v1", "")
    assert rater.get(f"{page}/adjudicate").status_code == 403
    admin = doors.client(frozenset({Scope.ADMIN, Scope.READ}))
    assert admin.post(f"{made}/review/gold", json={"items": {}}).status_code == 201
    other = doors.client(tenant="elsewhere")
    assert code_of(other.post(f"{made}/review/gold", json={"items": {}}))[0] == 404
