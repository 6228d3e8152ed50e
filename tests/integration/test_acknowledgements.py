"""That a person has read statements of danger: over HTTP, on the pages, in lists and exports."""

import csv
import html
import io
import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.store.records import NewRecord
from tests.integration.command_here import move_records, run_here
from tests.integration.running_app import client_of, settings_with
from tests.integration.test_interview_http import answered, begin
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


def begun_about(client: httpx.Client, record: str) -> Json:
    body = {"protocol": "phq8", "assessment": client.get(f"{PLACE}/{record}").json()}
    return begin(client, **body)


def test_danger_in_an_interview_is_unread_danger_of_its_assessment(client: httpx.Client) -> None:
    record, other = assessed(client, CALM), assessed(client, CALM)
    held = answered(client, begun_about(client, record), text=f"Hm. {TEXT.splitlines()[1][13:]}")
    assert held["state"] == "safety_hold"
    place = f"/v1/interviews/{held['interview_id']}/acknowledgements"
    found = client.get(place).json()
    count = found["unread"]
    assert count == len(found["statements"]) >= 1
    newest, row = listed(client)
    assert (newest["assessment_id"], newest["danger"], newest["unread"]) == (other, "none", 0)
    assert (row["danger"], row["to_read"], row["unread"]) == ("high", count, count)
    ways = ({"unread": "true"}, {"danger": "high"}, {"sort": "unread"}, {"sort": "danger"})
    assert [listed(client, **way)[0]["assessment_id"] for way in ways] == [record] * 4
    assert "1 assessment has statements of danger" in client.get("/").text
    (line,) = client.get("/v1/interviews", params={"unread": "true"}).json()["interviews"]
    assert (line["assessment_id"], line["danger"], line["unread"]) == (record, "high", count)
    (of_interview,) = client.get(f"{PLACE}/{record}/acknowledgements").json()["interviews"]
    assert of_interview == {
        "interview_id": held["interview_id"],
        "danger": "high",
        "to_read": count,
        "unread": count,
    }
    page = client.get(f"/assessments/{record}").text
    assert f"not yet read: {count}" in page
    assert "A person has to look now" in page
    assert f"</strong>, {count} not yet read" in client.get(f"/assessments/{record}/rate").text

    first = {name: found["statements"][0][name] for name in ("turn", "start", "end")}
    read = client.post(place, json={"statements": [first], "note": NOTE})
    assert (read.status_code, read.json()["unread"]) == (201, count - 1)
    assert [one["note"] for one in read.json()["statements"][0]["read"]] == [NOTE]
    form = {"note": "<b>seen</b>", "from": "assessment"}
    sent = client.post(f"/interviews/{held['interview_id']}/acknowledge", data=form)
    assert sent.headers["location"] == f"/assessments/{record}#interview-danger"
    assert "&lt;b&gt;seen&lt;/b&gt;" in client.get(f"/assessments/{record}").text
    assert "A person has to look" not in client.get(f"/assessments/{record}").text
    page = client.get(f"/interviews/{held['interview_id']}").text
    assert ("The interview is held." in page, "confirm each there" in page) == (True, False)
    assert listed(client, unread="true") == []
    assert listed(client)[1]["to_read"] == count

    reopen = {"reason": "Called; safe at home."}
    again = client.post(f"/v1/interviews/{held['interview_id']}/reopen", json=reopen).json()
    pages = [f"/assessments/{record}", f"/assessments/{record}/interview"]
    for page in (client.get(path).text for path in [*pages, f"/interviews/{held['interview_id']}"]):
        assert "A person has to look now" not in page
        assert re.search(r"Reopened by <bdi>you</bdi> on \S+ \S+ UTC: <bdi>Called; safe", page)
    answered(client, again, text="I want to kill myself tonight.")
    assert listed(client, unread="true")[0]["unread"] == 1

    for bad in ({"turn": 1, "start": 0, "end": 1}, {"turn": 0, "start": 0, "end": 1}, {}):
        assert client.post(place, json={"statements": [bad]}).status_code == 422
    unknown = place.replace(held["interview_id"], "x" * 32)
    assert client.post(unknown, json={}).json()["code"] == "interview_not_found"
    wrong = client.post(f"/interviews/{'x' * 32}/acknowledge", data={"note": ""})
    assert wrong.status_code == 404


def test_a_second_interview_hides_no_danger_of_the_first(client: httpx.Client) -> None:
    record = assessed(client, CALM)
    answered(client, begun_about(client, record), text="I want to kill myself.")
    begun_about(client, record)
    assert listed(client)[0]["unread"] == 1
    assert "Signs of danger in the interview: high" in client.get(f"/assessments/{record}").text


def test_danger_in_an_interview_without_assessment_is_unread_on_the_list(
    client: httpx.Client,
) -> None:
    assessed(client, CALM)
    unstored = {"assessment_id": NOBODY, "items": {}}
    held = answered(client, begin(client, assessment=unstored), text="I want to kill myself.")
    front = client.get("/").text
    assert "1 that belongs to no assessment has statements of danger" in front
    assert "1 not yet read" in front
    sent = client.post(f"/interviews/{held['interview_id']}/acknowledge", data={"note": ""})
    assert sent.status_code == 303
    front = client.get("/").text
    assert ("not yet read</strong>" in front, "belongs to no" in front) == (False, False)
    assert f'href="/interviews/{held["interview_id"]}"' in front


def test_somebody_who_rates_blind_may_confirm_and_stays_blind(client: httpx.Client) -> None:
    begun = client.post(PLACE, json={"transcript_text": TEXT}, headers={"Prefer": "respond-async"})
    job = begun.headers["location"]
    wait_until(lambda: client.get(job, follow_redirects=False).status_code == 303)
    record = job.rpartition("/")[2]
    assert client.post(f"{PLACE}/{record}/review").json()["phase"] == "blind"
    assert client.post(f"{PLACE}/{record}/acknowledgements", json={}).status_code == 201
    assert client.get(f"{PLACE}/{record}/review").json()["phase"] == "blind"
    assert client.get(f"{PLACE}/{record}").json()["code"] == "still_blind"


def test_several_signs_in_one_sentence_of_an_interview_are_one_statement(
    client: httpx.Client,
) -> None:
    said = "I want to kill myself and I have bought the pills."
    held = answered(client, begin(client), text=f"Hm. {said} <b>So.</b>")
    place = f"/v1/interviews/{held['interview_id']}/acknowledgements"
    (one,) = client.get(place).json()["statements"]
    assert (one["start"] < one["end"], client.get(place).json()["unread"]) == (True, 1)
    page = client.get(f"/interviews/{held['interview_id']}").text
    words = page.partition('<ol class="signs')[2].partition("</ol>")[0]
    assert re.sub(r"</?strong>", "", words).count(said) == 1
    assert re.search(r"<strong>[^<]*kill myself[^<]*</strong>", words.partition("<q dir")[2])


def test_who_is_asked_to_rate_first_is_told_of_danger_and_confirms_without_scores(
    client: httpx.Client,
) -> None:
    record = assessed(client)
    body = {"protocol": "phq8", "assessment": client.get(f"{PLACE}/{record}").json()}
    answered(client, begin(client, **body), text="I want to kill myself.")
    page = client.post("/v1/session", data={"rater": "Ann"}, follow_redirects=True).text
    here = f"/assessments/{record}"
    page = client.get(here).text
    assert "Rate it first?" in page
    assert "Signs of danger: high" in page
    assert "</strong>, 1 not yet read" in page
    assert "killing myself" in page
    assert "Total" not in page
    form = {"csrf": re.findall(r'name="csrf" value="([^"]+)"', page)[0]}
    sent = client.post(f"{here}/acknowledge", data=form)
    assert (sent.status_code, sent.headers["location"]) == (303, f"{here}#danger")
    page = client.get(here).text
    assert ("Rate it first?" in page, "Read by <bdi>you</bdi>" in page) == (True, True)
    assert client.get(f"{PLACE}/{record}/review").json()["phase"] in {"unseen", "blind"}


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
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    with client_of(create_app(settings_with(first))) as client:
        record = assessed(client)
        client.post(f"{PLACE}/{record}/acknowledgements", json={"note": NOTE})
        before = statements(client, record)
    move_records(first, second)
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


def results(client: httpx.Client) -> list[dict[str, str]]:
    """Return the exported table of results."""
    told = client.get("/v1/export", params={"what": "results", "format": "csv"}).text
    rows = [*csv.DictReader(io.StringIO(told, newline=""))]
    assert [*rows[0]][-1] == "danger_unread"
    return rows


def test_exported_results_count_what_nobody_has_read_of_transcript_and_interviews(
    client: httpx.Client,
) -> None:
    record, calm = assessed(client), assessed(client, CALM)
    count = len(statements(client, record))
    assert [(row["assessment_id"], row["danger_unread"]) for row in results(client)] == [
        (calm, "0"),
        (record, str(count)),
    ]
    held = answered(client, begun_about(client, record), text="I want to kill myself.")
    (told,) = (row for row in results(client) if row["assessment_id"] == record)
    (shown,) = (one for one in listed(client) if one["assessment_id"] == record)
    assert told["danger_unread"] == str(shown["unread"]) == str(count + 1)
    client.post(f"{PLACE}/{record}/acknowledgements", json={})
    client.post(f"/v1/interviews/{held['interview_id']}/acknowledgements", json={})
    assert {row["danger_unread"] for row in results(client)} == {"0"}


def test_an_unread_count_that_is_not_known_is_empty_and_no_nought(tmp_path: Path) -> None:
    app = create_app(settings_with(tmp_path))
    with client_of(app) as client:
        opened = app.state.services.stores.open(LOCAL.tenant)
        made = assessed(client)
        record = opened.get(made)
        figures = replace(record.summary.figures, danger=None, to_read=None, danger_group=None)
        added = NewRecord(
            id=NOBODY,
            transcript=record.transcript,
            subject="P-1",
            result=record.result.replace(made.encode(), NOBODY.encode()),
            figures=figures,
        )
        opened.add(added)
        assert {row["assessment_id"]: row["danger_unread"] for row in results(client)} == {
            NOBODY: "",
            made: str(len(statements(client, made))),
        }
        lines = client.get("/v1/export", params={"what": "results"}).text.splitlines()
        assert json.loads(lines[0])["danger_unread"] is None


def test_the_saved_file_says_who_has_read_what_and_that_nobody_has(client: httpx.Client) -> None:
    record = assessed(client)
    held = answered(client, begun_about(client, record), text="I want to kill myself.")
    saved = client.get(f"{PLACE}/{record}/html").text
    count = len(statements(client, record)) + 1
    assert saved.count("Not yet read when this file was saved:") == count
    client.post(f"{PLACE}/{record}/acknowledgements", json={"note": "<b>called</b>"})
    saved = client.get(f"{PLACE}/{record}/html").text
    assert saved.count("Not yet read when this file was saved:") == 1
    days = re.findall(r"Read by <bdi>local</bdi> on (\d{4}-\d\d-\d\d \d\d:\d\d) UTC", saved)
    (live,) = {*re.findall(r"Read by <bdi>you</bdi> on (.{16}) UTC", page_of(client, record))}
    assert days == [live] * (count - 1)
    assert saved.count("&lt;b&gt;called&lt;/b&gt;") == count - 1
    client.post(f"/v1/interviews/{held['interview_id']}/acknowledgements", json={})
    saved = client.get(f"{PLACE}/{record}/html").text
    assert ("Not yet read" in saved, saved.count("Read by <bdi>local")) == (False, count)


def page_of(client: httpx.Client, record: str) -> str:
    """Return the live page of an assessment."""
    return client.get(f"/assessments/{record}").text


def test_notes_are_exported_from_the_page_by_a_choice_of_their_own(client: httpx.Client) -> None:
    record = assessed(client)
    client.post(f"{PLACE}/{record}/acknowledgements", json={"note": NOTE})
    front = client.get("/").text
    offered = re.findall(r'href="(/v1/export[^"]+)">(Who read danger[^<]*)<', front)
    found = {name: client.get(html.unescape(address)).text for address, name in offered}
    assert NOTE in found["Who read danger, with notes, CSV"]
    assert NOTE not in found["Who read danger, CSV"]
    assert "Who read danger, with notes, Excel" in found
    form = {"id": record, "as": "acknowledgements.csv.with_words"}
    sent = client.post("/chosen/export", data=form)
    assert sent.status_code == 303
    assert NOTE in client.get(sent.headers["location"]).text
