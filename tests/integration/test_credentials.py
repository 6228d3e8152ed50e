"""Who may ask for what: every route, with every credential that is none or not enough."""

import secrets
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi.routing import iter_route_contexts

from ai_psychiatrist.access.keys import KeyRequest
from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.api.authorization import Required
from ai_psychiatrist.api.paths import is_of_participant, is_open
from ai_psychiatrist.config import load_settings
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.store.opening import KEYS_NAME
from tests.fakes.access import Access, key_for, made_up_key, revoke
from tests.integration.canary import CANARY
from tests.integration.command import Serving
from tests.integration.running_app import client_at, client_of, settings_with
from tests.patience import PATIENCE_SECONDS

TEXT = {"transcript_text": "Participant: I sleep badly every night."}


def routes_of_the_app() -> Iterator[tuple[str, str, frozenset[Scope] | None]]:
    """Yield method, path and what each route asks for; `None` where it asks for nobody."""
    app = create_app(load_settings({}, None))
    for route in iter_route_contexts(app.routes):
        dependencies = getattr(route, "dependant", None)
        calls = [one.call for one in dependencies.dependencies] if dependencies else []
        found = [one.scopes for one in calls if isinstance(one, Required)]
        scopes = frozenset().union(*found) if found else None
        for method in sorted(route.methods or ()):
            yield method, str(route.path), scopes


def routes_where_one_scope_is_enough() -> Iterator[tuple[str, str]]:
    """Yield method and path."""
    for route in iter_route_contexts(create_app(load_settings({}, None)).routes):
        dependencies = getattr(route, "dependant", None)
        calls = [one.call for one in dependencies.dependencies] if dependencies else []
        if any(isinstance(one, Required) and one.is_one_enough for one in calls):
            for method in sorted(route.methods or ()):
                yield method, str(route.path)


ONE_ENOUGH = set(routes_where_one_scope_is_enough())
ROUTES = list(dict.fromkeys(routes_of_the_app()))
OPEN = {path for _, path, _ in ROUTES if is_open(path) or is_of_participant(path)}
"""What needs no key: of what a link lets in to, `test_interview_links.py` asks for one."""
CLOSED = [(method, path) for method, path, _ in ROUTES if path not in OPEN]
SCOPED = [(method, path, scopes) for method, path, scopes in ROUTES if scopes]
PAGES = "/login"
"""Where a browser is led that asks for a page and is not known."""


@pytest.fixture(scope="module")
def state_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def client(state_dir: Path) -> Iterator[httpx.Client]:
    with client_of(settings_with(state_dir, AUTH_REQUIRED="true")) as client:
        yield client


@pytest.fixture(scope="module")
def wrong(state_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """Return headers of credentials that let nobody in, by what is wrong with them."""
    every = frozenset(Scope)
    live, revoked = (key_for(state_dir, *every) for _ in range(2))
    revoke(state_dir, revoked)
    elsewhere = key_for(tmp_path_factory.mktemp("other"), *every)
    past = Access(state_dir, lambda: 1_000)
    lasting = KeyRequest(name="old", tenant="local", scopes=every, lasts_seconds=60)
    expired = past.keys.create(lasting)
    past.close()
    other = secrets.token_urlsafe(32)
    bearer = {
        "nothing": "",
        "another scheme": f"Basic {live.text}",
        "no secret": f"Bearer aip_{live.key.id}_",
        "another secret": f"Bearer aip_{live.key.id}_{other}",
        "an unknown id": f"Bearer {made_up_key()}",
        "expired": f"Bearer {expired.text}",
        "revoked": f"Bearer {revoked.text}",
        "of another installation": f"Bearer {elsewhere.text}",
        "a token of somebody": "Bearer eyJhbGciOiJub25lIn0.e30.",
    }
    found = {name: {"Authorization": text} for name, text in bearer.items()}
    return found | {
        "missing": {},
        "another secret in the other header": {"X-API-Key": f"aip_{live.key.id}_{other}"},
        "a made-up session": {"Cookie": f"aip_session={other}"},
        "a session by the name behind TLS": {"Cookie": f"__Host-session={other}"},
        "a key as a cookie": {"Cookie": f"aip_session={live.text}"},
    }


def test_every_route_is_open_to_anybody_or_says_whom_it_is_for() -> None:
    without = [(method, path) for method, path, asked in ROUTES if asked is None]
    assert [route for route in without if route[1] not in OPEN] == []
    assert {path for _, path, asked in ROUTES if asked is not None and is_open(path)} == {
        "/v1/session"
    }


@pytest.mark.parametrize(("method", "path"), CLOSED)
def test_nobody_comes_in_without_a_credential_that_works(
    client: httpx.Client, wrong: dict[str, dict[str, str]], method: str, path: str
) -> None:
    for name, headers in wrong.items():
        answer = client.request(method, path.replace("{interview_id}", "a" * 32), headers=headers)
        if answer.status_code == 303:
            assert answer.headers["Location"].partition("?")[0] == PAGES
            continue
        assert answer.status_code == 401, name
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        if method != "HEAD":
            assert answer.json()["code"] == "unauthenticated"


@pytest.mark.parametrize(("method", "path", "scopes"), SCOPED)
def test_a_key_without_the_scope_is_told_which_one_it_lacks(
    client: httpx.Client, state_dir: Path, method: str, path: str, scopes: frozenset[Scope]
) -> None:
    is_one_enough = (method, path) in ONE_ENOUGH
    for lacking in (scopes,) if is_one_enough else [frozenset({one}) for one in scopes]:
        others = frozenset(Scope) - lacking
        headers = {"X-API-Key": key_for(state_dir, *others).text}
        asked = path.replace("{interview_id}", "a" * 32)
        answer = client.request(method, asked, headers=headers, json={})
        assert answer.status_code == 403
        if method != "HEAD":
            member = "missing_one_of" if is_one_enough else "missing_scopes"
            assert answer.json()[member] == sorted(lacking)
            listed = (" or " if is_one_enough else " and ").join(sorted(lacking))
            assert f"lacks the scope {listed}." in answer.json()["detail"]
            shown = f"keys create --name NAME --scope {min(lacking)}"
            assert shown in answer.json()["detail"]


@pytest.mark.parametrize("header", ["Authorization", "X-API-Key"])
def test_a_key_lets_its_holder_in_by_either_header(
    client: httpx.Client, state_dir: Path, header: str
) -> None:
    text = key_for(state_dir, Scope.ASSESS).text
    shown = f"bearer {text}" if header == "Authorization" else text
    assert client.post("/full_pipeline", json=TEXT, headers={header: shown}).status_code == 200


def test_two_credentials_are_refused(client: httpx.Client, state_dir: Path) -> None:
    text = key_for(state_dir, Scope.ASSESS).text
    both = {"Authorization": f"Bearer {text}", "X-API-Key": text}
    answer = client.get("/health", headers=both)
    assert (answer.status_code, answer.json()["code"]) == (400, "credential_unclear")


def test_a_credential_in_the_query_lets_nobody_in(client: httpx.Client, state_dir: Path) -> None:
    text = key_for(state_dir, *Scope).text
    for name in ("key", "api_key", "access_token", "X-API-Key", "aip_session"):
        assert client.get("/health", params={name: text}).status_code == 401


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/openapi.json", "/docs"])
def test_what_is_open_to_anybody_is_so_with_a_credential_that_does_not_work(
    client: httpx.Client, wrong: dict[str, dict[str, str]], path: str
) -> None:
    for headers in wrong.values():
        assert client.get(path, headers=headers).status_code == 200


def test_models_are_named_only_to_those_who_are_known(tmp_path: Path) -> None:
    settings = settings_with(
        tmp_path,
        AUTH_REQUIRED="true",
        OLLAMA_HOST="http://127.0.0.1:1",
        MODEL_DEFAULT=f"ollama:{CANARY}",
        MODEL_BUSY_WAITS_SECONDS="0",
    )
    headers = {"X-API-Key": key_for(tmp_path, Scope.READ).text}
    with client_of(settings) as client:
        stranger, known = client.get("/readyz"), client.get("/readyz", headers=headers)
    assert (stranger.status_code, known.status_code) == (503, 503)
    assert CANARY not in stranger.text
    assert CANARY in known.text


def test_no_body_of_a_stranger_is_waited_for(client: httpx.Client) -> None:
    head = (
        "POST /full_pipeline HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Content-Length: 1000000\r\n\r\n"
    )
    with socket.create_connection((client.base_url.host, client.base_url.port or 80)) as caller:
        caller.settimeout(PATIENCE_SECONDS)
        caller.sendall(head.encode())
        assert caller.makefile("rb").readline().split()[1] == b"401"


def test_a_login_of_a_stranger_is_short(client: httpx.Client) -> None:
    answer = client.post("/v1/session", json={"key": "a" * 5_000})
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_a_key_counts_and_ends_while_the_server_runs(client: httpx.Client, state_dir: Path) -> None:
    made = key_for(state_dir, Scope.READ)
    headers = {"X-API-Key": made.text}
    assert client.get("/health", headers=headers).status_code == 200
    revoke(state_dir, made)
    assert client.get("/health", headers=headers).status_code == 401


def test_a_wrong_key_is_wrong_where_none_is_asked_for(tmp_path: Path) -> None:
    with client_of(settings_with(tmp_path)) as client:
        for headers, status in (
            ({}, 200),
            ({"X-API-Key": made_up_key()}, 401),
            ({"X-API-Key": "of-a-proxy"}, 200),
            ({"Authorization": "Basic b2YtYS1wcm94eQ=="}, 200),
            ({"X-API-Key": key_for(tmp_path, Scope.READ).text}, 200),
        ):
            assert client.get("/health", headers=headers).status_code == status
        reader = {"X-API-Key": key_for(tmp_path, Scope.READ).text}
        assert client.post("/full_pipeline", json=TEXT, headers=reader).status_code == 403


def test_an_interview_is_there_for_its_own_tenant_alone(tmp_path: Path) -> None:
    one, other, local = (
        {"X-API-Key": key_for(tmp_path, Scope.ASSESS, tenant=tenant).text}
        for tenant in ("clinic-1", "clinic-2", "local")
    )
    settings = settings_with(tmp_path, AUTH_REQUIRED="true")
    with client_of(settings) as client:
        begun = client.post("/v1/interviews", json={"protocol": "phq8"}, headers=one)
        assert begun.status_code == 201
        path = f"/v1/interviews/{begun.json()['interview_id']}"
        for stranger in (other, local):
            for method, at in (("GET", path), ("DELETE", path), ("POST", f"{path}/retry")):
                answer = client.request(method, at, headers=stranger)
                assert (answer.status_code, answer.json()["code"]) == (404, "interview_not_found")
    with client_of(settings) as client:
        assert client.get(path, headers=one).status_code == 200
        assert client.delete(path, headers=one).status_code == 204


def test_an_entrance_that_cannot_be_read_lets_nobody_in(tmp_path: Path) -> None:
    made = key_for(tmp_path, *Scope)
    (tmp_path / KEYS_NAME).chmod(0o644)
    with client_of(settings_with(tmp_path, AUTH_REQUIRED="true")) as client:
        answer = client.get("/health", headers={"X-API-Key": made.text})
        login = client.post("/v1/session", json={"key": made.text})
    for refused in (answer, login):
        assert (refused.status_code, refused.json()["code"]) == (503, "entrance_unusable")


def test_no_secret_is_logged_or_kept(tmp_path: Path) -> None:
    """Neither one that works nor one that does not, nor a made-up id, nor a session's token."""
    state = tmp_path / "state"
    made, strange = key_for(state, *Scope), made_up_key()
    (_, strange_id, strange_secret), secret = strange.split("_", 2), made.text.split("_", 2)[2]
    wrong = f"aip_{made.key.id}_{strange_secret}"
    settings = {"AUTH_REQUIRED": "true", "LOG_LEVEL": "DEBUG", "LOG_FORMAT": "json"}
    with Serving(tmp_path, settings) as serving, client_at(serving.url) as client:
        for text in (made.text, wrong, strange, f"aip_{CANARY}"):
            client.get("/health", headers={"X-API-Key": text})
            client.get("/health", headers={"Authorization": f"Bearer {text}"})
            client.post("/v1/session", data={"key": text})
        token = client.cookies["aip_session"]
        done = serving.stop()
    lines = [line for line in done.served_lines if line["event"] == "credential_refused"]
    assert [line.get("key_id") for line in lines] == [made.key.id] * 3 + [None] * 6
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    written = b"".join(path.read_bytes() for path in files)
    for unseen in (secret, strange_secret, strange_id, token, CANARY):
        assert unseen.encode() not in written
    assert "dropped_keys" not in done.err


def test_the_document_says_what_each_route_asks_for(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    assert set(document["components"]["securitySchemes"]) == {"bearer", "header", "cookie"}
    for method, path, scopes in ROUTES:
        operation = document["paths"].get(path, {}).get(method.lower())
        if operation is None:
            continue
        assert ("security" in operation) is (scopes is not None), (method, path)
        if scopes is not None:
            is_one_enough = (method, path) in ONE_ENOUGH
            choices = [[one] for one in sorted(scopes)] if is_one_enough else [sorted(scopes)]
            shown = [{scheme: one} for scheme in ("bearer", "header", "cookie") for one in choices]
            assert operation["security"] == shown
            assert {"401", "403"} <= operation["responses"].keys()


def test_the_document_of_a_server_that_asks_nobody_says_so(tmp_path: Path) -> None:
    with client_of(settings_with(tmp_path)) as client:
        document = client.get("/openapi.json").json()
    assert {} in document["paths"]["/v1/full_pipeline"]["post"]["security"]
