"""Tokens of an identity provider: whom they let in, and every way to make one up."""

import asyncio
import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, RSAKey

from ai_psychiatrist.access.oidc import (
    FRESH_SECONDS,
    MOST_BYTES,
    PAUSE_SECONDS,
    STALE_SECONDS,
    KeyCache,
    fetch_keys,
    public_keys,
)
from ai_psychiatrist.config import load_settings, refuse_contradictions
from ai_psychiatrist.domain.errors import ConfigurationError
from tests.fakes.http_connection import HttpCall, in_thread, listening, response_head
from tests.integration.running_app import client_of, settings_with

ISSUER: Final = "https://issuer.example/realm"
AUDIENCE: Final = "ai-psychiatrist"
RSA: Final = RSAKey.generate_key(2048, {"kid": "rsa", "use": "sig"})
EC: Final = ECKey.generate_key("P-256", {"kid": "ec"})
STRANGER: Final = RSAKey.generate_key(2048, {"kid": "rsa"})
Json = dict[str, Any]


def key_set(*keys: RSAKey | ECKey) -> bytes:
    """Return what an issuer publishes."""
    return json.dumps({"keys": [key.as_dict(private=False) for key in keys]}).encode()


def claims(**changed: object) -> Json:
    """Return the claims of a token that is taken, some of them changed or, as `None`, left out."""
    now = int(time.time())
    made: Json = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "somebody with a name",
        # Those of tables are made long before their test runs.
        "exp": now + 3600,
        "iat": now,
        "tenant": "clinic-1",
        "scope": "openid read assess",
    } | changed
    return {name: value for name, value in made.items() if value is not None}


def token(header: Json | None = None, key: RSAKey | ECKey = RSA, **changed: object) -> str:
    """Sign a token."""
    whole = {"alg": "RS256", "kid": "rsa", "typ": "at+jwt"} | (header or {})
    named = {name: value for name, value in whole.items() if value is not None}
    return jwt.encode(named, claims(**changed), key, algorithms=[whole["alg"]], default_type=None)


def made_by_hand(header: Json, signature: Callable[[bytes], bytes] = lambda _: b"") -> str:
    """Make a token that no library would make."""
    parts = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=")
        for part in ({"kid": "rsa", "typ": "at+jwt"} | header, claims())
    ]
    said = b".".join(parts)
    return (said + b"." + base64.urlsafe_b64encode(signature(said)).rstrip(b"=")).decode()


def signed_with_public_key(said: bytes) -> bytes:
    """Sign as HS256 does, with the key that everybody knows."""
    return hmac.new(RSA.as_pem(private=False), said, hashlib.sha256).digest()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A server that takes tokens of the issuer."""
    folder = tmp_path_factory.mktemp("oidc")
    (folder / "keys.json").write_bytes(key_set(RSA, EC))
    with client_of(settings_with(folder / "state", **auth(folder))) as one:
        yield one


def auth(folder: Path, **changed: str) -> dict[str, str]:
    """Return the settings of the issuer."""
    return {
        "MODEL_DEFAULT": "baseline",
        "AUTH_REQUIRED": "true",
        "AUTH_OIDC_ISSUER": ISSUER,
        "AUTH_OIDC_AUDIENCE": AUDIENCE,
        "AUTH_OIDC_JWKS_FILE": str(folder / "keys.json"),
    } | changed


def ask(client: httpx.Client, text: str) -> httpx.Response:
    """Ask who one is."""
    return client.get("/v1/session", headers={"Authorization": f"Bearer {text}"})


def test_a_token_lets_its_holder_in_with_tenant_and_scopes_and_without_a_name(
    client: httpx.Client,
) -> None:
    answer = ask(client, token())
    assert answer.status_code == 200, answer.text
    who = answer.json()
    assert (who["tenant"], who["scopes"]) == ("clinic-1", ["assess", "read"])
    assert who["id"].startswith("oidc:")
    assert "somebody" not in answer.text
    assert ask(client, token(jti="another")).json()["id"] == who["id"]
    assert ask(client, token(sub="somebody else")).json()["id"] != who["id"]


@pytest.mark.parametrize(
    "text",
    [
        token({"alg": "ES256", "kid": "ec"}, EC),
        token({"typ": "application/AT+JWT"}),
        token(aud=["another", AUDIENCE]),
        token(scope=["read"]),
    ],
    ids=["ES256", "a type in full", "several audiences", "a list of scopes"],
)
def test_tokens_that_are_as_they_should_be_are_taken(client: httpx.Client, text: str) -> None:
    assert ask(client, text).status_code == 200


def test_clocks_may_differ_by_some_seconds(client: httpx.Client) -> None:
    now = int(time.time())
    assert ask(client, token(exp=now - 5)).status_code == 200
    assert ask(client, token(nbf=now + 30)).status_code == 200


def _hostile() -> dict[str, str]:
    now = int(time.time())
    good = token()
    return {
        "no algorithm": made_by_hand({"alg": "none"}),
        "NONE": made_by_hand({"alg": "nOnE"}),
        "HS256 with the public key": made_by_hand({"alg": "HS256"}, signed_with_public_key),
        "an algorithm not named": token({"alg": "PS256"}),
        "no algorithm at all": made_by_hand({}),
        "a stranger's signature": token(key=STRANGER),
        "a stranger's key inside": token({"jwk": STRANGER.as_dict(private=False)}, STRANGER),
        "a stranger's address inside": token({"jku": "http://127.0.0.1:1/keys"}, STRANGER),
        "a wrong key id": token({"kid": "other"}),
        "no key id": token({"kid": None}),
        "a key id of the other kind": token({"kid": "ec"}),
        "a critical header": made_by_hand({"alg": "RS256", "crit": ["b64"], "b64": False}),
        "another type": token({"typ": "logout+jwt"}),
        "JWT, which ID tokens are": token({"typ": "JWT"}),
        "an ID token's nonce": token(nonce="n"),
        "an ID token's hash": token(at_hash="h"),
        "no type": token({"typ": None}),
        "expired": token(exp=now - 120),
        "without an end": token(exp=None),
        "an end that is no number": token(exp="never"),
        "not yet": token(nbf=now + 86_400),
        "of the future": token(iat=now + 86_400),
        "another issuer": token(iss=f"{ISSUER}/"),
        "no issuer": token(iss=None),
        "another audience": token(aud="another"),
        "no audience": token(aud=None),
        "an audience that is an object": token(aud={AUDIENCE: True}),
        "no subject": token(sub=None),
        "a subject that is a number": token(sub=7),
        "no tenant": token(tenant=None),
        "a tenant with a path": token(tenant="../local"),
        "a tenant in capitals": token(tenant="LOCAL"),
        "a tenant of several lines": token(tenant="local\n"),
        "a tenant that is a list": token(tenant=["local"]),
        "too long": token(padding="x" * 9_000),
        "changed": good[:-6] + ("AAAAAA" if good[-6:] != "AAAAAA" else "BBBBBB"),
        "cut off": good[: len(good) // 2],
        "two parts": ".".join(good.split(".")[:2]),
        "five parts": ".".join([good, "a", "b"]),
        "dots": "..",
        "a header that is a list": base64.urlsafe_b64encode(b'["alg","typ"]').decode() + ".e30.AA",
        "a type that is a list": made_by_hand({"alg": "RS256", "typ": ["at+jwt"]}),
        "deep": base64.urlsafe_b64encode(b"[" * 4_000).decode() + ".e30.",
    }


@pytest.mark.parametrize("text", _hostile().values(), ids=_hostile())
def test_a_token_that_is_made_up_opens_nothing(client: httpx.Client, text: str) -> None:
    answer = ask(client, text)
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")


def test_the_type_jwt_is_taken_where_it_is_set_and_an_id_token_is_not(tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_bytes(key_set(RSA))
    environment = auth(tmp_path, AUTH_OIDC_TOKEN_TYPES="at+jwt, JWT")
    with client_of(settings_with(tmp_path / "state", **environment)) as client:
        taken = [token({"typ": "JWT"}), token(), token({"typ": "JWT"}, typ="Bearer")]
        assert [ask(client, one).status_code for one in taken] == [200] * 3
        of_id = [
            token({"typ": "JWT"}, nonce="n"),
            token({"typ": "JWT"}, nonce=""),
            token({"typ": "JWT"}, at_hash="h"),
            token({"typ": "JWT"}, c_hash="h"),
            token({"typ": "JWT"}, typ="ID"),
        ]
        assert [ask(client, one).status_code for one in of_id] == [401] * 5


def test_a_token_without_scopes_opens_nothing_that_asks_for_one(client: httpx.Client) -> None:
    header = {"Authorization": f"Bearer {token(scope='admin-of-something')}"}
    answer = client.post("/v1/full_pipeline", json={"transcript_text": "P: Hi."}, headers=header)
    assert answer.status_code == 403


class Issuer:
    """An issuer of our own on a free port, that answers what it is told to."""

    def __init__(self) -> None:
        self.asked = 0
        self.status = 200
        self.headers: dict[str, str] = {}
        self.body = key_set(RSA)
        self.url = ""

    async def answer(self, _: HttpCall, transport: asyncio.Transport) -> None:
        """Answer as it is told to."""
        self.asked += 1
        length, kind = len(self.body), "application/json"
        transport.write(response_head(self.status, kind, length, self.headers) + self.body)


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    """The issuer, while a test runs."""
    one = Issuer()
    with in_thread(listening(one.answer)) as address:
        one.url = f"{address}/keys"
        yield one


def test_keys_are_fetched_once_and_again_for_an_unknown_id_but_not_each_time(
    issuer: Issuer, tmp_path: Path
) -> None:
    environment = auth(tmp_path, AUTH_OIDC_JWKS_FILE="", AUTH_OIDC_JWKS_URL=issuer.url)
    with client_of(settings_with(tmp_path / "state", **environment)) as client:
        assert [ask(client, token()).status_code for _ in range(3)] == [200] * 3
        assert issuer.asked == 1
        for number in range(5):
            assert ask(client, token({"kid": f"new-{number}"})).status_code == 401
        assert issuer.asked == 1


@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        (302, {"Location": "/elsewhere"}, b""),
        (500, {}, b""),
        (200, {}, b"{}"),
        (200, {}, b'{"keys": [{"kty": "oct", "k": "AAAA"}]}'),
        (200, {}, b"[" * 100_000),
        (200, {}, b" " * (MOST_BYTES + 1)),
    ],
    ids=["redirect", "error", "no keys", "a shared secret", "deep", "too large"],
)
def test_what_is_no_set_of_public_keys_is_refused(
    issuer: Issuer, status: int, headers: dict[str, str], body: bytes
) -> None:
    issuer.status, issuer.headers, issuer.body = status, headers, body
    with pytest.raises(ConfigurationError):
        asyncio.run(fetch_keys(issuer.url))
    assert issuer.asked == 1


def test_keys_are_kept_while_the_issuer_is_down_but_not_for_ever() -> None:
    now = [0.0]
    loads: list[float] = []
    is_down = False

    async def load() -> KeySet:
        loads.append(now[0])
        if is_down:
            raise ConfigurationError
        return public_keys(key_set(RSA))

    async def is_known(after: float) -> bool:
        now[0] = after
        return await cache.find("rsa") is not None

    cache = KeyCache(load, clock=lambda: now[0])
    assert asyncio.run(is_known(0.0))
    is_down = True
    assert asyncio.run(is_known(FRESH_SECONDS - 1))
    assert loads == [0.0]
    assert asyncio.run(is_known(FRESH_SECONDS))
    assert asyncio.run(is_known(FRESH_SECONDS + PAUSE_SECONDS - 1))
    assert len(loads) == 2
    assert asyncio.run(is_known(STALE_SECONDS - 1))
    assert not asyncio.run(is_known(STALE_SECONDS))
    is_down = False
    assert not asyncio.run(is_known(STALE_SECONDS + 1))
    assert asyncio.run(is_known(STALE_SECONDS + PAUSE_SECONDS))


def test_weak_and_foreign_keys_of_a_set_are_left_out() -> None:
    modulus = base64.urlsafe_b64encode((1 << 1_023 | 1).to_bytes(128)).decode().rstrip("=")
    weak = {"kty": "RSA", "kid": "weak", "e": "AQAB", "n": modulus}
    encryption = RSA.as_dict(private=False) | {"kid": "enc", "use": "enc"}
    entries = [weak, encryption, {"kty": "OKP"}, {"kty": "RSA", "n": 7}, "no key"]
    written = json.dumps({"keys": [*entries, EC.as_dict(private=False)]}).encode()
    assert [key.kid for key in public_keys(written)] == ["ec"]


@pytest.mark.parametrize("key", [RSA, EC], ids=["RSA", "EC"])
def test_private_parts_of_keys_are_not_kept(key: RSAKey | ECKey) -> None:
    written = json.dumps({"keys": [key.as_dict(private=True)]}).encode()
    (kept,) = public_keys(written)
    assert (kept.kid, kept.is_private) == (key.kid, False)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"AUTH_REQUIRED": "false"}, "AUTH_REQUIRED"),
        ({"AUTH_OIDC_AUDIENCE": ""}, "AUTH_OIDC_AUDIENCE"),
        ({"AUTH_OIDC_ISSUER": ""}, "AUTH_OIDC_ISSUER"),
        ({"AUTH_OIDC_JWKS_URL": "https://issuer.example/keys"}, "AUTH_OIDC_JWKS_URL"),
        ({"AUTH_OIDC_JWKS_FILE": ""}, "AUTH_OIDC_JWKS_FILE"),
        ({"AUTH_OIDC_JWKS_FILE": "/nowhere/keys.json"}, "AUTH_OIDC_JWKS_FILE"),
        ({"AUTH_OIDC_JWKS_URL": "http://issuer.example/keys"}, "https"),
        ({"AUTH_OIDC_JWKS_URL": "https://u:p@issuer.example/keys"}, "no user"),
        ({"AUTH_OIDC_ALGORITHMS": "RS256,HS256"}, "AUTH_OIDC_ALGORITHMS"),
        ({"AUTH_OIDC_ALGORITHMS": "none"}, "AUTH_OIDC_ALGORITHMS"),
        ({"AUTH_OIDC_TOKEN_TYPES": "JTW"}, "AUTH_OIDC_TOKEN_TYPES"),
    ],
)
def test_settings_that_would_let_the_wrong_ones_in_are_refused(
    tmp_path: Path, changed: dict[str, str], named: str
) -> None:
    (tmp_path / "keys.json").write_bytes(key_set(RSA))
    with pytest.raises(ConfigurationError, match=named):
        refuse_contradictions(load_settings(auth(tmp_path) | changed, dotenv=None))
