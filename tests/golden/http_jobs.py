"""Jobs and batches: begun, followed, waited for, cancelled, failed, sent again, told of."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import httpx

from tests.fakes.faults import fault
from tests.fakes.webhook_receiver import Reaction, Receiver, receiving
from tests.golden.answer import Answer, Json
from tests.golden.http_assessing import DANGER, LETTERS, SHORT, TEXTS
from tests.golden.http_caller import Talk, calling, head_alone, in_loop, only, together, until
from tests.golden.http_documents import NOBODY
from tests.golden.http_records import PLACE
from tests.golden.http_showing import shown, still
from tests.golden.ways import model_server

JOBS: Final = "/v1/jobs"
BATCHES: Final = "/v1/batches"
ASYNC: Final = {"Prefer": "respond-async"}
_BODY: Final = {"transcript_text": SHORT}
_WAITING: Final = {"Prefer": "respond-async, wait=20"}
_JOB: Final = only("state", "reason", "danger", "position", "stages", "callback", "ended_at")


@in_loop
async def jobs(folder: Path) -> list[Answer]:
    """Return the cases."""
    async with calling(folder) as client:
        talk = Talk(client=client, name="jobs", given=TEXTS)
        await _ended_well(talk)
        await _sent_again(talk)
        await _batches(talk)
        await _not_taken(talk)
    await together(folder, talk.cases, _under_way, _failing, _told)
    return talk.cases


async def begun(talk: Talk, body: Mapping[str, Any] = _BODY, **headers: str) -> str:
    """Return the path of a job that is begun."""
    response = await talk.client.post(PLACE, json=body, headers=ASYNC | headers)
    assert response.status_code == 202, response.text
    return response.headers["location"]


async def over(talk: Talk, job: str) -> None:
    """Return once a job has its end."""

    async def is_over() -> bool:
        state = (await talk.client.get(job)).json()["state"]
        return state in {"finished", "failed", "cancelled"}

    await until(is_over)


async def _ended_well(talk: Talk) -> None:
    await talk.ask("begun", "POST", PLACE, json=_BODY, headers=ASYNC, show=_just_begun)
    sent: dict[str, Any] = {"json": _BODY}
    await talk.ask("waited-for", "POST", PLACE, headers=_WAITING, show=head_alone, **sent)
    job = await begun(talk, {"transcript_text": DANGER, "subject": "B-17"})
    await over(talk, job)
    await talk.ask("finished", "GET", job)
    await talk.ask("finished/if-none-match", "GET", job, headers={"If-None-Match": "*"})
    await talk.ask("finished/head", "HEAD", job)
    await talk.ask("finished/result", "GET", job, show=_chain, follow_redirects=True)
    await talk.ask("finished/events", "GET", f"{job}/events")
    await talk.ask("finished/stages", "GET", f"{job}/events", show=_set_of_events)
    for last in ("0", "4", "6", "7", "99", "-1", "x", "", str(2**60)):
        headers = {"Last-Event-ID": last}
        await talk.ask(f"finished/events-after-{last}", "GET", f"{job}/events", headers=headers)
    await talk.ask("finished/cancel", "DELETE", job)
    for case, prefer in {
        "zero": "respond-async, wait=0",
        "upper": "Respond-Async",
        "quoted": 'wait="9", respond-async',
        "twice": "respond-async; x=1, wait=9, wait=0",
        "nonsense": "respond-async, wait=soon",
        "negative": "respond-async, wait=-1",
        "huge": "respond-async, wait=1000000000",
    }.items():
        headers = {"Prefer": prefer}
        await talk.ask(f"prefer/{case}", "POST", PLACE, show=head_alone, headers=headers, **sent)
    for job_of in (await talk.client.get(JOBS)).json()["jobs"]:
        await over(talk, f"{JOBS}/{job_of['job_id']}")
    page = await talk.ask("list/page", "GET", f"{JOBS}?limit=2&state=finished")
    cursor = page.json()["next"]
    await talk.ask("list/next-page", "GET", f"{JOBS}?limit=1&state=finished&cursor={cursor}")
    await talk.ask("list/cancelled", "GET", f"{JOBS}?state=cancelled")
    await talk.ask("list/running", "GET", f"{JOBS}?state=running")


def _just_begun(response: httpx.Response) -> Json:
    """Show a job that may have been taken up by now, or not."""
    whole = shown(response)
    assert isinstance(whole, Mapping)
    body = whole["body"]
    assert isinstance(body, Mapping)
    varying = dict.fromkeys(("ended_at", "state", "position", "stages"), "<varies>")
    return {**whole, "body": {**body, **varying}}


def _chain(response: httpx.Response) -> Json:
    return [*(str(one.status_code) for one in response.history), str(response.status_code)]


async def _sent_again(talk: Talk) -> None:
    """Keep what an Idempotency-Key does."""
    key = {"Idempotency-Key": "visit-17"}
    first = await talk.client.post(PLACE, json=_BODY, headers=key)
    again = await talk.ask("again/same", "POST", PLACE, json=_BODY, headers=key, show=head_alone)
    talk.add("again/same-bytes", first.content == again.content)
    await talk.ask("again/as-a-job", "POST", PLACE, json=_BODY, headers={**key, **ASYNC})
    named = only("quantitative.total_score")
    others: dict[str, dict[str, Any]] = {
        "other-text": {"json": {"transcript_text": DANGER}},
        "other-subject": {"json": {**_BODY, "subject": "B"}},
        "null-subject": {"json": {**_BODY, "subject": None}},
        "other-query": {"json": _BODY, "params": {"certificate": "true"}},
        "as-a-file": {"content": SHORT.encode(), "headers": {"Content-Type": "text/plain"}},
    }
    for case, other in others.items():
        headers = {**key, **other.pop("headers", {})}
        await talk.ask(f"again/{case}", "POST", PLACE, headers=headers, show=named, **other)
    await talk.ask("again/batch", "POST", BATCHES, json={"requests": [_BODY]}, headers=key)
    for number, bad in enumerate(
        ("", "with blank", "x" * 256, "\u00e9".encode().decode("latin-1"))
    ):
        given = [(b"Idempotency-Key", bad.encode("latin-1"))]
        await talk.ask(f"again/bad-key-{number}", "POST", PLACE, json=_BODY, headers=given)
    mended = {"Idempotency-Key": "mended"}
    empty = {"transcript_text": ""}
    await talk.ask("again/refused-first", "POST", PLACE, json=empty, headers=mended)
    await talk.ask("again/then-mended", "POST", PLACE, json=_BODY, headers=mended, show=head_alone)
    await talk.client.delete(first.headers["location"])
    await talk.ask("again/erased", "POST", PLACE, json=_BODY, headers=key, show=head_alone)


async def _batches(talk: Talk) -> None:
    lettered = {"transcript_text": LETTERS, "speakers": {"B": "participant"}}
    wanted = {"requests": [_BODY, {"transcript_text": DANGER, "subject": "B-17"}, lettered]}
    key = {"Idempotency-Key": "batch-1"}
    made = await talk.ask("batch/begun", "POST", BATCHES, json=wanted, headers=key)
    place = made.headers["location"]
    for job in made.json()["jobs"]:
        await over(talk, f"{JOBS}/{job['job_id']}")
    await talk.ask("batch/over", "GET", place)
    page = await talk.ask("batch/page", "GET", f"{place}?limit=2", show=only("counts", "next"))
    cursor = page.json()["next"]
    rest = only("jobs", "next")
    await talk.ask("batch/next-page", "GET", f"{place}?limit=2&cursor={cursor}", show=rest)
    await talk.ask("batch/failed", "GET", f"{place}?state=failed", show=only("jobs", "counts"))
    again = await talk.ask("batch/again", "POST", BATCHES, json=wanted, headers=key)
    talk.add("batch/same", again.json() == made.json())
    other = {"requests": wanted["requests"][:1]}
    await talk.ask("batch/another-with-its-key", "POST", BATCHES, json=other, headers=key)
    erased = f"{PLACE}/{made.json()['jobs'][0]['job_id']}"
    await talk.client.delete(erased)
    await talk.ask("batch/one-erased", "GET", place, show=only("counts"))
    await talk.ask("batch/prefer", "POST", BATCHES, json=other, headers=ASYNC, show=head_alone)
    certified = f"{BATCHES}?certificate=true&mode=descriptions_only"
    await talk.ask("batch/options", "POST", certified, json=other, show=head_alone)
    for case, bad in {
        "empty-text": {"transcript_text": ""},
        "nothing": {},
        "letters": {"transcript_text": LETTERS},
        "unknown-field": {"transcript_text": "x", "colour": 1},
        "number": {"transcript_text": 1},
        "nobody": {"participant_id": 9},
        "few-shot": {"transcript_text": SHORT, "mode": "few_shot"},
        "too-long": {"transcript_text": "Participant: a " * 40_000},
        "callback": {"transcript_text": SHORT, "callback_url": "https://example.org/"},
    }.items():
        body = {"requests": [{"transcript_text": DANGER}, bad]}
        await talk.ask(f"batch/bad-{case}", "POST", BATCHES, json=body)
    twice = {"requests": [{**_BODY, "mode": "zero_shot"}]}
    await talk.ask("batch/mode-twice", "POST", f"{BATCHES}?mode=zero_shot", json=twice)
    plain = {"Content-Type": "text/plain"}
    await talk.ask("batch/file", "POST", BATCHES, content=SHORT.encode(), headers=plain)


async def _not_taken(talk: Talk) -> None:
    for case, path in {"nobody": NOBODY, "odd": "x"}.items():
        await talk.ask(f"unknown/{case}", "GET", f"{JOBS}/{path}")
        await talk.ask(f"unknown/{case}-events", "GET", f"{JOBS}/{path}/events")
        await talk.ask(f"unknown/{case}-cancel", "DELETE", f"{JOBS}/{path}")
        await talk.ask(f"unknown/{case}-batch", "GET", f"{BATCHES}/{path}")
    for case, url in {
        "no-hosts": "https://example.org/ended",
        "plain": "http://example.org/ended",
        "no-address": "ended",
    }.items():
        body = {**_BODY, "callback_url": url}
        await talk.ask(f"callback/{case}", "POST", PLACE, json=body, headers=ASYNC)


async def _under_way(folder: Path, cases: list[Answer]) -> None:
    """Keep how jobs are seen whose model does not answer."""
    with model_server(fault("hang")) as (server, named):
        async with calling(folder, {**named, "JOBS_CONCURRENCY": "1"}) as client:
            talk = Talk(client=client, name="jobs/under-way", given=TEXTS, cases=cases)
            first = await begun(talk, {"transcript_text": DANGER})
            await until(lambda: server.requests)
            second, third = [await begun(talk) for _ in range(2)]
            await talk.ask("running", "GET", first)
            waiting = await talk.ask("waiting", "GET", second)
            await talk.ask("waiting-longer", "GET", third, show=_JOB)
            for case, tag in {"same": waiting.headers["etag"], "other": '"x"', "any": "*"}.items():
                headers = {"If-None-Match": f'"y", W/{tag}' if case == "same" else tag}
                await talk.ask(f"if-none-match/{case}", "GET", second, headers=headers)
            await talk.ask("list", "GET", JOBS)
            record = first.replace(JOBS, PLACE)
            for part in ("", "/evidence", "/html", "/certificate", "/transcript", "/review"):
                await talk.ask(f"record/{part.strip('/') or 'result'}", "GET", f"{record}{part}")
            await talk.ask("record/waiting", "GET", second.replace(JOBS, PLACE))
            await talk.ask("record/list", "GET", PLACE)
            await talk.ask("record/export", "GET", "/v1/export")
            await talk.ask("record/begin-review", "POST", f"{record}/review")
            prefer = {"Prefer": "respond-async, wait=1"}
            await talk.ask("waited-shortly", "POST", PLACE, json=_BODY, headers=prefer)
            await _key_under_way(talk)
            await talk.ask("cancel/waiting", "DELETE", second)
            await talk.ask("cancel/again", "DELETE", second)
            await talk.ask("cancel/moved-up", "GET", third, show=_JOB)
            await talk.ask("cancel/running", "DELETE", first, show=head_alone)
            await over(talk, first)
            await talk.ask("cancelled/job", "GET", first, show=_JOB)
            await talk.ask("cancelled/events", "GET", f"{first}/events")
            await talk.ask("cancelled/result", "GET", record)
            await talk.ask("cancelled/transcript", "GET", f"{record}/transcript", show=head_alone)
            await talk.ask("cancelled/list", "GET", f"{PLACE}?state=cancelled", show=only("total"))
            await talk.ask("erased", "DELETE", third.replace(JOBS, PLACE))
            await talk.ask("erased/job", "GET", third)
            await cancel_all(talk)


async def cancel_all(talk: Talk) -> None:
    """Cancel what waits or runs, for the server ends sooner then."""
    for job in (await talk.client.get(JOBS)).json()["jobs"]:
        if job["state"] in {"waiting", "running"}:
            await talk.client.delete(f"{JOBS}/{job['job_id']}")


async def _key_under_way(talk: Talk) -> None:
    """Keep what is said while the job of the first request with a key is under way."""
    key = {"Idempotency-Key": "slow"}
    before = (await talk.client.get(JOBS)).json()["jobs"]
    first = asyncio.create_task(talk.client.post(PLACE, json=_BODY, headers=key))

    async def is_begun() -> bool:
        jobs = (await talk.client.get(JOBS)).json()["jobs"]
        return len(jobs) > len(before) and bool(jobs[0]["state"] == "running")

    await until(is_begun)
    await talk.ask("key-under-way", "POST", PLACE, json=_BODY, headers=key)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)


async def _failing(folder: Path, cases: list[Answer]) -> None:
    """Keep what becomes of jobs whose models fail, wholly, in part, or too late."""
    settings: dict[str, dict[str, str]] = {
        "wholly": {},
        "partly": {},
        "late": {"JOBS_TIMEOUT_SECONDS": "2"},
    }
    scripts = {
        "wholly": fault("status_401"),
        "partly": fault("status_500", tasks=["scoring"]),
        "late": fault("hang"),
    }
    for case, script in scripts.items():
        with model_server(script) as (_, named):
            async with calling(folder / case, named | settings[case]) as client:
                talk = Talk(client=client, name=f"jobs/{case}", given=TEXTS, cases=cases)
                job = await begun(talk, {"transcript_text": DANGER})
                await over(talk, job)
                record = job.replace(JOBS, PLACE)
                await talk.ask("job", "GET", job)
                await talk.ask("events", "GET", f"{job}/events", show=_set_of_events)
                await talk.ask("result", "GET", record, show=_status)
                await talk.ask("list", "GET", PLACE)
                await talk.ask("transcript", "GET", f"{record}/transcript", show=head_alone)
                await talk.ask("page", "GET", f"/assessments/{record.rpartition('/')[2]}")
                if case != "late":
                    sent = {"json": {"transcript_text": DANGER}, "headers": _WAITING}
                    await talk.ask("waited-for", "POST", PLACE, show=_status, **sent)


def _status(response: httpx.Response) -> Json:
    """Show an answer; of a result its state and what failed."""
    told = response.json()
    if "quantitative" not in told:
        return shown(response)
    failures = [[one["stage"], one["code"]] for one in told["failures"]]
    return {"http": response.status_code, "status": told["status"], "failures": failures}


def _set_of_events(response: httpx.Response) -> Json:
    """Show which steps were told; those of parts that are made at once in any order."""
    found = [line for line in response.text.splitlines() if line.startswith("data:")]
    return {"first": found[:2], "between": sorted(found[2:-1]), "last": found[-1:]}


async def _told(folder: Path, cases: list[Answer]) -> None:
    """Keep what a receiver is told of the ends of jobs, and which addresses may be told."""
    async with receiving(_reacted) as receiver:
        settings = {
            "JOBS_WEBHOOK_HOSTS": f"{receiver.place},hooks.example.org",
            "JOBS_WEBHOOK_SECRET": "0123456789abcdef0123456789abcdef",
            "JOBS_WEBHOOK_ALLOW_HTTP": "true",
        }
        async with calling(folder, settings) as client:
            talk = Talk(client=client, name="jobs/told", given=TEXTS, cases=cases)
            talk.masks[receiver.place] = "<host>"
            await _addresses(talk, receiver)
            place = receiver.url
            job = await begun(talk, {**_BODY, "callback_url": place})
            await _until_callback(talk, job, "delivered")
            await talk.ask("delivered", "GET", job)
            talk.add("webhook", _letter(receiver))
            second = await begun(talk, {**_BODY, "callback_url": place})
            await receiver.came(2)
            await _until_callback(talk, second, "pending", tries=1)
            await talk.ask("pending", "GET", second, show=only("state", "callback"))
            batch = {"requests": [_BODY, _BODY], "callback_url": place}
            made = await talk.client.post(BATCHES, json=batch)
            await receiver.came(4)
            talk.add("batch", [made.status_code, sorted(_told_of(receiver)[2:])])
            third = await begun(talk, {**_BODY, "callback_url": place})
            await receiver.came(5)
            await _until_callback(talk, third, "given_up")
            await talk.ask("given-up", "GET", third, show=only("state", "callback"))
            await talk.client.delete(third.replace(JOBS, PLACE))
            await talk.ask("erased", "GET", third, show=_status)


def _reacted(number: int) -> Reaction:
    """Take the first, fail the second, want no more after the fourth."""
    return Reaction(status=503 if number == 1 else 410 if number == 4 else 204)


def _letter(receiver: Receiver) -> Json:
    call = receiver.calls[0]
    names: Json = sorted(call.headers)
    return {
        "request": [call.method, call.path],
        "headers": names,
        "content-type": call.headers["content-type"],
        "body": still(json.loads(call.body)),
    }


def _told_of(receiver: Receiver) -> list[str]:
    return [json.loads(call.body)["type"] for call in receiver.calls]


async def _until_callback(talk: Talk, job: str, state: str, *, tries: int | None = None) -> None:
    async def is_so() -> bool:
        told = (await talk.client.get(job)).json()["callback"]
        return bool(told["state"] == state and tries in {None, told["tries"]})

    await until(is_so)


async def _addresses(talk: Talk, receiver: Receiver) -> None:
    for case, url in {
        "other-host": "https://example.org/ended",
        "other-port": "https://hooks.example.org:8443/ended",
        "plain": "http://hooks.example.org/ended",
        "user": "https://a:b@hooks.example.org/ended",
        "fragment": "https://hooks.example.org/ended#x",
        "blank": f"{receiver.url} x",
        "other-scheme": "ftp://hooks.example.org/",
        "upper": "HTTPS://HOOKS.EXAMPLE.ORG/ended",
        "subdomain": "https://a.hooks.example.org/ended",
        "no-address": "ended",
    }.items():
        body = {**_BODY, "callback_url": url}
        sent = {"json": body, "headers": ASYNC}
        response = await talk.ask(f"address/{case}", "POST", PLACE, show=_code, **sent)
        if response.status_code == 202:
            await talk.client.delete(response.headers["location"].replace(JOBS, PLACE))
    await talk.ask(
        "address/waited-for", "POST", PLACE, json={**_BODY, "callback_url": receiver.url}
    )


def _code(response: httpx.Response) -> Json:
    return shown(response) if response.is_error else head_alone(response)
