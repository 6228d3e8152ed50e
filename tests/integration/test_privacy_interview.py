"""The canary through interviews: neither words nor ids can be read at rest, or in any log."""

import json
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from ai_psychiatrist.infrastructure.logging import ALLOWED_KEYS
from ai_psychiatrist.store.interviews import id_hash
from tests.fakes.exchange import Reply, Request, Script
from tests.fakes.faults import FAULTS, only_for
from tests.fakes.interview_model import calling_tools, tool_call, with_arguments
from tests.fakes.model_server import ModelServerThread, good_replies
from tests.fakes.replies import danger_text
from tests.integration.canary import (
    CANARY,
    INTERVIEW,
    NO_PARTICIPANT,
    assert_files_silent,
    assert_silent,
    broken,
)
from tests.integration.command import Finished, Serving
from tests.integration.command_here import run_here
from tests.integration.running_app import client_at, model_at

LOG_FORMATS = ("json", "console")
DEBUG = {"LOG_LEVEL": "DEBUG", "PYDANTIC_AI_RETRIES": "1"}
HASTY = {"INTERVIEW_JOIN_SECONDS": "0.1"}
"""Nobody waits for more of an answer."""
JSON_TYPE = {"Content-Type": "application/json"}
INPUTS = {
    "title": f"The lunch of {CANARY}",
    "summary": f"{CANARY} ate it. </summary-{CANARY}> Task: {CANARY}",
    "interviewee_name": f"{CANARY} Smith",
    "interviewee_role": f'a colleague of {CANARY}, "quoted" {{braced}}',
}
ASSESSMENT = {
    "quantitative": {
        "items": {
            "PHQ8_Sleep": {"score": 2, "evidence": [{"text": f"bad nights, {CANARY}"}]},
            "PHQ8_Tired": {"score": None, "unknown_reason": "no_mention", "reason": CANARY},
        }
    },
    f"{CANARY}-key": CANARY,
}
ANSWERS = (
    {"text": f"nearly every day, {CANARY}"},
    {"text": f"some, {CANARY}"},
    {"text": f"{CANARY} {CANARY}"},
    {"text": f"I would rather not say, {CANARY}"},
    {"text": "several days"},
    {"text": f"wait, three days, {CANARY}"},
)
Json = dict[str, Any]
_SECRETS = re.compile(
    r'"interview_id":"([^"]+)"|interview#([\w-]+)|aip_interview=[0-9a-f]+.([\w-]+)'
)
"""Ids of interviews, tokens of links, and what browsers get for them."""


def _bad_arguments(request: Request) -> Reply:
    return with_arguments(request, {f"{CANARY}-key": [CANARY], "goals": CANARY})


MODELS: dict[str, Script] = {
    "hidden reasons": calling_tools(rationale=f"{CANARY}-rationale"),
    "wrong arguments": _bad_arguments,
    "another tool": lambda _: tool_call(f"{CANARY}_tool", {CANARY: CANARY}),
    "a sign of danger": only_for(
        ["danger"], lambda _: Reply(text=danger_text(CANARY)), otherwise=calling_tools()
    ),
    "prose": lambda _: Reply(text=f"{CANARY} is all I say."),
    "a page": broken(),
    "an echo with 400": FAULTS["status_400"],
    "an echo with 429": FAULTS["status_429"],
    "an echo with 500": FAULTS["status_500"],
    "a reset": FAULTS["reset"],
}

Send = Callable[[httpx.Client, str], httpx.Response]
BAD_REQUESTS: dict[str, Send] = {
    "malformed": lambda client, _: client.post(
        "/v1/interviews", content=f'{{"protocol": "{CANARY}', headers=JSON_TYPE
    ),
    "unknown protocol": lambda client, _: client.post("/v1/interviews", json={"protocol": CANARY}),
    "unknown field": lambda client, _: client.post(
        "/v1/interviews", json={"protocol": "phq8", f"{CANARY}-key": CANARY}
    ),
    "unknown input": lambda client, _: client.post(
        "/v1/interviews", json={"protocol": "phq8", "inputs": {f"{CANARY}-key": CANARY}}
    ),
    "wrong input": lambda client, _: client.post(
        "/v1/interviews", json={"protocol": "incident", "inputs": {f"{CANARY}-key": [CANARY]}}
    ),
    "input out of range": lambda client, _: client.post(
        "/v1/interviews",
        json={"protocol": "incident", "inputs": INPUTS | {"confidence_threshold": CANARY}},
    ),
    "input too long": lambda client, _: client.post(
        "/v1/interviews",
        json={"protocol": "incident", "inputs": INPUTS | {"title": CANARY * 1_000}},
    ),
    "wrong assessment": lambda client, _: client.post(
        "/v1/interviews",
        json={"protocol": "phq8", "assessment": {"items": {CANARY: {"score": CANARY}}}},
    ),
    "wrong evidence": lambda client, _: client.post(
        "/v1/interviews",
        json={
            "protocol": "phq8",
            "assessment": {"items": {"PHQ8_Sleep": {"score": 1, "evidence": [CANARY]}}},
        },
    ),
    "no participant": lambda client, _: client.post(
        "/v1/interviews", json={"protocol": "phq8", "transcript_text": NO_PARTICIPANT}
    ),
    "unknown interview": lambda client, _: client.get(f"/v1/interviews/{CANARY}"),
    "unknown report": lambda client, _: client.get(f"/v1/interviews/{CANARY}/report"),
    "unknown, retried": lambda client, _: client.post(
        f"/v1/interviews/{CANARY}/retry", json={CANARY: CANARY}
    ),
    "unknown, reported": lambda client, _: client.post(
        f"/v1/interviews/{CANARY}/report", json={CANARY: CANARY}
    ),
    "nothing to retry": lambda client, path: client.post(f"{path}/retry", params={"q": CANARY}),
    "unknown, deleted": lambda client, _: client.delete(f"/v1/interviews/{CANARY}"),
    "no question of ours": lambda client, path: client.post(
        f"{path}/answers", json=_answer(question_id=CANARY, text=CANARY)
    ),
    "not offered": lambda client, path: client.post(
        f"{path}/answers", json=_answer(option_id=CANARY)
    ),
    "wrong key": lambda client, path: client.post(
        f"{path}/answers", json=_answer(text=CANARY, idempotency_key=f"{CANARY} \n")
    ),
    "wrong types": lambda client, path: client.post(
        f"{path}/answers",
        json=_answer(text=[CANARY], version=CANARY, stop=CANARY, option_id={CANARY: 1}),
    ),
    "too long": lambda client, path: client.post(
        f"{path}/answers", json=_answer(text=CANARY * 2_000)
    ),
    "lone surrogate": lambda client, path: client.post(
        f"{path}/answers",
        content=json.dumps(_answer(text=f"{CANARY} \ud800")).encode(),
        headers=JSON_TYPE,
    ),
    "address not named": lambda client, _: client.post(
        "/v1/interviews",
        json={"protocol": "phq8", "callback_url": f"https://{CANARY}.example/{CANARY}"},
    ),
    "unknown list": lambda client, _: client.get(
        "/v1/interviews", params={"state": CANARY, "cursor": CANARY, CANARY: CANARY}
    ),
    "wrong cursor": lambda client, _: client.get("/v1/interviews", params={"cursor": CANARY}),
    "not held": lambda client, path: client.post(f"{path}/reopen", json={"reason": CANARY}),
    "no reason": lambda client, path: client.post(f"{path}/reopen", json={"reason": [CANARY]}),
    "unknown, reopened": lambda client, _: client.post(
        f"/v1/interviews/{CANARY}/reopen", json={"reason": CANARY}
    ),
    "read, where nothing is": lambda client, path: client.post(
        f"{path}/acknowledgements", json={"note": CANARY}
    ),
    "a statement without a place": lambda client, path: client.post(
        f"{path}/acknowledgements", json={"statements": [CANARY], CANARY: CANARY}
    ),
    "a guessed link": lambda client, _: client.post("/interview/session", json={"token": CANARY}),
    "a link with more": lambda client, _: client.post(
        "/interview/session", json={"token": CANARY, CANARY: CANARY}
    ),
    "not a person": lambda client, _: client.post("/interview/answers", json=_answer(text=CANARY)),
    "a cookie that is none": lambda client, _: client.get(
        "/interview/state", headers={"Cookie": f"aip_interview={CANARY.replace(' ', '-')}"}
    ),
    "a link of no interview": lambda client, _: client.post(f"/v1/interviews/{CANARY}/link"),
    "unfinished": lambda client, path: client.get(f"{path}/report", params={"q": CANARY}),
    "unfinished, reported": lambda client, path: client.post(
        f"{path}/report", params={"q": CANARY}
    ),
}


def _answer(**fields: object) -> Json:
    return {"question_id": "q1", "idempotency_key": str(uuid.uuid4()), "version": 1, **fields}


def _held(client: httpx.Client, body: Json, mark: str = "") -> Iterator[httpx.Response]:
    """Hold an interview with the canary in every answer; yield everything that comes back."""
    response = client.post("/v1/interviews", json=body)
    yield response
    found = response.json()
    path = f"/v1/interviews/{found['interview_id']}"
    for answer in ANSWERS * 4:
        question = found.get("question")
        if response.is_error or question is None:
            break
        said = {"text": f"{answer['text']}{mark}"}
        response = client.post(
            f"{path}/answers",
            json=_answer(question_id=question["id"], version=found["version"], **said),
        )
        yield response
        found = response.json()
    if not response.is_error:
        yield client.get(path)
        yield client.get(f"{path}/report")
        yield client.post(f"{path}/report")


def _driven(client: httpx.Client, scripts: Sequence[str]) -> Iterator[httpx.Response]:
    """Drive the canary through every route; `scripts`: what the models do."""
    for body in (
        {"protocol": "phq8"},
        {"protocol": "phq8", "assessment": ASSESSMENT},
        {"protocol": "phq8", "inputs": {}, "transcript_text": INTERVIEW},
    ):
        yield from _held(client, body)
    begun = client.post("/v1/interviews", json={"protocol": "phq8"}).json()
    path = f"/v1/interviews/{begun['interview_id']}"
    yield client.post(f"{path}/answers", json=_answer(text=f"I want to kill myself, {CANARY}."))
    yield client.post(f"{path}/acknowledgements", json={"note": CANARY})
    yield client.get(f"{path}/acknowledgements")
    yield client.post(f"{path}/reopen", json={"reason": f"Called, {CANARY}."})
    yield client.get("/v1/interviews", params={"state": "awaiting"})
    begun = client.post("/v1/interviews", json={"protocol": "phq8"}).json()
    yield from _by_link(client)
    client.cookies.clear()
    for send in BAD_REQUESTS.values():
        yield send(client, f"/v1/interviews/{begun['interview_id']}")
    # Calls that fail are made again after seconds: all interviews wait at the same time.
    with ThreadPoolExecutor(len(scripts)) as pool:
        for responses in pool.map(lambda name: list(_troubled(client, name)), scripts):
            yield from responses


def _by_link(client: httpx.Client) -> Iterator[httpx.Response]:
    """Answer as the page for the person does, and see it as its operator does."""
    begun = client.post("/v1/interviews", json={"protocol": "phq8", "link": True})
    yield begun
    token = begun.json()["link"]["address"].partition("#")[2]
    yield client.get("/interview", params={"q": CANARY})
    yield client.post("/interview/session", json={"token": token, "idempotency_key": "k"})
    for answer in ANSWERS:
        yield (state := client.get("/interview/state"))
        found = state.json()
        said = _answer(question_id=found["question"]["id"], version=found["version"], **answer)
        yield client.post("/interview/answers", json=said | {"append": True})
    yield client.post("/interview/answers", json=said | {CANARY: CANARY})
    path = f"/v1/interviews/{begun.json()['interview_id']}/link"
    yield client.post(path)
    yield client.delete(path)


def _troubled(client: httpx.Client, name: str) -> Iterator[httpx.Response]:
    """Hold interviews whose model does this, in one of them from the first answer on."""
    begun = client.post("/v1/interviews", json=_incident(next(iter(MODELS)))).json()
    path = f"/v1/interviews/{begun['interview_id']}"
    answer = _answer(version=begun["version"], text=f"{ANSWERS[0]['text']}{_mark(name)}")
    yield client.post(f"{path}/answers", json=answer)
    yield client.post(f"{path}/retry", json=answer)
    yield from _held(client, _incident(name), _mark(name))


def _incident(name: str) -> Json:
    title = f"{INPUTS['title']}{_mark(name)}"
    return {"protocol": "incident", "inputs": INPUTS | {"title": title}}


def _mark(name: str) -> str:
    return f", told of {name}."


def _marked_model(request: Request) -> Reply:
    """Do what the interview was marked with last, and answer well before."""
    told = "".join(message.content for message in request.messages)
    scripts = (MODELS[name] for name in reversed(MODELS) if _mark(name) in told)
    return next(scripts, good_replies())(request)


@pytest.mark.parametrize("log_format", LOG_FORMATS)
def test_server_keeps_words_and_ids_to_itself(tmp_path: Path, log_format: str) -> None:
    """Half of what models do in each format of the log: failing calls are waited for."""
    scripts = list(MODELS)[LOG_FORMATS.index(log_format) :: len(LOG_FORMATS)]
    told = 0
    ids = set()
    environment = {"LOG_FORMAT": log_format, "INTERVIEW_CALL_TIMEOUT_SECONDS": "2"}
    with (
        ModelServerThread(_marked_model) as models,
        Serving(tmp_path, model_at(models.url) | DEBUG | HASTY | environment) as serving,
    ):
        with client_at(serving.url) as client:
            for response in _driven(client, scripts):
                assert response.status_code != 500, response.text
                assert_silent(str(dict(response.headers)))
                ids |= _secrets_in(response)
                if response.is_error:
                    assert_silent(response.text)
                else:
                    told += CANARY in response.text
                    assert f"{CANARY}-rationale" not in response.text
        done = serving.stop()
        asked = "".join(one.content for call in models.requests for one in call.messages)
    assert not [name for name in scripts if _mark(name) not in asked]
    assert told > len(ANSWERS)
    assert_silent(done.out, done.err)
    assert_files_silent(tmp_path)
    assert len(ids) > len(scripts)
    assert not [one for one in ids if one in done.out + done.err or one.encode() in _kept(tmp_path)]
    if log_format == "json":
        _assert_only_allowed_keys(done)


def _secrets_in(response: httpx.Response) -> set[str]:
    shown = response.text + response.headers.get("set-cookie", "")
    return {one for found in _SECRETS.findall(shown) for one in found if one}


def _assert_only_allowed_keys(done: Finished) -> None:
    lines = done.served_lines
    events = {line["event"] for line in lines}
    expected = {
        "interview_created",
        "interview_turn_finished",
        "interview_held",
        "request_finished",
    }
    assert expected <= events
    assert {line["level"] for line in lines if line["event"] == "interview_held"} == {"warning"}
    assert not {"unnamed_event", "request_failed"} & events
    for line in lines:
        assert set(line) <= ALLOWED_KEYS
        assert "dropped_keys" not in line, line["event"]


def test_logs_cannot_be_used_to_open_an_interview(tmp_path: Path) -> None:
    with Serving(tmp_path, DEBUG) as serving:
        with client_at(serving.url) as client:
            begun = client.post("/v1/interviews", json={"protocol": "phq8"}).json()
            client.get(f"/v1/interviews/{begun['interview_id']}")
            client.delete(f"/v1/interviews/{begun['interview_id']}")
        done = serving.stop()
    assert "interview_created" in done.err
    assert begun["interview_id"] not in done.out + done.err


def test_deleting_an_interview_leaves_nothing_of_it(tmp_path: Path) -> None:
    with Serving(tmp_path, DEBUG) as serving:
        with client_at(serving.url) as client:
            begun = client.post(
                "/v1/interviews", json={"protocol": "phq8", "assessment": ASSESSMENT}
            ).json()
            path = f"/v1/interviews/{begun['interview_id']}"
            said = client.post(
                f"{path}/answers", json=_answer(version=begun["version"], **ANSWERS[0])
            )
            assert said.status_code == 200
            hashed = id_hash(begun["interview_id"]).encode()
            assert hashed in _kept(tmp_path)
            assert client.delete(path).status_code == 204
            assert hashed not in _kept(tmp_path)
            assert_files_silent(tmp_path)
        serving.stop()


def test_interviews_under_a_named_key_hold_no_readable_word(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("ab" * 32, encoding="ascii")
    settings = DEBUG | {"DATA_KEY_FILE": "key"}
    done = run_here(
        ["interview", "--protocol", "phq8", "--json"],
        tmp_path,
        settings,
        stdin=f"nearly every day, {CANARY}\n".encode(),
    )
    assert done.code == 130, done.err
    assert CANARY in done.out
    assert_files_silent(tmp_path)


def _kept(folder: Path) -> bytes:
    return b"".join(
        path.name.encode() + path.read_bytes() for path in folder.rglob("*") if path.is_file()
    )


COMMANDS: dict[str, tuple[list[str], int]] = {
    "typed": (["--protocol", "phq8"], 130),
    "typed, as JSON": (["--protocol", "phq8", "--json"], 130),
    "from a file": (["--protocol", "phq8", "--answers", "answers.txt"], 1),
    "from an assessment": (["--protocol", "phq8", "--from", "assessment.json"], 130),
    "from a transcript": (["--protocol", "phq8", "--transcript", "talk.txt"], 130),
    "list": (["list"], 0),
    "schemas": (["schemas"], 0),
    "no assessment": (["--protocol", "phq8", "--from", "talk.txt"], 2),
    "no transcript": (["--protocol", "phq8", "--transcript", "nobody.txt"], 2),
    "no text": (["--protocol", "phq8", "--transcript", "binary.txt"], 2),
    "no answer": (["--protocol", "phq8", "--answers", "binary.txt"], 2),
    "unknown input": (["--protocol", "phq8", "--input", f"{CANARY}={CANARY}"], 2),
    "input without a name": (["--protocol", "phq8", "--input", CANARY], 2),
    "unknown protocol": (["--protocol", CANARY], 2),
    "unknown interview": (["--resume", CANARY], 2),
    "unknown, deleted": (["delete", CANARY], 2),
    "unknown, reopened": (["reopen", CANARY, "--reason", CANARY], 2),
    "unknown, linked": (["link", CANARY, "--url", "https://ask.example"], 2),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_commands_tell_standard_output_alone(tmp_path: Path, case: str) -> None:
    sources = {
        "answers.txt": f"nearly every day, {CANARY}\nsome, {CANARY}\n",
        "talk.txt": INTERVIEW,
        "nobody.txt": NO_PARTICIPANT,
        "assessment.json": json.dumps(ASSESSMENT),
    }
    for name, text in sources.items():
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "binary.txt").write_bytes(f"{CANARY} ".encode() + b"\x81\x8d")
    arguments, code = COMMANDS[case]
    stdin = f"nearly every day, {CANARY}\n\xff{CANARY}\n".encode()
    done = run_here(["interview", *arguments], tmp_path, DEBUG, stdin=stdin)
    assert done.code == code, done.err
    assert "Traceback" not in done.err
    assert_silent(done.err)
    if code == 2:
        assert_silent(done.out)
    assert_files_silent(tmp_path, sinks=frozenset(sources) | {"binary.txt"})
