import asyncio

import pytest
from pydantic_ai.exceptions import ModelConnectionError, ModelHTTPError
from tests.fakes.interview_agents import GOOD, SAID, TOOLS, ask, plain
from tests.fakes.scripted import ScriptedChat, ScriptedModel, route, tool_call

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import CallPath, FailureCode
from ai_psychiatrist.llm.endpoints import CallRetries

VERB = "extract_facts"
GOOD_CALL = tool_call(TOOLS[VERB], GOOD[VERB])


def http(status: int) -> ModelHTTPError:
    return ModelHTTPError(status, "scripted", SAID)


DEAD = ModelConnectionError("scripted", SAID)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        pytest.param(DEAD, FailureCode.CONNECTION_FAILED, id="dead"),
        pytest.param(TimeoutError(), FailureCode.TIMED_OUT, id="slow"),
        pytest.param(http(408), FailureCode.TIMED_OUT, id="408"),
        pytest.param(http(409), FailureCode.BACKEND_ERROR, id="409"),
        pytest.param(http(429), FailureCode.RATE_LIMITED, id="429"),
        pytest.param(http(500), FailureCode.BACKEND_ERROR, id="500"),
        pytest.param(http(529), FailureCode.BACKEND_ERROR, id="529"),
    ],
)
def test_lost_call_is_tried_three_times(error: Exception, code: FailureCode) -> None:
    asked = ask(VERB, ScriptedModel([error, error, GOOD_CALL]))
    assert asked.codes == [code, code, None]
    assert asked.slept == [1.0, 2.0]
    spent = ask(VERB, ScriptedModel([error]))
    assert spent.codes == [code] * 3
    assert spent.outcome.failure is code
    assert spent.slept == [1.0, 2.0]


def test_only_the_last_cause_is_kept() -> None:
    asked = ask(VERB, ScriptedModel([DEAD, http(500), http(429)]))
    assert asked.outcome.failure is FailureCode.RATE_LIMITED


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, FailureCode.REQUEST_REFUSED),
        (401, FailureCode.NOT_AUTHORISED),
        (403, FailureCode.NOT_AUTHORISED),
        (404, FailureCode.MODEL_NOT_FOUND),
        (413, FailureCode.REQUEST_REFUSED),
        (422, FailureCode.REQUEST_REFUSED),
    ],
)
def test_refused_request_is_not_tried_again(status: int, code: FailureCode) -> None:
    asked = ask(VERB, ScriptedModel([http(status), GOOD_CALL]))
    assert asked.codes == [code]
    assert asked.slept == []


def test_spent_tries_lead_to_the_next_model() -> None:
    chat = plain("never asked")
    first = route(ScriptedModel([http(500)]), chat, name="first")
    asked = ask(VERB, (first, route(ScriptedModel([GOOD_CALL]), name="second")))
    assert [attempt.model for attempt in asked.attempts] == ["first"] * 3 + ["second"]
    assert chat.prompts == []


def test_backend_that_refuses_tools_is_asked_plainly() -> None:
    chat = plain('{"facts": []}')
    asked = ask(VERB, (route(ScriptedModel([http(400)]), chat),))
    assert [attempt.path for attempt in asked.attempts] == [CallPath.AGENT, CallPath.PLAIN]
    assert asked.output is not None


def test_plain_calls_are_tried_again_too() -> None:
    lost = ModelCallFailed(FailureCode.CONNECTION_FAILED)
    asked = ask(VERB, (route(None, ScriptedChat([lost, lost, '{"facts": []}'])),))
    assert asked.codes == [FailureCode.CONNECTION_FAILED] * 2 + [None]
    assert asked.slept == [1.0, 2.0]


def test_each_retry_after_a_refused_reply_has_its_own_tries() -> None:
    bad = tool_call(TOOLS[VERB], {})
    asked = ask(VERB, ScriptedModel([DEAD, bad, DEAD, GOOD_CALL]))
    assert asked.output is not None
    assert asked.slept == [1.0, 1.0]


def test_further_tries_of_a_call_without_a_reply_are_not_taken_from_the_budget() -> None:
    asked = ask(VERB, ScriptedModel([DEAD]), max_calls=1)
    assert asked.outcome.failure is FailureCode.CONNECTION_FAILED
    assert len(asked.attempts) == 3


def test_call_has_a_deadline_of_its_own() -> None:
    class Hanging(ScriptedModel):
        async def _reply(self, *_: object) -> object:  # type: ignore[override]
            await asyncio.Event().wait()
            raise AssertionError

    asked = ask(VERB, Hanging([]), call_timeout_seconds=0.01)
    assert asked.codes == [FailureCode.TIMED_OUT] * 3


def test_without_waits_a_call_is_made_once() -> None:
    lost = ModelCallFailed(FailureCode.CONNECTION_FAILED)
    assert CallRetries().wait_before(lost, 0) is None
