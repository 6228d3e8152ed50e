"""The pages for people: their words, what they load, where they lead, and their forms."""

from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import httpx

from tests.fakes.faults import fault
from tests.fakes.replies import ITEMS
from tests.golden.answer import Answer, Json
from tests.golden.http_assessing import DANGER, LETTERS, LONG, SHORT, TEXTS
from tests.golden.http_caller import Talk, calling, client_of, head_alone, in_loop, opened, until
from tests.golden.http_documents import NOBODY
from tests.golden.http_jobs import begun, cancel_all, over
from tests.golden.http_records import PLACE
from tests.golden.http_showing import shown
from tests.golden.ways import model_server

_FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}


@in_loop
async def pages(folder: Path) -> list[Answer]:
    """Return the cases."""
    cases: list[Answer] = []
    async with opened(folder) as app, client_of(app) as client:
        talk = Talk(client=client, name="pages", given=TEXTS, cases=cases)
        await talk.ask("example", "GET", "/")
        await talk.ask("empty/next", "GET", "/next")
        await talk.ask("empty/agreement", "GET", "/agreement")
        await talk.ask("empty/filtered", "GET", "/?danger=high")
        await talk.ask("nobody", "GET", f"/assessments/{NOBODY}")
        await talk.ask("nobody-rate", "GET", f"/assessments/{NOBODY}/rate", show=head_alone)
        await talk.ask("odd", "GET", "/assessments/x", show=head_alone)
        await _new(talk)
        record = await _made(talk, SHORT, "B-17")
        await _made(talk, DANGER, "B-17")
        await _lists(talk)
        await talk.ask("sheet", "GET", f"/assessments/{record}")
        async with client_of(app) as other:
            rater = Talk(client=other, name="pages/rater", given=TEXTS, cases=cases)
            await _rated(rater, record)
        await _study(talk, record)
    await _without_result(folder / "hanging", cases)
    return cases


def _fields(**given: str) -> dict[str, Any]:
    return {"content": urlencode(given).encode(), "headers": _FORM}


async def _new(talk: Talk) -> None:
    """Keep how an assessment is entered by a plain form."""
    await talk.ask("new/page", "GET", "/new")
    example = await talk.ask("new/example", "POST", "/new", **_fields(action="example"))
    await _gone(talk, example)
    preview = _fields(action="preview", text=LETTERS, subject="B-17")
    await talk.ask("new/preview", "POST", "/new", **preview)
    chosen = "&label=A&role=interviewer&label=B&role=participant"
    content = f"{urlencode({'action': 'preview', 'text': LETTERS})}{chosen}".encode()
    sent: dict[str, Any] = {"content": content, "headers": _FORM}
    await talk.ask("new/preview-chosen", "POST", "/new", **sent)
    content = f"{urlencode({'action': 'assess', 'text': LETTERS})}{chosen}".encode()
    sent = {"content": content, "headers": _FORM}
    response = await talk.ask("new/assess-chosen", "POST", "/new", show=head_alone, **sent)
    await _gone(talk, response)
    response = await talk.ask(
        "new/assess", "POST", "/new", show=head_alone, **_fields(text=SHORT, subject=" ")
    )
    await _gone(talk, response)
    await talk.ask("new/letters", "POST", "/new", **_fields(text=LETTERS))
    for case, text in {"empty": "", "blank": " \n", "odd-character": "A\x00B: x"}.items():
        response = await talk.ask(f"new/{case}", "POST", "/new", show=_lines, **_fields(text=text))
        await _gone(talk, response)
    for case, more in {
        "subject-long": {"text": SHORT, "subject": "x" * 201},
        "role-unknown": {"text": LETTERS, "label": "B", "role": "patient"},
        "again-nobody": {"action": "again", "id": NOBODY},
        "again-nothing": {"action": "again"},
        "preview-empty": {"action": "preview", "text": ""},
    }.items():
        response = await talk.ask(f"new/{case}", "POST", "/new", show=_lines, **_fields(**more))
        await _gone(talk, response)
    for case, content in {
        "not-ascii": "text=\u00e9".encode("latin-1"),
        "not-utf-8": b"text=%FF",
        "many-fields": b"&".join([b"a=1"] * 101),
    }.items():
        await talk.ask(f"new/{case}", "POST", "/new", content=content, headers=_FORM)
    await talk.ask("new/json", "POST", "/new", json={"text": SHORT})
    await talk.ask("new/query", "GET", "/new?text=x", show=head_alone)


async def _gone(talk: Talk, response: httpx.Response) -> None:
    """Erase what a form has begun, if it has."""
    place = response.headers.get("location", "")
    if place.startswith("/assessments/"):
        record = place.rpartition("/")[2]
        await over(talk, f"/v1/jobs/{record}")
        await talk.client.delete(f"{PLACE}/{record}")


def _lines(response: httpx.Response) -> Json:
    """Show the first lines of a page."""
    whole = shown(response)
    assert isinstance(whole, dict)
    body = whole["body"]
    if isinstance(body, dict) and "lines" in body:
        lines = body["lines"]
        assert isinstance(lines, list)
        return {**whole, "body": lines[:14]}
    return whole


async def _made(talk: Talk, text: str, subject: str) -> str:
    """Return the id of an assessment whose scores nobody was given."""
    job = await begun(talk, {"transcript_text": text, "subject": subject})
    await over(talk, job)
    return job.rpartition("/")[2]


async def _lists(talk: Talk) -> None:
    await talk.ask("list/all", "GET", "/")
    for query in (
        "sort=total&scores=shown",
        "scores=hidden",
        "danger=high",
        "band=severe&unknown=1",
    ):
        await talk.ask(f"list/{query}", "GET", f"/?{query}", show=_table)
    for query in ("sort=name", "colour=red", "cursor=x", "limit=0"):
        await talk.ask(f"list/bad-{query}", "GET", f"/?{query}", show=_table)
    await talk.ask("list/limited", "GET", "/?limit=1", show=_table)


def _table(response: httpx.Response) -> Json:
    """Show the lines of a list, without what stands on every page."""
    whole = shown(response)
    assert isinstance(whole, dict)
    body = whole["body"]
    if not isinstance(body, dict) or "lines" not in body:
        return whole
    lines = body["lines"]
    assert isinstance(lines, list)
    return {"status": whole["status"], "lines": lines[5:60], "links": len(body["links"])}


async def _rated(talk: Talk, record: str) -> None:
    """Keep what a rater sees, before and after."""
    begun_session = await talk.client.post("/v1/session", json={"rater": "Anna B"})
    talk.client.headers["X-CSRF-Token"] = begun_session.json()["csrf"]
    place = f"/assessments/{record}"
    await talk.ask("list", "GET", "/", show=_table)
    await talk.ask("asked-first", "GET", place)
    await talk.ask("next", "GET", "/next", show=head_alone)
    await talk.ask("rate", "GET", f"{place}/rate")
    await talk.client.post(f"{PLACE}/{record}/review")
    await talk.ask("blind", "GET", place, show=head_alone)
    await talk.ask("blind-shown", "GET", f"{place}?show=result", show=head_alone)
    items: dict[str, Any] = {item: {"score": 1} for item in ITEMS}
    ratings = {"items": items | {ITEMS[7]: {"cannot_tell": True}}}
    await talk.client.post(f"{PLACE}/{record}/review/ratings", json=ratings)
    row = {"kind": "score", "item": "PHQ8_Sleep", "score": 2}
    await talk.client.post(f"{PLACE}/{record}/review/rows", json=row)
    await talk.ask("rated", "GET", place)
    await talk.ask("rate-again", "GET", f"{place}/rate", show=head_alone)
    await talk.ask("login", "GET", "/login")


async def _study(talk: Talk, record: str) -> None:
    """Keep the page of agreement, once somebody has rated with the scores seen as well."""
    await talk.client.post(f"{PLACE}/{record}/review")
    ratings = {"items": {item: {"score": 2} for item in ITEMS}}
    await talk.client.post(f"{PLACE}/{record}/review/ratings", json=ratings)
    await talk.ask("agreement", "GET", "/agreement", show=_without_drawn)
    await talk.ask("sheet-of-raters", "GET", f"/assessments/{record}", show=_raters)


def _without_drawn(response: httpx.Response) -> Json:
    """Show a page without the table of cases that are drawn at random, by their ids."""
    whole = shown(response)
    assert isinstance(whole, dict)
    body = whole["body"]
    assert isinstance(body, dict)
    lines = body["lines"]
    assert isinstance(lines, list)
    titles = [str(line) for line in lines]
    drawn = next((n for n, one in enumerate(titles) if one.startswith("Of these, drawn")), None)
    if drawn is not None:
        end = next(n for n, one in enumerate(titles) if one.startswith("Rated with the scores"))
        lines = [*lines[:drawn], *lines[end:]]
    return {**whole, "body": lines}


def _raters(response: httpx.Response) -> Json:
    """Show the lines of a page that name raters, and those around them."""
    whole = shown(response)
    assert isinstance(whole, dict)
    body = whole["body"]
    assert isinstance(body, dict)
    lines = body["lines"]
    assert isinstance(lines, list)
    found = [n for n, line in enumerate(lines) if "anna-b" in str(line) or line == "You"]
    return [lines[max(0, n - 2) : n + 25] for n in found[:1]]


async def _without_result(folder: Path, cases: list[Answer]) -> None:
    """Keep the page of an assessment under way, cancelled, and tried again."""
    with model_server(fault("hang")) as (server, named):
        async with calling(folder, {**named, "JOBS_CONCURRENCY": "1"}) as client:
            talk = Talk(client=client, name="pages/under-way", given=[*TEXTS, LONG], cases=cases)
            first = (await begun(talk, {"transcript_text": DANGER})).rpartition("/")[2]
            await until(lambda: server.requests)
            second = (await begun(talk)).rpartition("/")[2]
            await talk.ask("running", "GET", f"/assessments/{first}")
            await talk.ask("waiting", "GET", f"/assessments/{second}")
            await talk.ask("rate", "GET", f"/assessments/{first}/rate", show=head_alone)
            await talk.ask("list", "GET", "/", show=_table)
            again = _fields(action="again", id=first)
            await talk.ask("again-running", "POST", "/new", show=head_alone, **again)
            await client.delete(f"/v1/jobs/{second}")
            await talk.ask("cancelled", "GET", f"/assessments/{second}")
            again = _fields(action="again", id=second)
            await talk.ask("again", "POST", "/new", show=head_alone, **again)
            states = (await client.get("/v1/jobs")).json()["jobs"]
            talk.add("states", [one["state"] for one in states])
            await cancel_all(talk)
