"""Stored assessments: made, listed, read in each form, exported, erased, and of nobody."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import httpx

from tests.golden.answer import Answer, Json
from tests.golden.http_assessing import DANGER, GERMAN, LETTERS, LONG, SHORT, TEXTS
from tests.golden.http_caller import Talk, calling, head_alone, in_loop, only
from tests.golden.http_documents import NOBODY
from tests.golden.http_showing import shown

PLACE: Final = "/v1/assessments"
_MADE: Final = only("status", "quantitative.total_score", "risk.level", "certificate.signed_by")
_STORED: Final[Mapping[str, tuple[str, str | None]]] = {
    "long": (LONG, "B-17"),
    "short": (SHORT, "B-17"),
    "danger": (DANGER, None),
    "german": (GERMAN, "Özgür 'Ö' <b>"),
}


@in_loop
async def records(folder: Path) -> list[Answer]:
    """Return the cases."""
    async with calling(folder) as client:
        talk = Talk(client=client, name="records", given=TEXTS)
        await talk.ask("empty-list", "GET", PLACE)
        await talk.ask("empty-export", "GET", "/v1/export")
        await talk.ask("empty-table", "GET", "/v1/export?format=csv")
        ids = await _make(talk)
        await _list(talk)
        await _read(talk, ids)
        await _forms(talk, ids["short"])
        await _export(talk)
        await _nobody(talk)
        await _erase(talk, ids)
    await _stored_always(folder / "always", talk.cases)
    await _full(folder / "full", talk.cases)
    return talk.cases


async def _make(talk: Talk) -> dict[str, str]:
    ids: dict[str, str] = {}
    for case, (text, subject) in _STORED.items():
        named = {"transcript_text": text, "subject": subject}
        response = await talk.ask(f"made/{case}", "POST", PLACE, json=named, show=_made)
        ids[case] = response.json()["assessment_id"]
    plain = {"Content-Type": "text/plain"}
    for case, subject in {
        "file": "%C3%96zg%C3%BCr%20'%C3%96'%20%3Cb%3E",
        "file-blank": "%20",
        "file-not-utf-8": "%FF",
        "file-long": "x" * 201,
    }.items():
        sent = {"content": LETTERS.encode(), "headers": {**plain, "X-Subject": subject}}
        place = f"{PLACE}?participant=B&certificate=true"
        response = await talk.ask(f"made/{case}", "POST", place, show=_made, **sent)
        if not response.is_error:
            ids[case] = response.json()["assessment_id"]
    body: dict[str, Any] = {"transcript_text": SHORT, "ablate": True, "mode": "descriptions_only"}
    response = await talk.ask("made/options", "POST", PLACE, json=body, show=_made)
    ids["options"] = response.json()["assessment_id"]
    for case, more in {
        "bad-text": {"transcript_text": ""},
        "speakers": {"transcript_text": LETTERS},
        "few-shot": {"transcript_text": SHORT, "mode": "few_shot"},
        "unknown-field": {"transcript_text": SHORT, "words": 1},
    }.items():
        await talk.ask(f"made/{case}", "POST", PLACE, json=more)
    for case, prefer in {
        "prefer-nothing": "return=minimal",
        "prefer-wait": "wait=10",
        "prefer-nonsense": ";;,=",
    }.items():
        headers = {"Prefer": prefer}
        sent = {"json": {"transcript_text": LETTERS, "speakers": {"B": "participant"}}}
        response = await talk.ask(
            f"made/{case}", "POST", PLACE, show=_made, headers=headers, **sent
        )
        await talk.client.delete(response.headers["location"])
    return ids


def _made(response: httpx.Response) -> Json:
    """Show the head of a result that was stored, and a little of it."""
    if response.is_error:
        return shown(response)
    head, told = head_alone(response), _MADE(response)
    assert isinstance(head, Mapping)
    assert isinstance(told, Mapping)
    return {**head, "told": told}


async def _list(talk: Talk) -> None:
    await talk.ask("list/all", "GET", PLACE)
    for query in (
        "sort=created&limit=2",
        "sort=total",
        "sort=danger",
        "sort=width",
        "band=minimal",
        "band=severe",
        "unknown=0",
        "unknown=5",
        "danger=high",
        "danger=not_examined",
        "danger=low",
        "state=finished",
        "state=failed",
        "rated=none",
        "rated=any",
        "rated=mine",
        "rated=not_mine",
        "blind=true",
        "danger=high&band=severe&state=finished",
    ):
        await talk.ask(f"list/{query}", "GET", f"{PLACE}?{query}", show=_briefly)
    seen: list[Json] = []
    cursor: str | None = None
    while True:
        query = f"{PLACE}?limit=2&sort=total" + (f"&cursor={cursor}" if cursor else "")
        page = (await talk.client.get(query)).json()
        seen.append([[one["total_min"], one["total_max"]] for one in page["assessments"]])
        cursor, other = page["next"], page["next"] or cursor
        if cursor is None:
            break
    talk.add("list/pages", seen)
    await talk.ask("list/cursor-of-another-order", "GET", f"{PLACE}?sort=danger&cursor={other}")


def _briefly(response: httpx.Response) -> Json:
    """Show a list by what tells its lines apart."""
    told = response.json()
    if response.is_error:
        return shown(response)
    names = ("state", "danger", "hidden", "total_min", "total_max", "width", "unknown_items")
    lines = ["|".join(str(one[name]) for name in names) for one in told["assessments"]]
    return {"lines": lines, "total": told["total"], "has_next": told["next"] is not None}


async def _read(talk: Talk, ids: Mapping[str, str]) -> None:
    """Keep the parts of some stored assessments."""
    for part in ("", "/transcript", "/evidence", "/certificate", "/html", "/review"):
        case = part.strip("/") or "result"
        await talk.ask(f"read/short/{case}", "GET", f"{PLACE}/{ids['short']}{part}", show=_part)
    for part in ("/transcript", "/evidence", "/html"):
        case = f"read/danger/{part.strip('/')}"
        await talk.ask(case, "GET", f"{PLACE}/{ids['danger']}{part}", show=_part)
    await talk.ask("read/german/transcript", "GET", f"{PLACE}/{ids['german']}/transcript")
    await talk.ask("read/file/transcript", "GET", f"{PLACE}/{ids['file']}/transcript", show=_part)
    kept = await talk.client.get(f"{PLACE}/{ids['file']}")
    certificate = await talk.client.get(f"{PLACE}/{ids['file']}/certificate")
    talk.add("read/file/same-certificate", kept.json()["certificate"] == certificate.json())
    await talk.ask("read/head", "HEAD", f"{PLACE}/{ids['short']}")
    for case in ("long", "danger", "german"):
        listed = (await talk.client.get(f"{PLACE}/{ids[case]}/transcript")).json()
        assert listed["assessment_id"] == ids[case]
        lines = (await talk.client.get(PLACE)).json()["assessments"]
        subject = next(one["subject_id"] for one in lines if one["assessment_id"] == ids[case])
        await talk.ask(f"subject/{case}", "GET", f"/v1/subjects/{subject}")
    await talk.ask("subject/unknown", "GET", f"/v1/subjects/{NOBODY}")
    await talk.ask("subject/odd", "GET", "/v1/subjects/B-17")


def _part(response: httpx.Response) -> Json:
    """Show a part as a whole; of a result, which stands elsewhere, a little."""
    told = response.headers.get("content-type", "")
    if told.startswith("application/json") and "quantitative" in response.json():
        return _made(response)
    if told.startswith("application/json") and "sha256" in response.json():
        return head_alone(response)
    return shown(response)


async def _forms(talk: Talk, record: str) -> None:
    """Keep in which form a result is given, by what a caller accepts."""
    for case, accept in {
        "fhir": "application/fhir+json",
        "fhir-version": "application/fhir+json; fhirVersion=4.0",
        "fhir-other-version": "application/fhir+json; fhirVersion=5.0",
        "json": "application/json",
        "any": "*/*",
        "any-application": "application/*",
        "preferred": "application/json;q=0.5, application/fhir+json",
        "refused-one": "application/json;q=0, */*",
        "page": "text/html",
        "nothing": "*/*;q=0",
        "empty": "",
        "nonsense": "json",
    }.items():
        show = shown if case == "fhir" else _form
        headers = {"Accept": accept}
        await talk.ask(f"form/{case}", "GET", f"{PLACE}/{record}", show=show, headers=headers)


def _form(response: httpx.Response) -> Json:
    return shown(response) if response.is_error else head_alone(response)


async def _export(talk: Talk) -> None:
    for query in (
        "",
        "format=csv",
        "format=fhir",
        "format=fhir&with_words=true&questionnaire=true",
        "what=items",
        "what=items&format=csv&with_words=true",
        "what=items&with_words=true",
        "what=ratings",
        "what=ratings&format=csv",
        "what=ratings&format=fhir",
    ):
        case = query.replace("&", ".") or "default"
        await talk.ask(f"export/{case}", "GET", f"/v1/export?{query}", show=_exported)
    await talk.ask("export/head", "HEAD", "/v1/export")


def _exported(response: httpx.Response) -> Json:
    """Show the first rows of an export, and how many there are; bundles by their resources."""
    whole = shown(response)
    assert isinstance(whole, Mapping)
    rows = whole["body"]
    if not isinstance(rows, list):
        return whole
    kinds = [
        [entry["resource"]["resourceType"] for entry in row["entry"]]
        if isinstance(row, dict) and "entry" in row
        else row
        for row in rows
    ]
    return {**whole, "body": kinds[:4], "rows": len(rows)}


async def _nobody(talk: Talk) -> None:
    """Keep what is said of ids of nothing."""
    told: dict[str, Json] = {}
    for record in (NOBODY, NOBODY.upper(), "x", "1", "%00", "..", "a" * 500, "\u00fc"):
        for part in ("", "/transcript", "/evidence", "/certificate", "/html", "/review"):
            response = await talk.client.get(f"{PLACE}/{record}{part}")
            code = response.json()["code"] if response.is_error else "none"
            told[f"{record[:40]}{part}"] = f"{response.status_code}|{code}"
    talk.add("nobody/codes", told)
    await talk.ask("nobody/read", "GET", f"{PLACE}/{NOBODY}")
    await talk.ask("nobody/erase", "DELETE", f"{PLACE}/{NOBODY}")
    await talk.ask("nobody/erase-subject", "DELETE", f"/v1/subjects/{NOBODY}")
    await talk.ask("nobody/review", "POST", f"{PLACE}/{NOBODY}/review")


async def _erase(talk: Talk, ids: Mapping[str, str]) -> None:
    await talk.ask("erase/one", "DELETE", f"{PLACE}/{ids['danger']}")
    await talk.ask("erase/again", "DELETE", f"{PLACE}/{ids['danger']}")
    await talk.ask("erase/read", "GET", f"{PLACE}/{ids['danger']}/transcript")
    await talk.ask("erase/job", "GET", f"/v1/jobs/{ids['danger']}")
    lines = (await talk.client.get(PLACE)).json()["assessments"]
    subject = next(one["subject_id"] for one in lines if one["assessment_id"] == ids["long"])
    await talk.ask("erase/subject", "DELETE", f"/v1/subjects/{subject}")
    await talk.ask("erase/subject-again", "DELETE", f"/v1/subjects/{subject}")
    for case in ("long", "short"):
        await talk.ask(f"erase/read-{case}", "GET", f"{PLACE}/{ids[case]}")
    await talk.ask("erase/list", "GET", PLACE, show=_briefly)
    await talk.ask("erase/export", "GET", "/v1/export?format=csv", show=_exported)


async def _stored_always(folder: Path, cases: list[Answer]) -> None:
    """Keep what the doors that assess leave behind where all is stored."""
    async with calling(folder, {"STORE_ASSESSMENTS": "true"}) as client:
        talk = Talk(client=client, name="records/always", given=TEXTS, cases=cases)
        for place in ("/full_pipeline", "/assess/quantitative", "/assess/qualitative"):
            case = place.rpartition("/")[2]
            made = await talk.ask(
                case, "POST", place, json={"transcript_text": SHORT}, show=head_alone
            )
            record = f"{PLACE}/{made.json()['assessment_id']}"
            await talk.ask(f"{case}-evidence", "GET", f"{record}/evidence", show=_form)
            await talk.ask(f"{case}-page", "GET", f"{record}/html", show=_form)
        await talk.ask("list", "GET", PLACE)
        await talk.ask("items", "GET", "/v1/export?what=items", show=_exported)
        await talk.ask(
            "preview", "POST", "/v1/transcripts/preview", json={"transcript_text": SHORT}
        )


async def _full(folder: Path, cases: list[Answer]) -> None:
    """Keep what is said where no further assessment may be stored."""
    settings = {"STORE_ASSESSMENTS": "true", "STORE_MAX_RECORDS": "1"}
    async with calling(folder, settings) as client:
        talk = Talk(client=client, name="records/full", given=TEXTS, cases=cases)
        body = {"transcript_text": SHORT}
        first = await client.post(PLACE, json=body)
        for case, place in {
            "assessments": PLACE,
            "full_pipeline": "/full_pipeline",
            "scores": "/assess/quantitative",
            "findings": "/assess/qualitative",
        }.items():
            await talk.ask(case, "POST", place, json=body, show=_form)
        headers = {"Prefer": "respond-async"}
        await talk.ask("job", "POST", PLACE, json=body, headers=headers)
        await talk.ask("batch", "POST", "/v1/batches", json={"requests": [body]})
        await client.delete(f"{PLACE}/{first.json()['assessment_id']}")
        await talk.ask("room-again", "POST", PLACE, json=body, show=_form)
