"""Assess over HTTP: the real server, and a fake model server that answers with anything."""

import io
import json
import time
from collections.abc import Iterable
from contextlib import redirect_stderr
from dataclasses import replace
from pathlib import Path
from random import Random

import httpx

from tests.fakes.exchange import Drip, Reply, Request
from tests.fakes.model_server import ModelServerThread
from tests.fakes.wires import encode_json, encode_reply
from tests.fuzz.campaign import Plan, plan_for
from tests.fuzz.hostile import CANARY
from tests.fuzz.invariants import InvariantBroken, Observed, check
from tests.fuzz.models import Session
from tests.fuzz.replies import FuzzReply
from tests.fuzz.tally import Tally
from tests.integration.running_app import RunningApp, client_at, model_at, settings_with
from tests.integration.soundness import Json

_DEADLINE_SECONDS = 3.0
_MAX_CALLS = 60
_SETTINGS = {
    "PYDANTIC_AI_RETRIES": "1",
    "PYDANTIC_AI_TIMEOUT_SECONDS": "0.3",
    "FEEDBACK_MAX_ITERATIONS": "1",
    "MODEL_FALLBACKS": "ollama:fake-model",
    "MODEL_MAX_REPLY_BYTES": "200000",
    "MODEL_MAX_CALLS": str(_MAX_CALLS),
    "API_REQUEST_TIMEOUT_SECONDS": str(_DEADLINE_SECONDS),
    "LOG_LEVEL": "DEBUG",
    "LOG_FORMAT": "json",
}
_ROUTES = {
    "full": "/full_pipeline",
    "quantitative": "/assess/quantitative",
    "qualitative": "/assess/qualitative",
}
_STATUSES = (204, 301, 307, 400, 401, 404, 413, 422, 429, 500, 502, 503)
_HANG_SHARE = 0.01
_ODD_DELIVERY_SHARE = 0.1


class Replying:
    """Answers the calls of one assessment after the other, over either wire."""

    def __init__(self) -> None:
        self.session = Session(seed=0, hostility=0.0)

    def __call__(self, request: Request) -> Reply:
        """Draw a reply and the way in which it is delivered."""
        prompt = next(one.content for one in request.messages if one.role == "user")
        caller = f"{request.wire}/{len(request.messages) > 2}"
        draw, drawn = self.session.answer(caller, prompt)
        reply = Reply(raw_body=_body(request, drawn), finish_reason=drawn.finish)
        if drawn.form == "error":
            return _failing(draw, reply, self.session)
        if draw.random() < _ODD_DELIVERY_SHARE * self.session.hostility:
            return _oddly_delivered(draw, reply, self.session)
        return reply


def _body(request: Request, drawn: FuzzReply) -> bytes:
    """Write the envelope of the wire around a text that UTF-8 may not be able to carry."""
    body: Json = json.loads(encode_reply(request, Reply(text="", finish_reason=drawn.finish)))
    choice = body["choices"][0] if request.wire == "openai" else body
    message: Json = choice["message"]
    message["content"] = drawn.text
    match drawn.form:
        case "nothing":
            choice.pop("message")
        case "null":
            message["content"] = None
        case "thought" | "thought_alone":
            message["reasoning_content"] = message["thinking"] = f"{CANARY} {drawn.text}"
            message["content"] = drawn.text if drawn.form == "thought" else ""
        case "parts":
            message["content"] = [{"type": "text", "text": drawn.text}]
        case "tool_call" | "tool_call_and_text":
            called = {"name": CANARY, "arguments": drawn.text}
            message["tool_calls"] = [{"id": CANARY, "type": "function", "function": called}]
    if "usage" in body:
        body["usage"] = dict.fromkeys(body["usage"], drawn.tokens)
    else:
        body["prompt_eval_count"] = body["eval_count"] = drawn.tokens
    body["model"] = body["id"] = body["system_fingerprint"] = CANARY
    return json.dumps(body).encode()


def _failing(draw: Random, reply: Reply, session: Session) -> Reply:
    session.kinds["http: a failing server"] += 1
    match draw.randrange(4):
        case 0:
            return replace(reply, reset=True)
        case 1:
            return replace(reply, raw_body=_junk(draw))
        case _:
            headers = {"Location": f"http://127.0.0.1:9/{CANARY}", "Retry-After": "9" * 30}
            status = draw.choice(_STATUSES)
            return replace(reply, status=status, raw_body=_junk(draw), headers=headers)


def _oddly_delivered(draw: Random, reply: Reply, session: Session) -> Reply:
    if draw.random() < _HANG_SHARE / _ODD_DELIVERY_SHARE:
        session.kinds["http: hang"] += 1
        return replace(reply, hang=True)
    body = reply.raw_body or b""
    match draw.randrange(4):
        case 0:
            session.kinds["http: slow drip"] += 1
            return replace(reply, drip=Drip(chunk_bytes=len(body) // 3 + 1, seconds=0.02))
        case 1:
            session.kinds["http: reset in mid-body"] += 1
            return replace(reply, reset=True)
        case 2:
            session.kinds["http: half a body"] += 1
            return replace(reply, raw_body=body[: len(body) // 2])
        case _:
            session.kinds["http: wrong encoding"] += 1
            header = draw.choice(("gzip", "br", "deflate", CANARY))
            return replace(reply, headers={"Content-Encoding": header})


def _junk(draw: Random) -> bytes:
    numbers = [True, [], {}, None, "9" * 50, -1]
    return draw.choice(
        (
            b"",
            b"null",
            b"[]",
            b"\xff\xfe\x00" + CANARY.encode(),
            b"[" * 100_000,
            b"9" * 10_000,
            f"<html>{CANARY}</html>".encode(),
            draw.randbytes(200),
            encode_json({"choices": draw.choice(numbers), "message": draw.choice(numbers)}),
            encode_json({"choices": [draw.choice(numbers)], "message": {"content": 3}}),
            encode_json({"choices": [{"message": draw.choice(numbers), "finish_reason": []}]}),
            encode_json({"error": {"message": f"{CANARY} context length", "code": CANARY}}),
        )
    )


def run_over_http(seeds: Iterable[int], state_dir: Path) -> Tally:
    """Assess these seeds over HTTP; raises `InvariantBroken`."""
    tally, log, replying = Tally(), io.StringIO(), Replying()
    with redirect_stderr(log), ModelServerThread(replying) as models:
        ollama = {"OLLAMA_HOST": models.url}
        settings = settings_with(state_dir, **{**_SETTINGS, **model_at(models.url), **ollama})
        with RunningApp(settings) as app, client_at(app.url) as client:
            for seed in seeds:
                plan = plan_for(seed)
                replying.session = Session(seed=seed, hostility=plan.hostility)
                log.seek(0)
                log.truncate()
                _assess(plan, client, replying.session, log, tally)
    return tally


def _assess(
    plan: Plan, client: httpx.Client, session: Session, log: io.StringIO, tally: Tally
) -> None:
    started = time.perf_counter()
    try:
        response = client.post(_ROUTES[plan.route], json={"transcript_text": plan.interview.text})
    except httpx.HTTPError as error:
        raise InvariantBroken(plan.seed, "an_answer_comes", type(error).__name__) from error
    seconds = time.perf_counter() - started
    observed = Observed(
        interview=plan.interview,
        status=response.status_code,
        result=response.text if response.is_success else None,
        problem=None if response.is_success else response.text,
        report=None,
        replies=session.texts,
        calls=session.call_count,
        max_calls=_MAX_CALLS,
        log=log.getvalue(),
        seconds=seconds,
        deadline_seconds=_DEADLINE_SECONDS,
    )
    tally.add_result(observed.status, check(plan.seed, observed))
    tally.seconds = max(tally.seconds, seconds)
    tally.count("route", f"http: {plan.route}")
    for kind, number in session.kinds.items():
        tally.count("reply", kind, number)
