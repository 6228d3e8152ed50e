"""What raters and readers are called on pages and in exports, and where no name may stand."""

import csv
import io
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.domain.access import LOCAL, Scope
from ai_psychiatrist.store.store import Store
from tests.fakes.access import key_for
from tests.integration.command_here import run_here
from tests.integration.running_app import RunningApp, client_at, client_of, settings_with
from tests.integration.stored import rate, store
from tests.integration.test_acknowledgements import TEXT

RECORD = str(uuid.UUID(int=7))
SCORES = [0, 1, 2, 3, 0, 1, 2, 3]
OTHERS = [0, 1, 2, 3, 0, 1, 2, None]


@pytest.fixture
def people(tmp_path: Path) -> Iterator[dict[str, httpx.Client]]:
    """Two raters whose keys have one name, and an admin, at a server that asks for keys."""
    rater = (Scope.READ, Scope.REVIEW)
    keys = {
        "first": key_for(tmp_path, *rater, name="Ada Byron"),
        "second": key_for(tmp_path, *rater, name="Ada Byron"),
        "admin": key_for(tmp_path, *Scope, name="Chief"),
    }
    with ExitStack() as stack:
        app = create_app(settings_with(tmp_path, AUTH_REQUIRED="true"))
        url = stack.enter_context(RunningApp(app)).url
        opened = app.state.services.stores.open(LOCAL.tenant)
        store(opened, RECORD, SCORES, subject="S-17")
        for name, scores in (("first", SCORES), ("second", OTHERS)):
            rate(opened, RECORD, keys[name].key.principal.id, scores)
        found = {}
        for name, made in keys.items():
            found[name] = stack.enter_context(client_at(url))
            found[name].headers["Authorization"] = f"Bearer {made.text}"
            found[name].headers["X-Id"] = made.key.principal.id
        yield found


def table(client: httpx.Client, address: str) -> list[dict[str, str]]:
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    return [*csv.DictReader(io.StringIO(answer.text, newline=""))]


def test_exports_have_the_names_of_keys_beside_the_ids(people: dict[str, httpx.Client]) -> None:
    rows = table(people["admin"], "/v1/export?what=ratings&format=csv")
    ids = [people[name].headers["X-Id"] for name in ("first", "second")]
    assert [*dict.fromkeys(row["rater"] for row in rows)] == ids
    assert {row["rater_name"] for row in rows} == {"Ada Byron"}
    assert [*rows[0]][-1] == "rater_name"
    figures = table(people["admin"], "/v1/agreement?format=csv")
    pairs = [row for row in figures if row["compared"] == "raters" and row["second"]]
    assert {row["second_name"] for row in pairs} == {"Ada Byron"}
    own = table(people["first"], "/v1/agreement?format=csv")
    assert {row["first_name"] for row in own} == {""}


def test_admins_see_names_beside_figures_of_agreement_and_raters_do_not(
    people: dict[str, httpx.Client],
) -> None:
    page = people["admin"].get("/agreement").text
    assert "rater 1: <bdi>Ada Byron</bdi>, 1 blind" in page
    assert "rater 2: <bdi>Ada Byron (2)</bdi>, 1 blind" in page
    assert "Ada Byron (2)" not in people["first"].get("/agreement").text


def test_no_name_stands_in_the_audit_log(people: dict[str, httpx.Client], tmp_path: Path) -> None:
    people["admin"].get("/v1/export?what=ratings")
    people["admin"].get("/agreement")
    told = run_here(["audit", "show", "--json"], tmp_path, {"DATA_STATE_DIR": str(tmp_path)})
    assert people["admin"].headers["X-Id"] in told.out
    assert "Ada" not in told.out


@pytest.fixture
def study(tmp_path: Path) -> Iterator[tuple[httpx.Client, Store]]:
    app = create_app(settings_with(tmp_path))
    with client_of(app) as client:
        yield client, app.state.services.stores.open(LOCAL.tenant)


def test_who_has_no_name_is_a_number_on_the_page_and_an_id_in_the_export(
    study: tuple[httpx.Client, Store],
) -> None:
    client, opened = study
    made = client.post("/v1/assessments", json={"transcript_text": TEXT}).json()["assessment_id"]
    people = ("oidc:9f86d081884c7d65", "local:ann", "oidc:60303ae22b998861", "import:ben")
    for person in people:
        rate(opened, made, person, SCORES)
    page = client.get(f"/assessments/{made}/adjudicate").text
    for name in ("Rater 1", "ann", "Rater 2", "ben"):
        assert f"<p><bdi>{name}</bdi>: <strong>" in page
    assert "9f86d081" not in page
    rows = table(client, "/v1/export?what=ratings&format=csv")
    assert {row["rater"]: row["rater_name"] for row in rows} == dict(
        zip(people, ("", "ann", "", "ben"), strict=True)
    )


def test_only_an_adjudicator_finds_what_raters_differ_on(people: dict[str, httpx.Client]) -> None:
    assert "raters differ, not adjudicated" in people["admin"].get("/").text
    asked = {"adjudicate": "open"}
    assert RECORD in people["admin"].get("/", params=asked).text
    told = people["first"].get("/", params=asked).text
    assert ("raters differ" in told, RECORD in told) == (False, True)
