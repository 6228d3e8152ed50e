"""Who calls from elsewhere: nameless, under other names and origins, by proxies, with tokens."""

import json
import time
from pathlib import Path
from typing import Any, Final

from joserfc import jwt
from joserfc.jwk import ECKey, OctKey

from tests.golden.answer import Answer, Json
from tests.golden.http_caller import HERE, Talk, calling, head_alone, in_loop, whole_head
from tests.golden.http_doors import bearer, brief, short
from tests.golden.http_records import PLACE

_BODY: Final = {"transcript_text": "Participant: I sleep badly, most nights."}
_ISSUER: Final = "https://issuer.example/realm"
_AUDIENCE: Final = "ai-psychiatrist"


@in_loop
async def origins(folder: Path) -> list[Answer]:
    """Return the cases."""
    cases: list[Answer] = []
    await _without_keys(folder / "open", cases)
    await _hosts(folder / "hosts", cases)
    await _friends(folder / "friends", cases)
    await _proxies(folder / "proxies", cases)
    await _tokens(folder / "tokens", cases)
    return cases


async def _without_keys(folder: Path, cases: list[Answer]) -> None:
    """Keep who one is where no key is asked for."""
    async with calling(folder) as client:
        talk = Talk(client=client, name="doors/open", cases=cases)
        await talk.ask("who", "GET", "/v1/session")
        for case, headers in {
            "unknown-key": bearer("aip_0123456789ab_" + "A" * 43),
            "unknown-api-key": {"X-API-Key": "aip_x"},
            "token": bearer("e30.e30.e30"),
            "two": {**bearer("e30.e30.e30"), "X-API-Key": "x"},
        }.items():
            await talk.ask(case, "GET", "/v1/session", headers=headers)
        begun = await talk.ask("rater", "POST", "/v1/session", json={"rater": "  Dr. Älva  2 "})
        csrf = {"X-CSRF-Token": begun.json()["csrf"]}
        await talk.ask("rater-again", "POST", "/v1/session", json={"rater": "dr. älva 2"})
        await talk.ask("rater-within", "GET", "/v1/session")
        client.cookies.clear()
        sent: dict[str, Any] = {"json": _BODY, "headers": csrf}
        await talk.ask("session-over", "POST", PLACE, **sent)
        await talk.ask("session-over-read", "GET", PLACE, headers=csrf, show=head_alone)
        await talk.ask("blank", "POST", "/v1/session", json={"rater": " / "})
        for case, headers in {
            "origin": {"Origin": "https://evil.example"},
            "cross-site": {"Sec-Fetch-Site": "cross-site"},
            "own-origin": {"Origin": HERE},
            "other-port": {"Origin": f"{HERE}:81"},
            "null": {"Origin": "null"},
            "odd": {"Origin": "http://[x"},
        }.items():
            sent = {"json": _BODY, "headers": headers, "show": short}
            await talk.ask(f"site/{case}", "POST", "/v1/transcripts/preview", **sent)
            await talk.ask(f"site-read/{case}", "GET", "/health", headers=headers, show=short)


async def _hosts(folder: Path, cases: list[Answer]) -> None:
    """Keep under which names the server answers."""
    given = (
        *("127.0.0.1", "localhost", "LOCALHOST:8000", "testserver", "[::1]:80", "127.9.9.9"),
        *("evil.example", "notes.example", "10.0.0.7", "192.168.0.1", "localhost.evil.example"),
        *(
            "",
            "a b",
            "a,b",
            "user@localhost",
            "localhost:port",
            "localhost:123456",
            "\u00e9.example",
        ),
    )
    for case, settings in {
        "usual": {},
        "named": {"API_ALLOWED_HOSTS": "Notes.Example,[::2]"},
        "any": {"API_ALLOWED_HOSTS": "*"},
    }.items():
        async with calling(folder, settings) as client:
            talk = Talk(client=client, name="doors/hosts", cases=cases)
            table: dict[str, Json] = {}
            for host in given:
                headers = [(b"Host", host.encode("latin-1"))]
                response = await client.get("/v1/health", headers=headers)
                table[host or "empty"] = brief(response)
            talk.add(case, table)
            if case == "usual":
                await talk.ask("not-served", "GET", "/v1/health", headers={"Host": "evil.example"})
                await talk.ask("unclear", "GET", "/v1/health", headers={"Host": "a b"})
                two = [("Host", "localhost"), ("Host", "evil.example")]
                await talk.ask("two", "GET", "/v1/health", headers=two)
                evil = {"Host": "evil.example"}
                probes = ("/healthz", "/readyz", "/metrics", "/v1/healthz", "/v1/readyz")
                found = {path: brief(await client.get(path, headers=evil)) for path in probes}
                talk.add("probes", found)
    elsewhere = "http://10.0.0.7"
    for case, settings in {
        "reached": {},
        "reached-knowingly": {"API_ALLOW_UNAUTHENTICATED": "true"},
        "reached-with-doors": {"AUTH_REQUIRED": "true"},
    }.items():
        async with calling(folder, settings, base_url=elsewhere) as client:
            talk = Talk(client=client, name=f"doors/{case}", cases=cases)
            for path in ("/v1/session", "/healthz", "/readyz", "/login", "/docs/start.js", "/"):
                name = path.strip("/").replace("/", ".") or "home"
                await talk.ask(name, "GET", path, show=short)
            body = {"rater": "A"}
            await talk.ask("session", "POST", "/v1/session", json=body, show=head_alone)


async def _friends(folder: Path, cases: list[Answer]) -> None:
    """Keep what pages of other origins may do, that are named and that are not."""
    friend = "https://notes.example"
    async with calling(folder, {"API_CORS_ORIGINS": f"{friend},http://localhost:3000"}) as client:
        talk = Talk(client=client, name="doors/friends", cases=cases)
        for case, origin in {"named": friend, "other": "https://evil.example"}.items():
            asked = {
                "Origin": origin,
                "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "content-type,x-api-key",
            }
            headers = {"Origin": origin, "Sec-Fetch-Site": "cross-site"}
            await talk.ask(f"{case}/preflight", "OPTIONS", PLACE, headers=asked)
            wrong = {**asked, "Access-Control-Request-Method": "PUT"}
            await talk.ask(f"{case}/preflight-put", "OPTIONS", PLACE, headers=wrong)
            wrong = {**asked, "Access-Control-Request-Headers": "x-csrf-token"}
            await talk.ask(f"{case}/preflight-header", "OPTIONS", PLACE, headers=wrong)
            sent: dict[str, Any] = {"json": _BODY, "headers": headers}
            place = "/v1/transcripts/preview"
            await talk.ask(f"{case}/post", "POST", place, show=short, **sent)
            await talk.ask(f"{case}/get", "GET", "/health", headers=headers, show=short)
            await talk.ask(f"{case}/refused", "POST", "/full_pipeline", headers=headers, json={})
            await talk.ask(f"{case}/form", "POST", "/new", headers=headers, show=short)


async def _proxies(folder: Path, cases: list[Answer]) -> None:
    """Keep whose word counts for who calls, and how."""
    settings = {"API_TRUSTED_PROXIES": "10.0.0.0/24", "AUTH_REQUIRED": "false"}
    for case, address in {"trusted": "10.0.0.7", "stranger": "10.1.0.7"}.items():
        async with calling(folder, settings, address=address) as client:
            talk = Talk(client=client, name=f"doors/proxy-{case}", cases=cases)
            for scheme in ("https", "http", "ftp", "http,https"):
                headers = {"X-Forwarded-Proto": scheme, "X-Forwarded-For": "192.0.2.1, 10.0.0.3"}
                sent = {"json": {"rater": "A"}, "headers": headers}
                name = scheme.replace(",", "-")
                await talk.ask(name, "POST", "/v1/session", show=whole_head, **sent)
                client.cookies.clear()
    async with calling(folder / "guard", settings, address="10.0.0.7") as client:
        talk = Talk(client=client, name="doors/proxy-guard", cases=cases)
        body = {"key": "aip_x"}
        for _ in range(10):
            headers = {"X-Forwarded-For": "192.0.2.1"}
            await client.post("/v1/session", json=body, headers=headers)
        for case, forwarded in {
            "same": "192.0.2.1",
            "claimed-before": "192.0.2.9, 192.0.2.1",
            "other": "192.0.2.2",
            "nonsense": "x",
        }.items():
            headers = {"X-Forwarded-For": forwarded}
            response = await client.post("/v1/session", json=body, headers=headers)
            talk.add(case, brief(response))


async def _tokens(folder: Path, cases: list[Answer]) -> None:
    """Keep which tokens of an identity provider are taken."""
    key, stranger = (ECKey.generate_key("P-256", {"kid": "ec"}) for _ in range(2))
    keys = key.as_dict(private=False)
    file = _written(folder, {"keys": [keys]})
    settings = {
        "AUTH_REQUIRED": "true",
        "AUTH_OIDC_ISSUER": _ISSUER,
        "AUTH_OIDC_AUDIENCE": _AUDIENCE,
        "AUTH_OIDC_JWKS_FILE": str(file),
    }
    now = int(time.time())
    changed: dict[str, dict[str, Any]] = {
        "good": {},
        "admin": {"scope": "admin read", "tenant": "clinic-2"},
        "no-scope": {"scope": "openid"},
        "scope-list": {"scope": ["read", "review"]},
        "other-issuer": {"iss": "https://other.example"},
        "other-audience": {"aud": "another"},
        "audience-list": {"aud": ["another", _AUDIENCE]},
        "over": {"exp": now - 3600},
        "just-over": {"exp": now - 30},
        "not-yet": {"nbf": now + 3600},
        "no-end": {"exp": None},
        "no-subject": {"sub": None},
        "no-tenant": {"tenant": None},
        "odd-tenant": {"tenant": "../x"},
    }
    async with calling(folder, settings) as client:
        talk = Talk(client=client, name="doors/tokens", cases=cases)
        for case, claims in changed.items():
            token = _token({"alg": "ES256"}, key, now, claims)
            response = await talk.ask(case, "GET", "/v1/session", headers=bearer(token))
            if case == "good":
                talk.masks[response.json()["id"]] = "<holder>"
            if case in {"admin", "scope-list"}:
                talk.masks.setdefault(response.json()["id"], f"<holder {case}>")
        for case, signed in {
            "strangers-key": _token({"alg": "ES256"}, stranger, now, {}),
            "other-kid": _token({"alg": "ES256", "kid": "x"}, key, now, {}),
            "other-type": _token({"alg": "ES256", "typ": "id"}, key, now, {}),
            "secret-key": _token({"alg": "HS256"}, OctKey.generate_key(256), now, {}),
            "none": "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.e30.",
            "long": "a" * 9_000,
        }.items():
            await talk.ask(case, "GET", "/v1/session", headers=bearer(signed))
        token = _token({"alg": "ES256"}, key, now, {})
        await talk.ask("list", "GET", PLACE, headers=bearer(token), show=short)
        await talk.ask("erase", "DELETE", f"{PLACE}/x", headers=bearer(token))


def _written(folder: Path, keys: Json) -> Path:
    folder.mkdir(parents=True)
    file = folder / "keys.json"
    file.write_text(json.dumps(keys), encoding="utf-8")
    return file


def _token(header: dict[str, str], key: ECKey | OctKey, now: int, changed: dict[str, Any]) -> str:
    claims = {
        "iss": _ISSUER,
        "aud": _AUDIENCE,
        "sub": "somebody",
        "exp": now + 3600,
        "iat": now,
        "tenant": "clinic-1",
        "scope": "openid read assess",
    } | changed
    kept = {name: value for name, value in claims.items() if value is not None}
    whole = {"kid": "ec", "typ": "at+jwt"} | header
    return jwt.encode(whole, kept, key, algorithms=[header["alg"]], default_type=None)
