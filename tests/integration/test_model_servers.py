"""What model servers do: each row of the table in docs/start.md, over a real socket."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from ai_psychiatrist.domain.narrative import Metric
from tests.fakes.exchange import Reply, Request, Script
from tests.fakes.faults import first_attempts
from tests.fakes.model_server import ModelServerThread
from tests.fakes.replies import good_replies
from tests.fakes.schema_replies import conforming
from tests.fakes.wires import encode_json
from tests.integration.command import Finished
from tests.integration.command_here import run_here
from tests.integration.running_app import model_at

INTERVIEW: Final = b"Participant: I feel tired nearly every day, and I sleep badly every night.\n"
GOOD: Final = good_replies()
ERROR: Final = "error"


def assess(folder: Path, script: Script, wire: str = "openai", **settings: str) -> Finished:
    with ModelServerThread(script) as models:
        environment = model_at(models.url, wire) | {"READER_ENABLED": "false"} | settings
        done = run_here(["assess", "-", "--json"], folder, environment, stdin=INTERVIEW)
    return Finished(code=done.code, out=done.out, err=done.err.replace(models.url, "URL"))


def codes(done: Finished) -> list[str]:
    return [one["code"] for one in json.loads(done.out)["attempts"] if one["code"]]


def in_envelope(change: Callable[[dict[str, Any]], object]) -> Script:
    """Answer well, in an envelope that a server has changed."""

    def script(request: Request) -> Reply:
        message = {"role": "assistant", "content": GOOD(request).text}
        body: dict[str, Any] = {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "fake-model",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
        }
        change(body)
        return Reply(raw_body=encode_json(body))

    return script


def _set(path: str, value: object) -> Callable[[dict[str, Any]], object]:
    def change(body: dict[str, Any]) -> None:
        *parents, last = path.split(".")
        held: Any = body
        for name in parents:
            held = held[int(name) if name.isdigit() else name]
        if value is KeyError:
            del held[last]
        else:
            held[last] = value

    return change


def _content_parts(body: dict[str, Any]) -> None:
    message = body["choices"][0]["message"]
    words = message["content"]
    message["content"] = [
        {"type": "text", "text": words[:20]},
        {"type": "text", "text": words[20:]},
    ]


ENVELOPES: Final = {
    **{
        f"no {name}": _set(name, KeyError) for name in ("id", "object", "created", "model", "usage")
    },
    **{f"null {name}": _set(name, None) for name in ("id", "object", "created", "model", "usage")},
    "numbers for names": lambda body: body.update(id=7, object=1, model=3, created="now"),
    "no index": _set("choices.0.index", KeyError),
    "no role": _set("choices.0.message.role", KeyError),
    "no finish_reason": _set("choices.0.finish_reason", KeyError),
    "empty finish_reason": _set("choices.0.finish_reason", ""),
    "unknown finish_reason": _set("choices.0.finish_reason", "eos_token"),
    "finish_reason of another type": _set("choices.0.finish_reason", ["stop"]),
    "usage of words": _set("usage", {"prompt_tokens": "many", "completion_tokens": None}),
    "usage as a list": _set("usage", [9, 3]),
    "fingerprint of another type": _set("system_fingerprint", {"a": 1}),
    "annotations null": _set("choices.0.message.annotations", None),
    "tool_calls null": _set("choices.0.message.tool_calls", None),
    "tool_calls empty": _set("choices.0.message.tool_calls", []),
    "content in parts": _content_parts,
    "fields that nobody knows": lambda body: body.update(timings={"a": 1}, extra=[None]),
}


@pytest.mark.parametrize("change", ENVELOPES.values(), ids=ENVELOPES.keys())
def test_bookkeeping_of_an_answer_may_be_anything(
    tmp_path: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    done = assess(tmp_path, in_envelope(change))
    assert (done.code, done.err) == (0, "")
    assert codes(done) == []


REFUSED: Final = {
    "temperature": ("temperature", "Unsupported value: 'temperature' does not support 0.0 here."),
    "max_tokens": (
        "max_tokens",
        "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'",
    ),
    "chat_template_kwargs": ("chat_template_kwargs", "Unknown field: chat_template_kwargs"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_parameter_is_left_out_from_then_on(tmp_path: Path, name: str) -> None:
    parameter, message = REFUSED[name]
    refused: list[int] = []

    def script(request: Request) -> Reply:
        if parameter not in request.body:
            return GOOD(request)
        refused.append(1)
        error = {"message": message, "type": "invalid_request_error", "param": parameter}
        return Reply(status=400, raw_body=encode_json({"error": error}))

    done = assess(tmp_path, script, MODEL_THINKING="off")
    assert (done.code, done.err) == (0, "")
    # Calls that were under way when the first was refused had it, too.
    assert 1 <= len(refused) <= 3
    assert codes(done) == ["request_refused"] * len(refused)


def test_a_model_without_a_system_role_reads_its_words_in_the_users(tmp_path: Path) -> None:
    asked: list[tuple[str, ...]] = []

    def script(request: Request) -> Reply:
        asked.append(tuple(message.role for message in request.messages))
        if "system" in asked[-1]:
            body = encode_json({"error": {"message": "System role not supported", "code": 400}})
            return Reply(status=400, raw_body=body)
        assert "transcript" in request.messages[0].content
        return GOOD(request)

    done = assess(tmp_path, script)
    assert done.code == 0
    assert asked[-1] == ("user",)


def test_another_400_is_not_tried_again(tmp_path: Path) -> None:
    calls: list[int] = []

    def script(request: Request) -> Reply:
        calls.append(1)
        prompt = request.messages[-1].content
        error = {"message": f"cannot serve: {prompt} temperature", "type": "invalid_request_error"}
        return Reply(status=400, raw_body=encode_json({"error": error}))

    done = assess(tmp_path, script)
    assert done.code == 3
    assert set(codes(done)) == {"request_refused"}


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529])
def test_a_busy_server_is_waited_for_but_not_a_broken_one(tmp_path: Path, status: int) -> None:
    busy: Script = lambda _: Reply(status=status, raw_body=b"<html>busy</html>")  # noqa: E731
    done = assess(tmp_path, first_attempts(1, busy))
    assert done.code == 0
    paths = {one["path"] for one in json.loads(done.out)["attempts"]}
    # A server that is broken is asked once more by plain chat, and no second time as an agent.
    assert paths == ({"agent", "plain"} if status == 500 else {"agent"})


def test_a_response_that_breaks_off_is_tried_again_and_named(tmp_path: Path) -> None:
    broken: Script = lambda request: replace(GOOD(request), reset=True)  # noqa: E731
    done = assess(tmp_path, first_attempts(1, broken))
    assert done.code == 0
    assert set(codes(done)) == {"broken_off"}
    assert assess(tmp_path, broken).err.startswith("openai-chat:fake-model at URL/v1: broken_off")


@pytest.mark.parametrize(
    ("told", "code", "is_waited_for"),
    [
        ({"error": {"code": 429, "message": "slow down"}}, "rate_limited", True),
        ({"error": {"type": "rate_limit_error", "message": "x"}}, "rate_limited", True),
        ({"choices": None, "error": {"code": "503", "message": "x"}}, "backend_error", True),
        ({"error": {"type": "overloaded_error"}}, "backend_error", True),
        ({"error": {"code": 401, "message": "x"}}, "not_authorised", False),
        ({"error": "the runner stopped"}, "backend_error", False),
    ],
)
def test_an_error_in_a_200_keeps_its_code(
    tmp_path: Path, told: dict[str, object], code: str, *, is_waited_for: bool
) -> None:
    error: Script = lambda _: Reply(raw_body=encode_json(told))  # noqa: E731
    done = assess(tmp_path, first_attempts(1, error))
    attempts = json.loads(done.out or '{"attempts": []}')["attempts"]
    assert {one["code"] for one in attempts if one["code"]} <= {code}
    if is_waited_for:
        assert done.code == 0
        assert {one["path"] for one in attempts} == {"agent"}
    assert f": {code}" in assess(tmp_path, error).err


def test_a_model_too_large_for_the_server_is_told_as_that(tmp_path: Path) -> None:
    told = b'{"error": "model requires more system memory (9.1 GiB) than is available (4.2 GiB)"}'
    done = assess(tmp_path, lambda _: Reply(status=500, raw_body=told), "ollama")
    assert done.code == 3
    assert "ollama:fake-model at URL: model_too_large, HTTP 500" in done.err
    assert "not enough memory" in done.err


@pytest.mark.parametrize("wire", ["openai", "ollama"])
def test_a_reply_of_thinking_alone_is_told_as_that(tmp_path: Path, wire: str) -> None:
    def script(request: Request) -> Reply:
        thought = {
            "role": "assistant",
            "content": "",
            "reasoning_content": "Hm.",
            "thinking": "Hm.",
        }
        if request.wire == "ollama":
            body = {"message": thought, "done_reason": "length", "eval_count": 4096}
        else:
            choice = {"index": 0, "message": thought, "finish_reason": "length"}
            body = {"choices": [choice], "usage": {"completion_tokens": 4096}}
        return Reply(raw_body=encode_json(body))

    done = assess(tmp_path, script, wire)
    assert done.code == 3
    assert "All 4,096 tokens of a reply" in done.err
    assert "MODEL_THINKING" in done.err


@pytest.mark.parametrize(
    ("wire", "setting", "sent"),
    [
        ("ollama", "off", {"think": False}),
        ("ollama", "high", {"think": "high"}),
        (
            "openai",
            "off",
            {"chat_template_kwargs": {"enable_thinking": False, "thinking": False}},
        ),
        (
            "openai",
            "low",
            {
                "chat_template_kwargs": {"enable_thinking": True, "thinking": True},
                "reasoning_effort": "low",
            },
        ),
        ("openai", '{"openai-chat:fake-model": "low", "*": "off"}', {"reasoning_effort": "low"}),
        ("openai", '{"ollama:other": "low"}', {}),
    ],
)
def test_thinking_is_sent_as_each_server_has_it(
    tmp_path: Path, wire: str, setting: str, sent: dict[str, object]
) -> None:
    bodies: list[Request] = []

    def script(request: Request) -> Reply:
        bodies.append(request)
        return GOOD(request)

    assert assess(tmp_path, script, wire, MODEL_THINKING=setting).code == 0
    names = ("think", "chat_template_kwargs", "reasoning_effort")
    for request in bodies:
        found = {name: request.body[name] for name in names if name in request.body}
        assert sent.items() <= found.items()
        assert sent or not found


def test_a_body_of_ones_own_and_no_temperature_are_sent(tmp_path: Path) -> None:
    bodies: list[Request] = []

    def script(request: Request) -> Reply:
        bodies.append(request)
        return GOOD(request)

    settings = {
        "MODEL_EXTRA_BODY": '{"*": {"min_p": 0.1}, "openai-chat:fake-model": {"top_k": 5}}',
        "MODEL_TEMPERATURE": "",
    }
    assert assess(tmp_path, script, **settings).code == 0
    assert {request.body["top_k"] for request in bodies} == {5}
    assert not any("min_p" in request.body for request in bodies)
    assert not any("temperature" in request.body for request in bodies)


def _schema_of(request: Request) -> dict[str, Any] | None:
    """Return the schema that a request holds its reply to, as either wire has it."""
    body: dict[str, Any] = dict(request.body)
    described: dict[str, Any] = body.get("response_format", {}).get("json_schema", {})
    schema: dict[str, Any] | None = body.get("format") or described.get("schema")
    return schema


def _enforcing(asked: list[tuple[str, bool]]) -> Script:
    """Chat where nothing holds the model; keep to the schema where a request has one."""

    def script(request: Request) -> Reply:
        schema = _schema_of(request)
        asked.append((request.task, schema is not None))
        if schema is None:
            good = GOOD(request)
            return good if request.task == "qualitative" else Reply(text="Sure! Happy to help.")
        value = conforming(schema, lambda longest: "I sleep badly every night"[:longest])
        if request.task == "scoring":
            # The words speak of sleep alone.
            nothing = {"evidence": [], "reason": "Not mentioned.", "score": "N/A", "confidence": 1}
            value |= {item: nothing for item in value if item != "PHQ8_Sleep"}
        return Reply(text=json.dumps(value))

    return script


HELD: Final = (
    "evidence",
    "scoring",
    "meta_review",
    "danger",
    *(f"judge_{m.value}" for m in Metric),
)


@pytest.mark.parametrize(
    ("wire", "mode"), [("ollama", "auto"), ("ollama", "native"), ("openai", "native")]
)
def test_a_server_that_enforces_schemas_is_given_them(tmp_path: Path, wire: str, mode: str) -> None:
    asked: list[tuple[str, bool]] = []
    done = assess(tmp_path, _enforcing(asked), wire, MODEL_OUTPUT_MODE=mode)
    assert (done.code, done.err) == (0, "")
    assert codes(done) == []
    assert sorted(asked) == sorted([("qualitative", False), *((task, True) for task in HELD)])


@pytest.mark.parametrize(("wire", "mode"), [("openai", "auto"), ("ollama", "text")])
def test_no_schema_goes_to_a_server_that_is_not_known_or_not_to_have_one(
    tmp_path: Path, wire: str, mode: str
) -> None:
    asked: list[tuple[str, bool]] = []
    done = assess(tmp_path, _enforcing(asked), wire, MODEL_OUTPUT_MODE=mode)
    assert done.code == 1
    assert not any(is_held for _, is_held in asked)


@pytest.mark.parametrize(("wire", "field"), [("ollama", "format"), ("openai", "response_format")])
def test_a_schema_that_a_server_refuses_is_left_out(tmp_path: Path, wire: str, field: str) -> None:
    def script(request: Request) -> Reply:
        if field not in request.body:
            return GOOD(request)
        error = {"error": f"json: cannot unmarshal object into field ChatRequest.{field}"}
        return Reply(status=400, raw_body=encode_json(error))

    done = assess(tmp_path, script, wire, MODEL_OUTPUT_MODE="native")
    assert (done.code, done.err) == (0, "")
    assert set(codes(done)) == {"request_refused"}


def test_a_task_in_other_words_ends_with_the_form_that_the_schema_has(tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_bytes(INTERVIEW)
    (tmp_path / "own.toml").write_text(
        "judge_accuracy = '''\nTask: judge_accuracy\nIs it true?\n{findings}\n'''"
    )
    with ModelServerThread(GOOD) as models:
        environment = model_at(models.url, "ollama") | {"READER_ENABLED": "false"}
        command = ["evaluate", "run", "talk.txt", "--out", "out", "--prompts", "own=own.toml"]
        done = run_here(command, tmp_path, environment)
        (asked,) = (one for one in models.requests if one.task == "judge_accuracy")
    assert done.code == 0, done.err
    user = asked.messages[-1].content
    assert user.endswith('{"explanation": "what you found", "score": 3}\n')
    assert "Is it true?" in user
    assert "Reply with two lines" not in user
