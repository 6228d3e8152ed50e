"""The canary: words of transcript and replies are where they belong, and nowhere else.

Every planted phrase holds one made-up word. It is driven through every route and command, good,
failing and half-finished, and then looked for in logs, problems, headers, exceptions and files.
"""

import asyncio
import json
import traceback
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

import httpx
import pytest
import typer
from fastapi.routing import iter_route_contexts

from ai_psychiatrist.agents import extractors
from ai_psychiatrist.agents.quantitative import QuantitativeAssessmentAgent
from ai_psychiatrist.api.app import create_app
from ai_psychiatrist.cli.app import app as command_line
from ai_psychiatrist.config import load_settings
from ai_psychiatrist.domain.errors import AssessmentServiceError
from ai_psychiatrist.infrastructure.logging import ALLOWED_KEYS
from ai_psychiatrist.llm.replies import ReplyRejected, SimpleChatClient
from ai_psychiatrist.services.evidence_validation.settings import QuantitativeSettings
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript
from ai_psychiatrist.services.transcripts.transcript_store import TranscriptStore
from tests.fakes.faults import FAULTS
from tests.fakes.model_server import ModelServer, ModelServerThread, Reply, Script, fault
from tests.fakes.replies import ITEMS, meta_review_text, scoring_text
from tests.fakes.scripted import served_chain
from tests.integration.canary import (
    CANARY,
    INTERVIEW,
    NO_PARTICIPANT,
    SCENARIOS,
    assert_silent,
    broken,
    canary_as_quote,
    canary_as_wrong_type,
)
from tests.integration.command import Finished, Serving, commands_in
from tests.integration.command_here import run_here
from tests.integration.running_app import client_at, model_at
from tests.integration.test_privacy_pages import ROUTES as PAGES

HEADER = "start_time\tstop_time\tspeaker\tvalue\n"
POSTS = ("/full_pipeline", "/assess/quantitative", "/assess/qualitative")
GETS = (
    "/health",
    "/healthz",
    "/readyz",
    "/metrics",
    "/docs",
    "/docs/start.js",
    "/openapi.json",
    "/v1/queue",
    "/v1/agreement",
)
VERSIONED_POSTS = tuple(f"/v1{path}" for path in POSTS)
VERSIONED_GETS = tuple(f"/v1{path}" for path in ("/health", "/healthz", "/readyz", "/metrics"))
INTERVIEWS = {
    "/v1/interviews",
    "/v1/interviews/{interview_id}",
    "/v1/interviews/{interview_id}/answers",
    "/v1/interviews/{interview_id}/reopen",
    "/v1/interviews/{interview_id}/acknowledgements",
    "/v1/interviews/{interview_id}/report",
    "/v1/interviews/{interview_id}/retry",
    "/v1/interviews/{interview_id}/link",
    "/interview",
    "/interview/session",
    "/interview/state",
    "/interview/answers",
}
"""Driven by the tests of the interviews."""
SESSIONS = {"/v1/session"}
"""Driven by the tests of credentials, which look for secrets and made-up ids."""
RECORDS = {
    "/v1/assessments",
    "/v1/assessments/{assessment_id}",
    "/v1/jobs",
    "/v1/jobs/{job_id}",
    "/v1/jobs/{job_id}/events",
    "/v1/batches",
    "/v1/batches/{batch_id}",
    "/v1/assessments/{assessment_id}/transcript",
    "/v1/assessments/{assessment_id}/evidence",
    "/v1/assessments/{assessment_id}/certificate",
    "/v1/assessments/{assessment_id}/acknowledgements",
    "/v1/assessments/{assessment_id}/review",
    "/v1/assessments/{assessment_id}/review/ratings",
    "/v1/assessments/{assessment_id}/review/rows",
    "/v1/assessments/{assessment_id}/review/gold",
    "/v1/subjects/{subject_id}",
}
"""Driven by the tests of stored assessments."""
EXPORTS = {"/v1/export"}
"""Driven by the tests of exports."""
COMMANDS = {
    "assess",
    "pages",
    "serve",
    "worker",
    "schema",
    "settings",
    "keys create",
    "keys list",
    "keys revoke",
    "validate",
    "lint-config",
    "validate-config",
    "revalidate",
    "export",
    "import",
    "pipeline run",
    "evaluate run",
    "evaluate merge",
    "evaluate status",
    "evaluate stop",
    "evaluate erase",
    "evaluate metrics",
    "evaluate belief",
    "evaluate replicate",
    "evaluate report",
    "evaluate compare",
    "evaluate ablate",
    "evaluate runs",
    "evaluate table",
    "evaluate unit",
    "evaluate datasets check",
    "evaluate datasets make",
    "evaluate datasets split",
    "evaluate challenge make",
    "evaluate challenge run",
    "evaluate challenge score",
    "references build",
    "references score",
    "references check",
    "doctor",
    "interview schemas",
    "interview list",
    "interview delete",
    "interview reopen",
    "interview link",
    "verify",
    "records list",
    "records erase",
    "records sweep",
    "records undelete",
    "records backup",
    "records restore",
    "records rotate-key",
    "records export",
    "records import",
    "reviews import",
    "reviews agreement",
    "reviews adjudicate",
    "reviews labels",
    "jobs webhooks",
    "audit show",
    "audit verify",
    "audit head",
}


SERVED: dict[str, Script] = SCENARIOS | {
    "half-finished at the deadline": fault("hang", tasks=["scoring"])
}

Send = Callable[[httpx.Client], httpx.Response]
JSON_TYPE = {"Content-Type": "application/json"}
BAD_REQUESTS: dict[str, Send] = {
    "malformed": lambda client: client.post(
        "/full_pipeline", content=f'{{"transcript_text": "{CANARY}', headers=JSON_TYPE
    ),
    "not JSON": lambda client: client.post(
        "/full_pipeline", content=CANARY, headers={"Content-Type": f"text/{CANARY}"}
    ),
    "extra field": lambda client: client.post(
        "/full_pipeline", json={"transcript_text": INTERVIEW, f"{CANARY}-key": CANARY}
    ),
    "wrong types": lambda client: client.post(
        "/full_pipeline", json={"transcript_text": [CANARY], "participant_id": CANARY}
    ),
    "mode": lambda client: client.post(
        "/full_pipeline", json={"transcript_text": INTERVIEW, "mode": CANARY}
    ),
    "few-shot": lambda client: client.post(
        "/full_pipeline", json={"transcript_text": INTERVIEW, "mode": 1}
    ),
    "both": lambda client: client.post(
        "/full_pipeline", json={"transcript_text": INTERVIEW, "participant_id": 300}
    ),
    "no participant": lambda client: client.post(
        "/full_pipeline", json={"transcript_text": NO_PARTICIPANT}
    ),
    "lone surrogate": lambda client: client.post(
        "/full_pipeline",
        content=f'{{"transcript_text": "{CANARY} \\ud800"}}'.encode(),
        headers=JSON_TYPE,
    ),
    "key twice": lambda client: client.post(
        "/full_pipeline",
        content=f'{{"{CANARY}": "{CANARY}", "{CANARY}": "{CANARY}"}}',
        headers=JSON_TYPE,
    ),
    "too many values": lambda client: client.post(
        "/full_pipeline", content="[" * 60_000 + CANARY, headers=JSON_TYPE
    ),
    "too large": lambda client: client.post(
        "/full_pipeline", json={"transcript_text": CANARY * 100_000}
    ),
    "too long": lambda client: client.post(
        "/full_pipeline", json={"transcript_text": CANARY * 3_000}
    ),
    "stored, unreadable": lambda client: client.post(
        "/full_pipeline", json={"participant_id": 301}
    ),
    "login": lambda client: client.post("/v1/session", json={"key": CANARY}),
    "login by a form": lambda client: client.post("/v1/session", data={"key": CANARY}),
    "no login": lambda client: client.post("/v1/session", json={CANARY: CANARY, "rater": CANARY}),
    "no rater": lambda client: client.post("/v1/session", json={"rater": f"{CANARY}\x00"}),
    "no session": lambda client: client.get(
        "/v1/session", headers={"Cookie": f"aip_session={CANARY}", "X-CSRF-Token": CANARY}
    ),
    "unknown route": lambda client: client.get(f"/{CANARY}"),
    "wrong method": lambda client: client.put("/full_pipeline", content=CANARY),
    "unknown method": lambda client: client.request("PROPFIND", "/full_pipeline"),
}


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    folder = tmp_path / "stored"
    for participant, content in {
        300: f"{HEADER}1\t2\tParticipant\ti am tired every day {CANARY}\n",
        301: f"{CANARY};{CANARY}\n",
    }.items():
        path = folder / f"{participant}_P" / f"{participant}_TRANSCRIPT.csv"
        path.parent.mkdir(parents=True)
        path.write_text(content, encoding="utf-8")
    return folder


def assert_nothing_written(folder: Path) -> None:
    paths = list(folder.rglob("*"))
    assert any(path.name == "digest.key" for path in paths)
    assert_silent(*map(str, paths))
    assert_silent(*(path.read_text("utf-8", "replace") for path in paths if path.is_file()))


def answers(
    client: httpx.Client, models: ModelServerThread, failing_routes: Sequence[str]
) -> Iterator[httpx.Response]:
    """Drive the canary through every route; `failing_routes`: those that meet every failure."""
    for name, script in SERVED.items():
        models.server.script = script
        for route in POSTS if name == "good" else failing_routes:
            yield client.post(route, json={"transcript_text": INTERVIEW})
    for route in VERSIONED_POSTS:
        yield client.post(route, json={"transcript_text": INTERVIEW})
    for route in (*POSTS, *VERSIONED_POSTS):
        yield client.post(route, json={"participant_id": 300})
    for route in (*GETS, *VERSIONED_GETS):
        yield client.get(route, params={"q": CANARY}, headers={"X-Request-ID": CANARY})
    for send in BAD_REQUESTS.values():
        yield send(client)


@pytest.mark.parametrize(
    ("log_format", "failing_routes"), [("json", POSTS), ("console", POSTS[:1])]
)
def test_the_server_keeps_what_was_said_to_itself(
    tmp_path: Path, stored: Path, log_format: str, failing_routes: Sequence[str]
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    told = 0
    with ModelServerThread() as models:
        environment = model_at(models.url) | {
            "LOG_LEVEL": "DEBUG",
            "LOG_FORMAT": log_format,
            "PYDANTIC_AI_RETRIES": "1",
            "FEEDBACK_MAX_ITERATIONS": "1",
            "DATA_TRANSCRIPTS_DIR": str(stored),
            "API_MAX_BODY_BYTES": "100000",
            "API_MAX_TRANSCRIPT_CHARS": "20000",
            "API_REQUEST_TIMEOUT_SECONDS": "0.6",
            "API_CORS_ORIGINS": "https://page.example",
        }
        with Serving(home, environment) as serving:
            with client_at(serving.url) as client:
                for response in answers(client, models, failing_routes):
                    assert response.status_code != 500
                    assert_silent(str(dict(response.headers)))
                    if response.request.method != "POST" or response.is_error:
                        assert_silent(response.text)
                    else:
                        told += CANARY in response.text
            done = serving.stop()
    assert told > len(POSTS) + 2 * len(failing_routes)
    assert_silent(done.out, done.err)
    assert_nothing_written(home)
    if log_format == "json":
        assert_only_allowed_keys(done)


def assert_only_allowed_keys(done: Finished) -> None:
    lines = done.served_lines
    events = {line["event"] for line in lines}
    assert {
        "attempt_finished",
        "assessment_finished",
        "request_finished",
        "evidence_schema_validation_failed",
        "evidence_quote_rejected",
        "evidence_grounding_complete",
        "failure_recorded",
    } <= events
    assert not {"unnamed_event", "library_log", "request_failed", "part_failed"} & events
    for line in lines:
        assert set(line) <= ALLOWED_KEYS
        assert "dropped_keys" not in line, line["event"]


def test_every_route_is_driven() -> None:
    """A new route has to be added to the canary."""
    app = create_app(load_settings({}, None))
    paths = {
        (route.path or "").replace("/docs/{name}", "/docs/start.js")
        for route in iter_route_contexts(app.routes)
    }
    assert paths == {
        *POSTS,
        *GETS,
        *VERSIONED_POSTS,
        *VERSIONED_GETS,
        *INTERVIEWS,
        *RECORDS,
        *EXPORTS,
        *SESSIONS,
        *PAGES,
    }


def test_every_command_is_driven() -> None:
    """A new command has to be added to the canary, here or in another file of tests."""
    assert set(commands_of(typer.main.get_command(command_line))) == COMMANDS


def commands_of(command: object, *names: str) -> Iterator[str]:
    """Yield the commands below a group, each with the groups that lead to it."""
    inner = commands_in(command)
    if not inner:
        yield " ".join(names)
        return
    for name, one in inner.items():
        yield from commands_of(one, *names, name)


@pytest.mark.parametrize(
    ("log_format", "script", "code"),
    [
        pytest.param("console", canary_as_quote, 1, id="nothing grounded"),
        pytest.param("json", FAULTS["status_500"], 3, id="failing"),
    ],
)
def test_assess_tells_standard_output_alone(
    tmp_path: Path, log_format: str, script: Script, code: int
) -> None:
    with ModelServerThread(script) as models:
        settings = model_at(models.url) | {"LOG_LEVEL": "DEBUG", "LOG_FORMAT": log_format}
        done = run_here(["assess", "-"], tmp_path, settings, stdin=INTERVIEW.encode())
    assert done.code == code
    assert (CANARY in done.out) == (code == 1)
    assert "attempt_finished" in done.err
    assert_silent(done.err)
    assert_nothing_written(tmp_path)


@pytest.mark.parametrize(
    "stdin",
    [
        pytest.param(NO_PARTICIPANT.encode(), id="no participant"),
        pytest.param(f"Participant: {CANARY} ".encode() + b"\x81\x8d", id="no text"),
        pytest.param(f'[{{"{CANARY}": 1'.encode(), id="broken JSON"),
        pytest.param(f"start_time,text\n1,{CANARY}\n2\n".encode(), id="broken table"),
        pytest.param(f"WEBVTT\n\n00:01.000 --> 00:02.000\n{CANARY}\n".encode(), id="nobody named"),
        pytest.param(f"Anna: {CANARY}\nTom: {CANARY}\n".encode(), id="unknown labels"),
    ],
)
def test_unusable_input_is_not_repeated(tmp_path: Path, stdin: bytes) -> None:
    done = run_here(["assess", "-"], tmp_path, {"LOG_LEVEL": "DEBUG"}, stdin=stdin)
    assert done.code == 2
    assert_silent(done.out, done.err)


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "MODEL_TEMPERATURE", "OPENAI_API_KEYS"])
def test_values_of_settings_are_not_repeated(tmp_path: Path, name: str) -> None:
    done = run_here(["settings"], tmp_path, {name: CANARY})
    assert_silent(done.out, done.err)
    with pytest.raises(AssessmentServiceError) as raised:
        load_settings({"OPENAI_API_KEYS": CANARY, "MODEL_TEMPERATURE": CANARY}, None)
    assert_exception_silent(raised.value)


def assert_exception_silent(error: BaseException) -> None:
    shown = "".join(traceback.format_exception(error))
    assert_silent(str(error), repr(error), repr(error.args), repr(vars(error)), shown)


EXTRACTIONS: dict[str, tuple[Callable[[str], object], str]] = {
    "evidence of the wrong type": (
        extractors.extract_evidence,
        json.dumps(dict.fromkeys(ITEMS, CANARY)),
    ),
    "evidence as a list": (extractors.extract_evidence, json.dumps([CANARY])),
    "evidence twice": (
        extractors.extract_evidence,
        f'{{"{CANARY}": 1, "{CANARY}": ["{CANARY}"]}}',
    ),
    "broken evidence": (extractors.extract_evidence, f'{{"{CANARY}": ["{CANARY}" {CANARY}'),
    "unrepairable evidence": (
        extractors.extract_evidence,
        f'{{"{CANARY}": {CANARY} + "{CANARY}"}}',
    ),
    "no scores": (extractors.extract_quantitative, f'{{"{CANARY}": "{CANARY}"}}'),
    "wrong score": (
        extractors.extract_quantitative,
        scoring_text({item: {"score": CANARY, "reason": CANARY} for item in ITEMS}),
    ),
    "wrong evidence of a score": (
        extractors.extract_quantitative,
        scoring_text({item: {"score": 1, "evidence": {CANARY: 1}} for item in ITEMS}),
    ),
    "no narrative": (extractors.extract_qualitative, f"<{CANARY}>{CANARY}</{CANARY}>"),
    "narrative cut off": (extractors.extract_qualitative, f"<assessment>{CANARY}"),
    "no judgement": (extractors.extract_judge_metric, CANARY),
    "wrong judgement": (extractors.extract_judge_metric, f"Explanation: {CANARY}\nScore: 9"),
    "wrong severity": (
        extractors.extract_meta_review,
        meta_review_text(CANARY, CANARY),
    ),
}


@pytest.mark.parametrize("case", EXTRACTIONS)
def test_rejections_of_replies_do_not_repeat_them(case: str) -> None:
    extract, reply = EXTRACTIONS[case]
    with pytest.raises(ReplyRejected) as raised:
        extract(reply)
    assert_exception_silent(raised.value)


def test_errors_of_stored_transcripts_do_not_repeat_them(stored: Path) -> None:
    file = asyncio.run(TranscriptStore(stored).read(301))
    with pytest.raises(AssessmentServiceError) as raised:
        read_transcript(file.content, name=file.name)
    assert_exception_silent(raised.value)


@pytest.mark.parametrize(
    "text", [NO_PARTICIPANT, f"{CANARY} \ud800"], ids=["no participant", "surrogate"]
)
def test_errors_of_transcripts_do_not_repeat_them(text: str) -> None:
    with pytest.raises(AssessmentServiceError) as raised:
        parse_transcript(text)
    assert_exception_silent(raised.value)


AGENT_FAILURES: dict[str, Script] = {
    "wrong schema": canary_as_wrong_type,
    "nothing grounded": canary_as_quote,
    "an echo with 500": FAULTS["status_500"],
    "an echo with 400": FAULTS["status_400"],
    "a page": broken(),
    "prose": lambda _: Reply(text=CANARY),
}


def asked(script: Script, ask: Callable[[SimpleChatClient], Awaitable[object]]) -> object:
    async def answered() -> object:
        async with ModelServer(script) as server, served_chain(server.url) as (route,):
            assert route.chat is not None
            return await ask(route.chat)

    return asyncio.run(answered())


@pytest.mark.parametrize("case", AGENT_FAILURES)
def test_what_agents_raise_does_not_repeat_what_was_said(case: str) -> None:
    strict = QuantitativeSettings(evidence_quote_fail_on_all_rejected=True)

    async def extract(chat: SimpleChatClient) -> object:
        agent = QuantitativeAssessmentAgent(chat, settings=strict)
        return await agent._extract_evidence(INTERVIEW, participant_id=None)

    with pytest.raises(AssessmentServiceError) as raised:
        asked(AGENT_FAILURES[case], extract)
    assert_exception_silent(raised.value)


@pytest.mark.parametrize("case", ["an echo with 500", "an echo with 400", "a page"])
def test_what_chat_clients_raise_does_not_repeat_the_prompt(case: str) -> None:
    with pytest.raises(AssessmentServiceError) as raised:
        asked(AGENT_FAILURES[case], lambda chat: chat.simple_chat(INTERVIEW))
    assert_exception_silent(raised.value)
