"""Transcripts sent to be assessed at once, and looked at before: texts, files, options, places."""

import json
import shutil
from pathlib import Path
from typing import Any, Final

import httpx

from tests.fakes.replies import good_replies
from tests.golden.answer import Answer, Json
from tests.golden.http_caller import Talk, calling, in_loop, only
from tests.golden.http_showing import shown
from tests.golden.ways import EXAMPLES, TRANSCRIPTS, model_server, run

FULL: Final = "/full_pipeline"
SCORES: Final = "/assess/quantitative"
FINDINGS: Final = "/assess/qualitative"
PREVIEW: Final = "/v1/transcripts/preview"
SHORT: Final = (EXAMPLES / "short_interview.txt").read_text("utf-8")
LONG: Final = (EXAMPLES / "interview.txt").read_text("utf-8")
DANGER: Final = (
    "Interviewer: How are you?\n"
    "Participant: I want to kill myself. I have a plan for tonight.\n"
    "Interviewer: Did you ever hurt yourself before?\n"
    "Participant: My brother cut himself once, years ago.\n"
)
LETTERS: Final = (
    "A: How do you sleep?\nB: Badly, most nights.\nA: And your energy?\nB: I am tired.\n"
)
GERMAN: Final = "Interviewer: Wie schlafen Sie?\nParticipant: Ich schlafe schlecht, jede Nacht.\n"
TEXTS: Final = (SHORT, LONG, DANGER, LETTERS, GERMAN)

BRIEF: Final = only(
    "status",
    "mode",
    "participant_id",
    "speakers_assumed",
    "transcript",
    "transcript_text",
    "quantitative.total_score",
    "quantitative.na_count",
    "quantitative.total_interval",
    "risk.level",
    "failures",
    "certificate.signed_by",
)
_NAMED: Final = {
    "webvtt/zoom.vtt": "participant=Anna Schmidt",
    "srt/labels.srt": "participant=Anna",
    "srt/dialogue.srt": "participant=*",
    "table/tab.tsv": "interviewer=Jonas&participant=Anna",
    "jsonl/turns.jsonl": "participant=Anna",
    "whisperx/openai_diarized.json": "participant=B",
}
"""Files whose labels do not tell who is who."""
_FILES: Final = (
    ("webvtt/zoom.vtt", "text/vtt"),
    ("webvtt/voices.vtt", "text/plain; charset=utf-8"),
    ("srt/labels.srt", "application/x-subrip"),
    ("srt/dialogue.srt", "application/x-subrip"),
    ("table/labels.csv", "text/csv"),
    ("table/tab.tsv", "text/tab-separated-values"),
    ("daic-woz/300_TRANSCRIPT.csv", "text/csv"),
    ("docx/rev.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("jsonl/turns.jsonl", "application/jsonl"),
    ("jsonl/one_interview.jsonl", "application/x-ndjson"),
    ("jsonl/several_interviews.jsonl", "application/ndjson"),
    ("whisperx/openai_diarized.json", "application/octet-stream"),
    ("dialogue_json/chat.json", "application/octet-stream"),
    ("plain_text/bold.txt", "text/markdown"),
    ("plain_text/cp1252.txt", "text/plain"),
    ("plain_text/monologue.txt", "text/plain"),
    ("plain_text/arabic.txt", "text/plain"),
)


def assessing(folder: Path) -> list[Answer]:
    """Return the cases."""
    _make_references(folder)
    return _assessing(folder)


def _make_references(folder: Path) -> None:
    """Make references of people who are made up."""
    for command in (
        "evaluate datasets make demo --units 20",
        "evaluate datasets split demo splits --part references=12 --part test=5",
        "references build demo --split splits/references.csv --out references",
        "references score references --by labels",
    ):
        run(command.split(), folder)


@in_loop
async def _assessing(folder: Path) -> list[Answer]:
    cases: list[Answer] = []
    stored = folder / "transcripts"
    _store(stored)
    async with calling(folder, {"DATA_TRANSCRIPTS_DIR": str(stored)}) as client:
        talk = Talk(client=client, name="assessing", given=(*TEXTS, *_written()), cases=cases)
        await _whole(talk)
        await _options(talk)
        await _odd_texts(talk)
        await _stored(talk)
        await _files(talk)
        await _previews(talk)
    async with calling(folder) as client:
        talk = Talk(client=client, name="assessing/without-folder", cases=cases)
        await talk.ask("participant", "POST", FULL, json={"participant_id": 300})
    await _narrow(folder, cases)
    await _few_shot(folder, cases)
    return cases


def _store(place: Path) -> None:
    """Lay down stored transcripts: a good one, an empty one, and one that is no table."""
    good = TRANSCRIPTS / "daic-woz" / "300_TRANSCRIPT.csv"
    for number in (300, 301, 302):
        (place / f"{number}_P").mkdir(parents=True)
    shutil.copy(good, place / "300_P" / "300_TRANSCRIPT.csv")
    (place / "301_P" / "301_TRANSCRIPT.csv").write_text("", encoding="utf-8")
    (place / "302_P" / "302_TRANSCRIPT.csv").write_bytes(b"\x00\xff\x00")


def _written() -> list[str]:
    return [
        path.read_text("utf-8", errors="replace")
        for path in TRANSCRIPTS.rglob("*")
        if path.is_file() and path.suffix not in {".md", ".docx"}
    ]


async def _whole(talk: Talk) -> None:
    """Keep results as a whole, for the doors that assess."""
    await talk.ask("full", "POST", FULL, json={"transcript_text": LONG})
    await talk.ask("scores", "POST", SCORES, json={"transcript_text": SHORT})
    await talk.ask("findings", "POST", FINDINGS, json={"transcript_text": SHORT})
    await talk.ask("danger", "POST", FULL, json={"transcript_text": DANGER}, show=_RISK)
    await talk.ask("other-language", "POST", FULL, json={"transcript_text": GERMAN}, show=_RISK)
    for place in (FULL, SCORES, FINDINGS):
        first = await talk.client.post(place, json={"transcript_text": SHORT})
        other = await talk.client.post(f"/v1{place}", json={"transcript_text": SHORT})
        same = {**first.json(), **_VARYING} == {**other.json(), **_VARYING}
        talk.add(f"both-names/{place.rpartition('/')[2]}", same)


_RISK: Final = only("status", "risk", "quantitative.total_score", "quantitative.na_count")
_VARYING: Final = {"assessment_id": "", "attempts": []}


async def _options(talk: Talk) -> None:
    """Keep what query and body may say, and what they may not."""
    body: dict[str, Any] = {"transcript_text": SHORT}
    await talk.ask("certificate", "POST", f"{FULL}?certificate=true", json=body, show=_certificate)
    query = f"{SCORES}?certificate=true"
    await talk.ask("certificate-of-scores", "POST", query, json=body, show=_certified_parts)
    await talk.ask("ablate", "POST", FULL, json={**body, "ablate": True}, show=_drives)
    await talk.ask("ablate-query", "POST", f"{SCORES}?ablate=true", json=body, show=_drives)
    for mode in ("zero_shot", "few_shot", "random_references", "descriptions_only", 0, 1):
        named = {**body, "mode": mode}
        await talk.ask(f"mode/body-{mode}", "POST", FULL, json=named, show=BRIEF)
        await talk.ask(f"mode/query-{mode}", "POST", f"{SCORES}?mode={mode}", json=body, show=BRIEF)
    wrong_modes: tuple[Json, ...] = ("ZERO_SHOT", 2, -1, True, 0.0, "", [], "1")
    for number, wrong_mode in enumerate(wrong_modes):
        named = {**body, "mode": wrong_mode}
        await talk.ask(f"mode/refused-{number}", "POST", FULL, json=named)
    await talk.ask("mode/findings", "POST", FINDINGS, json={**body, "mode": "few_shot"}, show=BRIEF)
    wrong: dict[str, tuple[str, str, dict[str, Any]]] = {
        "mode-twice": (FULL, "mode=zero_shot", {"mode": "zero_shot"}),
        "mode-null-twice": (FULL, "mode=zero_shot", {"mode": None}),
        "ablate-twice": (FULL, "ablate=true", {"ablate": False}),
        "mode-unknown": (FULL, "mode=none", {}),
        "certificate-word": (FULL, "certificate=perhaps", {}),
        "certificate-one": (FULL, "certificate=1", {}),
        "certificate-twice": (FULL, "certificate=true&certificate=false", {}),
        "unknown-option": (FULL, "colour=red", {}),
        "findings-ablate-query": (FINDINGS, "ablate=true", {}),
        "findings-ablate-body": (FINDINGS, "", {"ablate": True}),
        "findings-certificate": (FINDINGS, "certificate=true", {}),
        "findings-mode-query": (FINDINGS, "mode=zero_shot", {}),
        "participant-empty": (FULL, "participant=", {}),
        "participant-long": (FULL, f"participant={'x' * 201}", {}),
        "participants-many": (FULL, "&".join(f"participant=P{n}" for n in range(21)), {}),
        "ablate-text": (FULL, "", {"ablate": "yes"}),
    }
    for case, (place, query, more) in wrong.items():
        sent = {"json": {**body, **more}}
        await talk.ask(f"options/{case}", "POST", f"{place}?{query}", show=BRIEF, **sent)


def _certificate(response: httpx.Response) -> Json:
    """Show a certificate as what its text says."""
    told = response.json()["certificate"]
    said = json.loads(told["text"])
    return {"status": response.status_code, **told, "text": said}


def _certified_parts(response: httpx.Response) -> Json:
    """Show what a certificate is about."""
    said = json.loads(response.json()["certificate"]["text"])["certificate"]
    return {"status": response.status_code, "parts": list(said), "models": said["models"]}


def _drives(response: httpx.Response) -> Json:
    told = response.json()
    scores = told.get("quantitative", told)
    items = {name: item.get("drive") for name, item in scores["items"].items()}
    paths = [attempt["path"] for attempt in told.get("attempts", ())]
    return {"status": response.status_code, "drives": items, "paths": paths}


async def _odd_texts(talk: Talk) -> None:
    """Keep how texts are taken that are no plain interview."""
    texts: dict[str, dict[str, Any]] = {
        "nothing": {},
        "null": {"transcript_text": None},
        "empty": {"transcript_text": ""},
        "blank": {"transcript_text": " \n\t\u200b"},
        "number": {"transcript_text": 7},
        "no-labels": {"transcript_text": "I sleep badly. I am tired every day."},
        "letters": {"transcript_text": LETTERS},
        "letters-named": {"transcript_text": LETTERS, "speakers": {"B": "participant"}},
        "interviewer-named": {"transcript_text": LETTERS, "speakers": {"A": "interviewer"}},
        "everybody": {"transcript_text": LETTERS, "speakers": {"*": "participant"}},
        "nobody": {"transcript_text": LETTERS, "speakers": {"A": "other", "B": "other"}},
        "interviewer-alone": {"transcript_text": "Interviewer: How are you?\n"},
        "role-unknown": {"transcript_text": LETTERS, "speakers": {"B": "patient"}},
        "label-not-there": {"transcript_text": LETTERS, "speakers": {"C": "participant"}},
        "label-empty": {"transcript_text": LETTERS, "speakers": {"": "participant"}},
        "speakers-list": {"transcript_text": LETTERS, "speakers": ["B"]},
        "speakers-many": {"transcript_text": LETTERS, "speakers": dict.fromkeys(_MANY, "other")},
        "half-a-character": {"transcript_text": "Participant: I sleep \ud800 badly."},
        "null-character": {"transcript_text": "Participant: I sleep\u0000 badly every night."},
        "control-characters": {"transcript_text": "Participant: I \u001b[31msleep\u0007 badly."},
        "both-sources": {"transcript_text": LETTERS, "participant_id": 300},
        "unknown-field": {"transcript_text": LETTERS, "text": "x"},
        "subject": {"transcript_text": LETTERS, "subject": "B-17"},
        "callback": {"transcript_text": LETTERS, "callback_url": "https://example.org/"},
        "no-break": {"transcript_text": "Participant: I\u00a0sleep\u2028badly\r\nevery night."},
        "right-to-left": {"transcript_text": "Participant: \u202eI sleep badly\u202c every night."},
    }
    headers = {"Content-Type": "application/json"}
    for case, body in texts.items():
        sent = {"content": json.dumps(body), "headers": headers}
        await talk.ask(f"text/{case}", "POST", FULL, show=BRIEF, **sent)
    for case in ("letters", "letters-named"):
        query = f"{FULL}?participant=B&interviewer=A"
        await talk.ask(f"text/{case}-query", "POST", query, json=texts[case], show=BRIEF)
    await talk.ask(
        "text/named-twice",
        "POST",
        f"{FULL}?participant=A",
        json={"transcript_text": LETTERS, "speakers": {"A": "interviewer"}},
        show=BRIEF,
    )


_MANY: Final = [f"S{number}" for number in range(21)]


async def _stored(talk: Talk) -> None:
    """Keep what comes of stored transcripts, by their participants."""
    for case, number in {
        "good": 300,
        "empty": 301,
        "damaged": 302,
        "unknown": 303,
        "zero": 0,
        "negative": -1,
        "large": 1_000_000,
        "huge": 10**30,
        "text": "300",
        "fraction": 300.5,
        "true": True,
        "path": "../300",
    }.items():
        body = {"participant_id": number}
        await talk.ask(f"stored/{case}", "POST", FULL, json=body, show=BRIEF)
    await talk.ask("stored/scores", "POST", SCORES, json={"participant_id": 300}, show=BRIEF)
    body = {"participant_id": 300, "mode": "few_shot"}
    await talk.ask("stored/few-shot", "POST", FULL, json=body)


async def _files(talk: Talk) -> None:
    """Keep how files are taken, each with its type."""
    for name, kind in _FILES:
        content = (TRANSCRIPTS / name).read_bytes()
        sent = {"content": content, "headers": {"Content-Type": kind}}
        await talk.ask(f"file/{name}", "POST", FULL, show=BRIEF, **sent)
        if name in _NAMED:
            query = f"{FULL}?{_NAMED[name]}"
            await talk.ask(f"file-named/{name}", "POST", query, show=BRIEF, **sent)
    plain = {"Content-Type": "text/plain"}
    named = {"content": LETTERS.encode(), "headers": plain}
    await talk.ask("file/unnamed", "POST", FULL, show=BRIEF, **named)
    await talk.ask("file/named", "POST", f"{FULL}?participant=B", show=BRIEF, **named)
    query = f"{SCORES}?participant=B&mode=zero_shot&ablate=false&certificate=false"
    await talk.ask("file/scores", "POST", query, show=BRIEF, **named)
    await talk.ask("file/findings", "POST", f"{FINDINGS}?interviewer=A", show=BRIEF, **named)
    for case, content in {
        "empty": b"",
        "zeros": bytes(100),
        "request-as-text": json.dumps({"transcript_text": SHORT}).encode(),
        "other-json-as-text": b'{"text": "I sleep badly."}',
        "not-utf-8": "Participant: Ich schlafe nachts schön schlecht.\n".encode("utf-16-le"),
        "broken-zip": b"PK\x03\x04 nothing of a document",
    }.items():
        sent = {"content": content, "headers": plain}
        await talk.ask(f"file/{case}", "POST", FULL, show=BRIEF, **sent)
    for case, kind in {
        "picture": "image/png",
        "form": "application/x-www-form-urlencoded",
        "parts": "multipart/form-data; boundary=x",
        "xml": "application/xml",
        "nonsense": "nonsense",
        "none": "",
        "subtitles-in-json": "application/json",
    }.items():
        headers = {"Content-Type": kind} if kind else {}
        sent = {"content": SHORT.encode(), "headers": headers}
        await talk.ask(f"file-type/{case}", "POST", FULL, show=BRIEF, **sent)


async def _previews(talk: Talk) -> None:
    """Keep who is who before anything is assessed."""
    await talk.ask("preview/long", "POST", PREVIEW, json={"transcript_text": LONG})
    await talk.ask("preview/letters", "POST", PREVIEW, json={"transcript_text": LETTERS})
    named = {"transcript_text": LETTERS, "speakers": {"B": "participant", "A": "interviewer"}}
    await talk.ask("preview/named", "POST", PREVIEW, json=named)
    query = f"{PREVIEW}?participant=B"
    await talk.ask("preview/query", "POST", query, json={"transcript_text": LETTERS})
    many = "".join(f"Speaker {number}: Hello there.\n" for number in range(25))
    await talk.ask("preview/many", "POST", PREVIEW, json={"transcript_text": many})
    await talk.ask("preview/nothing", "POST", PREVIEW, json={})
    await talk.ask("preview/empty", "POST", PREVIEW, json={"transcript_text": ""})
    await talk.ask("preview/no-labels", "POST", PREVIEW, json={"transcript_text": "I am tired."})
    await talk.ask("preview/mode", "POST", f"{PREVIEW}?mode=zero_shot", json=named)
    await talk.ask("preview/participant", "POST", PREVIEW, json={"participant_id": 300})
    await talk.ask("preview/unknown-label", "POST", f"{PREVIEW}?participant=C", json=named)
    for name, kind in _FILES[:8]:
        content = (TRANSCRIPTS / name).read_bytes()
        headers = {"Content-Type": kind}
        await talk.ask(f"preview/{name}", "POST", PREVIEW, content=content, headers=headers)


async def _narrow(folder: Path, cases: list[Answer]) -> None:
    """Keep what is refused for its length."""
    limits = {"API_MAX_TRANSCRIPT_CHARS": "200", "API_MAX_BODY_BYTES": "2000"}
    async with calling(folder, limits) as client:
        talk = Talk(client=client, name="assessing/narrow", given=TEXTS, cases=cases)
        plain = {"Content-Type": "text/plain"}
        for place in (FULL, FINDINGS, PREVIEW, "/v1/assessments", "/v1/interviews"):
            more = {"protocol": "phq8"} if place.endswith("interviews") else {}
            case = place.rpartition("/")[2]
            body = {**more, "transcript_text": SHORT}
            await talk.ask(f"{case}/text", "POST", place, json=body)
            body = {**more, "transcript_text": LONG}
            await talk.ask(f"{case}/body", "POST", place, json=body)
        sent: dict[str, Any] = {"content": SHORT.encode(), "headers": plain}
        await talk.ask("full_pipeline/file", "POST", FULL, **sent)
        just = "Participant: " + "a" * 187
        await talk.ask("just", "POST", FULL, json={"transcript_text": just}, show=BRIEF)
        await talk.ask("one-more", "POST", FULL, json={"transcript_text": just + "a"}, show=BRIEF)


async def _few_shot(folder: Path, cases: list[Answer]) -> None:
    """Keep what scoring with references tells, by a scripted model."""
    with model_server(good_replies()) as (_, named):
        settings = named | {"REFERENCES_DIR": str(folder / "references")}
        async with calling(folder, settings) as client:
            talk = Talk(client=client, name="assessing/references", given=TEXTS, cases=cases)
            for mode in ("few_shot", "random_references", "descriptions_only"):
                body = {"transcript_text": SHORT, "mode": mode}
                await talk.ask(mode, "POST", SCORES, json=body, show=_references)


def _references(response: httpx.Response) -> Json:
    if response.is_error:
        return shown(response)
    told = response.json()
    items = {
        name: [item["score"], item["references"], item["no_references"]]
        for name, item in told["items"].items()
    }
    return {"status": response.status_code, "mode": told["mode"], "items": items}
