"""Logging in, and what a page of somebody else cannot make a browser do."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.domain.access import Scope
from tests.fakes.access import key_for, made_up_key, revoke
from tests.integration.running_app import client_of, settings_with

TEXT = {"transcript_text": "Participant: I sleep badly every night."}
COOKIE = "aip_session"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def state_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def closed(state_dir: Path) -> Iterator[httpx.Client]:
    """Yield a client of a server that asks for a key."""
    settings = settings_with(
        state_dir, AUTH_REQUIRED="true", API_CORS_ORIGINS="https://friend.example"
    )
    with client_of(settings) as client:
        yield client


@pytest.fixture(scope="module")
def unlocked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Yield a client of a server that asks for none."""
    settings = settings_with(
        tmp_path_factory.mktemp("state"), API_CORS_ORIGINS="https://friend.example"
    )
    with client_of(settings) as client:
        yield client


@pytest.fixture(autouse=True)
def _without_cookies(closed: httpx.Client, unlocked: httpx.Client) -> None:
    closed.cookies.clear()
    unlocked.cookies.clear()


def log_in(client: httpx.Client, state_dir: Path, *scopes: Scope) -> str:
    """Log in with a new key and return the token that forms have to show."""
    text = key_for(state_dir, *(scopes or tuple(Scope))).text
    answer = client.post("/v1/session", json={"key": text})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["csrf"])


def test_a_key_begins_a_session_that_has_its_rights(closed: httpx.Client, state_dir: Path) -> None:
    csrf = log_in(closed, state_dir, Scope.READ)
    told = closed.get("/v1/session").json()
    assert (told["scopes"], told["csrf"]) == (["read"], csrf)
    answer = closed.post("/full_pipeline", json=TEXT, headers={"X-CSRF-Token": csrf})
    assert (answer.status_code, answer.json()["missing_scopes"]) == (403, ["assess"])


def test_the_cookie_is_for_this_host_and_no_script(closed: httpx.Client, state_dir: Path) -> None:
    text = key_for(state_dir, Scope.READ).text
    given = closed.post("/v1/session", json={"key": text}).headers["set-cookie"]
    value, *flags = given.split("; ")
    assert value.startswith(f"{COOKIE}=")
    assert {flag.casefold() for flag in flags} == {
        *("httponly", "path=/", "samesite=strict", "max-age=43200")
    }


def test_under_a_name_of_another_machine_the_cookie_is_bound_to_the_host(tmp_path: Path) -> None:
    """The name is a proxy's that has TLS; without it a browser sends such a cookie nowhere."""
    settings = settings_with(tmp_path, AUTH_REQUIRED="true", API_ALLOWED_HOSTS="notes.example")
    text, host = key_for(tmp_path, Scope.READ).text, {"Host": "notes.example"}
    with client_of(settings) as client:
        answer = client.post("/v1/session", json={"key": text}, headers=host)
        given = answer.headers["set-cookie"]
        assert given.startswith("__Host-session=")
        assert "; Secure" in given
        assert "Domain" not in given
        token = given.partition("=")[2].partition(";")[0]
        for name, status in (("__Host-session", 200), (COOKIE, 401)):
            headers = host | {"Cookie": f"{name}={token}"}
            assert client.get("/v1/session", headers=headers).status_code == status


def test_a_login_begins_a_session_of_its_own(closed: httpx.Client, state_dir: Path) -> None:
    """Neither a session that somebody else planted nor the one before lives on."""
    text, planted = key_for(state_dir, Scope.READ).text, secrets.token_urlsafe(32)
    tokens = [planted]
    for _ in range(2):
        answer = closed.post(
            "/v1/session", json={"key": text}, headers={"Cookie": f"{COOKIE}={tokens[-1]}"}
        )
        tokens.append(answer.headers["set-cookie"].partition("=")[2].partition(";")[0])
        closed.cookies.clear()
    assert len(set(tokens)) == 3
    for token, status in zip(tokens, (401, 401, 200), strict=True):
        answer = closed.get("/v1/session", headers={"Cookie": f"{COOKIE}={token}"})
        assert answer.status_code == status
        assert ("Max-Age=0" in answer.headers.get("set-cookie", "")) is (status == 401)


def test_logging_out_ends_the_session_on_the_server(closed: httpx.Client, state_dir: Path) -> None:
    csrf = log_in(closed, state_dir)
    token = closed.cookies[COOKIE]
    answer = closed.delete("/v1/session", headers={"X-CSRF-Token": csrf})
    assert (answer.status_code, COOKIE in closed.cookies) == (204, False)
    answer = closed.get("/health", headers={"Cookie": f"{COOKIE}={token}"})
    assert answer.status_code == 401


def test_revoking_a_key_ends_its_sessions_at_once(closed: httpx.Client, state_dir: Path) -> None:
    made = key_for(state_dir, *Scope)
    closed.post("/v1/session", json={"key": made.text})
    assert closed.get("/health").status_code == 200
    revoke(state_dir, made)
    assert closed.get("/health").status_code == 401


@pytest.mark.parametrize("fields", [{"key": "aip_wrong"}, {"rater": "A"}, {}, {"other": "1"}])
def test_a_form_that_does_not_log_in_leads_back(
    closed: httpx.Client, fields: dict[str, str]
) -> None:
    answer = closed.post("/v1/session", data=fields or {"key": ""})
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?refused=1")
    assert COOKIE not in closed.cookies


def test_a_form_that_logs_in_leads_to_the_page(closed: httpx.Client, state_dir: Path) -> None:
    text = key_for(state_dir, Scope.READ).text
    answer = closed.post("/v1/session", data={"key": f" {text} ", "next": "//evil.example"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert closed.get("/health").status_code == 200


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"key": made_up_key()}, "unauthenticated"),
        ({"key": "aip_"}, "unauthenticated"),
        ({"key": 1}, "invalid_request"),
        ({"key": None}, "unusable_input"),
        ({"key": "a", "rater": "A"}, "unusable_input"),
        ({"rater": "A"}, "unusable_input"),
        ({"other": 1}, "invalid_request"),
        ([], "invalid_request"),
        ("aip_", "invalid_request"),
    ],
)
def test_what_begins_no_session_says_why(closed: httpx.Client, body: object, code: str) -> None:
    answer = closed.post("/v1/session", json=body)
    assert (answer.json()["code"], answer.status_code) == (
        code,
        401 if code == "unauthenticated" else 422,
    )
    assert COOKIE not in closed.cookies


OWN_PAGE: dict[str, dict[str, str]] = {
    "a browser of today": {"Sec-Fetch-Site": "same-origin", "Origin": "{own}"},
    "a browser of yesterday": {"Origin": "{own}"},
    "an address that was typed": {"Sec-Fetch-Site": "none"},
    "a program": {},
}
FOREIGN_PAGE: dict[str, dict[str, str]] = {
    "another site": {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
    "another port": {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:1"},
    "another origin, without the newer header": {"Origin": "https://evil.example"},
    "a page in a sandbox": {"Origin": "null"},
    "a form without an origin": {"Sec-Fetch-Site": "cross-site"},
    "a name that begins alike": {"Origin": "{own}.evil.example"},
    "no origin at all": {"Origin": "http://[", "Sec-Fetch-Site": "odd"},
}


def sent_by(client: httpx.Client, headers: dict[str, str]) -> dict[str, str]:
    own = str(client.base_url).rstrip("/")
    return {name: value.replace("{own}", own) for name, value in headers.items()}


@pytest.mark.parametrize("page", OWN_PAGE.values(), ids=OWN_PAGE)
def test_our_own_page_has_to_show_the_token_of_its_session(
    closed: httpx.Client, state_dir: Path, page: dict[str, str]
) -> None:
    csrf = log_in(closed, state_dir)
    headers = sent_by(closed, page)
    other = log_in(closed, state_dir)
    wrong: list[dict[str, str]] = [{}, *({"X-CSRF-Token": one} for one in ("", csrf, f"{other}0"))]
    for given in wrong:
        answer = closed.post("/full_pipeline", json=TEXT, headers={**headers, **given})
        assert (answer.status_code, answer.json()["code"]) == (403, "csrf_token_wrong")
    good = {**headers, "X-CSRF-Token": other}
    assert closed.post("/full_pipeline", json=TEXT, headers=good).status_code == 200


def test_a_page_whose_session_has_ended_acts_for_nobody(unlocked: httpx.Client) -> None:
    csrf = unlocked.post("/v1/session", json={"rater": "Ada"}).json()["csrf"]
    shown = {"X-CSRF-Token": csrf}
    assert unlocked.post("/full_pipeline", json=TEXT, headers=shown).status_code == 200
    unlocked.cookies.clear()
    answer = unlocked.post("/full_pipeline", json=TEXT, headers=shown)
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    assert unlocked.get("/v1/session", headers=shown).json()["csrf"] is None
    assert unlocked.post("/v1/session", json={"rater": "Ada"}, headers=shown).status_code == 201


@pytest.mark.parametrize("page", FOREIGN_PAGE.values(), ids=FOREIGN_PAGE)
def test_a_foreign_page_can_do_nothing_with_a_session(
    closed: httpx.Client, state_dir: Path, page: dict[str, str]
) -> None:
    """Whatever it knows, and though its browser sent the cookie."""
    headers = sent_by(closed, page) | {"X-CSRF-Token": log_in(closed, state_dir)}
    for method, path in (("POST", "/full_pipeline"), ("DELETE", "/v1/session"), ("GET", "/health")):
        answer = closed.request(method, path, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "cross_site")


def test_a_friendly_page_has_no_session(closed: httpx.Client, state_dir: Path) -> None:
    csrf = log_in(closed, state_dir)
    headers = {"Origin": "https://friend.example", "Sec-Fetch-Site": "cross-site"}
    answer = closed.post("/full_pipeline", json=TEXT, headers={**headers, "X-CSRF-Token": csrf})
    assert answer.status_code == 403
    closed.cookies.clear()
    by_key = headers | {"X-API-Key": key_for(state_dir, *Scope).text}
    assert closed.post("/full_pipeline", json=TEXT, headers=by_key).status_code == 200


def test_a_form_may_show_the_token_in_a_field(closed: httpx.Client, state_dir: Path) -> None:
    csrf = log_in(closed, state_dir)
    wrong = closed.request("DELETE", "/v1/session", content=b"csrf=wrong", headers=FORM)
    assert wrong.status_code == 403
    posted = closed.post("/full_pipeline", content=f"a=b&csrf={csrf}", headers=FORM)
    assert posted.json()["code"] != "csrf_token_wrong"
    for content in (b"csrf=%FF", b"&" * 4000, b"\xff\xfe", b"x" * 10_000):
        refused = closed.post("/full_pipeline", content=content, headers=FORM)
        assert refused.json()["code"] == "csrf_token_wrong"


@pytest.mark.parametrize("page", FOREIGN_PAGE.values(), ids=FOREIGN_PAGE)
def test_a_foreign_page_cannot_drive_a_server_that_asks_nobody(
    unlocked: httpx.Client, page: dict[str, str]
) -> None:
    headers = sent_by(unlocked, page)
    for path, sent in (
        ("/full_pipeline", {"Content-Type": "text/plain"}),
        ("/v1/interviews", {"Content-Type": "application/json"}),
        ("/v1/session", FORM),
    ):
        answer = unlocked.post(path, content=b"Participant: I am.", headers={**headers, **sent})
        assert (answer.status_code, answer.json()["code"]) == (403, "cross_site")
    assert unlocked.get("/healthz", headers=headers).status_code == 200


@pytest.mark.parametrize("page", OWN_PAGE.values(), ids=OWN_PAGE)
def test_our_own_page_and_programs_can(unlocked: httpx.Client, page: dict[str, str]) -> None:
    headers = sent_by(unlocked, page)
    assert unlocked.post("/full_pipeline", json=TEXT, headers=headers).status_code == 200


def test_two_raters_of_one_machine_give_their_names(unlocked: httpx.Client) -> None:
    before = unlocked.get("/v1/session").json()
    assert (before["id"], before["csrf"]) == ("local", None)
    for name, rater in (("A", "local:a"), ("B b", "local:b-b")):
        told = unlocked.post("/v1/session", json={"rater": name}).json()
        assert (told["id"], told["name"], told["tenant"]) == (rater, name, "local")
        assert unlocked.get("/v1/session").json() == told
    refused = unlocked.post("/full_pipeline", json=TEXT)
    assert refused.json()["code"] == "csrf_token_wrong"


def test_a_session_of_a_name_is_none_once_keys_are_asked_for(tmp_path: Path) -> None:
    with client_of(settings_with(tmp_path)) as client:
        client.post("/v1/session", json={"rater": "A"})
        token = client.cookies[COOKIE]
    with client_of(settings_with(tmp_path, AUTH_REQUIRED="true")) as client:
        answer = client.get("/v1/session", headers={"Cookie": f"{COOKIE}={token}"})
        assert answer.status_code == 401


def test_a_session_that_is_over_is_told_and_never_taken_for_nobody(
    unlocked: httpx.Client,
) -> None:
    """Else the ratings of one person would silently become another's."""
    headers = {"Cookie": f"{COOKIE}={secrets.token_urlsafe(32)}"}
    answer = unlocked.get("/health", headers=headers)
    assert answer.status_code == 401
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert unlocked.get("/health").status_code == 200


def test_tls_of_the_connection_itself_makes_the_cookie_secure(tmp_path: Path) -> None:
    from starlette.testclient import TestClient  # noqa: PLC0415

    text = key_for(tmp_path, Scope.READ).text
    app = create_app(settings_with(tmp_path, AUTH_REQUIRED="true"))
    with TestClient(app, base_url="https://localhost") as client:
        given = client.post("/v1/session", json={"key": text}).headers["set-cookie"]
        assert given.startswith("__Host-session=")
        assert "; Secure" in given
        assert client.get("/v1/session").status_code == 200


def test_an_answer_that_ends_a_session_is_not_kept_for_others(closed: httpx.Client) -> None:
    page = closed.get("/login").text
    path = page.partition('href="/static/')[2].partition('"')[0]
    answer = closed.get(f"/static/{path}", headers={"Cookie": f"{COOKIE}={'A' * 43}"})
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert answer.headers["cache-control"] == "no-store"
    assert "immutable" in closed.get(f"/static/{path}").headers["cache-control"]
