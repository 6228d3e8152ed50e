"""Who is let in before there are keys, and what every answer says to a browser."""

import re
import socket
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from ai_psychiatrist.config import load_settings
from ai_psychiatrist.domain.errors import ConfigurationError
from tests.integration.canary import CANARY
from tests.integration.command import COMMAND, UVICORN, Serving
from tests.integration.running_app import client_of, settings_with


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    settings = settings_with(
        tmp_path_factory.mktemp("state"),
        API_HOST="ward.example",
        API_ALLOW_UNAUTHENTICATED="true",
        API_ALLOWED_HOSTS="notes.example, 192.0.2.7",
    )
    with client_of(settings) as client:
        yield client


def status_of(client: httpx.Client, head: str) -> int:
    """Send a request as it stands and return the status of the answer."""
    with socket.create_connection((client.base_url.host, client.base_url.port or 80)) as caller:
        caller.sendall(head.replace("\n", "\r\n").encode("latin-1"))
        return int(caller.makefile("rb").readline().split()[1])


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LocalHost:8000",
        "127.0.0.1:1",
        "127.9.9.9",
        "[::1]",
        "[::1]:8000",
        "testserver",
        "ward.example:8000",
        "Notes.Example",
        "192.0.2.7:80",
    ],
)
def test_names_of_this_machine_and_named_ones_are_served(client: httpx.Client, host: str) -> None:
    assert client.get("/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8000",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil.localhost",
        "sub.notes.example",
        "192.0.2.8",
        "[::2]",
        "0.0.0.0",  # noqa: S104  a caller's word for this machine
        "localhost.",
    ],
)
def test_a_page_whose_name_was_rebound_is_not_served(client: httpx.Client, host: str) -> None:
    answer = client.get("/health", headers={"Host": host})
    assert (answer.status_code, answer.json()["code"]) == (421, "host_not_served")
    assert "API_ALLOWED_HOSTS" in answer.json()["detail"]
    assert host not in answer.text


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/v1/healthz", "/v1/readyz"])
def test_monitors_may_ask_under_any_name(client: httpx.Client, path: str) -> None:
    assert client.get(path, headers={"Host": "server-1:8000"}).status_code == 200


@pytest.mark.parametrize(
    "head",
    [
        pytest.param("GET /health HTTP/1.1\nHost: localhost@evil.example\n\n", id="user"),
        pytest.param("GET /health HTTP/1.1\nHost: evil.example#localhost\n\n", id="fragment"),
        pytest.param("GET /health HTTP/1.1\nHost: localhost, evil.example\n\n", id="list"),
        pytest.param("GET /health HTTP/1.1\nHost: localhost:8000:1\n\n", id="two ports"),
        pytest.param("GET /health HTTP/1.1\nHost: localhost:x\n\n", id="no port"),
        pytest.param("GET /health HTTP/1.1\nHost: ::1\n\n", id="no brackets"),
        pytest.param("GET /health HTTP/1.1\nHost:\n\n", id="empty"),
        pytest.param("GET /health HTTP/1.1\nHost: löcalhost\n\n", id="no name"),
        pytest.param("GET /health HTTP/1.1\n\n", id="none"),
        pytest.param("GET /health HTTP/1.0\n\n", id="none in HTTP/1.0"),
        pytest.param(
            "GET /health HTTP/1.1\nHost: localhost\nHost: evil.example\n\n", id="two hosts"
        ),
    ],
)
def test_a_request_that_names_no_host_plainly_is_refused(client: httpx.Client, head: str) -> None:
    assert status_of(client, head) == 400


def test_a_star_switches_the_host_check_off(tmp_path: Path) -> None:
    with client_of(settings_with(tmp_path, API_ALLOWED_HOSTS="*")) as client:
        answer = client.get("/health", headers={"Host": "evil.example"})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("origin", "cure"),
    [
        ("*", "name each origin"),
        ("null", "name each origin"),
        ("https://a.example/", "without the slash"),
        ("https://a.example/page", "without path"),
        ("a.example", "https://"),
        ("https://user@a.example", "without path"),
        ("https://*.example", "name each origin"),
    ],
)
def test_origins_that_open_the_door_to_everybody_are_refused(origin: str, cure: str) -> None:
    with pytest.raises(ConfigurationError, match="API_CORS_ORIGINS") as refused:
        load_settings({"API_CORS_ORIGINS": f"https://b.example,{origin}"}, None)
    assert cure in str(refused.value)


@pytest.mark.parametrize("host", ["https://notes.example", "notes.example:80", "notes.example/"])
def test_allowed_hosts_that_can_never_match_are_refused(host: str) -> None:
    with pytest.raises(ConfigurationError, match="API_ALLOWED_HOSTS"):
        load_settings({"API_ALLOWED_HOSTS": host}, None)


@pytest.mark.parametrize("path", ["/healthz", "/nonesuch", "/openapi.json"])
def test_answers_are_kept_nowhere_and_are_no_pages(client: httpx.Client, path: str) -> None:
    headers = client.get(path).headers
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-frame-options"] == "DENY"
    assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"


@pytest.mark.parametrize("path", ["/", "/login", "/interview"])
def test_a_page_allows_its_own_style_alone_and_scripts_of_its_server(
    client: httpx.Client, path: str
) -> None:
    page = client.get(path)
    styles = re.findall(r"<style>(.*?)</style>", page.text, re.DOTALL)
    digest = b64encode(sha256(styles[0].encode()).digest()).decode()
    rules = page.headers["content-security-policy"].split("; ")
    assert len(styles) == 1
    assert f"style-src 'sha256-{digest}'" in rules
    assert "script-src 'self'" in rules
    assert "default-src 'none'" in rules
    assert 'rel="stylesheet"' not in page.text


def test_documentation_can_be_switched_off(tmp_path: Path) -> None:
    with client_of(settings_with(tmp_path, API_DOCS="false")) as client:
        answers = [client.get(path) for path in ("/docs", "/docs/start.js", "/openapi.json")]
    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert "/docs" not in answers[0].text


def test_ids_and_queries_stay_out_of_the_servers_own_log(tmp_path: Path) -> None:
    """Its access log names routes alone; what else a caller puts into a target is not repeated."""
    with Serving(tmp_path, {}, command=UVICORN) as serving:
        with httpx.Client(base_url=serving.url, trust_env=False) as client:
            client.get(f"/v1/interviews/{CANARY}")
            client.get(f"/v1/interviews/{CANARY}/report")
            client.delete(f"/v1/interviews/{CANARY}")
            client.get(f"/{CANARY}?{CANARY}={CANARY}")
            client.get(f"/healthz?{CANARY}")
        with (
            pytest.raises(InvalidStatus),
            connect(f"{serving.url.replace('http', 'ws')}/v1/interviews/{CANARY}"),
        ):
            pass
        done = serving.stop()
    written = done.out + done.err
    assert CANARY not in written
    assert '"GET /v1/interviews/%7Binterview_id%7D HTTP/1.1" 404' in written
    assert '"GET /healthz HTTP/1.1" 200' in written


@pytest.mark.parametrize(("line", "is_told"), [("", True), ("Call 000.", False)])
def test_a_server_without_a_crisis_line_says_so_at_the_start(
    tmp_path: Path, line: str, *, is_told: bool
) -> None:
    with Serving(tmp_path, {"RISK_CRISIS_RESOURCES": line}) as serving:
        httpx.get(f"{serving.url}/healthz")
        done = serving.stop()
    assert ("crisis_line_not_set" in done.err) is is_told
    assert ("Set RISK_CRISIS_RESOURCES" in done.err) is is_told


@pytest.mark.parametrize(
    ("settings", "options"),
    [({"API_HOST": "0.0.0.0"}, []), ({"API_PORT": "1"}, ["--host", "0.0.0.0", "--port", "0"])],  # noqa: S104
    ids=["by settings", "by options"],
)
def test_a_server_open_to_other_machines_says_that_anybody_may_call(
    tmp_path: Path, settings: dict[str, str], options: list[str]
) -> None:
    wanted = {**settings, "API_ALLOW_UNAUTHENTICATED": "true"}
    with Serving(tmp_path, wanted, command=(COMMAND, "serve", *options)) as serving:
        done = serving.stop()
    assert "open_without_authentication" in done.err
    assert "lets other machines in, and there is no authentication" in done.err
