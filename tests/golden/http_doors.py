"""Who is let in: keys and their scopes, sessions of browsers, forgery, hosts, origins, proxies."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import httpx

from tests.golden.answer import Answer, Json, folder_masks
from tests.golden.http_caller import (
    HERE,
    Talk,
    client_of,
    head_alone,
    in_loop,
    opened,
    whole_head,
)
from tests.golden.http_documents import NOBODY
from tests.golden.http_records import PLACE
from tests.golden.http_showing import shown
from tests.golden.ways import parsed, run

KEYS: Final = {
    "assess": "--scope assess",
    "read": "--scope read",
    "review": "--scope review",
    "admin": "--scope admin",
    "metrics": "--scope metrics",
    "all": "--scope assess --scope read --scope review --scope admin --scope metrics",
    "other-tenant": "--tenant clinic-1 --scope assess --scope read --scope review --scope admin",
    "revoked": "--scope read",
}
"""What each key is made with."""
_BODY: Final = {"transcript_text": "Participant: I sleep badly, most nights."}
_PAGES: Final = (
    *("/", "/new", "/login", "/next", "/agreement"),
    *(f"/assessments/{NOBODY}", f"/assessments/{NOBODY}/rate", "/docs", "/metrics", "/health"),
)


def doors(folder: Path) -> list[Answer]:
    """Return the cases; who did what is read afterwards by its command."""
    keys = {case: _made(folder, options) for case, options in KEYS.items()}
    run(["keys", "revoke", keys["revoked"].split("_")[1]], folder)
    (folder / "keys.json").write_text(json.dumps(keys), encoding="utf-8")
    cases = _doors(folder)
    masks = folder_masks(folder) | {key.split("_")[1]: "<key id>" for key in keys.values()}
    rows = parsed(run(["audit", "show", "--limit", "1000", "--json"], folder).out)
    assert isinstance(rows, list)
    counts = Counter("|".join(str(row[name]) for name in ("action", "outcome")) for row in rows)
    first: Json = {**rows[0], "actor": "<key>"}
    told: Json = {"first": first, "rows": dict(sorted(counts.items()))}
    cases.append(Answer(name="doors/audit/rows", value=told))
    for command in ("audit verify", "keys list"):
        ended = run(command.split(), folder)
        # Keys that were made within one second are listed in any order.
        lines = sorted(ended.out.splitlines(), key=_without_id)
        name = f"doors/audit/{command.replace(' ', '-')}"
        cases.append(Answer(name=name, value=[ended.code, lines, ended.err], masks=masks))
    return cases


def _without_id(line: str) -> str:
    return line.partition("  ")[2]


def _made(folder: Path, options: str) -> str:
    name = options.replace("--scope ", "").replace(" ", "-").strip("-")
    return run(["keys", "create", "--name", name, *options.split()], folder).out.strip()


@in_loop
async def _doors(folder: Path) -> list[Answer]:
    keys: dict[str, str] = json.loads((folder / "keys.json").read_text("utf-8"))
    ids = {key.split("_")[1]: "<key id>" for key in keys.values()}
    cases: list[Answer] = []
    async with opened(folder, {"AUTH_REQUIRED": "true", "STORE_ASSESSMENTS": "true"}) as app:
        async with client_of(app) as client:
            talk = Talk(client=client, name="doors/keys", masks=ids, cases=cases)
            await _shown_keys(talk, keys)
            await _scopes(talk, keys)
            await _tenants(talk, keys)
        async with client_of(app) as client:
            talk = Talk(client=client, name="doors/session", masks=ids, cases=cases)
            await _session(talk, keys, app)
        async with client_of(app) as client:
            await _form(Talk(client=client, name="doors/form", masks=ids, cases=cases), keys)
        async with client_of(app, address="10.0.0.9") as client:
            talk = Talk(client=client, name="doors/logins", masks=ids, cases=cases)
            await _logins(talk, keys, app)
    return cases


def bearer(key: str) -> dict[str, str]:
    """Return the header that shows a key."""
    return {"Authorization": f"Bearer {key}"}


async def _shown_keys(talk: Talk, keys: Mapping[str, str]) -> None:
    """Keep in which ways a key is shown, and what is said of one that does not work."""
    good, place = keys["read"], "/v1/session"
    wrong = good[:-4] + ("AAAA" if not good.endswith("AAAA") else "BBBB")
    for case, headers in {
        "none": {},
        "bearer": bearer(good),
        "bearer-lower": {"Authorization": f"bearer {good}"},
        "bearer-blanks": {"Authorization": f"Bearer   {good} "},
        "api-key": {"X-API-Key": good},
        "both": {**bearer(good), "X-API-Key": good},
        "basic": {"Authorization": "Basic YTpi"},
        "empty": {"Authorization": ""},
        "no-scheme": {"Authorization": good},
        "wrong-secret": bearer(wrong),
        "unknown": bearer("aip_0123456789ab_" + "A" * 43),
        "nonsense": bearer("aip_x"),
        "token": bearer("e30.e30.e30"),
        "revoked": bearer(keys["revoked"]),
        "cookie-of-nothing": {"Cookie": "aip_session=" + "A" * 43},
    }.items():
        await talk.ask(case, "GET", place, headers=headers)
        talk.client.cookies.clear()
    await talk.ask("in-the-query", "GET", f"{place}?key=aip_x")
    twice = [("X-API-Key", good), ("X-API-Key", good)]
    await talk.ask("twice", "GET", place, headers=twice)
    await talk.ask("none-post", "POST", "/full_pipeline", content=b"{", show=whole_head)
    await talk.ask("none-page", "GET", f"/assessments/{NOBODY}")
    await talk.ask("none-form", "POST", "/new")


async def _scopes(talk: Talk, keys: Mapping[str, str]) -> None:
    """Keep what each scope opens: a table of all operations and pages."""
    document = (await talk.client.get("/openapi.json")).json()
    operations = [
        (method.upper(), path.replace("{", "").replace("}", ""), path)
        for path, found in document["paths"].items()
        for method in found
    ] + [("GET", path, path) for path in _PAGES]
    scopes = ("none", "assess", "read", "review", "admin", "metrics", "all")
    table: dict[str, Json] = {}
    for method, _, path in operations:
        if path == "/v1/session" and method != "GET":
            continue
        place = path
        for name in ("interview_id", "assessment_id", "batch_id", "job_id", "subject_id"):
            place = place.replace(f"{{{name}}}", NOBODY)
        found = []
        for scope in scopes:
            headers = bearer(keys[scope]) if scope != "none" else {}
            sent: dict[str, Any] = {"json": {}} if method == "POST" else {}
            response = await talk.client.request(method, place, headers=headers, **sent)
            found.append(f"{scope}:{brief(response)}")
        table[f"{method} {path}"] = found
    talk.add("scopes", table)
    await talk.ask("forbidden", "GET", PLACE, headers=bearer(keys["assess"]))
    place = f"{PLACE}/{NOBODY}"
    await talk.ask("forbidden-erasing", "DELETE", place, headers=bearer(keys["read"]))
    await talk.ask("who", "GET", "/v1/session", headers=bearer(keys["all"]))


def brief(response: httpx.Response) -> str:
    """Return the status of an answer, and its code or where it leads."""
    if response.is_redirect:
        return f"{response.status_code}:{response.headers['location']}"
    if response.headers.get("content-type", "") == "application/problem+json":
        return f"{response.status_code}:{response.json()['code']}"
    return str(response.status_code)


async def _tenants(talk: Talk, keys: Mapping[str, str]) -> None:
    """Keep that nobody meets what another tenant has stored, or asked."""
    own, other = bearer(keys["all"]), bearer(keys["other-tenant"])
    made = await talk.client.post(PLACE, json=_BODY, headers=other)
    place = made.headers["location"]
    begun = await talk.client.post("/v1/interviews", json={"protocol": "phq8"}, headers=other)
    interview = f"/v1/interviews/{begun.json()['interview_id']}"
    talk.masks[begun.json()["interview_id"]] = "<interview>"
    for case, path in {
        "result": place,
        "transcript": f"{place}/transcript",
        "job": place.replace("assessments", "jobs"),
        "interview": interview,
    }.items():
        await talk.ask(f"tenant/{case}-of-another", "GET", path, headers=own)
        await talk.ask(f"tenant/{case}", "GET", path, headers=other, show=head_alone)
    await talk.ask("tenant/list", "GET", PLACE, headers=own)
    await talk.ask("tenant/erase-of-another", "DELETE", place, headers=own)
    blind = {"Prefer": "respond-async, wait=20"}
    assess = {**bearer(keys["assess"]), **blind}
    await talk.ask("assess-alone/job", "POST", PLACE, json=_BODY, headers=assess, show=head_alone)
    plain = bearer(keys["assess"])
    response = await talk.ask("assess-alone/made", "POST", PLACE, json=_BODY, headers=plain)
    record = response.headers["location"]
    await talk.ask("assess-alone/read", "GET", record, headers=plain)
    rater = bearer(keys["review"])
    await talk.ask("review-alone/read", "GET", record, headers=rater, show=head_alone)
    await talk.ask("review-alone/list", "GET", PLACE, headers=rater, show=head_alone)


async def _session(talk: Talk, keys: Mapping[str, str], app: Any) -> None:
    """Keep what a browser's session is shown and refused."""
    place, client = "/v1/session", talk.client
    await talk.ask("wrong-key", "POST", place, json={"key": "aip_x"})
    await talk.ask("name", "POST", place, json={"rater": "A"})
    begun = await talk.ask("begun", "POST", place, json={"key": f" {keys['all']} "})
    csrf = {"X-CSRF-Token": begun.json()["csrf"]}
    await talk.ask("who", "GET", place)
    await talk.ask("list", "GET", PLACE, show=head_alone)
    for case, headers in {
        "no-token": {},
        "wrong-token": {"X-CSRF-Token": "x"},
        "token": csrf,
    }.items():
        path = "/v1/transcripts/preview"
        await talk.ask(f"change/{case}", "POST", path, json=_BODY, headers=headers, show=short)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for case, value in {"field": csrf["X-CSRF-Token"], "other-field": "x"}.items():
        content = f"csrf={value}&action=preview&text=A: x".encode()
        await talk.ask(f"change/{case}", "POST", "/new", show=short, content=content, headers=form)
    for case, headers in {
        "cross-site": {"Sec-Fetch-Site": "cross-site"},
        "same-site": {"Sec-Fetch-Site": "same-site"},
        "same-origin": {"Sec-Fetch-Site": "same-origin"},
        "typed": {"Sec-Fetch-Site": "none"},
        "origin": {"Origin": "https://evil.example"},
        "own-origin": {"Origin": HERE},
        "null-origin": {"Origin": "null"},
    }.items():
        await talk.ask(f"site/{case}", "GET", place, headers=headers, show=short)
    key = bearer(keys["read"])
    await talk.ask("key-beside", "GET", place, headers=key)
    second = await talk.ask("begun-again", "POST", place, json={"key": keys["read"]})
    assert second.json()["csrf"] != csrf["X-CSRF-Token"]
    await talk.ask("ended-without-token", "DELETE", place)
    csrf = {"X-CSRF-Token": second.json()["csrf"]}
    cookie = dict(client.cookies)
    await talk.ask("ended", "DELETE", place, headers=csrf)
    client.cookies.update(cookie)
    await talk.ask("over", "GET", place)
    client.cookies.update(cookie)
    await talk.ask("over-page", "GET", "/", show=head_alone)
    async with client_of(app, base_url="https://127.0.0.1") as secure:
        other = Talk(client=secure, name="doors/secure-session", masks=talk.masks, cases=talk.cases)
        await other.ask("begun", "POST", place, json={"key": keys["read"]}, show=whole_head)
        await other.ask("who", "GET", place, show=head_alone)


def short(response: httpx.Response) -> Json:
    """Show an answer, its body where it is a refusal."""
    return shown(response, body=response.is_error)


async def _form(talk: Talk, keys: Mapping[str, str]) -> None:
    """Keep how a plain form logs in and out."""
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    await talk.ask("page", "GET", "/login")
    await talk.ask("refused-page", "GET", "/login?refused=1")
    for case, content in {
        "wrong": "key=aip_x&csrf=",
        "empty": "key=",
        "name": "rater=A",
        "nothing": "",
        "not-utf-8": "key=%FF",
        "good": f"key={keys['all']}&csrf=&rater=",
    }.items():
        sent: dict[str, Any] = {"content": content.encode(), "headers": headers}
        await talk.ask(f"login/{case}", "POST", "/v1/session", **sent)
    await talk.ask("page-within", "GET", "/login")
    await talk.ask("logout-without-token", "POST", "/logout")
    csrf = (await talk.client.get("/v1/session")).json()["csrf"]
    sent = {"content": f"csrf={csrf}".encode(), "headers": headers}
    await talk.ask("logout", "POST", "/logout", **sent)
    await talk.ask("home", "GET", "/")


async def _logins(talk: Talk, keys: Mapping[str, str], app: Any) -> None:
    """Keep that an address that tries keys is not heard for a while."""
    statuses = []
    for number in range(11):
        response = await talk.client.post("/v1/session", json={"key": f"aip_{number}"})
        statuses.append(response.status_code)
    talk.add("statuses", statuses)
    await talk.ask("too-many", "POST", "/v1/session", json={"key": keys["read"]})
    await talk.ask("key-itself", "GET", "/v1/session", headers=bearer(keys["read"]))
    await talk.ask("large", "POST", "/v1/session", content=b"x" * 5_000)
    async with client_of(app, address="10.0.0.10") as other:
        elsewhere = Talk(client=other, name="doors/logins", masks=talk.masks, cases=talk.cases)
        await elsewhere.ask("large-of-a-stranger", "POST", "/v1/session", content=b"x" * 5_000)
        body = {"key": keys["read"]}
        await elsewhere.ask("elsewhere", "POST", "/v1/session", json=body, show=head_alone)
