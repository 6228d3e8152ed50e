"""The danger agent: what it takes for a sign, and that only words that were said are one."""

import asyncio
import json

import pytest
from pydantic_ai.exceptions import ModelConnectionError
from tests.fakes.replies import danger_text
from tests.fakes.scripted import ScriptedChat, ScriptedModel, response, route

from ai_psychiatrist.agents.context import AssessmentContext, assessment_context
from ai_psychiatrist.agents.danger import DangerAgent
from ai_psychiatrist.agents.danger_replies import extract_danger
from ai_psychiatrist.domain.failures import (
    AttemptOutcome,
    CallPath,
    FailureCategory,
    FailureCode,
    FailureSeverity,
    RejectionCode,
)
from ai_psychiatrist.domain.risk import (
    ModelReading,
    ReadingStatus,
    RiskKind,
    RiskLevel,
    RiskPolarity,
    RiskSignal,
    RiskSource,
)
from ai_psychiatrist.infrastructure.logging import collect_failures
from ai_psychiatrist.llm.replies import ReplyRejected
from ai_psychiatrist.llm.settings import PydanticAISettings
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

INTERVIEW = (
    "Interviewer: Do you ever think of jumping from the old bridge?\n"
    "Participant: I walk to the quarry and look down.\n"
    "Participant: Nobody would miss me there.\n"
    "Mother: She gave her cat to the neighbours last week.\n"
)
SIGN = {"quote": "look down", "kind": "method", "polarity": "affirmed", "level": "high"}


def without(name: str) -> dict[str, object]:
    """Return the sign without a field."""
    return {key: value for key, value in SIGN.items() if key != name}


def reply(*signs: object) -> str:
    return json.dumps({"signs": list(signs)})


def opened(text: str = INTERVIEW) -> AssessmentContext:
    return assessment_context(parse_transcript(text))


def read(
    model: ScriptedModel | None,
    case: AssessmentContext | None = None,
    chat: ScriptedChat | None = None,
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
        pytest.param(
            reply(SIGN | {"polarity": "denied", "level": "none"}), 1, 1, id="denied_without_a_level"
        ),
        pytest.param(reply(SIGN | {"polarity": "past", "level": "None"}), 1, 1, id="past_as_none"),
        pytest.param("[]", 0, 1, id="an_empty_list"),
        pytest.param(json.dumps([SIGN]), 1, 1, id="a_list"),
        pytest.param(json.dumps(SIGN), 1, 1, id="a_single_sign"),
        pytest.param(json.dumps({"signs": SIGN}), 1, 1, id="a_single_sign_in_place_of_a_list"),
        pytest.param(json.dumps({"signs": {"1": SIGN}}), 1, 1, id="numbered"),
        pytest.param('{"signs": null}', 0, 1, id="null"),
        pytest.param("null", 0, 1, id="null_alone"),
        pytest.param(json.dumps({"result": {"signs": [SIGN]}}), 1, 1, id="wrapped"),
        pytest.param(json.dumps({"data": {"result": {"signs": []}}}), 0, 1, id="wrapped_twice"),
        pytest.param(json.dumps({"answer": [SIGN], "note": "one"}), 1, 1, id="list_in_a_wrapping"),
        pytest.param(json.dumps({"answer": reply(SIGN)}), 1, 1, id="wrapped_as_a_text"),
        pytest.param(json.dumps([{"signs": [SIGN]}]), 1, 1, id="wrapped_in_a_list"),
        pytest.param(json.dumps({"Signs": [SIGN]}), 1, 1, id="another_case"),
        pytest.param(reply({"sign": SIGN}), 1, 1, id="each_wrapped"),
        *(
            pytest.param(reply(without("quote") | {name: "look down"}), 1, 1, id=name)
            for name in ("text", "words", "Quotation", "excerpt", "exact_words")
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
        pytest.param("{}", RejectionCode.MISSING_ITEM, id="no_signs"),
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


AS_SAID = (RiskKind.UNSPECIFIED, RiskPolarity.AFFIRMED, RiskLevel.HIGH)
OF_SIGN = (RiskKind.METHOD, RiskPolarity.AFFIRMED, RiskLevel.HIGH)
HINT = {
    "quote": "Nobody would miss me there",
    "kind": "burden_and_despair",
    "polarity": "affirmed",
    "level": "moderate",
}


def told(signal: RiskSignal) -> tuple[str, RiskKind, RiskPolarity, RiskLevel]:
    cut = INTERVIEW[signal.start : signal.end]
    return cut, signal.kind, signal.polarity, signal.level


@pytest.mark.parametrize(
    ("sign", "read_as"),
    [
        *(
            pytest.param(SIGN | {"level": level}, OF_SIGN, id=f"level_{level}")
            for level in (3, "3", None, "none", "alarming", "moderate to high", ["high"])
        ),
        pytest.param(without("level"), OF_SIGN, id="no_level"),
        *(
            pytest.param(SIGN | {"kind": kind}, (AS_SAID[0], *OF_SIGN[1:]), id=f"kind_{kind}")
            for kind in ("jump", "suicidal_ideation", "", None, 7, ["method"])
        ),
        pytest.param(
            without("kind") | {"category": "method"}, (AS_SAID[0], *OF_SIGN[1:]), id="category"
        ),
        *(
            pytest.param(SIGN | {"polarity": polarity}, OF_SIGN, id=f"polarity_{polarity}")
            for polarity in ("yes", "", None, True)
        ),
        pytest.param(without("polarity"), OF_SIGN, id="no_polarity"),
        pytest.param(SIGN | {"polarity": "denied"}, OF_SIGN, id="denied_and_high"),
        pytest.param(
            without("level") | {"polarity": "denied"},
            (RiskKind.METHOD, RiskPolarity.DENIED, RiskLevel.NONE),
            id="denied_without_level",
        ),
        pytest.param({"quote": "look down"}, AS_SAID, id="quote_alone"),
        pytest.param("look down", AS_SAID, id="a_text"),
        pytest.param(SIGN | {"quote": ["look down"]}, OF_SIGN, id="a_list_quoted"),
        pytest.param(SIGN | {"quote": {"text": "look down"}}, OF_SIGN, id="an_object_quoted"),
        pytest.param(without("quote") | {"fragment": "look down"}, OF_SIGN, id="unknown_name"),
        pytest.param(SIGN | {"level": float("nan")}, OF_SIGN, id="nan"),
        pytest.param(SIGN | {"kind": "\ud800"}, (AS_SAID[0], *OF_SIGN[1:]), id="half_a_character"),
        pytest.param(SIGN | {"quote": "look down \ud83d"}, OF_SIGN, id="half_of_one_in_the_quote"),
    ],
)
def test_sign_that_cannot_be_read_whole_counts_as_said_and_costs_no_other(
    sign: object, read_as: tuple[object, ...]
) -> None:
    model, case = ScriptedModel([reply(HINT, sign)]), opened()
    with collect_failures() as failures:
        reading = read(model, case)
    first, second = map(told, reading.signals)
    assert first == ("look down", *read_as)
    assert second == tuple(HINT.values())
    assert (reading.status, reading.code) == (ReadingStatus.ANSWERED, None)
    assert (reading.completed_count, reading.refused_count) == (1, 0)
    assert len(model.sent) == 2
    assert {one.outcome for one in case.calls.attempts} == {AttemptOutcome.REJECTED}
    (failure,) = failures
    assert (failure.category, failure.stage, failure.code) == (
        FailureCategory.PARTIAL_REPLY,
        "danger",
        FailureCode.OUTPUT_REJECTED,
    )


@pytest.mark.parametrize(
    "level",
    ["critical", "Severe", "urgent", "high risk", "very high", "imminent"],
)
def test_other_words_for_a_level_are_read_at_once(level: str) -> None:
    output = extract_danger(reply(SIGN | {"level": level}))
    assert [sign.level for sign in output.signs] == [RiskLevel.HIGH]
    assert output.coercions == 1
    low = extract_danger(reply(SIGN | {"level": "mild"}, HINT | {"level": "Minimal"}))
    assert {sign.level for sign in low.signs} == {RiskLevel.LOW}


BROKEN_SIGN = SIGN | {"kind": "jump"}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(reply(HINT, SIGN)[:-4], id="cut_off"),
        pytest.param(reply(SIGN, HINT)[:-30], id="cut_off_in_the_last"),
        pytest.param('{"signs": [' + json.dumps(SIGN) + json.dumps(HINT), id="never_closed"),
        pytest.param(f"{reply(SIGN)}\n{reply(HINT)[:-2]}", id="two_answers"),
        pytest.param(
            reply(HINT, SIGN).replace('"kind"', '"kind": "plan", "kind"'), id="keys_given_twice"
        ),
        pytest.param(json.dumps({"self_harm": [SIGN], "despair": [HINT]}), id="by_category"),
        pytest.param(json.dumps({"report": {"found": {"signs": [SIGN, HINT]}}}), id="deep"),
        pytest.param(json.dumps({"signs": [[SIGN], [HINT]]}), id="nested_lists"),
        pytest.param(json.dumps({"signs": ["look down", HINT["quote"]]}), id="texts"),
    ],
)
def test_signs_are_found_in_a_reply_of_another_form(text: str) -> None:
    reading = read(ScriptedModel([text]))
    assert [told(one)[0] for one in reading.signals] == ["look down", HINT["quote"]]
    assert reading.status is ReadingStatus.ANSWERED


def test_signs_before_the_limit_of_a_reply_are_kept() -> None:
    cut = response(reply(SIGN, HINT)[:-30], finish_reason="length")
    assert len(read(ScriptedModel([cut])).signals) == 2


@pytest.mark.parametrize(
    "later",
    [
        pytest.param("I cannot help with that.", id="refusal"),
        pytest.param(reply({"quote": "…"}), id="no_words"),
        pytest.param(reply(HINT | {"kind": "x"}), id="another_sign"),
        pytest.param(reply(HINT), id="whole_without_it"),
        pytest.param(reply(), id="none"),
        pytest.param(ModelConnectionError("scripted", "gone"), id="gone"),
    ],
)
def test_no_sign_of_any_try_is_lost(later: str | BaseException) -> None:
    reading = read(ScriptedModel([reply(BROKEN_SIGN), later]))
    assert ("look down", RiskKind.UNSPECIFIED) in [told(one)[:2] for one in reading.signals]
    assert reading.completed_count >= 1


def test_words_that_are_read_again_count_as_they_were_read_last() -> None:
    mild = SIGN | {"quote": "I walk to the quarry and look down", "level": "moderate"}
    with collect_failures() as failures:
        reading = read(ScriptedModel([reply(BROKEN_SIGN), reply(mild)]))
    assert [one.level for one in reading.signals] == [RiskLevel.MODERATE]
    assert (reading.completed_count, failures) == (0, [])


def test_fuller_reading_of_the_same_words_counts_among_refused_replies() -> None:
    replies = [reply(SIGN, "Nobody would miss me there"), reply(BROKEN_SIGN, HINT)]
    reading = read(ScriptedModel(replies))
    assert [one.kind for one in reading.signals] == [
        RiskKind.METHOD,
        RiskKind.BURDEN_AND_DESPAIR,
    ]
    assert reading.completed_count == 0


def test_signs_that_only_a_refused_reply_has_are_recorded_beside_an_accepted_one() -> None:
    with collect_failures() as failures:
        read(ScriptedModel([reply(BROKEN_SIGN), reply(HINT)]))
    (failure,) = failures
    assert (failure.category, failure.severity) == (
        FailureCategory.PARTIAL_REPLY,
        FailureSeverity.WARNING,
    )
    assert failure.context == {"count": 1}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("I look down.", id="prose"),
        pytest.param("I cannot discuss self-harm.", id="refusal"),
        pytest.param(reply({}), id="an_empty_sign"),
        pytest.param(reply({"quote": "…", "kind": "plan"}), id="the_example"),
        pytest.param('{"signs": "none"}', id="a_word"),
        pytest.param('{"danger": false}', id="no_signs"),
        pytest.param(f"<think>{reply(SIGN)}", id="only_thought"),
        pytest.param(reply(*({**SIGN, "quote": f"look {n}"} for n in range(101))), id="too_many"),
    ],
)
def test_reply_without_a_readable_sign_is_a_failed_reading(text: str) -> None:
    with collect_failures() as failures:
        reading = read(ScriptedModel([text]))
    assert reading == ModelReading(status=ReadingStatus.FAILED, code=FailureCode.OUTPUT_REJECTED)
    assert [one.category for one in failures] == [FailureCategory.AGENT_FAILED]


def test_reply_beyond_the_byte_cap_is_not_looked_through() -> None:
    agent = DangerAgent(
        (route(ScriptedModel([reply(BROKEN_SIGN)]), max_reply_bytes=20),),
        pydantic_ai_settings=PydanticAISettings(retries=0),
    )
    assert asyncio.run(agent.read(opened())).status is ReadingStatus.FAILED


def test_every_kind_is_explained_to_the_model() -> None:
    model = ScriptedModel([reply()])
    read(model)
    for kind in RiskKind:
        assert f"\n{kind.value}: " in model.prompts[0]
