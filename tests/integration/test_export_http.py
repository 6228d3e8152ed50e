"""Stored assessments as others read them: FHIR by its media type, and exports of everything."""

import csv
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import jsonschema_rs
import pytest
from openpyxl import load_workbook  # type: ignore[import-untyped]

from ai_psychiatrist.results.column_meanings import COLUMN_MEANINGS
from tests.fakes.fhir_bundles import faults_of
from tests.fakes.full_results import EXAMPLE
from tests.integration.running_app import RunningApp, client_at, settings_with

FHIR = "application/fhir+json"
WORDS = "I didn't enjoy it like I used to"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with two stored assessments of the example."""
    folder = tmp_path_factory.mktemp("served")
    settings = settings_with(folder)
    with RunningApp(settings) as app, client_at(app.url) as client:
        for _ in range(2):
            body = {"transcript_text": EXAMPLE.read_text("utf-8")}
            assert client.post("/v1/assessments", json=body).status_code == 201
        yield app.url


@pytest.fixture
def client(url: str) -> Iterator[httpx.Client]:
    with client_at(url) as opened:
        yield opened


def ids(client: httpx.Client) -> list[str]:
    return [one["assessment_id"] for one in client.get("/v1/assessments").json()["assessments"]]


def test_fhir_is_given_to_whoever_asks_for_it(client: httpx.Client, public_data: Path) -> None:
    path = f"/v1/assessments/{ids(client)[0]}"
    answer = client.get(path, headers={"Accept": FHIR})
    assert (answer.status_code, answer.headers["content-type"]) == (200, FHIR)
    bundle = answer.json()
    assert not faults_of(bundle)
    assert bundle["timestamp"].endswith("Z")
    assert WORDS not in answer.text
    schema = json.loads((public_data / "fhir" / "fhir_r4.schema.json").read_bytes())
    jsonschema_rs.validator_for(schema).validate(bundle)


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("*/*", "application/json"),
        ("application/json", "application/json"),
        ("application/*", "application/json"),
        ('application/fhir+json; fhirVersion="4.0"', FHIR),
        ("application/fhir+json;q=0.4, application/json;q=0.3, */*;q=1", FHIR),
        ("application/fhir+json;fhirVersion=5.0, */*;q=0.1", "application/json"),
        ("application/json;q=0, */*", FHIR),
        (f"{FHIR}, application/json;q=0.9", FHIR),
        (f"{FHIR};q=0.1, application/json;q=0.9", "application/json"),
        (f"application/json;q=0, {FHIR}", FHIR),
        (f"text/html, {FHIR};q=0.2, */*;q=0.1", FHIR),
        (f"{FHIR}; fhirVersion=4.0", FHIR),
    ],
)
def test_the_form_that_is_wanted_most_is_given(
    client: httpx.Client, accept: str, expected: str
) -> None:
    answer = client.get(f"/v1/assessments/{ids(client)[0]}", headers={"Accept": accept})
    assert (answer.status_code, answer.headers["content-type"]) == (200, expected)
    assert "accept" in answer.headers["vary"].lower()


@pytest.mark.parametrize(
    "accept", ["text/html", f"{FHIR};q=0", f"{FHIR}; fhirVersion=5.0", "nonsense", "*/*;q=0"]
)
def test_a_form_that_there_is_not_is_refused_with_those_that_there_are(
    client: httpx.Client, accept: str
) -> None:
    answer = client.get(f"/v1/assessments/{ids(client)[0]}", headers={"Accept": accept})
    assert (answer.status_code, answer.json()["code"]) == (406, "not_acceptable")
    assert FHIR in answer.json()["detail"]
    assert answer.headers["content-type"] == "application/problem+json"


def test_results_and_items_come_as_tables_without_words(client: httpx.Client) -> None:
    answer = client.get("/v1/export", params={"what": "results", "format": "csv"})
    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    assert [row["assessment_id"] for row in rows] == ids(client)
    assert {(row["total_min"], row["total_max"]) for row in rows} == {("8", "14")}
    assert 'filename="results.csv"' in answer.headers["content-disposition"]
    items = client.get("/v1/export", params={"what": "items", "format": "jsonl"})
    assert len(items.text.splitlines()) == 16
    assert WORDS not in answer.text + items.text
    with_words = client.get("/v1/export", params={"what": "items", "with_words": "true"})
    assert WORDS in with_words.text


def test_bundles_come_one_a_line(client: httpx.Client) -> None:
    answer = client.get("/v1/export", params={"format": "fhir", "questionnaire": "true"})
    assert answer.headers["content-type"] == "application/fhir+ndjson"
    bundles = [json.loads(line) for line in answer.text.splitlines()]
    assert [bundle["identifier"]["value"] for bundle in bundles] == ids(client)
    assert [faults_of(bundle) for bundle in bundles] == [[], []]


def test_ratings_are_none_before_anybody_rated(client: httpx.Client) -> None:
    answer = client.get("/v1/export", params={"what": "ratings", "format": "csv"})
    assert answer.status_code == 200
    assert answer.text.startswith("assessment_id,subject,number,rater,at,kind")
    assert len(answer.text.splitlines()) == 1
    assert client.get("/v1/export", params={"what": "ratings"}).text == ""


@pytest.mark.parametrize(
    "query",
    [
        {"what": "everything"},
        {"format": "xml"},
        {"what": "items", "format": "fhir"},
        {"what": "results", "with_words": "true"},
        {"format": "csv", "questionnaire": "true"},
        {"who": "me"},
    ],
)
def test_what_does_not_go_together_is_refused(client: httpx.Client, query: dict[str, str]) -> None:
    answer = client.get("/v1/export", params=query)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("what", ["results", "items", "ratings", "acknowledgements", "interviews"])
def test_a_workbook_explains_each_of_its_columns(client: httpx.Client, what: str) -> None:
    more = {"with_words": "true"} if what in {"items", "acknowledgements"} else {}
    answer = client.get("/v1/export", params={"what": what, "format": "xlsx", **more})
    book = load_workbook(io.BytesIO(answer.content))
    header = [cell.value for cell in next(book[what].iter_rows())]
    explained = {row[0]: row[1] for row in book["Columns"].iter_rows(min_row=2, values_only=True)}
    assert [*explained] == header
    assert explained == {name: COLUMN_MEANINGS[what][name] for name in header}
    assert {*header} == {*COLUMN_MEANINGS[what]}


def test_a_workbook_has_the_moments_of_assessments_as_dates(client: httpx.Client) -> None:
    answer = client.get("/v1/export", params={"what": "results", "format": "xlsx"})
    sheet = load_workbook(io.BytesIO(answer.content))["results"]
    header, *rows = sheet.iter_rows()
    at = [cell.value for cell in header].index("made_at")
    lines = client.get("/v1/export", params={"what": "results"}).text.splitlines()
    moments = [datetime.fromisoformat(json.loads(line)["made_at"]) for line in lines]
    assert all(row[at].is_date for row in rows)
    found = [row[at].value.replace(tzinfo=UTC) for row in rows]
    assert [
        abs((one - other).total_seconds()) < 0.01 for one, other in zip(found, moments, strict=True)
    ] == [
        True,
        True,
    ]
