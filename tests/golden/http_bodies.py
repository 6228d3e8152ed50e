"""Bodies that no route takes: what is no JSON, too much, of a wrong type, or has wrong fields."""

import json
from pathlib import Path
from typing import Any, Final

import httpx

from tests.fakes.replies import ITEMS
from tests.golden.answer import Answer, Json
from tests.golden.http_caller import Talk, calling, in_loop
from tests.golden.http_documents import NOBODY
from tests.golden.http_showing import shown

_TEXT: Final = "Participant: I sleep badly, most nights."
_RATINGS: Final = {"items": {item: {"score": 1} for item in ITEMS}}
_ANSWER: Final = {"question_id": "q1", "option_id": "a1", "idempotency_key": "k", "version": 1}
_GOOD: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "full": ("/full_pipeline", {"transcript_text": _TEXT}),
    "scores": ("/assess/quantitative", {"transcript_text": _TEXT}),
    "findings": ("/assess/qualitative", {"transcript_text": _TEXT}),
    "preview": ("/v1/transcripts/preview", {"transcript_text": _TEXT}),
    "assessments": ("/v1/assessments", {"transcript_text": _TEXT, "subject": "B-17"}),
    "batches": ("/v1/batches", {"requests": [{"transcript_text": _TEXT}]}),
    "interviews": ("/v1/interviews", {"protocol": "phq8"}),
    "answers": (f"/v1/interviews/{'x' * 32}/answers", _ANSWER),
    "session": ("/v1/session", {"rater": "A"}),
    "ratings": (f"/v1/assessments/{NOBODY}/review/ratings", _RATINGS),
    "rows": (f"/v1/assessments/{NOBODY}/review/rows", {"kind": "score", "item": ITEMS[0]}),
}
"""Each route that reads a JSON body, with a good one."""
_WITHOUT_BODY: Final = {
    "retry": f"/v1/interviews/{'x' * 32}/retry",
    "report": f"/v1/interviews/{'x' * 32}/report",
    "review": f"/v1/assessments/{NOBODY}/review",
}
_JSON: Final = {"Content-Type": "application/json"}


@in_loop
async def bodies(folder: Path) -> list[Answer]:
    """Return the cases."""
    async with calling(folder) as client:
        talk = Talk(client=client, name="bodies", given=[_TEXT])
        for route, (path, good) in _GOOD.items():
            told: dict[str, Json] = {}
            for case, (content, headers) in _bad(good).items():
                response = await client.post(path, content=content, headers=headers)
                told[case] = _brief(response)
                client.cookies.clear()
                if route == "full":
                    talk.keep(f"full/{case}", response, _refusal(response))
            talk.add(f"routes/{route}", told)
        for route, path in _WITHOUT_BODY.items():
            told = {}
            for case, (content, headers) in _bad({}).items():
                told[case] = _brief(await client.post(path, content=content, headers=headers))
            talk.add(f"routes/{route}", told)
        await _wrong_fields(talk)
    async with calling(folder / "empty") as client:
        await _queries(Talk(client=client, name="bodies", cases=talk.cases))
    return talk.cases


def _bad(good: dict[str, Any]) -> dict[str, tuple[bytes, dict[str, str]]]:
    """Return bodies that are none of this route, and some that are."""
    text = json.dumps(good)
    first = next(iter(good), "protocol")
    deep = "[" * 70 + "]" * 70
    member = f"{text[:-1]}{', ' if good else ''}"
    bodies: dict[str, bytes] = {
        "empty": b"",
        "blank": b"  \n ",
        "cut-off": text[:-1].encode(),
        "trailing": text.encode() + b" x",
        "two": text.encode() * 2,
        "list": b"[]",
        "list-of-it": f"[{text}]".encode(),
        "null": b"null",
        "text": b'"text"',
        "number": b"7",
        "true": b"true",
        "single-quotes": b"{'transcript_text': 'x'}",
        "comment": b"// x\n" + text.encode(),
        "nan": f'{member}"x": NaN}}'.encode(),
        "infinity": f'{member}"x": -Infinity}}'.encode(),
        "huge-number": f'{member}"x": {"9" * 5000}}}'.encode(),
        "huge-exponent": f'{member}"x": 1e999}}'.encode(),
        "same-key-twice": f'{member}"{first}": null}}'.encode(),
        "unknown-key-twice": f'{member}"x": 1, "x": 1}}'.encode(),
        "deep-key-twice": f'{member}"x": {{"y": 1, "y": 2}}}}'.encode(),
        "deep": f'{member}"x": {deep}}}'.encode(),
        "many-values": f'{member}"x": [{"0," * 50_001}0]}}'.encode(),
        "unknown-field": f'{member}"colour": "red"}}'.encode(),
        "fields-beyond-number": json.dumps(good | {f"f{n}": n for n in range(25)}).encode(),
        "not-utf-8": text.encode().replace(b"{", b'{"\xff": 1, ', 1),
        "utf-16": text.encode("utf-16"),
        "mark-first": b"\xef\xbb\xbf" + text.encode(),
        "null-character": text.encode() + b"\x00",
        "empty-object": b"{}",
        "good": text.encode(),
    }
    found = {case: (content, dict(_JSON)) for case, content in bodies.items()}
    types = {
        "type-none": {},
        "type-text": {"Content-Type": "text/plain"},
        "type-problem": {"Content-Type": "application/problem+json"},
        "type-other-json": {"Content-Type": "application/vnd.api+json"},
        "type-charset": {"Content-Type": "Application/JSON; charset=utf-8"},
        "type-latin": {"Content-Type": "application/json; charset=latin-1"},
        "type-form": {"Content-Type": "application/x-www-form-urlencoded"},
        "type-parts": {"Content-Type": "multipart/form-data; boundary=b"},
        "encoded": {**_JSON, "Content-Encoding": "gzip"},
        "length-wrong": {**_JSON, "Content-Length": "nonsense"},
    }
    return found | {case: (text.encode(), headers) for case, headers in types.items()}


def _brief(response: httpx.Response) -> Json:
    """Show status, code and fields of a refusal in one line; a good answer by its status."""
    if not response.is_error:
        return str(response.status_code)
    told = response.json()
    fields = [f"{one['field']}:{one['type']}" for one in told.get("errors", ())]
    fields += [told["field"]] if "field" in told else []
    return "|".join([str(response.status_code), told["code"], *fields])


async def _wrong_fields(talk: Talk) -> None:
    """Keep what is said of each field of a wrong kind, for routes that have further fields."""
    place = "/v1/assessments"
    wrong: dict[str, tuple[str, dict[str, Any]]] = {
        "subject-empty": (place, {"transcript_text": _TEXT, "subject": ""}),
        "subject-blank": (place, {"transcript_text": _TEXT, "subject": "  "}),
        "subject-long": (place, {"transcript_text": _TEXT, "subject": "x" * 201}),
        "subject-number": (place, {"transcript_text": _TEXT, "subject": 17}),
        "callback-empty": (place, {"transcript_text": _TEXT, "callback_url": ""}),
        "callback-long": (place, {"transcript_text": _TEXT, "callback_url": "x" * 2049}),
        "callback-waited-for": (place, {"transcript_text": _TEXT, "callback_url": "https://a.b/"}),
        "all-at-once": (place, {"transcript_text": 1, "speakers": 2, "mode": 3, "subject": 4}),
        "batch-none": ("/v1/batches", {"requests": []}),
        "batch-many": ("/v1/batches", {"requests": [{"transcript_text": _TEXT}] * 1_001}),
        "batch-object": ("/v1/batches", {"requests": {"transcript_text": _TEXT}}),
        "batch-numbers": ("/v1/batches", {"requests": [1, 2]}),
        "batch-missing": ("/v1/batches", {}),
        "batch-many-errors": ("/v1/batches", {"requests": [{"a": 1, "b": 2}] * 15}),
        "session-nothing": ("/v1/session", {}),
        "session-both": ("/v1/session", {"rater": "A", "key": "aip_x"}),
        "session-long-name": ("/v1/session", {"rater": "A" * 61}),
        "session-odd-name": ("/v1/session", {"rater": "A/B"}),
        "session-number": ("/v1/session", {"rater": 7}),
        "session-long-key": ("/v1/session", {"key": "a" * 201}),
        "interview-nothing": ("/v1/interviews", {}),
        "interview-number": ("/v1/interviews", {"protocol": 8}),
    }
    for case, (path, body) in wrong.items():
        await talk.ask(f"fields/{case}", "POST", path, json=body)
        talk.client.cookies.clear()


async def _queries(talk: Talk) -> None:
    """Keep what is said of queries that are none of a route."""
    for path in (
        "/v1/assessments?limit=0",
        "/v1/assessments?limit=501",
        "/v1/assessments?limit=many",
        "/v1/assessments?limit=1&limit=2",
        "/v1/assessments?cursor=x",
        f"/v1/assessments?cursor={'x' * 201}",
        "/v1/assessments?sort=name",
        "/v1/assessments?band=grave",
        "/v1/assessments?unknown=9",
        "/v1/assessments?unknown=-1",
        "/v1/assessments?danger=some",
        "/v1/assessments?state=lost",
        "/v1/assessments?rated=all",
        "/v1/assessments?blind=perhaps",
        "/v1/assessments?colour=red",
        "/v1/assessments?limit=0&sort=x&colour=red",
        "/v1/jobs?limit=0",
        "/v1/jobs?state=lost",
        "/v1/jobs?cursor=x",
        "/v1/jobs?sort=created",
        f"/v1/batches/{NOBODY}?limit=501",
        "/v1/queue?limit=0",
        "/v1/queue?limit=101",
        "/v1/queue?colour=red",
        "/v1/export?what=all",
        "/v1/export?format=xml",
        "/v1/export?with_words=true",
        "/v1/export?what=ratings&with_words=true",
        "/v1/export?what=items&format=fhir",
        "/v1/export?questionnaire=true",
        "/v1/export?colour=red",
        "/v1/agreement?colour=red",
        "/v1/health?colour=red",
    ):
        case = path.removeprefix("/v1/").replace("?", ".").replace("&", ".").replace("/", ".")
        case = case.replace(NOBODY, "nobody")[:60]
        await talk.ask(f"queries/{case}", "GET", path, show=_refusal)


def _refusal(response: httpx.Response) -> Json:
    return shown(response, body=response.is_error)
