"""Interviews over HTTP: both protocols, answers of all kinds, reports, and what is refused."""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any, Final, TypeAlias

import httpx

from tests.fakes.exchange import Reply, Request, Script
from tests.fakes.faults import fault
from tests.fakes.interview_model import tool_of, with_arguments
from tests.fakes.interview_replies import Brief, good_reply
from tests.fakes.replies import ITEMS, danger_text
from tests.golden.answer import Answer
from tests.golden.http_assessing import DANGER, SHORT, TEXTS
from tests.golden.http_caller import Talk, calling, in_loop, only
from tests.golden.http_models import Switched
from tests.golden.http_showing import shown
from tests.golden.ways import model_server

HERE: Final = "/v1/interviews"
_INCIDENT: Final = {
    "title": "The lunch",
    "summary": "Somebody ate the lunch of somebody else.",
    "interviewee_name": "Sam",
    "interviewee_role": "a colleague who was there",
    "confidence_threshold": 40,
}
_MOVED: Final = only("state", "version", "turn", "end_reason", "question", "spoken")
_SCORED: Final = only("state", "end_reason", "failure", "is_resumable", "operator")
_SAYINGS: Final = (
    ("most-days", "most days, to be honest"),
    ("days", "four or five days, I think"),
    ("no", "no, not at all"),
    ("vague", "some"),
    ("vague-again", "it varies"),
    ("other-language", "Ich weiß es nicht."),
    ("off-topic", "What is the weather like?"),
    ("refused", "I'd rather not say"),
    ("correction", "wait, nearly every day"),
    ("blank-words", "well"),
)
Kept: TypeAlias = Mapping[str, Any]


@in_loop
async def interviews(folder: Path) -> list[Answer]:
    """Return the cases."""
    async with calling(folder) as client:
        talk = Talk(client=client, name="interviews", given=[*TEXTS, *_said()])
        await _by_options(talk)
        await _by_words(talk)
        await _beginnings(talk)
        await _ends(talk)
        await _not_taken(talk)
    await _by_model(folder / "model", talk.cases)
    await _faults(folder / "faults", talk.cases)
    await _kept(folder / "kept", talk.cases)
    return talk.cases


def _said() -> list[str]:
    return [words for _, words in _SAYINGS]


def mask(talk: Talk, response: httpx.Response) -> Kept:
    """Return an interview, whose id is masked from now on."""
    found: Kept = response.json()
    if "interview_id" in found:
        talk.masks[found["interview_id"]] = "<interview>"
    return found


async def begun(talk: Talk, case: str = "", show: Any = shown, **body: Any) -> Kept:
    """Return an interview that is begun, kept as a case if one is named."""
    sent = {"protocol": "phq8", **body}
    if not case:
        return mask(talk, await talk.client.post(HERE, json=sent))
    response = await talk.client.post(HERE, json=sent)
    found = mask(talk, response)
    talk.keep(case, response, show(response))
    return found


async def answered(
    talk: Talk, interview: Kept, case: str = "", show: Any = _MOVED, **more: Any
) -> Kept:
    """Answer what is asked; returns the interview then, or what was said against it."""
    question = interview.get("question") or {"id": "q1"}
    body = {
        "question_id": question["id"],
        "idempotency_key": f"k{len(talk.cases)}-{interview['version']}",
        "version": interview["version"],
        **more,
    }
    response = await talk.client.post(f"{HERE}/{interview['interview_id']}/answers", json=body)
    if case:
        talk.keep(case, response, show(response))
    found: Kept = response.json()
    return found


async def _by_options(talk: Talk) -> None:
    """Keep an interview as a whole, answered by the frequencies that are offered."""
    interview = await begun(talk, "options/begun")
    for number in range(8):
        case = f"options/answer-{number}" if number < 2 else ""
        interview = await answered(talk, interview, case, shown, option_id=f"a{number % 5 + 1}")
    while interview["question"]:
        interview = await answered(talk, interview, option_id="a1")
    place = f"{HERE}/{interview['interview_id']}"
    await talk.ask("options/over", "GET", place)
    await talk.ask("options/report", "GET", f"{place}/report")
    await talk.ask("options/report-made", "POST", f"{place}/report", show=only("total"))
    await talk.ask("options/retry", "POST", f"{place}/retry", show=_MOVED)
    await talk.ask("options/head", "HEAD", place)
    await answered(talk, interview, "options/after-the-end", option_id="a1")
    await talk.ask("options/deleted", "DELETE", place)
    await talk.ask("options/deleted-again", "DELETE", place)
    await talk.ask("options/gone", "GET", place)


async def _by_words(talk: Talk) -> None:
    interview = await begun(talk)
    for case, words in _SAYINGS:
        interview = await answered(talk, interview, f"words/{case}", text=words)
    choice = interview["question"]["options"][0]["id"]
    interview = await answered(talk, interview, "words/chosen", option_id=choice)
    interview = await answered(talk, interview, "words/stopped", stop=True, show=_SCORED)
    await talk.ask("words/report", "GET", f"{HERE}/{interview['interview_id']}/report")


async def _beginnings(talk: Talk) -> None:
    """Keep what interviews begin from."""
    result = (await talk.client.post("/full_pipeline", json={"transcript_text": SHORT})).json()
    await begun(talk, "from/result", _SCORED, assessment=result)
    await begun(talk, "from/transcript", _SCORED, transcript_text=SHORT)
    await begun(talk, "from/dangerous-transcript", _SCORED, transcript_text=DANGER)
    named = {"transcript_text": "A: How do you sleep?\nB: I sleep badly, every night."}
    await begun(talk, "from/labels", **named)
    speakers = {"B": "participant", "A": "interviewer"}
    await begun(talk, "from/labels-named", _SCORED, **named, speakers=speakers)
    items: dict[str, Any] = {item: {"score": 1} for item in ITEMS}
    await begun(talk, "from/whole", _SCORED, assessment={"items": items})
    part = {**items, ITEMS[0]: {"score": None}, ITEMS[7]: {"score": None}}
    await begun(talk, "from/part", _MOVED, assessment={"items": part})
    bad: dict[str, Any] = {
        "unknown-protocol": {"protocol": "nonesuch"},
        "path": {"protocol": "../phq8"},
        "two-sources": {"assessment": {"items": items}, "transcript_text": SHORT},
        "seven-items": {"assessment": {"items": {one: {"score": 1} for one in ITEMS[:7]}}},
        "score-four": {"assessment": {"items": {**items, ITEMS[0]: {"score": 4}}}},
        "score-text": {"assessment": {"items": {**items, ITEMS[0]: {"score": "1"}}}},
        "no-scores": {"assessment": {}},
        "assessment-list": {"assessment": [1]},
        "another-result": {"assessment": {"quantitative": None}},
        "unknown-input": {"inputs": {"colour": "red"}},
        "inputs-list": {"inputs": []},
        "input-list": {"inputs": {"title": []}},
        "many-inputs": {"inputs": {f"i{number}": 1 for number in range(51)}},
        "empty-text": {"transcript_text": ""},
        "nobody": {"participant_id": 9},
        "needs-a-model": {"protocol": "incident", "inputs": _INCIDENT},
        "no-inputs": {"protocol": "incident"},
    }
    for case, body in bad.items():
        await begun(talk, f"from-bad/{case}", **body)


async def _ends(talk: Talk) -> None:
    """Keep what an interview does in danger, and how reports wait."""
    held = await answered(
        talk, await begun(talk), "held/danger", shown, text="I want to kill myself."
    )
    await answered(talk, held, "held/answered", text="nearly every day")
    place = f"{HERE}/{held['interview_id']}"
    await talk.ask("held/report", "GET", f"{place}/report")
    await talk.ask("held/retry", "POST", f"{place}/retry", show=_MOVED)
    open_one = await begun(talk)
    place = f"{HERE}/{open_one['interview_id']}"
    await talk.ask("open/report", "GET", f"{place}/report")
    await talk.ask("open/report-made", "POST", f"{place}/report")
    await talk.ask("open/retry", "POST", f"{place}/retry", show=_MOVED)
    denied = await answered(talk, open_one, "open/denied", text="I never wanted to hurt myself.")
    past = await answered(talk, denied, "open/past", text="Years ago I tried to kill myself.")
    talk.add("open/past-state", past.get("state"))


async def _not_taken(talk: Talk) -> None:
    """Keep which answers are refused, and that they change nothing."""
    interview = await begun(talk)
    bad: dict[str, dict[str, Any]] = {
        "not-offered": {"option_id": "a9"},
        "empty": {"text": ""},
        "blank": {"text": " \u200b\n"},
        "long": {"text": "no " * 1_500},
        "far-too-long": {"text": "no " * 10_000},
        "neither": {},
        "both": {"option_id": "a1", "text": "never"},
        "other-question": {"option_id": "a1", "question_id": "q7"},
        "other-version": {"option_id": "a1", "version": 99},
        "version-text": {"option_id": "a1", "version": "1"},
        "version-true": {"option_id": "a1", "version": True},
        "version-huge": {"option_id": "a1", "version": 2**60},
        "key-null": {"option_id": "a1", "idempotency_key": None},
        "key-blank": {"option_id": "a1", "idempotency_key": "a b"},
        "key-long": {"option_id": "a1", "idempotency_key": "k" * 129},
        "unknown-field": {"option_id": "a1", "colour": "red"},
        "stop-text": {"stop": "yes"},
        "half-a-character": {"text": "\ud800 never"},
    }
    for case, body in bad.items():
        whole = {"question_id": "q1", "idempotency_key": "k", "version": interview["version"]}
        content = json.dumps({**whole, **body})
        headers = {"Content-Type": "application/json"}
        place = f"{HERE}/{interview['interview_id']}/answers"
        sent: dict[str, Any] = {"content": content, "headers": headers}
        await talk.ask(f"answer-bad/{case}", "POST", place, show=_MOVED, **sent)
    other_one = await begun(talk)
    await answered(talk, other_one, "answer/stop-and-text", stop=True, text="never")
    chosen = {"option_id": "a2", "idempotency_key": "once"}
    first = await answered(talk, interview, **chosen)
    again = await answered(talk, interview, **chosen)
    talk.add("answer/sent-again-is-the-same", first == again)
    other = {"option_id": "a1", "idempotency_key": "once"}
    await answered(talk, interview, "answer/key-of-another", **other)
    for case, path in {"unknown": "x" * 32, "short": "x", "odd": "%2e%2e"}.items():
        await talk.ask(f"nobody/{case}", "GET", f"{HERE}/{path}")
        await talk.ask(f"nobody/{case}-report", "POST", f"{HERE}/{path}/report")


_TARGETS: Final = re.compile(r"^Target ids: (.*)$", re.MULTILINE)
_GOAL: Final = re.compile(r"\bg\d+\b")


def steady_tools() -> Script:
    """Answer each tool by how often it was called before: the order of calls does not matter."""
    called: Counter[str] = Counter()
    confidence: Counter[str] = Counter()

    def script(request: Request) -> Reply:
        if request.task == "danger":
            return Reply(text=danger_text())
        tool = tool_of(request)
        called[tool] += 1
        draw = Random(f"{tool} {called[tool]}")  # noqa: S311  no secret
        prompt = request.messages[-1].content
        targets = _TARGETS.search(prompt)
        brief = Brief(
            open_goals={goal: confidence[goal] for goal in sorted(set(_GOAL.findall(prompt)))},
            targets=tuple(_GOAL.findall(targets[1])) if targets else (),
        )
        arguments = good_reply(tool, draw, brief)
        for update in arguments.get("goal_updates", ()):
            confidence[update["goal_id"]] = update["confidence"]
        return with_arguments(request, arguments)

    return script


async def _by_model(folder: Path, cases: list[Answer]) -> None:
    """Keep an interview about an incident as a whole, held by a scripted model."""
    with model_server(steady_tools()) as (_, named):
        settings = {**named, "INTERVIEW_COMBINED_DIGEST": "true"}
        async with calling(folder, settings) as client:
            given = [*(str(one) for one in _INCIDENT.values())]
            talk = Talk(client=client, name="interviews/incident", given=given, cases=cases)
            start: dict[str, Any] = {"protocol": "incident", "inputs": _INCIDENT}
            interview = await begun(talk, "begun", **start)
            interview = await answered(talk, interview, "first", shown, option_id="a1")
            interview = await answered(talk, interview, "words", text="I was not there then.")
            place = f"{HERE}/{interview['interview_id']}"
            await talk.ask("unfinished", "GET", f"{place}/report", show=shown)
            interview = await answered(talk, interview, "stopped", _SCORED, stop=True)
            await talk.ask("not-made", "GET", f"{place}/report")
            await talk.ask("made", "POST", f"{place}/report")
            await talk.ask("read", "GET", f"{place}/report", show=only("state", "end_reason"))
            low = {**_INCIDENT, "confidence_threshold": 101}
            for case, inputs in {
                "threshold": low,
                "no-title": {key: one for key, one in _INCIDENT.items() if key != "title"},
                "title-number": {**_INCIDENT, "title": 7},
                "title-long": {**_INCIDENT, "title": "x" * 5_000},
                "empty": {**_INCIDENT, "summary": ""},
            }.items():
                await begun(talk, f"inputs/{case}", protocol="incident", inputs=inputs)
            held = await begun(talk, **start)
            await answered(talk, held, "held", _SCORED, text="I want to kill myself.")


async def _faults(folder: Path, cases: list[Answer]) -> None:
    """Keep what is said where the model of an interview fails, and that a retry goes on."""
    good = steady_tools()
    switched = Switched(good)
    with model_server(switched) as (_, named):
        settings = {**named, "INTERVIEW_COMBINED_DIGEST": "true"}
        hurried = {"INTERVIEW_CALL_TIMEOUT_SECONDS": "0.1", "INTERVIEW_TURN_TIMEOUT_SECONDS": "0.2"}
        async with calling(folder, settings) as usual, calling(folder, settings | hurried) as quick:
            for name in ("status_401", "prose", "hang"):
                talk = Talk(client=usual, name=f"interviews/fault/{name}", cases=cases)

                def ask(script: Script, talk: Talk = talk, name: str = name) -> None:
                    """Let the model answer so; nobody waits long for one that does not."""
                    switched.script = script
                    is_late = name == "hang" and script is not good
                    talk.client = quick if is_late else usual

                await _failed(talk, fault(name), good, ask)


async def _failed(talk: Talk, bad: Script, good: Script, ask: Callable[[Script], None]) -> None:
    """Keep each step of an interview where the model fails, and then does not."""
    ask(bad)
    start: dict[str, Any] = {"protocol": "incident", "inputs": _INCIDENT}
    failed = await begun(talk, "begun", **start)
    place = f"{HERE}/{failed['interview_id']}"
    await talk.ask("read", "GET", place, show=_SCORED)
    await talk.ask("retry", "POST", f"{place}/retry")
    ask(good)
    again = await talk.ask("retry-good", "POST", f"{place}/retry", show=_STATE)
    ask(bad)
    await answered(talk, again.json(), "answer", option_id="a1")
    ask(good)
    again = await talk.ask("answer-retry", "POST", f"{place}/retry", show=_STATE)
    await answered(talk, again.json(), stop=True)
    ask(bad)
    await talk.ask("report", "POST", f"{place}/report")


_STATE: Final = only("state", "turn", "failure", "end_reason")


async def _kept(folder: Path, cases: list[Answer]) -> None:
    """Keep what becomes of interviews over restarts, with other protocols, keys, and limits."""
    protocols = folder / "protocols"
    protocols.mkdir(parents=True)
    _write_protocol(protocols, version="1")
    settings = {"INTERVIEW_PROTOCOLS": str(protocols / "handover")}
    with model_server(steady_tools()) as (_, named):
        inputs = {"title": "Night", "summary": "What the night left.", "interviewee_name": "Kim"}
        begin = {"protocol": "handover", "inputs": inputs}
        async with calling(folder, named | settings) as client:
            talk = Talk(client=client, name="interviews/kept", cases=cases)
            own = await begun(talk, "own-protocol", **begin)
            short = {"protocol": "handover", "inputs": {**inputs, "summary": "N"}}
            await begun(talk, "own-rule", **short)
            phq8 = await begun(talk)
        async with calling(folder, named | settings) as client:
            talk = Talk(client=client, name="interviews/restarted", cases=cases, masks=talk.masks)
            again = await client.get(f"{HERE}/{phq8['interview_id']}")
            talk.add("same", again.json() == phq8)
            await answered(talk, phq8, "answered", option_id="a1")
        _write_protocol(protocols, version="2")
        async with calling(folder, named | settings) as client:
            talk = Talk(client=client, name="interviews/changed", cases=cases, masks=talk.masks)
            await talk.ask("read", "GET", f"{HERE}/{own['interview_id']}", show=_MOVED)
            await answered(talk, own, "answered", option_id="a1")
        async with calling(folder, named) as client:
            talk = Talk(client=client, name="interviews/no-protocol", cases=cases, masks=talk.masks)
            await talk.ask("read", "GET", f"{HERE}/{own['interview_id']}", show=_MOVED)
            await answered(talk, own, "answered", option_id="a1")
    async with calling(folder / "full", {"INTERVIEW_MAX_STORED": "1"}) as client:
        talk = Talk(client=client, name="interviews/full", cases=cases)
        await begun(talk)
        await begun(talk, "second")


def _write_protocol(folder: Path, *, version: str) -> None:
    """Copy the protocol of the examples, with another version and one question more."""
    source = Path(__file__).parents[2] / "examples" / "protocol"
    for path in source.rglob("*"):
        target = folder / "handover" / path.relative_to(source)
        if path.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text("utf-8").replace('version: "1"', f'version: "{version}"')
            target.write_text(text, encoding="utf-8")
