"""The list of assessments as people use it, without scripts: read, find, choose, export, erase."""

import csv
import html
import io
import itertools
import json
import re
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.domain.phq8 import Item
from tests.fakes.faults import fault
from tests.golden.ways import model_server
from tests.integration.command_here import run_here
from tests.integration.running_app import RunningApp, client_of, settings_with
from tests.integration.test_interview_http import answered, begin
from tests.integration.test_reviews_http import Doors
from tests.patience import wait_until

PLACE: Final = "/v1/assessments"
DANGER: Final = "Participant: I think about killing myself. I sleep badly nearly every night.\n"
LESS: Final = "Participant: Then they are looked after. I already wrote the letter.\n"
DENIED: Final = (
    "Interviewer: Do you think about killing yourself?\nParticipant: No, never.\n"
    "Interviewer: How do you sleep?\nParticipant: I sleep well.\n"
)
CALM: Final = "Participant: I sleep well. I eat well.\n"
GONE: Final = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "MODEL_DEFAULT": "openai-chat:gone"}


class Rows(HTMLParser):
    """The words of each row of the list, cell by cell, by the name of its column."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[dict[str, str]] = []
        self._cell: str | None = None
        self.feed(page.partition('<table class="cohort')[2].partition("</tbody>")[0])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a row or a cell."""
        given = dict(attrs)
        if tag == "th" and given.get("scope") == "row":
            self.rows.append({})
            self._cell = "title"
        elif tag == "td":
            self._cell = given.get("data-name")

    def handle_endtag(self, tag: str) -> None:
        """End a cell."""
        if tag in {"td", "th"}:
            self._cell = None

    def handle_data(self, data: str) -> None:
        """Take the words of a cell."""
        if self._cell and self.rows:
            row = self.rows[-1]
            row[self._cell] = " ".join(f"{row.get(self._cell, '')} {data}".split())


def rows_of(client: httpx.Client, **query: str) -> list[dict[str, str]]:
    answer = client.get("/", params=query)
    assert answer.status_code == 200, answer.text
    return Rows(answer.text).rows


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    with client_of(settings_with(tmp_path)) as opened:
        yield opened


def steps_of(page: str) -> dict[str, str]:
    found = re.findall(r"<span>([^<]+)</span> <time>([^<]+)</time>", page)
    assert len(found) == len(dict(found)), found
    return dict(found)


def assessed(client: httpx.Client, text: str = CALM, **fields: str) -> str:
    made = client.post(PLACE, json={"transcript_text": text, **fields})
    assert made.status_code == 201, made.text
    return str(made.json()["assessment_id"])


def chosen(client: httpx.Client, does: str, ids: list[str], **fields: str) -> httpx.Response:
    return client.post(f"/chosen/{does}", data={"id": ids, **fields})


def test_what_nobody_has_confirmed_reading_is_counted_above_the_list(client: httpx.Client) -> None:
    assert "nobody has confirmed reading" not in client.get("/").text
    assessed(client)
    first = assessed(client, DANGER)
    batch = {"requests": [{"transcript_text": one} for one in (DANGER, CALM, DANGER)]}
    begun = client.post("/v1/batches", json=batch).headers["location"]
    wait_until(lambda: client.get(begun).json()["counts"]["finished"] == 3)
    assert client.get(begun).json()["unread"] == 2

    page = client.get("/").text
    assert "3 assessments have statements of danger that nobody has confirmed reading" in page
    query = re.search(r'href="/(\?unread=[^"]+)"', page)
    assert query is not None
    unread = Rows(client.get("/" + query[1].replace("&amp;", "&")).text).rows
    assert len(unread) == 3
    assert all("not yet read" in row["Danger"] for row in unread)

    assert client.post(f"{PLACE}/{first}/acknowledgements", json={}).status_code == 201
    assert "2 assessments have statements" in client.get("/", params={"danger": "none"}).text


def test_a_row_has_study_id_total_status_and_group_of_danger(client: httpx.Client) -> None:
    ids = [assessed(client, DANGER, subject="P-017"), assessed(client)]
    grave, calm = rows_of(client)
    assert re.fullmatch(r"P-017 20\d\d-\d\d-\d\d \d\d:\d\d UTC", grave["title"])
    assert calm["title"].startswith("No study id 20")
    assert grave["Danger"].startswith("high Read now (1)")
    assert calm["Danger"] == "nothing found"
    for row in (calm, grave):
        assert re.fullmatch(r"\d+ to \d+", row["Total"])
        assert row["Unknown items"].endswith("of 8")
        assert row["Status"] == "finished"
    words = re.sub(r"<[^>]*>", " ", client.get("/").text)
    assert not any(one[:8] in words for one in ids)
    (hidden,) = rows_of(client, scores="hidden", danger="high")
    assert hidden["Total"] in {"hidden until you have rated", grave["Total"]}


def test_unread_danger_comes_first_then_the_newest(client: httpx.Client) -> None:
    grave, calm = assessed(client, DANGER, subject="old"), assessed(client, subject="new")
    assert [row["title"].split()[0] for row in rows_of(client)] == ["old", "new"]
    first = client.get(PLACE, params={"sort": "unread"}).json()["assessments"]
    assert [one["assessment_id"] for one in first] == [grave, calm]
    client.post(f"{PLACE}/{grave}/acknowledgements", json={})
    for query in ({}, {"sort": "created"}):
        assert [row["title"].split()[0] for row in rows_of(client, **query)] == ["new", "old"]


def test_unread_danger_is_sorted_by_its_level(client: httpx.Client) -> None:
    for subject, text in (("grave", DANGER), ("less", LESS), ("calm", CALM)):
        assessed(client, text, subject=subject)
    assert [row["title"].split()[0] for row in rows_of(client)] == ["grave", "less", "calm"]
    for level, answer in (
        ("high", "I want to kill myself."),
        ("moderate", "Everybody would be better off without me."),
    ):
        about = {"assessment_id": str(uuid.uuid4()), "items": {}}
        held = answered(client, begin(client, assessment=about), text=answer)
        report = client.get(f"/v1/interviews/{held['interview_id']}/report").json()
        assert (held["state"], report["danger"]["level"]) == ("safety_hold", level)
    table = client.get("/").text.partition('id="held-name"')[2].partition("</table>")[0]
    assert re.findall(r'<td[^>]*><span class="level level-(high|moderate)">', table) == [
        "high",
        "moderate",
    ]


def test_a_row_tells_danger_in_an_interview_from_what_the_transcript_denies(
    client: httpx.Client,
) -> None:
    record = assessed(client, DENIED)
    body = {"protocol": "phq8", "assessment": client.get(f"{PLACE}/{record}").json()}
    answered(client, begin(client, **body), text="I want to kill myself.")
    (row,) = rows_of(client)
    assert row["Danger"] == (
        "high in an interview (1); in the transcript: nothing found, asked and denied "
        "1 not yet read"
    )


def test_danger_is_on_rows_without_a_result(tmp_path: Path) -> None:
    with client_of(settings_with(tmp_path, **GONE)) as client:
        begun = client.post(
            PLACE,
            json={"transcript_text": DANGER, "subject": "P-1"},
            headers={"Prefer": "respond-async"},
        ).headers["location"]
        wait_until(lambda: client.get(begun).json()["state"] == "failed")
        (row,) = rows_of(client)
    assert row["Danger"].startswith("high Read now (1)")
    assert row["Danger"].endswith("1 not yet read")
    assert row["Total"] == "no scores"
    assert row["Status"].startswith("failed No part of it was finished")


def test_danger_is_on_rows_that_are_under_way(tmp_path: Path) -> None:
    with (
        model_server(fault("hang")) as (server, named),
        client_of(settings_with(tmp_path, JOBS_CONCURRENCY="1", **named)) as client,
    ):
        batch = {"requests": [{"transcript_text": one} for one in (DANGER, CALM)]}
        client.post("/v1/batches", json=batch)
        wait_until(lambda: bool(server.requests))
        running, waiting = rows_of(client)
        assert (running["Status"], waiting["Status"]) == ("in progress", "waiting")
        assert running["Danger"] == "high Read now (1) 1 not yet read"
        assert waiting["Danger"] == "nothing found"
        assert "1 assessment has statements of danger" in client.get("/").text
        (first, second) = re.findall(
            r'<th scope="row"[^>]*><a href="(/[^"]+)"', client.get("/").text
        )
        steps = [steps_of(client.get(path).text) for path in (second, first)]
        assert (steps[0]["Begun"], steps[1]["Items scored from evidence"]) == ("not yet", "not yet")
        for step in ("Begun", "Transcript read for danger"):
            assert re.fullmatch(r"20[\d-]{8} \d\d:\d\d:\d\d UTC", steps[1][step])
        for job in client.get("/v1/jobs").json()["jobs"]:
            client.delete(f"/v1/jobs/{job['job_id']}")
        assert {row["Status"] for row in rows_of(client)} == {"cancelled"}


def test_a_study_id_is_found_as_it_is_written_and_otherwise_whatever_its_capitals(
    client: httpx.Client,
) -> None:
    wanted = {assessed(client, subject="P-01"), assessed(client, DANGER, subject="P-01")}
    assessed(client, subject="P-1")
    found = client.post("/find", data={"subject": "P-01"})
    assert found.status_code == 303
    assert "P-01" not in found.headers["location"]
    rows = Rows(client.get(found.headers["location"]).text).rows
    assert [row["title"].split()[0] for row in rows] == ["P-01", "P-01"]
    small = client.post("/find", data={"subject": " p-01"})
    assert small.headers["location"] == found.headers["location"]
    for wrong in ("P-0", "", "<b>P-01"):
        missed = client.post("/find", data={"subject": wrong})
        assert missed.status_code == 404
        assert f"No study id <bdi>{html.escape(wrong)}</bdi>" in missed.text
        assert 'name="subject" maxlength="200"' in missed.text
    assessed(client, subject="p-1")
    several = client.post("/find", data={"subject": "p-1 "})
    assert several.status_code == 303
    assessed(client, subject="Q-1")
    assessed(client, subject="q-1")
    assessed(client, subject="qQ-1")
    assessed(client, subject="Qq-1")
    several = client.post("/find", data={"subject": "QQ-1"})
    assert several.status_code == 404
    assert [f"<button>{one}</button>" in several.text for one in ("qQ-1", "Qq-1", "q-1")] == [
        True,
        True,
        False,
    ]

    def listed(**sent: Any) -> set[str]:
        return {one["assessment_id"] for one in client.get(PLACE, **sent).json()["assessments"]}

    subject_id = found.headers["location"].partition("=")[2]
    assert listed(headers={"X-Subject": "P-01"}) == wanted
    assert listed(params={"subject_id": subject_id}) == wanted
    assert listed(headers={"X-Subject": "p-01"}) == set()


def test_the_chosen_assessments_alone_are_exported(client: httpx.Client) -> None:
    first, _, third = (assessed(client) for _ in range(3))
    sent = chosen(client, "export", [first, third], **{"as": "results.csv"})
    assert sent.status_code == 303
    table = client.get(sent.headers["location"])
    assert {row["assessment_id"] for row in csv.DictReader(io.StringIO(table.text))} == {
        first,
        third,
    }
    assert table.headers["X-Left-Out"] == "0"
    nobody = str(uuid.UUID(int=1))
    missing = client.get("/v1/export", params={"assessment_id": [first, nobody]})
    assert (missing.status_code, missing.json()["code"]) == (404, "assessment_not_found")
    for ids, form in (([], "results.csv"), ([first], "results.pdf")):
        assert chosen(client, "export", ids, **{"as": form}).status_code == 422


def test_an_export_that_tells_hidden_scores_asks_first(client: httpx.Client) -> None:
    seen, unseen = assessed(client), assessed(client, DANGER)
    client.post("/v1/session", data={"rater": "Ann"})
    page = client.get("/").text
    assert 'href="/v1/export' not in page
    form = {"csrf": re.findall(r'name="csrf" value="([^"]+)"', page)[0], "as": "results.csv"}
    client.get(f"/assessments/{seen}", params={"show": "result"})
    for given, count in (({"id": [seen, unseen]}, 1), ({"all": "true"}, 1)):
        asked = client.post("/chosen/export", data=form | given)
        assert asked.status_code == 200, asked.text
        assert f"that you have not rated, {count} in number" in asked.text
        (way,) = re.findall(r'href="(/v1/export[^"]+)">Export all the same', asked.text)
    assert client.get(f"{PLACE}/{unseen}/review").json()["phase"] == "unseen"
    for free in ({"id": seen}, {"all": "true", "as": "acknowledgements.csv"}):
        told = client.post("/chosen/export", data=form | free)
        assert told.headers["location"].startswith("/v1/export?what=")
    exported = client.get(html.unescape(way)).text
    assert (seen in exported, unseen in exported) == (True, True)
    told = client.post("/chosen/export", data=form | {"all": "true"})
    assert told.headers["location"] == "/v1/export?what=results&format=csv"


def test_what_has_no_result_is_left_out_of_an_export_and_counted(tmp_path: Path) -> None:
    with client_of(settings_with(tmp_path, **GONE)) as client:
        body = {"requests": [{"transcript_text": DANGER}]}
        begun = client.post("/v1/batches", json=body).headers["location"]
        wait_until(lambda: client.get(begun).json()["counts"]["failed"] == 1)
        (job,) = client.get(begun).json()["jobs"]
        answer = client.get("/v1/export", params={"assessment_id": job["job_id"]})
    assert (answer.text, answer.headers["X-Left-Out"]) == ("", "1")


def test_the_chosen_assessments_are_erased_after_the_word_and_each_has_its_rows(
    client: httpx.Client, tmp_path: Path
) -> None:
    kept, *gone = (assessed(client, subject=f"P-{number}") for number in range(3))
    asked = chosen(client, "erase", gone)
    assert (asked.status_code, "P-0" in asked.text) == (200, False)
    assert all(f"P-{number}" in asked.text for number in (1, 2))
    assert chosen(client, "erase", gone, word="delete").status_code == 422
    assert len(rows_of(client)) == 3
    done = chosen(client, "erase", gone, word=" Erase ")
    assert done.status_code == 303
    assert "Erased 2 assessments." in client.get(done.headers["location"]).text
    assert "Erased" not in client.get("/", params={"erased": "many"}).text
    assert [client.get(f"{PLACE}/{one}").status_code for one in (kept, *gone)] == [200, 404, 404]
    assert chosen(client, "erase", gone, word="erase").status_code == 422
    for one in gone:
        command = ["audit", "show", "--json", "--record", one]
        shown = run_here(command, tmp_path, {"DATA_STATE_DIR": str(tmp_path)})
        rows = [json.loads(line) for line in shown.out.splitlines()]
        erased = [row["outcome"] for row in rows if row["action"] == "assessment_erased"]
        assert erased == ["begun", "204"]


def test_the_chosen_assessments_are_rated_before_all_others(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, AUTH_REQUIRED="true", MODEL_DEFAULT="baseline")
    with RunningApp(settings) as app, ExitStack() as stack:
        doors = Doors(app.url, tmp_path, stack)
        owner = doors.client()
        made = [assessed(owner) for _ in range(6)]
        rater = doors.client(frozenset({Scope.READ, Scope.REVIEW}))
        before = rater.get("/next").headers["location"]
        wanted, second = [one for one in made if one not in before][:2]
        begun = chosen(rater, "rate", [wanted, second])
        assert (begun.status_code, begun.headers["location"].partition("?")[0]) == (
            303,
            f"/assessments/{wanted}/rate",
        )
        queued = rater.get("/v1/queue", params={"limit": 2}).json()["cases"]
        assert {one["assessment_id"] for one in queued} == {wanted, second}
        assert rater.get(f"{PLACE}/{wanted}").json()["code"] == "still_blind"
        page = rater.get("/").text
        assert "/chosen/rate" in page
        assert "/chosen/erase" not in page
        assert chosen(rater, "erase", [wanted], word="erase").status_code == 403
        assert chosen(rater, "rate", []).status_code == 422


_PAGES: Final = ("/", "/new", "/next", "/agreement", "/assessments/none", "/chosen/none")
_OF_ONE: Final = ("", "?show=result", "/rate", "/adjudicate", "/interview")
_GOES_TO: Final = re.compile(r'(?:<(?:a|form)\b[^>]*?(?:href|action)|formaction)="(/[^"#]*)"')


def test_a_key_sees_pages_alone_and_no_button_that_it_may_not_use(tmp_path: Path) -> None:
    """With keys of one scope and of two: a page says which scope is missing, never raw JSON."""
    settings = settings_with(tmp_path, AUTH_REQUIRED="true", MODEL_DEFAULT="baseline")
    with RunningApp(settings) as app, ExitStack() as stack:
        doors = Doors(app.url, tmp_path, stack)
        owner = doors.client()
        made = assessed(owner, DANGER, subject="P-1")
        paths = (*_PAGES, *(f"/assessments/{made}{part}" for part in _OF_ONE))
        for scopes in (*itertools.combinations(Scope, 1), *itertools.combinations(Scope, 2)):
            client = doors.client(frozenset(scopes))
            client.headers["Accept"] = "text/html,*/*"
            for path in paths:
                page = client.get(path, follow_redirects=True)
                assert page.headers["content-type"].startswith("text/html"), (scopes, path)
                if page.status_code == 403:
                    assert "does not have the scope" in page.text, (scopes, path)
                for place in set(_GOES_TO.findall(page.text)):
                    is_form = f'action="{place}"' in page.text
                    went = client.request("POST" if is_form else "GET", html.unescape(place))
                    assert went.status_code not in {401, 403}, (scopes, path, place)
        sender = doors.client(frozenset({Scope.ASSESS}))
        sender.headers["Accept"] = "text/html,*/*"
        stored = sender.get(f"/assessments/{made}")
        assert stored.status_code == 200
        assert "The assessment is stored" in stored.text
        assert "Signs of danger: high. Your key sends interviews" in stored.text
        assert "killing" not in stored.text
        assert client.get("/").headers["content-type"].startswith("text/html")
        client.headers["Accept"] = "*/*"
        assert client.get("/").json()["missing_scopes"] == ["read"]


def test_a_filtered_list_is_rated_case_after_case_in_a_queue_of_its_own(
    client: httpx.Client,
) -> None:
    assessed(client)
    grave = {assessed(client, DANGER), assessed(client, DANGER)}
    front = client.get("/", params={"danger": "high"}).text
    (way,) = re.findall(r'href="(/next\?[^"]+)">Rate these one after another', front)
    assert "Rate these" not in client.get("/").text
    assert "Rate these" not in client.get("/", params={"unknown": "1", "danger": "high"}).text
    begun = client.get(html.unescape(way))
    place, _, query = begun.headers["location"].partition("?")
    first = place.split("/")[2]
    assert (begun.status_code, first in grave, query.startswith("queue=")) == (303, True, True)
    assert "Case 1 of 2 that were chosen." in client.get(f"{place}?{query}").text
    read = client.post(
        f"/assessments/{first}/acknowledge?{query}", data={"from": "rate", "note": ""}
    )
    assert read.headers["location"] == f"/assessments/{first}/rate?{query}#danger"

    ratings = {"items": {item: {"score": 0} for item in Item}}
    client.post(f"{PLACE}/{first}/review")
    assert client.post(f"{PLACE}/{first}/review/ratings", json=ratings).status_code == 201
    (second,) = grave - {first}
    after = client.get(f"/assessments/{first}?{query}").text
    assert f'href="/next?{query}">Next to rate: case 2 of 2<' in after
    assert client.get(f"/next?{query}").headers["location"] == f"/assessments/{second}/rate?{query}"
    client.delete(f"{PLACE}/{second}")
    assert "You have rated every assessment that was chosen." in client.get(f"/next?{query}").text
    wrong = client.get("/next", params={"danger": "grim"})
    assert (wrong.status_code, "There is no such list" in wrong.text) == (422, True)


@pytest.mark.parametrize("queue", ["x", "é", "A" * 22 * 101, "%00", "=" * 40])
def test_a_queue_that_no_page_made_is_none(client: httpx.Client, queue: str) -> None:
    record = assessed(client)
    answer = client.get("/next", params={"queue": queue})
    assert answer.headers["location"] == f"/assessments/{record}/rate"
    page = client.get(f"/assessments/{record}/rate", params={"queue": queue})
    assert (page.status_code, "that were chosen" in page.text) == (200, False)
