"""HTTPS by `serve` itself, and proxies before it: what is believed, and what is cut off."""

import datetime as dt
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Final

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.integration.command import COMMAND, Serving, run
from tests.integration.running_app import client_of, settings_with
from tests.patience import PATIENCE_SECONDS

HSTS: Final = "strict-transport-security"


def write_pair(folder: Path, name: str = "server", *, password: bytes | None = None) -> None:
    """Write a certificate of 127.0.0.1 and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    alternatives = x509.SubjectAlternativeName([x509.DNSName("localhost")])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(alternatives, critical=False)
        .sign(key, hashes.SHA256())
    )
    locked = serialization.BestAvailableEncryption(password) if password else None
    (folder / f"{name}.crt").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / f"{name}.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            locked or serialization.NoEncryption(),
        )
    )
    (folder / f"{name}.key").chmod(0o600)


def with_tls(folder: Path, certificate: str = "server", key: str = "server") -> dict[str, str]:
    """Return the settings that name them."""
    return {
        "MODEL_DEFAULT": "baseline",
        "API_TLS_CERT_FILE": str(folder / f"{certificate}.crt"),
        "API_TLS_KEY_FILE": str(folder / f"{key}.key"),
        "API_HEADER_TIMEOUT_SECONDS": "1",
    }


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, Path]]:
    """The real command with a certificate; the folder has the certificate."""
    folder = tmp_path_factory.mktemp("tls")
    write_pair(folder)
    settings = with_tls(folder) | {"API_MAX_CONNECTIONS": "16"}
    with Serving(folder, settings) as serving:
        yield serving, folder


def trusting(folder: Path) -> ssl.SSLContext:
    """Return a context that takes the certificate and no other."""
    return ssl.create_default_context(cafile=str(folder / "server.crt"))


def address(serving: Serving) -> tuple[str, int]:
    """Return where it listens."""
    return "127.0.0.1", httpx.URL(serving.url).port or 0


def ask(serving: Serving, folder: Path, path: str = "/healthz") -> httpx.Response:
    """Ask over HTTPS, certificate checked."""
    url = f"https://localhost:{address(serving)[1]}{path}"
    with httpx.Client(
        verify=trusting(folder),
        trust_env=False,
        timeout=PATIENCE_SECONDS,
        transport=httpx.HTTPTransport(verify=trusting(folder), local_address="127.0.0.1"),
    ) as client:
        return client.get(url)


def test_a_server_with_a_certificate_answers_over_https_and_tells_browsers_to_stay(
    served: tuple[Serving, Path],
) -> None:
    serving, folder = served
    assert serving.url.startswith("https://")
    answer = ask(serving, folder)
    assert answer.status_code == 200
    assert answer.headers[HSTS] == "max-age=31536000"
    assert answer.headers["x-frame-options"] == "DENY"


def test_old_versions_of_tls_and_plain_http_get_nothing(served: tuple[Serving, Path]) -> None:
    serving, folder = served
    old = trusting(folder)
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        old.minimum_version = ssl.TLSVersion.TLSv1_1
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        old.maximum_version = ssl.TLSVersion.TLSv1_1
    old.set_ciphers("ALL:@SECLEVEL=0")
    with (
        socket.create_connection(address(serving)) as plain,
        pytest.raises((ssl.SSLError, ConnectionError)),
    ):
        old.wrap_socket(plain, server_hostname="localhost")
    with socket.create_connection(address(serving), PATIENCE_SECONDS) as plain:
        plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert not received(plain).startswith(b"HTTP")


def received(connection: socket.socket) -> bytes:
    """Return what comes until the other side ends the connection."""
    content = b""
    with suppress(ConnectionError):
        while chunk := connection.recv(4_096):
            content += chunk
    return content


@pytest.mark.parametrize("sent", [b"", b"\x16\x03\x01\x02\x00"], ids=["silent", "half a hello"])
def test_a_hello_that_does_not_come_is_cut_off_like_a_header(
    served: tuple[Serving, Path], sent: bytes
) -> None:
    serving, _ = served
    began = time.monotonic()
    with socket.create_connection(address(serving), PATIENCE_SECONDS) as slow:
        slow.sendall(sent)
        received(slow)
    assert 0.9 < time.monotonic() - began < PATIENCE_SECONDS / 2


def test_a_header_that_does_not_come_is_cut_off_behind_tls_too(
    served: tuple[Serving, Path],
) -> None:
    serving, folder = served
    with (
        socket.create_connection(address(serving), PATIENCE_SECONDS) as plain,
        trusting(folder).wrap_socket(plain, server_hostname="localhost") as slow,
    ):
        slow.sendall(b"GET /healthz HTTP/1.1\r\n")
        began = time.monotonic()
        with suppress(ConnectionError, ssl.SSLError):
            assert slow.recv(1) == b""
    assert time.monotonic() - began < PATIENCE_SECONDS / 2


def test_callers_that_never_say_hello_leave_room_for_others(
    served: tuple[Serving, Path],
) -> None:
    serving, folder = served
    with ExitStack() as silent:
        for _ in range(200):
            silent.enter_context(closing(socket.create_connection(address(serving))))
        assert ask(serving, folder).status_code == 200


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("no key", "set both, or neither"),
        ("no file", "API_TLS_KEY_FILE cannot be read"),
        ("open", "chmod 600"),
        ("another key", "is not the key of the certificate"),
        ("encrypted", "is encrypted"),
        ("no PEM", "hold no certificate and key in PEM form"),
    ],
)
def test_files_that_cannot_be_used_are_named_before_anything_starts(
    tmp_path: Path, case: str, said: str
) -> None:
    write_pair(tmp_path, password=b"secret" if case == "encrypted" else None)
    write_pair(tmp_path, "other")
    settings = with_tls(tmp_path, key="other" if case == "another key" else "server")
    match case:
        case "no key":
            settings["API_TLS_KEY_FILE"] = ""
        case "no file":
            settings["API_TLS_KEY_FILE"] = str(tmp_path / "nowhere.key")
        case "open":
            (tmp_path / "server.key").chmod(0o644)
        case "no PEM":
            (tmp_path / "server.crt").write_bytes(b"hello")
    done = run(["serve", "--port", "0"], tmp_path, settings)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("trusted", "headers", "is_believed"),
    [
        ("127.0.0.1", {"X-Forwarded-Proto": "https"}, True),
        ("127.0.0.0/8,10.0.0.0/8", {"X-Forwarded-Proto": "http, https"}, True),
        ("10.0.0.0/8", {"X-Forwarded-Proto": "https"}, False),
        ("", {"X-Forwarded-Proto": "https"}, False),
        ("127.0.0.1", {"X-Forwarded-Proto": "https, http"}, False),
        ("127.0.0.1", {"X-Forwarded-Proto": "ftp"}, False),
        ("127.0.0.1", {"Forwarded": "proto=https"}, False),
        ("127.0.0.1", {"X-Forwarded-Scheme": "https", "X-Forwarded-Ssl": "on"}, False),
    ],
)
def test_only_proxies_that_are_named_say_how_a_request_came(
    tmp_path: Path, trusted: str, headers: dict[str, str], *, is_believed: bool
) -> None:
    settings = {"MODEL_DEFAULT": "baseline", "API_TRUSTED_PROXIES": trusted}
    with Serving(tmp_path, settings, command=(COMMAND, "serve")) as serving:
        answer = httpx.get(f"{serving.url}/healthz", headers=headers, trust_env=False)
    assert answer.status_code == 200
    assert (HSTS in answer.headers) is is_believed


def test_logins_are_counted_by_the_address_that_the_last_proxy_saw(tmp_path: Path) -> None:
    settings = settings_with(
        tmp_path,
        MODEL_DEFAULT="baseline",
        AUTH_REQUIRED="true",
        API_TRUSTED_PROXIES="127.0.0.1,10.0.0.0/8",
    )

    def login(forwarded: str) -> int:
        headers = {"X-Forwarded-For": forwarded}
        return client.post("/v1/session", json={"key": "aip_a_b"}, headers=headers).status_code

    with client_of(settings) as client:
        made_up = [login(f"192.0.2.{number}, 198.51.100.1, 10.0.0.9") for number in range(11)]
        assert made_up == [401] * 10 + [429]
        assert login("198.51.100.2") == 401
        assert login("no address, 198.51.100.1") == 429


@pytest.mark.parametrize("proxies", ["0.0.0.0/0", "::/0", "proxy.example", "10.0.0.1/8"])
def test_proxies_that_would_let_everybody_lie_are_refused(tmp_path: Path, proxies: str) -> None:
    done = run(["serve", "--port", "0"], tmp_path, {"API_TRUSTED_PROXIES": proxies})
    assert done.code == 2
    assert "API_TRUSTED_PROXIES" in done.err
