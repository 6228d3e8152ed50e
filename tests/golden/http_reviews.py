"""Raters at work: blind first, then beside the program's scores and one another's."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from tests.fakes.replies import ITEMS
from tests.golden.answer import Answer, Json
from tests.golden.http_assessing import DANGER, LONG, SHORT, TEXTS
from tests.golden.http_caller import Talk, client_of, head_alone, in_loop, only, opened
from tests.golden.http_records import PLACE
from tests.golden.http_showing import shown

_SAID: Final = "I'm tired all the time."
_ASKED: Final = "And your energy?"
_LISTED: Final = ("state", "hidden", "total_min", "total_max", "raters", "phase", "danger")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Raters:
    """Three people at one machine, of whom the third gives no name."""

    first: Talk
    second: Talk
    nameless: Talk


@in_loop
async def reviews(folder: Path) -> list[Answer]:
    """Return the cases."""
    cases: list[Answer] = []
    async with (
        opened(folder) as app,
        client_of(app) as first,
        client_of(app) as second,
        client_of(app) as nameless,
    ):
        raters = _Raters(
            first=Talk(client=first, name="reviews/first", given=TEXTS, cases=cases),
            second=Talk(client=second, name="reviews/second", given=TEXTS, cases=cases),
            nameless=Talk(client=nameless, name="reviews/nameless", given=TEXTS, cases=cases),
        )
        ids = [await _made(nameless, text) for text in (SHORT, DANGER, LONG)]
        await _log_in(raters.first, "Anna B")
        await _log_in(raters.second, "Kim")
        await first.post(f"{PLACE}/{ids[1]}/review")
        await _blind(raters.first, ids[0])
        await _ratings(raters.first, ids[0])
        await _rows(raters.first, ids[0])
        await raters.nameless.ask(
            "gold/one-rater", "POST", f"{PLACE}/{ids[0]}/review/gold", json={}
        )
        await _second(raters, ids)
        await _gold(raters.second, ids[0])
        await _seen(raters.nameless, ids)
        await _study(raters)
        await _read(raters.second, ids)
    return cases


async def _made(client: httpx.AsyncClient, text: str) -> str:
    """Return the id of an assessment that is made by a job, so that nobody was given its scores."""
    headers = {"Prefer": "respond-async"}
    body = {"transcript_text": text, "subject": str(len(text))}
    response = await client.post(PLACE, json=body, headers=headers)
    job = response.headers["location"]
    await client.get(f"{job}/events")
    return job.rpartition("/")[2]


async def _log_in(talk: Talk, name: str) -> None:
    response = await talk.ask("session", "POST", "/v1/session", json={"rater": name})
    talk.client.headers["X-CSRF-Token"] = response.json()["csrf"]


async def _blind(talk: Talk, record: str) -> None:
    """Keep what a rater is given before committing, and what not."""
    place = f"{PLACE}/{record}"
    await talk.ask("before/list", "GET", f"{PLACE}?blind=true", show=_lines)
    await talk.ask("before/review", "GET", f"{place}/review")
    ratings = _ratings_of(dict.fromkeys(ITEMS, 1))
    await talk.ask("before/ratings", "POST", f"{place}/review/ratings", json=ratings)
    row = {"kind": "score", "item": ITEMS[0], "score": 2}
    await talk.ask("before/rows", "POST", f"{place}/review/rows", json=row)
    await talk.ask("begin/first", "POST", f"{place}/review")
    await talk.ask("begin/again", "POST", f"{place}/review")
    for part in ("", "/evidence", "/certificate", "/html", "/transcript"):
        case = f"blind/{part.strip('/') or 'result'}"
        await talk.ask(case, "GET", f"{place}{part}", show=_refusal)
    fhir = {"Accept": "application/fhir+json"}
    await talk.ask("blind/fhir", "GET", place, headers=fhir, show=_refusal)
    await talk.ask("blind/list", "GET", f"{PLACE}?blind=true", show=_lines)
    await talk.ask("blind/export", "GET", "/v1/export?format=csv", show=head_alone)
    await talk.ask("blind/ratings-export", "GET", "/v1/export?what=ratings")
    await talk.ask("blind/row", "POST", f"{place}/review/rows", json=row)


def _refusal(response: httpx.Response) -> Json:
    return shown(response, body=response.is_error)


def _lines(response: httpx.Response) -> Json:
    told = response.json()["assessments"]
    return ["|".join(str(one[name]) for name in _LISTED) for one in told]


def _ratings_of(scores: Mapping[str, int | None], **changed: Any) -> Json:
    items: dict[str, Any] = {
        item: {"cannot_tell": True} if score is None else {"score": score}
        for item, score in scores.items()
    }
    return {"items": items | changed}


def _span(words: str) -> dict[str, int]:
    start = SHORT.index(words)
    return {"start": start, "end": start + len(words)}


async def _ratings(talk: Talk, record: str) -> None:
    """Keep which ratings are taken."""
    place = f"{PLACE}/{record}/review/ratings"
    good = dict.fromkeys(ITEMS, 1)
    first = ITEMS[0]
    bad: dict[str, Any] = {
        "seven": _ratings_of(dict.fromkeys(ITEMS[:7], 1)),
        "another-item": _ratings_of(dict.fromkeys((*ITEMS[:7], "PHQ8_Mood"), 1)),
        "nine": _ratings_of(dict.fromkeys((*ITEMS, "PHQ8_Mood"), 1)),
        "no-items": {},
        "score-four": _ratings_of(good, **{first: {"score": 4}}),
        "score-negative": _ratings_of(good, **{first: {"score": -1}}),
        "score-text": _ratings_of(good, **{first: {"score": "1"}}),
        "score-half": _ratings_of(good, **{first: {"score": 1.5}}),
        "score-true": _ratings_of(good, **{first: {"score": True}}),
        "neither": _ratings_of(good, **{first: {}}),
        "both": _ratings_of(good, **{first: {"score": 1, "cannot_tell": True}}),
        "unknown-field": _ratings_of(good, **{first: {"score": 1, "why": "x"}}),
        "beyond-the-text": _with_span(good, {"start": 10, "end": len(SHORT) + 1}),
        "backwards": _with_span(good, {"start": 100, "end": 90}),
        "nothing": _with_span(good, {"start": 100, "end": 100}),
        "negative": _with_span(good, {"start": -1, "end": 5}),
        "of-the-interviewer": _with_span(good, _span(_ASKED)),
        "span-list": _with_span(good, [1, 2]),
        "many-spans": _ratings_of(good, **{first: {"score": 1, "evidence": [_span(_SAID)] * 500}}),
    }
    for case, body in bad.items():
        await talk.ask(f"ratings/{case}", "POST", place, json=body)
    tired = {"score": 3, "evidence": [_span(_SAID)]}
    mixed = {item: None if item == "PHQ8_Moving" else number % 4 for number, item in _NUMBERED}
    body = _ratings_of(mixed, PHQ8_Tired=tired)
    await talk.ask("ratings/good", "POST", place, json=body)
    await talk.ask("ratings/again", "POST", place, json=body)
    await talk.ask("ratings/begun-again", "POST", f"{PLACE}/{record}/review")


_NUMBERED: Final = tuple(enumerate(ITEMS))


def _with_span(good: Mapping[str, int], span: Any) -> Json:
    return _ratings_of(good, **{ITEMS[0]: {"score": 1, "evidence": [span]}})


async def _rows(talk: Talk, record: str) -> None:
    """Keep which remarks are taken, and what a rater has then."""
    place = f"{PLACE}/{record}/review/rows"
    tired = {"kind": "evidence", "item": "PHQ8_Tired", "evidence": 0}
    missed = {"kind": "missed", "item": "PHQ8_Tired"}
    rows: dict[str, Any] = {
        "accepted": {**tired, "verdict": "accepted"},
        "rejected": {**tired, "verdict": "rejected", "reason": "past"},
        "missed": {**missed, **_span(_SAID)},
        "score": {"kind": "score", "item": "PHQ8_Sleep", "score": 2},
        "cannot-tell": {"kind": "score", "item": "PHQ8_Sleep", "cannot_tell": True},
        "no-reason": {**tired, "verdict": "rejected"},
        "reason-of-accepted": {**tired, "verdict": "accepted", "reason": "past"},
        "other-reason": {**tired, "verdict": "rejected", "reason": "dull"},
        "no-verdict": tired,
        "no-such-quote": {**tired, "evidence": 9, "verdict": "accepted"},
        "quote-negative": {**tired, "evidence": -1, "verdict": "accepted"},
        "no-place": missed,
        "no-end": {**missed, "start": 1},
        "of-the-interviewer": {**missed, **_span(_ASKED)},
        "beyond-the-text": {**missed, "start": 1, "end": 10**6},
        "missed-with-score": {**missed, **_span(_SAID), "score": 1},
        "score-without": {"kind": "score", "item": "PHQ8_Sleep"},
        "score-both": {"kind": "score", "item": "PHQ8_Sleep", "score": 1, "cannot_tell": True},
        "score-with-quote": {"kind": "score", "item": "PHQ8_Sleep", "score": 1, "evidence": 0},
        "other-kind": {"kind": "remark", "item": "PHQ8_Sleep"},
        "other-item": {"kind": "score", "item": "PHQ8_Mood", "score": 1},
        "nothing": {},
    }
    for case, body in rows.items():
        await talk.ask(f"rows/{case}", "POST", place, json=body)
    await talk.ask("rows/all", "GET", f"{PLACE}/{record}/review")
    fhir = {"Accept": "application/fhir+json"}
    await talk.ask("rated/fhir", "GET", f"{PLACE}/{record}", headers=fhir, show=_resources)
    await talk.ask("rated/evidence", "GET", f"{PLACE}/{record}/evidence", show=_refusal)
    await talk.ask("rated/export", "GET", "/v1/export?what=ratings&format=csv")
    await talk.ask("rated/lines", "GET", "/v1/export?what=ratings")


def _resources(response: httpx.Response) -> Json:
    """Show observations of a bundle: who says what."""
    found = [entry["resource"] for entry in response.json()["entry"]]
    return [
        [
            one["resourceType"],
            one.get("valueInteger"),
            one.get("dataAbsentReason", {}).get("coding"),
        ]
        for one in found
    ]


async def _second(raters: _Raters, ids: list[str]) -> None:
    """Keep what a second rater sees before and after committing."""
    talk = raters.second
    place = f"{PLACE}/{ids[0]}"
    await talk.ask("before", "GET", f"{place}/review")
    await talk.ask("begun", "POST", f"{place}/review")
    body = _ratings_of({item: (number + 1) % 4 for number, item in _NUMBERED})
    await talk.ask("committed", "POST", f"{place}/review/ratings", json=body, show=only("phase"))
    await talk.ask("of-both", "GET", f"{place}/review")
    for rater, scores in ((raters.first, (0, 3)), (raters.second, (1, 3))):
        other = f"{PLACE}/{ids[1]}/review"
        await rater.client.post(other)
        given = {item: scores[number % 2] for number, item in _NUMBERED}
        body = _ratings_of(given)
        await rater.ask("other-case", "POST", f"{other}/ratings", json=body, show=only("phase"))
    for rater in (raters.first, raters.second):
        await rater.ask("list", "GET", PLACE, show=_lines)
        await rater.ask("list-mine", "GET", f"{PLACE}?rated=mine", show=_lines)
        await rater.ask("list-not-mine", "GET", f"{PLACE}?rated=not_mine", show=_lines)
        await rater.ask("queue", "GET", "/v1/queue")
    await raters.second.ask("queue-head", "HEAD", "/v1/queue?limit=1")


async def _gold(talk: Talk, record: str) -> None:
    """Keep which gold scores are taken, and where they are shown."""
    place = f"{PLACE}/{record}/review/gold"
    decided = {item: {"score": 1, "reason": "heard so"} for item in ITEMS}
    bodies: dict[str, Any] = {
        "undecided": {"items": {}},
        "no-reason": {"items": {ITEMS[0]: {"score": 3}}},
        "score-four": {"items": {ITEMS[0]: {"score": 4, "reason": "x"}}},
        "good": {"items": decided},
        "corrected": {"items": decided | {ITEMS[0]: {"cannot_tell": True, "reason": "not asked"}}},
    }
    for case, body in bodies.items():
        await talk.ask(f"gold/{case}", "POST", place, json=body)
    await talk.ask("gold/rows", "GET", f"{PLACE}/{record}/review", show=_kinds)
    await talk.ask("gold/export", "GET", "/v1/export?what=ratings&format=csv")
    await talk.ask("gold/page", "GET", f"/assessments/{record}/adjudicate", show=head_alone)
    await talk.ask("gold/figures", "GET", "/v1/agreement?format=csv", show=head_alone)


def _kinds(response: httpx.Response) -> Json:
    return [f"{row['kind']} {row['rater']}" for row in response.json()["rows"]]


async def _seen(talk: Talk, ids: list[str]) -> None:
    """Keep how somebody rates who was given the scores before."""
    place = f"{PLACE}/{ids[2]}"
    await talk.ask("result", "GET", f"{place}/evidence", show=head_alone)
    await talk.ask("begun", "POST", f"{place}/review")
    await talk.ask("evidence", "GET", f"{place}/evidence", show=_refusal)
    body = _ratings_of(dict.fromkeys(ITEMS, 2))
    await talk.ask("committed", "POST", f"{place}/review/ratings", json=body)
    await talk.ask("list", "GET", PLACE, show=_lines)


async def _study(raters: _Raters) -> None:
    """Keep the figures of agreement; which cases are drawn at random follows from their ids."""
    figures = only("cases", "withheld", "raters", "blind", "seen.cases")
    await raters.first.ask("agreement", "GET", "/v1/agreement", show=figures)
    figures = only("cases", "withheld", "raters", "blind.cases", "seen.cases", "seen.subjects")
    await raters.nameless.ask("agreement", "GET", "/v1/agreement", show=figures)
    await raters.first.ask("out", "DELETE", "/v1/session")
    await raters.first.ask("out-again", "DELETE", "/v1/session")
    await raters.first.ask("who", "GET", "/v1/session")


async def _read(talk: Talk, ids: list[str]) -> None:
    """Keep how statements of danger are confirmed to have been read."""
    for case, record in zip(("short", "danger"), ids, strict=False):
        await talk.ask(f"read/{case}/before", "GET", f"{PLACE}/{record}/acknowledgements")
        place = f"{PLACE}/{record}/acknowledgements"
        for name, body in (
            ("another", {"statements": [{"start": 0, "end": 3}]}),
            ("none", {"statements": []}),
            ("all", {"note": "called"}),
        ):
            await talk.ask(f"read/{case}/{name}", "POST", place, json=body)
    await talk.ask("read/export", "GET", "/v1/export?what=acknowledgements&format=csv&with_words=1")
    await talk.ask("read/unread", "GET", f"{PLACE}?unread=true", show=only("total"))
