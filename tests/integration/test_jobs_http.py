"""Jobs over HTTP: begun, followed, waited for, cancelled, and begun once however often sent."""

import json
import re
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from ai_psychiatrist.access.keys import KeyRequest
from ai_psychiatrist.domain.access import Scope
from tests.fakes.access import Access, key_for
from tests.fakes.faults import fault
from tests.fakes.model_server import ModelServerThread
from tests.integration.running_app import (
    RunningApp,
    client_at,
    client_of,
    model_at,
    settings_with,
    waiting,
)
from tests.patience import wait_until

Json = dict[str, Any]
PLACE = "/v1/assessments"
JOBS = "/v1/jobs"
BATCHES = "/v1/batches"
BODY = {"transcript_text": "Participant: I sleep badly every night."}
OTHER = {"transcript_text": "Participant: I feel tired."}
ASYNC = {"Prefer": "respond-async"}
WAITING = {"Prefer": "respond-async, wait=60"}
ALL = frozenset(Scope)
# The calls of an assessment that wait for no other one.
FIRST_CALLS = {"qualitative", "evidence", "danger"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    settings = settings_with(tmp_path_factory.mktemp("state"), MODEL_DEFAULT="baseline")
    with client_of(settings) as opened:
        yield opened


@pytest.fixture(scope="module")
def finished(client: httpx.Client) -> str:
    """The path of a job that has ended well."""
    return client.post(PLACE, json=BODY, headers=WAITING).headers["Location"].replace(PLACE, JOBS)


@pytest.fixture
def hanging(tmp_path: Path) -> Iterator[tuple[httpx.Client, ModelServerThread]]:
    """A server that does one job at a time, whose model never answers."""
    with ModelServerThread(fault("hang")) as models:
        settings = settings_with(tmp_path, **model_at(models.url), JOBS_CONCURRENCY="1")
        with client_of(settings) as opened:
            yield opened, models


def begun(client: httpx.Client, body: Json = BODY, **headers: str) -> httpx.Response:
    answer = client.post(PLACE, json=body, headers=ASYNC | headers)
    assert answer.status_code == 202, answer.text
    return answer


def keyed(key: str) -> dict[str, str]:
    return {"Idempotency-Key": key}


def code_of(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def total(client: httpx.Client) -> int:
    count: int = client.get(PLACE).json()["total"]
    return count


def test_a_job_leads_to_its_result(client: httpx.Client) -> None:
    answer = begun(client)
    job = answer.headers["Location"]
    assert job == f"{JOBS}/{answer.json()['job_id']}"
    assert answer.headers["Retry-After"] == "2"
    assert answer.headers["Preference-Applied"] == "respond-async"
    wait_until(lambda: client.get(job).status_code == 303)
    done = client.get(job)
    assert done.headers["Location"] == job.replace(JOBS, PLACE)
    assert done.json()["state"] == "finished"
    assert client.get(job, follow_redirects=True).json()["status"] == "complete"


def test_who_waits_long_enough_gets_the_result_itself(client: httpx.Client) -> None:
    answer = client.post(PLACE, json=BODY, headers=WAITING)
    assert answer.status_code == 201
    assert answer.headers["Preference-Applied"] == "respond-async, wait=60"
    assert client.get(answer.headers["Location"]).content == answer.content


def test_who_waits_too_shortly_is_told_how_far_it_is(
    hanging: tuple[httpx.Client, ModelServerThread],
) -> None:
    client, _ = hanging
    answer = client.post(PLACE, json=BODY, headers={"Prefer": 'wait="1" , Respond-Async'})
    assert answer.status_code == 202
    assert answer.json()["state"] == "running"
    path = answer.headers["Location"].replace(JOBS, PLACE)
    assert code_of(client.get(path)) == (409, "assessment_running")


def test_a_job_that_is_as_it_was_is_not_sent_again(
    hanging: tuple[httpx.Client, ModelServerThread],
) -> None:
    client, _ = hanging
    begun(client)
    waiting = begun(client).headers["Location"]
    first = client.get(waiting)
    assert first.json()["state"] == "waiting"
    assert first.headers["Retry-After"] == "2"
    again = client.get(waiting, headers={"If-None-Match": f'"x", W/{first.headers["ETag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    client.delete(waiting)
    changed = client.get(waiting, headers={"If-None-Match": first.headers["ETag"]})
    assert (changed.status_code, changed.json()["state"]) == (200, "cancelled")
    assert "Retry-After" not in changed.headers


def test_events_are_numbered_and_go_on_after_a_break(client: httpx.Client, finished: str) -> None:
    told = client.get(f"{finished}/events").text
    numbers = [line.removeprefix("id: ") for line in told.splitlines() if line.startswith("id: ")]
    assert numbers == [str(number) for number in range(1, 8)]
    assert told.rstrip().splitlines()[-3] == "event: end"
    rest = client.get(f"{finished}/events", headers={"Last-Event-ID": "4"}).text
    assert told.endswith(rest)
    assert "id: 5" in rest
    assert "id: 4" not in rest
    over = client.get(f"{finished}/events", headers={"Last-Event-ID": "7"})
    assert (over.status_code, over.content) == (204, b"")


def test_what_is_cancelled_stays_so_and_its_calls_stop(
    hanging: tuple[httpx.Client, ModelServerThread],
) -> None:
    client, models = hanging
    first, second = (begun(client).headers["Location"] for _ in range(2))
    wait_until(lambda: models.server.in_flight == len(FIRST_CALLS))
    for _ in range(2):
        answer = client.delete(second)
        assert (answer.status_code, answer.json()["state"]) == (202, "cancelled")
    client.delete(first)
    wait_until(lambda: models.server.in_flight == 0)
    assert {request.task for request in models.requests} == FIRST_CALLS
    assert len(models.requests) == len(FIRST_CALLS)
    assert "cancelled" in client.get(f"{first}/events").text
    path = first.replace(JOBS, PLACE)
    assert code_of(client.get(path)) == (409, "assessment_failed")
    assert client.get(f"{path}/transcript").json()["text"] == BODY["transcript_text"]


def test_what_has_ended_cannot_be_cancelled(client: httpx.Client, finished: str) -> None:
    assert code_of(client.delete(finished)) == (409, "job_over")
    gone_on = client.get(finished, headers={"If-None-Match": "*"})
    assert gone_on.status_code == 303
    assert "ETag" not in gone_on.headers


def test_erasing_an_assessment_ends_its_job(
    hanging: tuple[httpx.Client, ModelServerThread],
) -> None:
    client, models = hanging
    job = begun(client).headers["Location"]
    wait_until(lambda: models.server.in_flight > 0)
    assert client.delete(job.replace(JOBS, PLACE)).status_code == 204
    wait_until(lambda: models.server.in_flight == 0)
    assert code_of(client.get(job)) == (404, "assessment_not_found")


def test_nothing_that_is_kept_of_a_job_stands_in_clear(tmp_path: Path) -> None:
    with ModelServerThread(fault("hang", tasks=["meta_review"])) as models:
        settings = settings_with(tmp_path, **model_at(models.url))
        with client_of(settings) as client:
            job = begun(client).headers["Location"]
            wait_until(lambda: len(models.requests) == 9)
            file = tmp_path / "store.sqlite"
            with closing(sqlite3.connect(file)) as database:
                wait_until(
                    lambda: database.execute("SELECT COUNT(*) FROM calls").fetchone() == (8,)
                )
                stored = b"".join(path.read_bytes() for path in tmp_path.glob("*.sqlite*"))
                assert b"sleep badly" not in stored
                client.delete(job)
                assert database.execute("SELECT COUNT(*) FROM calls").fetchone() == (0,)


def test_jobs_are_listed_a_page_at_a_time_the_newest_first(client: httpx.Client) -> None:
    made = [begun(client).json()["job_id"] for _ in range(3)]
    page = client.get(JOBS, params={"limit": 2}).json()
    rest = client.get(JOBS, params={"limit": 1, "cursor": page["next"]}).json()
    assert [one["job_id"] for one in (*page["jobs"], *rest["jobs"])] == made[::-1]
    wait_until(lambda: all(client.get(f"{JOBS}/{one}").status_code == 303 for one in made))
    states = {one["state"] for one in client.get(JOBS, params={"state": "finished"}).json()["jobs"]}
    assert states == {"finished"}
    assert client.get(JOBS, params={"state": "cancelled"}).json()["jobs"] == []
    assert code_of(client.get(JOBS, params={"cursor": "x"})) == (422, "unusable_input")
    assert code_of(client.get(JOBS, params={"state": "x"})) == (422, "invalid_request")


@pytest.mark.parametrize("headers", [ASYNC, {}], ids=["job", "waited for"])
def test_a_key_begins_one_assessment_however_often_it_comes(
    client: httpx.Client, headers: dict[str, str]
) -> None:
    key = keyed(f"once-{len(headers)}")
    before = total(client)
    first = client.post(PLACE, json=BODY, headers=headers | key)
    assert first.status_code == (202 if headers else 201)
    again = client.post(PLACE, json=BODY, headers=headers | key)
    assert again.headers["Location"] == first.headers["Location"]
    if not headers:
        assert (again.status_code, again.content) == (201, first.content)
    assert total(client) == before + 1
    for other in (OTHER, BODY | {"subject": "another"}, BODY | {"ablate": True}):
        answer = client.post(PLACE, json=other, headers=headers | key)
        assert code_of(answer) == (422, "key_of_another")
        assert answer.json()["field"] == "idempotency-key"
    assert total(client) == before + 1


def test_of_requests_with_one_key_at_once_one_is_begun(client: httpx.Client) -> None:
    before = total(client)
    with ThreadPoolExecutor() as pool:
        sent = [
            pool.submit(client.post, PLACE, json=BODY, headers=ASYNC | keyed("race"))
            for _ in range(6)
        ]
    answers = [one.result() for one in sent]
    assert {answer.status_code for answer in answers} <= {202, 409}
    assert len({one.headers["Location"] for one in answers if one.status_code == 202}) == 1
    assert {one.json()["code"] for one in answers if one.status_code == 409} <= {"key_under_way"}
    assert total(client) == before + 1


def test_a_key_whose_request_is_under_way_leads_to_its_job(
    hanging: tuple[httpx.Client, ModelServerThread],
) -> None:
    client, models = hanging
    busy = [begun(client, OTHER).headers["Location"] for _ in range(2)]
    wait_until(lambda: models.server.in_flight > 0)
    with waiting(client, PLACE, BODY, headers=keyed("slow")):
        # It waits for none of the others, though the server does one job at a time.
        wait_until(lambda: client.get(JOBS).json()["jobs"][0]["state"] == "running")
        assert client.get(busy[1]).json()["state"] == "waiting"
        answer = client.post(PLACE, json=BODY, headers=keyed("slow"))
        assert (answer.status_code, answer.json()["state"]) == (202, "running")
        assert answer.headers["Retry-After"] == "2"
    job = answer.headers["Location"]
    # Its caller has gone, and the job goes on.
    again = client.post(PLACE, json=BODY, headers=ASYNC | keyed("slow"))
    assert (again.status_code, again.headers["Location"]) == (202, job)
    assert client.get(job).json()["state"] == "running"
    assert code_of(client.post(PLACE, json=OTHER, headers=keyed("slow"))) == (422, "key_of_another")
    for one in (*busy, job):
        client.delete(one)


def calls_of(models: ModelServerThread) -> list[str]:
    return sorted(asked.task for asked in models.requests)


@pytest.fixture(scope="module")
def calls_of_one(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The calls of one assessment."""
    with ModelServerThread() as models:
        settings = settings_with(tmp_path_factory.mktemp("one"), **model_at(models.url))
        with client_of(settings) as client:
            assert client.post(PLACE, json=BODY).status_code == 201
            return calls_of(models)


def test_three_time_outs_with_one_key_cost_one_assessment(
    tmp_path: Path, calls_of_one: list[str]
) -> None:
    with ModelServerThread() as models:
        models.server.holds_replies = True
        settings = settings_with(tmp_path, **model_at(models.url))
        with client_of(settings) as client:
            with waiting(client, PLACE, BODY, headers=keyed("visit")):
                wait_until(lambda: bool(models.requests))
            for _ in range(2):
                with waiting(client, PLACE, BODY, headers=keyed("visit")):
                    time.sleep(0.1)

            def answered() -> httpx.Response:
                return client.post(PLACE, json=BODY, headers=keyed("visit"), timeout=60)

            under_way = answered()
            assert under_way.status_code == 202
            job = under_way.headers["Location"]
            models.server.holds_replies = False
            wait_until(lambda: client.get(job).status_code == 303)
            done = answered()
            assert done.status_code == 201
            assert done.headers["Location"] == job.replace(JOBS, PLACE)
            assert done.json()["assessment_id"] == under_way.json()["job_id"]
            assert done.content == client.get(done.headers["Location"]).content
            assert calls_of(models) == calls_of_one
            assert total(client) == 1


def test_a_key_whose_request_outlasts_the_time_of_requests_leads_to_its_job(
    tmp_path: Path, calls_of_one: list[str]
) -> None:
    with ModelServerThread() as models:
        models.server.holds_replies = True
        settings = settings_with(
            tmp_path, **model_at(models.url), API_REQUEST_TIMEOUT_SECONDS="1.5"
        )
        with client_of(settings) as client:
            late = client.post(PLACE, json=BODY, headers=keyed("visit"))
            # A busy machine may not have begun it.
            assert late.status_code == 202
            assert late.json()["state"] in {"waiting", "running"}
            models.server.holds_replies = False
            wait_until(lambda: client.get(late.headers["Location"]).status_code == 303)
            done = client.post(PLACE, json=BODY, headers=keyed("visit"))
            assert (done.status_code, done.json()["status"]) == (201, "complete")
            assert calls_of(models) == calls_of_one


def bare(answer: httpx.Response) -> str:
    """Return the body without ids and times."""
    body = answer.text.replace(answer.json()["assessment_id"], "")
    return re.sub(r'"duration_ms":[0-9.]+', "", body)


def test_who_waits_with_a_key_gets_what_others_get(tmp_path: Path) -> None:
    with ModelServerThread() as models:
        with client_of(settings_with(tmp_path, **model_at(models.url))) as client:
            plain = client.post(PLACE, json=BODY)
            made = client.post(PLACE, json=BODY, headers=keyed("visit"))
        assert (made.status_code, plain.status_code) == (201, 201)
        assert made.headers.keys() == plain.headers.keys()
        assert bare(made) == bare(plain)


@pytest.mark.parametrize("name", ["status_500", "html"])
def test_a_failure_is_told_as_to_others_and_frees_the_key(tmp_path: Path, name: str) -> None:
    with (
        ModelServerThread(fault(name)) as models,
        client_of(settings_with(tmp_path, **model_at(models.url))) as client,
    ):
        plain = client.post(PLACE, json=BODY)
        kept = client.post(PLACE, json=BODY, headers=keyed("visit"))
        again = client.post(PLACE, json=BODY, headers=keyed("visit"))
    assert {one.status_code for one in (plain, kept, again)} == {502}
    ids = {one.json()["assessment_id"] for one in (plain, kept, again)}
    assert len(ids) == 3, "the key is free, and each is begun anew"
    assert bare(kept) == bare(plain) == bare(again)


def test_a_job_says_what_its_result_lacks(tmp_path: Path) -> None:
    with (
        ModelServerThread(fault("status_500", tasks=["meta_review"])) as models,
        client_of(settings_with(tmp_path, **model_at(models.url))) as client,
    ):
        made = client.post(PLACE, json=BODY, headers=WAITING)
        job_id = made.json()["assessment_id"]
        job = client.get(f"{JOBS}/{job_id}").json()
        (listed,) = client.get(JOBS).json()["jobs"]
    assert made.json()["status"] == job["status"] == listed["status"] == "partial"
    assert job["state"] == "finished"


def test_a_failed_job_says_what_a_request_that_waits_is_told(tmp_path: Path) -> None:
    with (
        ModelServerThread(fault("status_500")) as models,
        client_of(settings_with(tmp_path, **model_at(models.url))) as client,
    ):
        told = client.post(PLACE, json=BODY).json()
        place = begun(client).headers["Location"]
        wait_until(lambda: client.get(place).json()["state"] == "failed")
        job = client.get(place).json()
        refused = client.get(place.replace(JOBS, PLACE)).json()
    assert job["problem"]["causes"] == told["causes"] != []
    assert {name: told[name] for name in job["problem"]} == job["problem"]
    assert job["status"] is None
    assert place in refused["detail"]


def test_danger_of_a_text_is_for_who_sent_it_and_is_else_said_to_be_hidden(tmp_path: Path) -> None:
    dangerous = {"transcript_text": "Participant: I think about killing myself."}
    keys = [key_for(tmp_path, Scope.ASSESS, name=name).text for name in ("sender", "other")]
    settings = settings_with(tmp_path, MODEL_DEFAULT="baseline", AUTH_REQUIRED="true")
    with RunningApp(settings) as app, client_at(app.url) as mine, client_at(app.url) as its:
        for client, key in zip((mine, its), keys, strict=True):
            client.headers["X-API-Key"] = key
        seen = [mine.post(PLACE, json=dangerous).json()]
        seen.append(mine.post(PLACE, json=dangerous, headers=WAITING).json())
        seen.append(begun(mine, dangerous).json())
        seen += mine.post(BATCHES, json={"requests": [dangerous]}).json()["jobs"]
        path = f"{JOBS}/{seen[-1]['job_id']}"
        seen.append(mine.get(path).json())
        hidden = its.get(path).json()
    assert {one["danger"] for one in seen} == {"high"}
    assert not any(one.get("hidden") for one in seen)
    assert (hidden["danger"], hidden["hidden"]) == (None, ["danger"])
    assert "danger" in {one["stage"] for one in seen[-1]["stages"]}
    assert "danger" not in {one["stage"] for one in hidden["stages"]}
    assert not any("asked_by" in one for one in seen)


@pytest.mark.parametrize("key", ["", "two words", "x" * 256])
def test_a_bad_key_is_named_with_its_form(client: httpx.Client, key: str) -> None:
    told = client.post(PLACE, json=BODY, headers=keyed(key)).json()
    assert (told["code"], told["field"]) == ("invalid_request", "idempotency-key")
    assert told["detail"].startswith("Idempotency-Key has to be 1-255")


def test_a_key_of_which_nothing_came_is_free_again(client: httpx.Client) -> None:
    bad = client.post(PLACE, json={"transcript_text": ""}, headers=keyed("mended"))
    assert bad.status_code == 422
    assert client.post(PLACE, json=BODY, headers=keyed("mended")).status_code == 201


def test_each_job_of_a_batch_is_counted(client: httpx.Client) -> None:
    requests = [BODY, OTHER, BODY | {"subject": "one"}]
    answer = client.post(BATCHES, json={"requests": requests}, headers=keyed("batch"))
    assert answer.status_code == 202
    made = answer.json()
    assert [one["danger"] for one in made["jobs"]] == ["none"] * 3
    again = client.post(BATCHES, json={"requests": requests}, headers=keyed("batch"))
    assert again.json() == made
    place = answer.headers["Location"]
    wait_until(lambda: client.get(place).json()["counts"]["finished"] == 3)
    told = client.get(place, params={"limit": 2}).json()
    rest = client.get(place, params={"cursor": told["next"]}).json()
    listed = [*told["jobs"], *rest["jobs"]]
    assert [one["job_id"] for one in listed] == [one["job_id"] for one in made["jobs"]]
    assert [one["place"] for one in listed] == [0, 1, 2]
    assert {one["batch_id"] for one in listed} == {made["batch_id"]}
    texts = [
        client.get(f"{PLACE}/{one['job_id']}/transcript").json()["text"] for one in made["jobs"]
    ]
    assert texts == [one["transcript_text"] for one in requests]


@pytest.mark.parametrize(
    ("bad", "code", "field"),
    [
        ({"transcript_text": ""}, "unusable_input", "requests.1.transcript_text"),
        ({"transcript_text": 1}, "invalid_request", "requests.1.transcript_text"),
        ({"transcript_text": "a \ud800"}, "unusable_input", "requests.1.transcript_text"),
        ({"transcript_text": "x", "extra": 1}, "invalid_request", "requests.1.unknown"),
        ({"transcript_text": "Participant: a " * 40_000}, "too_large", "requests.1"),
        ({"participant_id": 1}, "participant_not_found", "requests.1.participant_id"),
    ],
    ids=["empty", "no text", "half a character", "unknown field", "too long", "nobody"],
)
def test_a_batch_with_a_bad_request_names_it_and_begins_nothing(
    client: httpx.Client, bad: Json, code: str, field: str
) -> None:
    before = total(client)
    # Half a character is written as an escape, which `json=` would not do.
    content = json.dumps({"requests": [BODY, bad]})
    headers = {"Content-Type": "application/json"}
    answer = client.post(BATCHES, content=content, headers=headers)
    told = answer.json()
    assert told["code"] == code, told
    assert (told["errors"][0] if "errors" in told else told)["field"] == field
    assert total(client) == before


def test_the_key_of_a_batch_is_free_again_once_all_of_it_is_erased(client: httpx.Client) -> None:
    wanted = {"requests": [BODY, OTHER]}
    first = client.post(BATCHES, json=wanted, headers=keyed("erased"))
    one, other = (job["job_id"] for job in first.json()["jobs"])
    client.delete(f"{PLACE}/{one}")
    part = client.post(BATCHES, json=wanted, headers=keyed("erased")).json()
    assert (part["batch_id"], len(part["jobs"])) == (first.json()["batch_id"], 1)
    client.delete(f"{PLACE}/{other}")
    anew = client.post(BATCHES, json={"requests": [OTHER]}, headers=keyed("erased"))
    assert anew.status_code == 202
    assert len(anew.json()["jobs"]) == 1
    assert client.get(anew.headers["Location"]).status_code == 200


@pytest.mark.parametrize("count", [0, 1_001])
def test_a_batch_has_one_to_a_thousand_requests(client: httpx.Client, count: int) -> None:
    answer = client.post(BATCHES, json={"requests": [BODY] * count})
    assert code_of(answer) == (422, "invalid_request")
    assert answer.json()["errors"][0]["field"] == "requests"


def test_nobody_else_finds_a_tenants_jobs(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, AUTH_REQUIRED="true", MODEL_DEFAULT="baseline")
    with RunningApp(settings) as app, ExitStack() as stack:

        def holder(scopes: frozenset[Scope], tenant: str = "clinic") -> httpx.Client:
            with closing(Access(tmp_path)) as access:
                made = access.keys.create(KeyRequest(name="one", tenant=tenant, scopes=scopes))
            opened = stack.enter_context(client_at(app.url))
            opened.headers["Authorization"] = f"Bearer {made.text}"
            return opened

        owner, stranger, reader = holder(ALL), holder(ALL, "other"), holder(frozenset({Scope.READ}))
        batch = owner.post(BATCHES, json={"requests": [BODY]}, headers=keyed("own"))
        job = f"{JOBS}/{batch.json()['jobs'][0]['job_id']}"
        for method, path, code in (
            ("GET", job, "assessment_not_found"),
            ("DELETE", job, "assessment_not_found"),
            ("GET", f"{job}/events", "assessment_not_found"),
            ("GET", batch.headers["Location"], "batch_not_found"),
        ):
            assert code_of(stranger.request(method, path)) == (404, code)
        assert stranger.get(JOBS).json()["jobs"] == []
        # Nor do two holders of keys share the keys of their requests.
        assert (
            holder(ALL).post(BATCHES, json={"requests": [OTHER]}, headers=keyed("own")).status_code
            == 202
        )
        assert reader.get(job).status_code in {200, 303}
        assert reader.delete(job).status_code == 403
        assert reader.post(BATCHES, json={"requests": [BODY]}).status_code == 403
