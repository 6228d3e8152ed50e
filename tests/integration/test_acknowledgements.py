"""That a person has read statements of danger: over HTTP, on the pages, in lists and exports."""

import csv
import io
import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from ai_psychiatrist.api.app import create_app
from tests.integration.command_here import run_here
from tests.integration.running_app import client_of, settings_with
from tests.patience import wait_until

Json = dict[str, Any]
PLACE: Final = "/v1/assessments"
NOBODY: Final = str(uuid.UUID(int=1))
TEXT: Final = (
    "Interviewer: How have you been?\n"
    "Participant: I think about killing myself. I have bought the pills.\n"
    "Interviewer: And your sleep?\n"
    "Participant: I sleep well.\n"
)
CALM: Final = "Interviewer: How do you sleep?\nParticipant: I sleep well.\n"
NOTE: Final = "called the ward =1+1"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    with client_of(create_app(settings_with(tmp_path))) as opened:
        yield opened


def assessed(client: httpx.Client, text: str = TEXT) -> str:
    made = client.post(PLACE, json={"transcript_text": text})
    assert made.status_code == 201
    return str(made.json()["assessment_id"])


def statements(client: httpx.Client, record: str) -> list[Json]:
    found: list[Json] = client.get(f"{PLACE}/{record}/acknowledgements").json()["statements"]
    return found


def listed(client: httpx.Client, **query: str) -> list[Json]:
    found: list[Json] = client.get(PLACE, params=query).json()["assessments"]
    return found


def test_a_statement_is_unread_until_somebody_confirms_it(client: httpx.Client) -> None:
    record, calm = assessed(client), assessed(client, CALM)
    place = f"{PLACE}/{record}/acknowledgements"
    first, *others = statements(client, record)
    assert others
    assert TEXT[first["start"] : first["end"]] in TEXT.splitlines()[1]
    count = len(others) + 1
    assert [(one["to_read"], one["unread"]) for one in listed(client)] == [(0, 0), (count, count)]
    assert [one["assessment_id"] for one in listed(client, unread="true")] == [record]

    span = {"start": first["start"], "end": first["end"]}
    answer = client.post(place, json={"statements": [span], "note": NOTE})
    assert (answer.status_code, answer.json()["unread"]) == (201, len(others))
    (read,) = answer.json()["statements"][0]["read"]
    assert (read["number"], read["reader"], read["mine"]) == (1, "local", True)
    assert read["note"] == NOTE
    assert [one["read"] for one in answer.json()["statements"][1:]] == [[]] * len(others)
    assert listed(client)[1]["unread"] == len(others)

    assert client.post(place, json={}).json()["unread"] == 0
    assert listed(client, unread="true") == []
    assert [one["to_read"] for one in listed(client)] == [0, count]
    assert [len(one["read"]) for one in statements(client, record)] == [2, *[1] * len(others)]
    assert client.post(f"{PLACE}/{calm}/acknowledgements", json={}).status_code == 422


def test_what_is_not_to_be_read_now_cannot_be_confirmed(client: httpx.Client) -> None:
    record = assessed(client)
    place = f"{PLACE}/{record}/acknowledgements"
    (first, *_) = statements(client, record)
    bodies: tuple[Json, ...] = (
        {"statements": [{"start": 0, "end": 5}]},
        {"statements": [{"start": first["start"], "end": first["end"]}, {"start": 0, "end": 5}]},
        {"statements": []},
        {"note": "x" * 2_001},
    )
    for bad in bodies:
        refused = client.post(place, json=bad)
        assert refused.status_code == 422
        assert set(bad) & {"statements", "note"} <= set(json.dumps(refused.json()).split('"'))
    assert client.post(f"{PLACE}/{NOBODY}/acknowledgements", json={}).status_code == 404
    assert all(not one["read"] for one in statements(client, record))


def test_the_pages_show_who_has_read_what_and_take_a_confirmation(client: httpx.Client) -> None:
    record = assessed(client)
    count = len(statements(client, record))
    page = client.get(f"/assessments/{record}").text
    assert f"not yet read: {count}" in page
    assert page.count("Not yet read:") == count
    assert f"{count} not yet read" in client.get("/").text

    first = statements(client, record)[0]
    form = {"statement": f"{first['start']}-{first['end']}", "note": "<b>seen</b>"}
    sent = client.post(f"/assessments/{record}/acknowledge", data=form)
    assert (sent.status_code, sent.headers["location"]) == (303, f"/assessments/{record}#danger")
    page = client.get(f"/assessments/{record}").text
    assert page.count("Read by <bdi>you</bdi>") == 1
    assert "&lt;b&gt;seen&lt;/b&gt;" in page
    rated = client.post(f"/assessments/{record}/acknowledge", data={"from": "rate"})
    assert rated.headers["location"] == f"/assessments/{record}/rate#danger"
    assert "Not yet read" not in client.get(f"/assessments/{record}/rate").text
    assert "not yet read" not in client.get("/", params={"sort": "danger"}).text.split("<table")[1]
    wrong = client.post(f"/assessments/{record}/acknowledge", data={"statement": "0-1"})
    assert wrong.status_code == 422
    assert client.post(f"/assessments/{NOBODY}/acknowledge", data={"note": ""}).status_code == 404


def test_somebody_who_rates_blind_may_confirm_and_stays_blind(client: httpx.Client) -> None:
    begun = client.post(PLACE, json={"transcript_text": TEXT}, headers={"Prefer": "respond-async"})
    job = begun.headers["location"]
    wait_until(lambda: client.get(job, follow_redirects=False).status_code == 303)
    record = job.rpartition("/")[2]
    assert client.post(f"{PLACE}/{record}/review").json()["phase"] == "blind"
    assert client.post(f"{PLACE}/{record}/acknowledgements", json={}).status_code == 201
    assert client.get(f"{PLACE}/{record}/review").json()["phase"] == "blind"
    assert client.get(f"{PLACE}/{record}").json()["code"] == "still_blind"


def test_exports_have_who_read_what_and_notes_on_request_alone(client: httpx.Client) -> None:
    record = assessed(client)
    client.post(f"{PLACE}/{record}/acknowledgements", json={"note": NOTE})
    given = {"what": "acknowledgements"}
    lines = client.get("/v1/export", params=given).text.splitlines()
    rows = [json.loads(line) for line in lines]
    assert [(row["start"], row["end"]) for row in rows] == sorted(
        {(one["start"], one["end"]) for one in statements(client, record)}
    )
    assert {(row["assessment_id"], row["reader"], row["note"]) for row in rows} == {
        (record, "local", None)
    }
    table = client.get("/v1/export", params=given | {"format": "csv", "with_words": "true"}).text
    assert {row["note"] for row in csv.DictReader(io.StringIO(table))} == {NOTE}
    refused = client.get("/v1/export", params=given | {"format": "fhir"})
    assert (refused.status_code, refused.json()["field"]) == (422, "what")


def test_what_was_confirmed_is_moved_to_another_store_and_erased_with_its_assessment(
    tmp_path: Path,
) -> None:
    first, second, file = tmp_path / "first", tmp_path / "second", tmp_path / "out.jsonl"
    first.mkdir()
    second.mkdir()
    with client_of(create_app(settings_with(first))) as client:
        record = assessed(client)
        client.post(f"{PLACE}/{record}/acknowledgements", json={"note": NOTE})
        before = statements(client, record)
    for folder, command in (
        (first, ["records", "export", "--out", str(file)]),
        (second, ["records", "import", str(file)]),
    ):
        done = run_here(command, folder, {"DATA_STATE_DIR": str(folder)})
        assert done.code == 0, done.err
    with client_of(create_app(settings_with(second))) as client:
        assert statements(client, record) == before
        assert listed(client)[0]["unread"] == 0
        assert client.delete(f"{PLACE}/{record}").status_code == 204
        assert client.get(f"{PLACE}/{record}/acknowledgements").status_code == 404


def test_what_an_earlier_version_did_not_count_is_unread_after_its_import(tmp_path: Path) -> None:
    first, second, file = tmp_path / "first", tmp_path / "second", tmp_path / "out.jsonl"
    first.mkdir()
    second.mkdir()
    with client_of(create_app(settings_with(first))) as client:
        record = assessed(client)
        count = len(statements(client, record))
    command = ["records", "export", "--out", str(file)]
    assert run_here(command, first, {"DATA_STATE_DIR": str(first)}).code == 0
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    for line in lines:
        if line["kind"] == "assessment":
            del line["row"]["to_read"], line["row"]["unread"], line["acknowledgements"]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    command = ["records", "import", str(file)]
    assert run_here(command, second, {"DATA_STATE_DIR": str(second)}).code == 0
    with client_of(create_app(settings_with(second))) as client:
        assert [one["assessment_id"] for one in listed(client, unread="true")] == [record]
        assert listed(client)[0]["unread"] == count
