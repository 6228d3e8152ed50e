"""Study ids: asked for, exported as they are, and unique where the settings want that."""

import csv
import io
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

import httpx
import pytest
from openpyxl import load_workbook  # type: ignore[import-untyped]

from ai_psychiatrist.domain.phq8 import Item
from tests.integration.running_app import client_of, settings_with
from tests.integration.test_list_page import CALM, DANGER, GONE, PLACE, assessed
from tests.patience import wait_until

IDS: Final = ("P-017", "=1+1", "-5", "Åse Ø")
ASYNC: Final = {"Prefer": "respond-async"}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    with client_of(settings_with(tmp_path)) as opened:
        yield opened


def has_failed(client: httpx.Client, count: int) -> bool:
    return bool(client.get(PLACE, params={"state": "failed"}).json()["total"] == count)


@pytest.fixture
def unique(tmp_path: Path) -> Iterator[httpx.Client]:
    """A client of a server on which a study id has one assessment."""
    with client_of(settings_with(tmp_path, STORE_UNIQUE_SUBJECTS="true")) as opened:
        yield opened


def exported(client: httpx.Client, **query: str) -> httpx.Response:
    answer = client.get("/v1/export", params=query)
    assert answer.status_code == 200, answer.text
    return answer


def test_every_table_names_the_study_id(client: httpx.Client) -> None:
    made = {assessed(client, DANGER, subject=one): one for one in IDS}
    for record in made:
        client.post(f"{PLACE}/{record}/acknowledgements", json={})
        client.post(f"{PLACE}/{record}/review")
        items = {item: {"score": 1} for item in Item}
        rated = client.post(f"{PLACE}/{record}/review/ratings", json={"items": items})
        assert rated.status_code == 201, rated.text
    for what in ("results", "items", "ratings", "acknowledgements"):
        lines = exported(client, what=what).text.splitlines()
        rows = [json.loads(line) for line in lines]
        assert {row["assessment_id"]: row["subject"] for row in rows} == made
        book = load_workbook(io.BytesIO(exported(client, what=what, format="xlsx").content))[what]
        header, *cells = book.iter_rows()
        assert [one.value for one in header][:2] == ["assessment_id", "subject"]
        assert {row[0].value: row[1].value for row in cells} == made
        assert {row[1].data_type for row in cells} == {"s"}
        assert len(cells) == len(rows)
        table = exported(client, what=what, format="csv").text
        names = {row["assessment_id"]: row["subject"] for row in csv.DictReader(io.StringIO(table))}
        assert {names[one].removeprefix("'") for one in made} == set(IDS)


def test_a_csv_begins_with_a_byte_order_mark_on_request(client: httpx.Client) -> None:
    assessed(client, subject="Åse")
    plain, marked = (exported(client, format="csv", **more).content for more in ({}, {"bom": "1"}))
    assert marked == b"\xef\xbb\xbf" + plain
    answer = client.get("/v1/export", params={"format": "xlsx", "bom": "true"})
    assert (answer.status_code, answer.json()["field"]) == (422, "bom")


@pytest.mark.parametrize("name", ["what", "format", "bom"])
def test_an_unknown_value_is_refused_by_the_name_of_its_field(
    client: httpx.Client, name: str
) -> None:
    answer = client.get("/v1/export", params={name: "pdf"})
    assert answer.status_code == 422
    assert [one["field"] for one in answer.json()["errors"]] == [name]
    assert answer.json()["detail"].startswith(f"{name} has to be ")


def test_bundles_name_the_study_id_as_an_identifier(client: httpx.Client) -> None:
    record = assessed(client, subject="P-017")
    (line,) = exported(client, format="fhir").text.splitlines()
    alone = client.get(f"{PLACE}/{record}", headers={"Accept": "application/fhir+json"}).json()
    named = {"identifier": {"system": "urn:ai-psychiatrist:subject", "value": "P-017"}}
    for bundle in (json.loads(line), alone):
        found = [one["resource"].get("subject") for one in bundle["entry"]]
        assert [one for one in found if one is not None] == [named] * 11


def test_a_second_assessment_of_a_study_id_is_refused_by_name_where_ids_are_unique(
    unique: httpx.Client,
) -> None:
    first = assessed(unique, subject="P-017")
    assessed(unique, subject="P-17")
    assessed(unique)
    assessed(unique)
    for headers in ({}, ASYNC):
        answer = unique.post(
            PLACE, json={"transcript_text": CALM, "subject": " P-017 "}, headers=headers
        )
        problem = answer.json()
        assert (answer.status_code, problem["code"]) == (409, "subject_taken")
        assert problem["field"] == "subject"
        assert first in problem["detail"]
        assert "P-017" not in answer.text
    form = {"text": CALM, "subject": "P-017", "action": "assess"}
    page = unique.post("/new", data=form)
    assert page.status_code == 422
    assert first in page.text
    assert unique.delete(f"{PLACE}/{first}").status_code == 204
    assessed(unique, subject="P-017")


def test_a_batch_takes_no_study_id_twice(unique: httpx.Client) -> None:
    first = assessed(unique, subject="P-1")
    for ids, place, told in (
        (("P-2", "P-3", "P-2"), 2, "requests.0 of this batch"),
        (("P-4", "P-1"), 1, first),
    ):
        requests = [{"transcript_text": CALM, "subject": one} for one in ids]
        answer = unique.post("/v1/batches", json={"requests": requests})
        assert (answer.status_code, answer.json()["code"]) == (409, "subject_taken")
        assert answer.json()["field"] == f"requests.{place}.subject"
        assert told in answer.json()["detail"]
    assert unique.get(PLACE).json()["total"] == 1


def test_of_two_requests_at_once_one_gets_the_study_id(unique: httpx.Client) -> None:
    body = {"transcript_text": CALM, "subject": "P-1"}

    def ask(_: int) -> int:
        return unique.post(PLACE, json=body, headers=ASYNC).status_code

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(ask, range(4))) == [202, 409, 409, 409]


def test_what_failed_takes_no_study_id_and_is_tried_again(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, STORE_UNIQUE_SUBJECTS="true", **GONE)
    with client_of(settings) as client:
        body = {"transcript_text": CALM, "subject": "P-1"}
        for count in (1, 2):
            begun = client.post(PLACE, json=body, headers=ASYNC)
            assert begun.status_code == 202, begun.text
            job = begun.headers["location"]
            wait_until(partial(has_failed, client, count))
        again = {"action": "again", "id": job.rpartition("/")[2]}
        assert client.post("/new", data=again).status_code == 303


def test_ids_may_be_used_again_unless_the_settings_say_otherwise(client: httpx.Client) -> None:
    assessed(client, subject="P-1")
    assessed(client, subject="P-1")


def test_the_form_asks_for_the_study_id(client: httpx.Client) -> None:
    page = client.get("/new").text
    assert '<label for="subject">Study id' in page


def test_a_study_id_of_the_header_is_taken_unless_the_body_has_another(
    client: httpx.Client,
) -> None:
    def sent(subject: str) -> httpx.Response:
        body = {"transcript_text": "Participant: I sleep badly.", "subject": subject}
        return client.post("/v1/assessments", json=body, headers={"X-Subject": "H%20in%20header"})

    assert sent("H in header").status_code == 201
    refused = sent("of the body")
    assert (refused.status_code, refused.json()["field"]) == (422, "subject")
    assert "X-Subject" in refused.json()["detail"]
