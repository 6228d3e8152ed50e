"""The danger agent: what it takes for a sign, and that only words that were said are one."""

import asyncio
import json

import pytest
from tests.fakes.replies import danger_text
from tests.fakes.scripted import ScriptedChat, ScriptedModel, route

from ai_psychiatrist.agents.case import Case, open_case
from ai_psychiatrist.agents.danger import DangerAgent
from ai_psychiatrist.agents.danger_signs import extract_danger
from ai_psychiatrist.domain.failures import AttemptOutcome, CallPath, FailureCode, RejectionCode
from ai_psychiatrist.domain.risk import (
    ModelReading,
    ReadingStatus,
    RiskKind,
    RiskLevel,
    RiskPolarity,
    RiskSource,
)
from ai_psychiatrist.infrastructure.failure_log import collect_failures
from ai_psychiatrist.llm.rejection import ReplyRejected
from ai_psychiatrist.llm.settings import PydanticAISettings
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

INTERVIEW = (
    "Interviewer: Do you ever think of jumping from the old bridge?\n"
    "Participant: I walk to the quarry and look down.\n"
    "Participant: Nobody would miss me there.\n"
    "Mother: She gave her cat to the neighbours last week.\n"
)
SIGN = {"quote": "look down", "kind": "method", "polarity": "affirmed", "level": "high"}


def reply(*signs: object) -> str:
    return json.dumps({"signs": list(signs)})


def opened(text: str = INTERVIEW) -> Case:
    return open_case(parse_transcript(text))


def read(
    model: ScriptedModel | None, case: Case | None = None, chat: ScriptedChat | None = None
) -> ModelReading:
    agent = DangerAgent((route(model, chat),), pydantic_ai_settings=PydanticAISettings(retries=1))
    return asyncio.run(agent.read(case or opened()))


@pytest.mark.parametrize(
    ("text", "count", "coercions"),
    [
        pytest.param(reply(), 0, 0, id="none"),
        pytest.param(reply(SIGN), 1, 0, id="one"),
        pytest.param(reply(SIGN, SIGN), 1, 0, id="the_same_twice"),
        pytest.param(f"I looked closely.\n```json\n{reply(SIGN)}\n```", 1, 0, id="fenced"),
        pytest.param(reply(SIGN | {"reason": "hints at it"}), 1, 0, id="a_field_of_its_own"),
        pytest.param(
            reply(SIGN | {"kind": "Wish to be-dead", "level": " HIGH "}), 1, 2, id="other_writing"
        ),
        pytest.param(
            reply(SIGN | {"polarity": "denied", "level": "low"}), 1, 0, id="denied_is_low"
        ),
    ],
)
def test_signs_are_read(text: str, count: int, coercions: int) -> None:
    output = extract_danger(text)
    assert (len(output.signs), output.coercions) == (count, coercions)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("There is no danger.", RejectionCode.NO_JSON, id="prose"),
        pytest.param("[]", RejectionCode.NOT_AN_OBJECT, id="a_list"),
        pytest.param("{}", RejectionCode.MISSING_ITEM, id="no_signs"),
        pytest.param('{"signs": null}', RejectionCode.MISSING_ITEM, id="null"),
        pytest.param('{"signs": "none"}', RejectionCode.MISSING_ITEM, id="a_word"),
        pytest.param('{"signs": ["look down"]}', RejectionCode.WRONG_TYPE, id="a_bare_quote"),
        pytest.param(reply({}), RejectionCode.WRONG_TYPE, id="an_empty_sign"),
        pytest.param(reply(SIGN | {"quote": ["a"]}), RejectionCode.WRONG_TYPE, id="a_list_quoted"),
        pytest.param(reply(SIGN | {"quote": "…"}), RejectionCode.EMPTY_FIELD, id="the_example"),
        pytest.param(reply(SIGN | {"kind": "jump"}), RejectionCode.NOT_A_CHOICE, id="kind"),
        pytest.param(reply(SIGN | {"polarity": "yes"}), RejectionCode.NOT_A_CHOICE, id="polarity"),
        pytest.param(reply(SIGN | {"level": "none"}), RejectionCode.NOT_A_CHOICE, id="level"),
        pytest.param(reply(SIGN | {"level": 3}), RejectionCode.WRONG_TYPE, id="level_as_number"),
        pytest.param(
            reply(SIGN | {"polarity": "denied"}), RejectionCode.RULE_BROKEN, id="denied_and_high"
        ),
        pytest.param(reply(*[SIGN] * 101), RejectionCode.TOO_MANY_QUOTES, id="far_too_many"),
        pytest.param(reply(SIGN)[:-4], RejectionCode.TRUNCATED, id="cut_off"),
    ],
)
def test_what_is_no_list_of_signs_is_refused(text: str, code: RejectionCode) -> None:
    with pytest.raises(ReplyRejected) as refused:
        extract_danger(text)
    assert refused.value.code is code
    assert "look down" not in str(refused.value)


def test_a_sign_has_its_place_kind_and_source() -> None:
    reading = read(ScriptedModel([reply(SIGN)]))
    (signal,) = reading.signals
    assert INTERVIEW[signal.start : signal.end] == "look down"
    assert (signal.kind, signal.polarity) == (RiskKind.METHOD, RiskPolarity.AFFIRMED)
    assert (signal.level, signal.source) == (RiskLevel.HIGH, RiskSource.MODEL)
    assert (reading.status, reading.refused_count) == (ReadingStatus.ANSWERED, 0)


def test_no_sign_is_an_answer() -> None:
    assert read(ScriptedModel([reply()])) == ModelReading(status=ReadingStatus.ANSWERED)


@pytest.mark.parametrize(
    "quote",
    [
        pytest.param("jumping from the old bridge", id="the_interviewers"),
        pytest.param("I look down into the river", id="nobodys"),
        pytest.param("look down. Participant: Nobody would", id="with_a_label"),
        pytest.param("miss me there She gave her cat", id="of_two_people"),
        pytest.param("I never look down", id="changed"),
    ],
)
def test_words_that_were_not_said_are_no_sign(quote: str) -> None:
    with collect_failures() as failures:
        reading = read(ScriptedModel([reply(SIGN | {"quote": quote}, SIGN)]))
    assert [INTERVIEW[one.start : one.end] for one in reading.signals] == ["look down"]
    assert reading.refused_count == 1
    assert failures == []


def test_that_all_signs_were_refused_is_recorded_like_other_invented_evidence() -> None:
    with collect_failures() as failures:
        reading = read(ScriptedModel([danger_text("I bought a rope.", "I wrote the letters.")]))
    assert (reading.signals, reading.refused_count) == ((), 2)
    (failure,) = failures
    assert (failure.stage, failure.code) == ("danger", FailureCode.UNGROUNDED_EVIDENCE)
    assert failure.context == {"extracted_count": 2}


def test_words_of_others_and_of_nobody_known_alarm_as_they_do_for_the_rules() -> None:
    reading = read(ScriptedModel([danger_text("gave her cat to the neighbours")]))
    (signal,) = reading.signals
    assert INTERVIEW[signal.start : signal.end] == "gave her cat to the neighbours"
    assert reading.refused_count == 0


def test_a_quote_over_two_turns_is_a_sign_in_each() -> None:
    reading = read(ScriptedModel([danger_text("look down. Nobody would miss me there")]))
    cuts = [INTERVIEW[one.start : one.end] for one in reading.signals]
    assert [one.turn for one in reading.signals] == [1, 2]
    assert cuts == ["look down", "Nobody would miss me there"]


def test_a_bad_reply_is_asked_again_with_what_is_wrong() -> None:
    model = ScriptedModel([reply(SIGN | {"kind": "jump"}), reply(SIGN)])
    case = opened()
    assert read(model, case).status is ReadingStatus.ANSWERED
    assert "wish_to_be_dead" in model.feedback[1]
    assert [attempt.code for attempt in case.calls.attempts] == [RejectionCode.NOT_A_CHOICE, None]


def test_spent_retries_end_in_the_plain_chat_path() -> None:
    model, chat, case = ScriptedModel(["no"]), ScriptedChat([reply(SIGN)]), opened()
    assert len(read(model, case, chat).signals) == 1
    assert [attempt.path for attempt in case.calls.attempts] == [
        CallPath.AGENT,
        CallPath.AGENT,
        CallPath.PLAIN,
    ]


def test_a_model_that_gives_nothing_usable_has_failed_with_the_code() -> None:
    case = opened()
    with collect_failures() as failures:
        reading = read(ScriptedModel(["no"]), case, ScriptedChat(["no"]))
    assert reading == ModelReading(status=ReadingStatus.FAILED, code=FailureCode.OUTPUT_REJECTED)
    assert [(one.stage, one.code) for one in failures] == [("danger", FailureCode.OUTPUT_REJECTED)]
    assert {one.outcome for one in case.calls.attempts} == {AttemptOutcome.REJECTED}


def test_every_kind_is_explained_to_the_model() -> None:
    model = ScriptedModel([reply()])
    read(model)
    for kind in RiskKind:
        assert f"\n{kind.value}: " in model.prompts[0]
