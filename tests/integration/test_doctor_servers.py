"""`doctor` tells what a server needs: how it thinks, what it refuses, what its envelopes lack."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.fakes.exchange import Reply, Request, Script
from tests.fakes.model_server import ModelServerThread
from tests.fakes.wires import encode_error, encode_json, encode_reply
from tests.integration.command_here import run_here
from tests.integration.running_app import model_at

Found = dict[str, dict[str, Any]]
THOUGHT: Final = "Hm, what is asked of me here?"


def able(request: Request) -> Reply:
    is_schema = "format" in request.body or "response_format" in request.body
    return Reply(text='{"ready": true}' if is_schema else "ready")


def thought(request: Request, text: str = "") -> Reply:
    """Answer with thinking, and after it nothing or the words."""
    body = json.loads(encode_reply(request, Reply(text=text)))
    if request.wire == "ollama":
        body["message"]["thinking"], body["eval_count"] = THOUGHT, 4096
    else:
        body["choices"][0]["message"]["reasoning_content"] = THOUGHT
        body["usage"]["completion_tokens"] = 4096
    return Reply(raw_body=encode_json(body))


def refusing(message: str) -> Reply:
    return Reply(status=400, raw_body=encode_error("openai", message, kind="invalid_request_error"))


def is_off(request: Request) -> bool:
    template: Any = request.body.get("chat_template_kwargs", {})
    return request.body.get("think") is False or template.get("enable_thinking") is False


def look(
    folder: Path, script: Script, wire: str = "openai", **settings: str
) -> tuple[int, Found, list[Mapping[str, object]]]:
    """Return the status, the findings by their check, and what was sent."""
    with ModelServerThread(script) as models:
        done = run_here(["doctor", "--json"], folder, model_at(models.url, wire) | settings)
        sent = [request.body for request in models.requests]
    assert THOUGHT not in done.out + done.err
    assert done.err == ""
    return done.code, {one["check"]: one for one in json.loads(done.out)["findings"]}, sent


@pytest.mark.parametrize("wire", ["openai", "ollama"])
def test_a_model_that_only_thinks_is_told_the_setting_that_works(tmp_path: Path, wire: str) -> None:
    def script(request: Request) -> Reply:
        return able(request) if is_off(request) else thought(request)

    code, found, _ = look(tmp_path, script, wire)
    assert code == 1
    assert found["first reply"]["facts"]["code"] == "only_thinking"
    assert found["first reply"]["cure"] == (
        "All 4,096 tokens of a reply of 'fake-model' went into thinking, and none into an answer: "
        "set MODEL_THINKING to off, with which it answers here."
    )
    code, found, _ = look(tmp_path, script, wire, MODEL_THINKING="off")
    assert (code, found["first reply"]["level"]) == (0, "ok")
    assert found["thinking"]["words"] == "off is sent; the first reply holds none"


def test_thinking_that_stands_in_the_words_is_thinking_too(tmp_path: Path) -> None:
    def script(request: Request) -> Reply:
        return able(request) if is_off(request) else Reply(text=f"<think>{THOUGHT}")

    _, found, _ = look(tmp_path, script)
    assert found["first reply"]["facts"]["code"] == "only_thinking"
    assert "MODEL_THINKING to off" in found["first reply"]["cure"]


def _takes_effort_alone(request: Request) -> Reply:
    if "chat_template_kwargs" in request.body:
        return refusing("Unrecognized request argument supplied: chat_template_kwargs")
    return able(request) if request.body.get("reasoning_effort") == "low" else thought(request)


def _thinks_when_told_not_to(request: Request) -> Reply:
    return thought(request) if is_off(request) else able(request)


@pytest.mark.parametrize(
    ("script", "thinking", "cure"),
    [
        pytest.param(_takes_effort_alone, "", "set MODEL_THINKING to low, with", id="effort"),
        pytest.param(_takes_effort_alone, "high", "set MODEL_THINKING to low, with", id="less"),
        pytest.param(
            _thinks_when_told_not_to, "off", "set MODEL_THINKING to low, with", id="no off"
        ),
        pytest.param(thought, "", "MODEL_THINKING off, low were tried and do not", id="nothing"),
        pytest.param(
            thought, "high", "MODEL_THINKING off, low, empty were tried and do not", id="set"
        ),
    ],
)
def test_only_what_works_is_advised(
    tmp_path: Path, script: Script, thinking: str, cure: str
) -> None:
    _, found, _ = look(tmp_path, script, MODEL_THINKING=thinking)
    assert cure in found["first reply"]["cure"]
    assert found["JSON schema"]["level"] == "skip"


def test_no_thinking_setting_is_advised_where_that_alone_works(tmp_path: Path) -> None:
    def script(request: Request) -> Reply:
        return thought(request) if "chat_template_kwargs" in request.body else able(request)

    _, found, _ = look(tmp_path, script, MODEL_THINKING="off")
    assert "leave MODEL_THINKING empty, with which it answers here" in found["first reply"]["cure"]


@pytest.mark.parametrize(
    ("wire", "sent"),
    [
        (
            "openai",
            {
                "reasoning_effort": "low",
                "chat_template_kwargs": {"enable_thinking": True, "thinking": True},
            },
        ),
        ("ollama", {"think": "low"}),
    ],
)
def test_thinking_is_tried_as_it_is_set(tmp_path: Path, wire: str, sent: dict[str, object]) -> None:
    code, found, bodies = look(
        tmp_path,
        lambda request: thought(request, able(request).text or ""),
        wire,
        MODEL_THINKING='{"*": "low"}',
    )
    assert (code, found["thinking"]["level"]) == (0, "ok")
    assert found["thinking"]["words"] == "low is sent; the first reply holds thinking"
    assert len(bodies) == 3
    assert all(sent.items() <= body.items() for body in bodies)


def test_a_model_that_thinks_all_the_same_is_warned_of(tmp_path: Path) -> None:
    code, found, _ = look(tmp_path, lambda r: thought(r, "ready"), MODEL_THINKING="off")
    assert (code, found["thinking"]["level"]) == (0, "warn")
    code, found, _ = look(tmp_path, lambda r: thought(r, "ready"))
    assert (code, found["thinking"]["level"]) == (0, "ok")
    assert found["thinking"]["facts"] == {"set": None, "thinks": True}


REFUSED: Final = {
    "temperature": ("temperature", "'temperature' does not support 0.0", "MODEL_TEMPERATURE"),
    "max_tokens": ("max_tokens", "'max_tokens' is not supported; use another", None),
    "template": ("chat_template_kwargs", "Unknown field: chat_template_kwargs", "MODEL_THINKING"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_parameter_is_named_with_the_setting(tmp_path: Path, name: str) -> None:
    parameter, message, setting = REFUSED[name]

    def script(request: Request) -> Reply:
        return refusing(message) if parameter in request.body else able(request)

    code, found, sent = look(tmp_path, script, MODEL_THINKING="off")
    assert (code, found["first reply"]["level"]) == (0, "ok")
    assert [parameter in body for body in sent] == [True] + [False] * (len(sent) - 1)
    told = found["parameters"]
    assert told["facts"] == {"left_out": [parameter]}
    assert (told["level"], bool(told["cure"])) == (("warn", True) if setting else ("ok", False))
    assert (setting or "") in (told["cure"] or "")


def test_what_the_setting_leaves_out_is_not_warned_of(tmp_path: Path) -> None:
    def script(request: Request) -> Reply:
        return refusing("no temperature") if "temperature" in request.body else able(request)

    _, found, _ = look(tmp_path, script, MODEL_TEMPERATURE="")
    assert "parameters" not in found


def test_several_refusals_and_the_systems_role_are_told(tmp_path: Path) -> None:
    def script(request: Request) -> Reply:
        if request.messages[0].role == "system":
            return refusing("System role not supported")
        return refusing("no temperature") if "temperature" in request.body else able(request)

    code, found, _ = look(tmp_path, script)
    assert (code, found["first reply"]["level"]) == (0, "ok")
    assert found["parameters"]["facts"] == {"left_out": ["system", "temperature"]}


def test_an_ollama_model_that_cannot_think_is_asked_without(tmp_path: Path) -> None:
    def script(request: Request) -> Reply:
        if request.body.get("think"):
            body = encode_error("ollama", '"fake-model" does not support thinking', kind="")
            return Reply(status=400, raw_body=body)
        return able(request)

    code, found, _ = look(tmp_path, script, "ollama", MODEL_THINKING="high")
    assert (code, found["first reply"]["level"]) == (0, "ok")
    assert found["parameters"]["facts"] == {"left_out": ["think"]}
    assert found["thinking"]["level"] == "warn"


def test_a_refused_schema_is_no_schema_though_the_words_are_right(tmp_path: Path) -> None:
    def script(request: Request) -> Reply:
        if "response_format" in request.body:
            return refusing("response_format is not supported")
        return Reply(text='{"ready": true}')

    code, found, _ = look(tmp_path, script)
    assert (code, found["JSON schema"]["level"]) == (0, "warn")
    assert found["JSON schema"]["facts"] == {"code": "request_refused", "http_status": 400}
    assert "MODEL_OUTPUT_MODE=text" in found["parameters"]["cure"]


def test_bookkeeping_that_is_odd_is_counted_and_named(tmp_path: Path) -> None:
    def script(request: Request) -> Reply:
        body = json.loads(encode_reply(request, able(request)))
        del body["id"]
        body["usage"] = None
        body["choices"][0]["finish_reason"] = ["stop"]
        return Reply(raw_body=encode_json(body))

    code, found, _ = look(tmp_path, script)
    assert (code, found["envelope"]["level"]) == (0, "ok")
    assert found["envelope"]["words"] == (
        "3 fields are missing or odd: id, usage, finish_reason; they are bookkeeping"
    )


@pytest.mark.parametrize("wire", ["openai", "ollama"])
def test_a_server_as_others_are_has_no_such_findings(tmp_path: Path, wire: str) -> None:
    _, found, _ = look(tmp_path, able, wire)
    assert not {"thinking", "parameters", "envelope"} & found.keys()


def test_one_odd_field_is_told_as_one(tmp_path: Path) -> None:
    def script(request: Request) -> Reply:
        body = json.loads(encode_reply(request, able(request)))
        body["message"]["role"] = None
        return Reply(raw_body=encode_json(body))

    _, found, _ = look(tmp_path, script, "ollama")
    assert found["envelope"]["words"] == ("1 field is missing or odd: role; it is bookkeeping")
