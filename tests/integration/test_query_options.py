"""What a query may say of an assessment: all of it counts, or the request is refused."""

from collections.abc import Iterator

import httpx
import pytest

from tests.integration.canary import CANARY, INTERVIEW, assert_silent
from tests.integration.running_app import client_of, settings_with

SCORING = ("/full_pipeline", "/assess/quantitative")
FINDINGS = "/assess/qualitative"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with client_of(settings_with(tmp_path_factory.mktemp("query"))) as opened:
        yield opened


def sent(client: httpx.Client, route: str, **query: str) -> httpx.Response:
    headers = {"Content-Type": "text/plain"}
    return client.post(route, content=INTERVIEW, headers=headers, params=query)


def verdicts(answer: httpx.Response) -> set[bool]:
    body = answer.json()
    items = (body.get("quantitative") or body)["items"].values()
    return {item["drive"] is not None for item in items if item["score"] is not None}


@pytest.mark.parametrize("route", SCORING)
def test_a_file_is_scored_as_its_query_says(client: httpx.Client, route: str) -> None:
    answer = sent(client, route, mode="descriptions_only", ablate="true")
    assert answer.status_code == 200
    assert answer.json()["mode"] == "descriptions_only"
    assert verdicts(answer) == {True}
    assert sent(client, route, mode="0").json()["mode"] == "zero_shot"
    assert sent(client, route, mode="1").status_code == 409


def test_a_query_counts_beside_a_body_that_does_not_say_otherwise(client: httpx.Client) -> None:
    body: dict[str, object] = {"transcript_text": INTERVIEW}
    query = {"mode": "descriptions_only"}
    asked = client.post(SCORING[1], json=body, params=query)
    assert asked.json()["mode"] == "descriptions_only"
    twice = client.post(SCORING[1], json=body | {"mode": "zero_shot"}, params=query)
    assert (twice.status_code, twice.json()["field"]) == (422, "mode")
    assert "mode is in the body and in the query: say it once" in twice.json()["detail"]
    twice = client.post(SCORING[1], json=body | {"ablate": False}, params={"ablate": True})
    assert (twice.status_code, twice.json()["field"]) == (422, "ablate")


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("certificate", "certificate has to be true or false"),
        ("ablate", "ablate has to be true or false"),
        ("mode", "mode has to be "),
    ],
)
def test_a_value_that_cannot_be_is_told_by_its_name(
    client: httpx.Client, name: str, cure: str
) -> None:
    for value in (CANARY, ""):
        answer = sent(client, SCORING[0], **{name: value})
        problem = answer.json()
        assert (answer.status_code, problem["code"]) == (422, "invalid_request")
        assert problem["errors"][0]["field"] == name
        assert problem["detail"].startswith(cure)
        assert_silent(answer.text)


def test_what_a_query_does_not_take_is_refused_and_not_repeated(client: httpx.Client) -> None:
    answer = sent(client, SCORING[0], **{CANARY: "1", "participants": "Participant"})
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (422, "invalid_request")
    assert {error["field"] for error in problem["errors"]} == {"query"}
    assert problem["detail"] == (
        "The query takes participant, interviewer, certificate, mode and ablate; nothing else."
    )
    assert_silent(answer.text)


def test_findings_are_not_asked_for_what_only_scores_have(client: httpx.Client) -> None:
    for name in ("certificate", "ablate", "mode"):
        answer = sent(client, FINDINGS, **{name: "true"})
        assert answer.status_code == 422
        assert (
            answer.json()["detail"] == "The query takes participant and interviewer; nothing else."
        )
    body = {"transcript_text": INTERVIEW, "ablate": True}
    refused = client.post(FINDINGS, json=body)
    assert (refused.status_code, refused.json()["field"]) == (422, "ablate")
    assert "no item is scored here" in refused.json()["detail"]
    assert client.post(FINDINGS, json=body | {"ablate": False}).status_code == 200


def test_the_document_describes_what_a_query_takes(client: httpx.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    for route in SCORING:
        told = paths[f"/v1{route}"]["post"]["parameters"]
        names = ["participant", "interviewer", "certificate", "mode", "ablate"]
        assert [parameter["name"] for parameter in told] == names
        assert all(parameter["description"] for parameter in told)
    told = paths[f"/v1{FINDINGS}"]["post"]["parameters"]
    assert [parameter["name"] for parameter in told] == ["participant", "interviewer"]
