"""Ratings by people over HTTP, and the bundles that tell them: no step of it is made by hand."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import pytest

from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.domain.phq8 import Item
from tests.fakes.access import key_for
from tests.fakes.fhir_bundles import faults_of
from tests.fakes.full_results import EXAMPLE
from tests.integration.running_app import RunningApp, client_at, settings_with

FHIR = {"Accept": "application/fhir+json"}
NAMES = ("zora", "quill", "chief")


@pytest.fixture
def people(tmp_path: Path) -> Iterator[dict[str, httpx.Client]]:
    """Two raters and an admin, each with a key of their own, at a server that asks for one."""
    scopes = [Scope.READ, Scope.ASSESS, Scope.REVIEW]
    keys = {
        name: key_for(tmp_path, *(Scope if name == "chief" else scopes), name=name)
        for name in NAMES
    }
    with ExitStack() as stack:
        app = stack.enter_context(RunningApp(settings_with(tmp_path, AUTH_REQUIRED="true")))
        found = {}
        for name, made in keys.items():
            client = stack.enter_context(client_at(app.url))
            client.headers["Authorization"] = f"Bearer {made.text}"
            found[name] = client
        yield found


def rate(client: httpx.Client, path: str, scores: Sequence[int | None]) -> None:
    client.post(f"{path}/review", json={}).raise_for_status()
    items: dict[str, dict[str, object]] = {
        item.value: {"score": score, "cannot_tell": score is None, "evidence": []}
        for item, score in zip(Item, scores, strict=True)
    }
    answer = client.post(f"{path}/review/ratings", json={"items": items})
    assert answer.status_code in {200, 201}, answer.text


def kinds(bundle: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    resources = [entry["resource"] for entry in bundle["entry"]]
    return [one for one in resources if one["resourceType"] == kind]


def observed(bundle: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["code"]["coding"][0]["code"]: one for one in kinds(bundle, "Observation")}


def own_score(one: dict[str, Any]) -> int | None:
    if "dataAbsentReason" in one:
        return None
    return int(one["valueCodeableConcept"]["coding"][0]["code"])


def test_each_rater_has_a_final_bundle_and_admins_have_all(
    people: dict[str, httpx.Client], public_data: Path
) -> None:
    schema = json.loads((public_data / "fhir" / "fhir_r4.schema.json").read_bytes())
    official = jsonschema_rs.validator_for(schema)
    zora, bo, chief = (people[name] for name in NAMES)
    body = {"transcript_text": EXAMPLE.read_text("utf-8")}
    made = chief.post("/v1/assessments", json=body)
    assert made.status_code == 201
    path = made.headers["location"]
    said = [made.json()["quantitative"]["items"][item.value]["score"] for item in Item]
    other = [0 if score is None else (score + 1) % 4 for score in said]
    assert bo.post(f"{path}/review", json={}).is_success
    rate(zora, path, said)
    refused = bo.get(path, headers=FHIR)
    assert (refused.status_code, refused.json()["code"]) == (403, "still_blind")
    rate(bo, path, other)
    changed = {"kind": "score", "item": "PHQ8_Sleep", "score": None, "cannot_tell": True}
    assert zora.post(f"{path}/review/rows", json=changed).is_success

    bundles = {name: people[name].get(path, headers=FHIR).json() for name in NAMES}
    for bundle in bundles.values():
        assert not faults_of(bundle)
        official.validate(bundle)
    for name, wanted in (("zora", [*said[:2], None, *said[3:]]), ("quill", other)):
        bundle = bundles[name]
        found = observed(bundle)
        assert [own_score(found[item.value]) for item in Item] == wanted
        assert {found[item.value]["status"] for item in Item} == {"final"}
        assert found["danger-signs"]["status"] == "preliminary"
        (practitioner,) = [
            entry["fullUrl"]
            for entry in bundle["entry"]
            if entry["resource"]["resourceType"] == "Practitioner"
        ]
        for item, program, own in zip(Item, said, wanted, strict=True):
            one = found[item.value]
            assert one["performer"] == [{"reference": practitioner}]
            assert ("meta" in one) == (program == own), item
        roles = {
            one["agent"][0]["type"]["coding"][0]["code"]: len(one["target"])
            for one in kinds(bundle, "Provenance")
        }
        assert roles["verifier"] == 9
        assert name not in json.dumps(bundle)
    assert kinds(bundles["chief"], "Practitioner") == []
    identities = {json.dumps(kinds(bundles[name], "Practitioner")) for name in ("zora", "quill")}
    assert len(identities) == 2

    lines = chief.get("/v1/export?what=ratings&format=fhir").text.splitlines()
    assert [json.loads(line) for line in lines] == [bundles["zora"], bundles["quill"]]
    (own,) = bo.get("/v1/export?what=ratings&format=fhir").text.splitlines()
    assert json.loads(own) == bundles["quill"]
    with_form = "/v1/export?what=ratings&format=fhir&questionnaire=true"
    for line in chief.get(with_form).text.splitlines():
        whole = json.loads(line)
        official.validate(whole)
        (form,) = kinds(whole, "QuestionnaireResponse")
        targets = [t["reference"] for one in kinds(whole, "Provenance") for t in one["target"]]
        (address,) = [entry["fullUrl"] for entry in whole["entry"] if entry["resource"] == form]
        assert address in targets
