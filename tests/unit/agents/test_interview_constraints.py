import json
from dataclasses import replace
from typing import Final

import pytest
from tests.fakes.interview_agents import (
    GOOD,
    TOOLS,
    VIEW,
    Arguments,
    ask,
    changed,
    plain,
    without,
)
from tests.fakes.scripted import ScriptedModel, route, tool_call

from ai_psychiatrist.agents.interview.outputs import MAX_TEXT_CHARACTERS
from ai_psychiatrist.agents.interview.schemas import DIGEST_ANSWER, EXTRACT_FACTS
from ai_psychiatrist.domain.failures import CallPath, FailureCode, RejectionCode
from ai_psychiatrist.llm.replies import ReplyRejected

GOALS, FACTS, DRIFT, UPDATES, QUESTION, FREQUENCY, ANALYSIS = TOOLS

CONFIDENCE: Final = ("goal_updates", 0, "confidence")
FIVE: Final = [f"Find out about stop {stop}" for stop in range(5)]
ANSWERS: Final = GOOD[QUESTION]["answers"]
SHARES: Final = ("verdict", "shares")


def share(name: str, percentage: int) -> Arguments:
    return {"name": name, "percentage": percentage}


BROKEN: Final[dict[str, tuple[str, Arguments, RejectionCode, str]]] = {
    "no_goals": (GOALS, {"goals": []}, RejectionCode.WRONG_COUNT, "at least 5"),
    "four_goals": (GOALS, {"goals": FIVE[:4]}, RejectionCode.WRONG_COUNT, "at least 5"),
    "eight_goals": (
        GOALS,
        {"goals": [*FIVE, "six", "seven", "eight"]},
        RejectionCode.WRONG_COUNT,
        "at most 7",
    ),
    "goal_twice": (GOALS, {"goals": [*FIVE, FIVE[0]]}, RejectionCode.NOT_DISTINCT, "goals"),
    "goal_twice_but_for_case_and_dots": (
        GOALS,
        {"goals": [*FIVE, f"  {FIVE[0].upper()}!"]},
        RejectionCode.NOT_DISTINCT,
        "goals",
    ),
    "blank_goal": (GOALS, changed(GOALS, "goals", 2, value=" "), RejectionCode.EMPTY_FIELD, "[2]"),
    "goal_of_dots": (
        GOALS,
        changed(GOALS, "goals", 2, value="…"),
        RejectionCode.EMPTY_FIELD,
        "goals[2]",
    ),
    "goal_is_a_number": (GOALS, changed(GOALS, "goals", 0, value=7), RejectionCode.WRONG_TYPE, ""),
    "goals_are_one_text": (GOALS, {"goals": "one, two"}, RejectionCode.WRONG_TYPE, "a list"),
    "goals_are_missing": (GOALS, {}, RejectionCode.MISSING_ITEM, "goals is missing"),
    "endless_goal": (
        GOALS,
        changed(GOALS, "goals", 0, value="x" * (MAX_TEXT_CHARACTERS + 1)),
        RejectionCode.TOO_LONG,
        "goals[0]",
    ),
    "unknown_field": (
        GOALS,
        GOOD[GOALS] | {"thoughts": "SECRET"},
        RejectionCode.UNKNOWN_FIELD,
        "the reply has a field",
    ),
    "field_of_ours": (
        GOALS,
        GOOD[GOALS] | {"repaired": True},
        RejectionCode.UNKNOWN_FIELD,
        "the reply has a field",
    ),
    "fact_without_claim": (
        FACTS,
        without(FACTS, "facts", 0, "claim"),
        RejectionCode.MISSING_ITEM,
        "facts[0].claim is missing",
    ),
    "fact_without_timestamp": (
        FACTS,
        without(FACTS, "facts", 0, "timestamp"),
        RejectionCode.MISSING_ITEM,
        "facts[0].timestamp",
    ),
    "fact_of_another_confidence": (
        FACTS,
        changed(FACTS, "facts", 0, "confidence", value="probably"),
        RejectionCode.NOT_A_CHOICE,
        "'certain' or 'uncertain'",
    ),
    "fact_confidence_in_capitals": (
        FACTS,
        changed(FACTS, "facts", 0, "confidence", value="Certain"),
        RejectionCode.NOT_A_CHOICE,
        "facts[0].confidence",
    ),
    "empty_claim": (
        FACTS,
        changed(FACTS, "facts", 0, "claim", value=""),
        RejectionCode.EMPTY_FIELD,
        "facts[0].claim",
    ),
    "drift_as_text": (
        DRIFT,
        changed(DRIFT, "addressed_question", value="true"),
        RejectionCode.WRONG_TYPE,
        "true or false",
    ),
    "drift_as_number": (
        DRIFT,
        changed(DRIFT, "addressed_question", value=1),
        RejectionCode.WRONG_TYPE,
        "true or false",
    ),
    "drift_without_redirect": (
        DRIFT,
        {"addressed_question": False, "drift_reason": "other", "redirect_suggestion": "  "},
        RejectionCode.EMPTY_FIELD,
        "redirect_suggestion must not be empty",
    ),
    "confidence_150": (
        UPDATES,
        changed(UPDATES, *CONFIDENCE, value=150),
        RejectionCode.OUT_OF_RANGE,
        "at most 100",
    ),
    "confidence_below_0": (
        UPDATES,
        changed(UPDATES, *CONFIDENCE, value=-5),
        RejectionCode.OUT_OF_RANGE,
        "at least 0",
    ),
    "confidence_as_text": (
        UPDATES,
        changed(UPDATES, *CONFIDENCE, value="50"),
        RejectionCode.WRONG_TYPE,
        "whole number",
    ),
    "confidence_50_7": (
        UPDATES,
        changed(UPDATES, *CONFIDENCE, value=50.7),
        RejectionCode.WRONG_TYPE,
        "whole number",
    ),
    "confidence_true": (
        UPDATES,
        changed(UPDATES, *CONFIDENCE, value=True),
        RejectionCode.WRONG_TYPE,
        "whole number",
    ),
    "confidence_null": (
        UPDATES,
        changed(UPDATES, *CONFIDENCE, value=None),
        RejectionCode.WRONG_TYPE,
        "whole number",
    ),
    "confidence_huge": (
        UPDATES,
        changed(UPDATES, *CONFIDENCE, value=10**40),
        RejectionCode.OUT_OF_RANGE,
        "at most 100",
    ),
    "another_status": (
        UPDATES,
        changed(UPDATES, "goal_updates", 0, "status", value="done"),
        RejectionCode.NOT_A_CHOICE,
        "goal_updates[0].status",
    ),
    "complete_at_79": (
        UPDATES,
        changed(UPDATES, *CONFIDENCE, value=79),
        RejectionCode.RULE_BROKEN,
        "80",
    ),
    "goal_updated_twice": (
        UPDATES,
        changed(UPDATES, "goal_updates", 1, "goal_id", value="g1"),
        RejectionCode.NOT_DISTINCT,
        "one update each",
    ),
    "three_answers": (
        QUESTION,
        changed(QUESTION, "answers", value=ANSWERS[1:]),
        RejectionCode.WRONG_COUNT,
        "at least 4",
    ),
    "five_answers": (
        QUESTION,
        changed(QUESTION, "answers", value=[*ANSWERS, {"answer": "Five.", "reasoning": "r"}]),
        RejectionCode.WRONG_COUNT,
        "at most 4",
    ),
    "identical_answers": (
        QUESTION,
        changed(QUESTION, "answers", value=[ANSWERS[3]] * 4),
        RejectionCode.NOT_DISTINCT,
        "same text twice",
    ),
    "nobody_may_be_unsure": (
        QUESTION,
        changed(QUESTION, "answers", 3, "answer", value="Nobody at all."),
        RejectionCode.RULE_BROKEN,
        "not sure",
    ),
    "empty_answer": (
        QUESTION,
        changed(QUESTION, "answers", 0, "answer", value=""),
        RejectionCode.EMPTY_FIELD,
        "answers[0].answer",
    ),
    "answers_as_texts": (
        QUESTION,
        changed(QUESTION, "answers", value=["a", "b", "c", "not sure"]),
        RejectionCode.WRONG_TYPE,
        "an object",
    ),
    "empty_question": (
        QUESTION,
        changed(QUESTION, "question", value="?"),
        RejectionCode.EMPTY_FIELD,
        "question",
    ),
    "question_asked_before": (
        QUESTION,
        changed(QUESTION, "question", value=VIEW.messages[1].text.upper()),
        RejectionCode.NOT_DISTINCT,
        "asked before",
    ),
    "target_is_no_open_goal": (
        QUESTION,
        changed(QUESTION, "target_goal_id", value="g3"),
        RejectionCode.UNKNOWN_ID,
        "g1, g2",
    ),
    "wish_to_wrap_up": (
        QUESTION,
        changed(QUESTION, "target_goal_id", value="wrap_up"),
        RejectionCode.UNKNOWN_ID,
        "g1, g2",
    ),
    "rating_0": (
        ANALYSIS,
        changed(ANALYSIS, "verdict", "drama_rating", value=0),
        RejectionCode.OUT_OF_RANGE,
        "at least 1",
    ),
    "rating_11": (
        ANALYSIS,
        changed(ANALYSIS, "verdict", "drama_rating", value=11),
        RejectionCode.OUT_OF_RANGE,
        "at most 10",
    ),
    "percentage_101": (
        ANALYSIS,
        changed(ANALYSIS, "verdict", "percentage", value=101),
        RejectionCode.OUT_OF_RANGE,
        "verdict.percentage",
    ),
    "shares_of_99": (
        ANALYSIS,
        changed(ANALYSIS, *SHARES, value=[share("Noor", 60), share("Kim", 39)]),
        RejectionCode.RULE_BROKEN,
        "total 100",
    ),
    "share_twice": (
        ANALYSIS,
        changed(ANALYSIS, *SHARES, value=[share("Noor", 50), share("noor", 50)]),
        RejectionCode.NOT_DISTINCT,
        "verdict.shares",
    ),
    "verdict_without_explanation": (
        ANALYSIS,
        without(ANALYSIS, "verdict", "drama_rating_explanation"),
        RejectionCode.MISSING_ITEM,
        "verdict.drama_rating_explanation",
    ),
    "verdict_as_text": (
        ANALYSIS,
        changed(ANALYSIS, "verdict", value="Noor did it"),
        RejectionCode.WRONG_TYPE,
        "an object",
    ),
    "empty_event": (
        ANALYSIS,
        changed(ANALYSIS, "timeline", 0, "event", value=""),
        RejectionCode.EMPTY_FIELD,
        "timeline[0].event",
    ),
}

broken_replies = pytest.mark.parametrize(
    ("verb", "arguments", "code", "words"), BROKEN.values(), ids=BROKEN
)


@broken_replies
def test_broken_rule_is_sent_back_to_the_model_and_mended(
    verb: str, arguments: Arguments, code: RejectionCode, words: str
) -> None:
    model = ScriptedModel([tool_call(TOOLS[verb], arguments), tool_call(TOOLS[verb], GOOD[verb])])
    asked = ask(verb, model)
    assert asked.codes == [code, None]
    assert words in model.feedback[1]
    assert asked.output is not None
    assert asked.output.coercions == 0
    dumped = asked.output.model_dump(mode="json", exclude={"repaired", "coercions"})
    assert dumped == GOOD[verb]


@broken_replies
def test_rule_that_stays_broken_leaves_no_output(
    verb: str, arguments: Arguments, code: RejectionCode, words: str
) -> None:
    asked = ask(verb, ScriptedModel([tool_call(TOOLS[verb], arguments)]), retries=1)
    assert asked.output is None
    assert asked.outcome.failure is FailureCode.OUTPUT_REJECTED
    assert asked.outcome.rejection is not None
    assert asked.outcome.rejection.code is code
    assert words in str(asked.outcome.rejection)
    assert asked.codes == [code, code]


@pytest.mark.parametrize("goal_id", ["g9", VIEW.goals[1].text])
def test_update_of_an_unknown_goal_is_no_reason_to_refuse_the_others(goal_id: str) -> None:
    arguments = changed(UPDATES, "goal_updates", 1, "goal_id", value=goal_id)
    assert ask(UPDATES, ScriptedModel([tool_call(TOOLS[UPDATES], arguments)])).codes == [None]


@pytest.mark.parametrize("verb", [verb for verb in TOOLS if verb != FREQUENCY])
def test_rejected_reply_is_sent_back_once_to_each_model_and_nobody_else_asked(verb: str) -> None:
    chain = tuple(route(ScriptedModel([tool_call(TOOLS[verb], {})]), plain("{}")) for _ in range(2))
    asked = ask(verb, chain, retries=5)
    assert asked.outcome.failure is FailureCode.OUTPUT_REJECTED
    assert [attempt.path for attempt in asked.attempts] == [CallPath.AGENT] * 4


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(
            {"frequency": "most_days", "words": "most"}, RejectionCode.NOT_A_CHOICE, id="another"
        ),
        pytest.param({"frequency": 3, "words": "most"}, RejectionCode.NOT_A_CHOICE, id="a_score"),
        pytest.param({"frequency": "unclear"}, RejectionCode.MISSING_ITEM, id="no_words"),
        pytest.param(
            {"frequency": "unclear", "words": ["a", "b"]}, RejectionCode.WRONG_TYPE, id="a_list"
        ),
        pytest.param(
            {"frequency": "unclear", "words": "", "score": 3},
            RejectionCode.UNKNOWN_FIELD,
            id="more",
        ),
    ],
)
def test_frequency_is_asked_for_once_whatever_comes(
    arguments: Arguments, code: RejectionCode
) -> None:
    tool = TOOLS[FREQUENCY]
    broken, good = tool_call(tool, arguments), tool_call(tool, GOOD[FREQUENCY])
    asked = ask(
        FREQUENCY, (route(ScriptedModel([broken, good]), plain("{}")), route(ScriptedModel([good])))
    )
    assert asked.codes == [code]
    assert asked.outcome.failure is FailureCode.OUTPUT_REJECTED
    lost = ask(FREQUENCY, ScriptedModel([TimeoutError(), good]))
    assert (lost.codes, lost.slept) == ([FailureCode.TIMED_OUT], [])
    assert ask(FREQUENCY, ScriptedModel([good])).codes == [None]


@pytest.mark.parametrize("verb", [verb for verb in TOOLS if verb != FREQUENCY])
def test_feedback_holds_no_words_of_the_reply(verb: str) -> None:
    secret = "zanzibar"
    hostile = json.loads(json.dumps(GOOD[verb]).replace("Noor", secret))
    hostile[secret] = secret
    for key, value in list(hostile.items()):
        hostile[key] = [secret, {secret: secret}] if isinstance(value, list) else value
    model = ScriptedModel([tool_call(TOOLS[verb], hostile), tool_call(TOOLS[verb], GOOD[verb])])
    asked = ask(verb, model)
    assert asked.codes[-1] is None
    assert secret not in model.feedback[1]


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        pytest.param(GOALS, {"goals": [*FIVE, "six", "seven"]}, id="seven_goals"),
        pytest.param(FACTS, {"facts": []}, id="no_facts"),
        pytest.param(FACTS, changed(FACTS, "facts", 0, "timestamp", value=""), id="time_not_said"),
        pytest.param(UPDATES, {"goal_updates": []}, id="no_progress"),
        pytest.param(UPDATES, changed(UPDATES, *CONFIDENCE, value=80), id="complete_at_80"),
        pytest.param(UPDATES, changed(UPDATES, *CONFIDENCE, value=100), id="confidence_100"),
        pytest.param(
            UPDATES, changed(UPDATES, "goal_updates", 1, "confidence", value=0), id="confidence_0"
        ),
        pytest.param(ANALYSIS, without(ANALYSIS, *SHARES), id="no_shares"),
        pytest.param(
            ANALYSIS, changed(ANALYSIS, "verdict", "drama_rating", value=10), id="rating_10"
        ),
        pytest.param(
            DRIFT,
            {
                "addressed_question": False,
                "drift_reason": "It is about dinner.",
                "redirect_suggestion": "Back to the violin, please.",
            },
            id="drifted",
        ),
    ],
)
def test_values_at_the_limits_are_taken_as_they_are(verb: str, arguments: Arguments) -> None:
    asked = ask(verb, ScriptedModel([tool_call(TOOLS[verb], arguments)]))
    assert asked.codes == [None]
    assert asked.output is not None
    dumped = asked.output.model_dump(mode="json", exclude={"repaired", "coercions"})
    if verb == ANALYSIS:
        arguments["verdict"].setdefault("shares", [])
    assert dumped == arguments


@pytest.mark.parametrize(
    "answer",
    [
        "I'm not sure.",
        "I don’t really know",
        "I can't remember that",
        "No idea.",
        "It is hard to say.",
        "Maybe, but I did not see it.",
        "I would rather not say.",
    ],
)
def test_ways_of_not_knowing_count_as_the_unsure_answer(answer: str) -> None:
    arguments = changed(QUESTION, "answers", 3, "answer", value=answer)
    assert ask(QUESTION, ScriptedModel([tool_call(QUESTION, arguments)])).codes == [None]


@pytest.mark.parametrize(
    ("goals", "codes"),
    [
        pytest.param(FIVE[:3], [None], id="three_are_enough"),
        pytest.param(FIVE, [RejectionCode.WRONG_COUNT, RejectionCode.WRONG_COUNT], id="five"),
    ],
)
def test_protocol_may_set_its_own_number_of_goals(
    goals: list[str], codes: list[RejectionCode | None]
) -> None:
    view = replace(VIEW, min_goals=3, max_goals=4)
    model = ScriptedModel([tool_call(TOOLS[GOALS], {"goals": goals})])
    assert ask(GOALS, model, view=view, retries=1).codes == codes
    (tool,) = model.offered[0].output_tools
    assert tool.parameters_json_schema["properties"]["goals"]["minItems"] == 3
    assert tool.parameters_json_schema["properties"]["goals"]["maxItems"] == 4
    assert "3 to 4" in str(tool.description)
    assert "3 to 4" in model.prompts[0]


@pytest.mark.parametrize("section", ["facts", "drift", "goal_updates"])
def test_combined_digest_needs_all_three_sections(section: str) -> None:
    arguments = {key: value for key, value in GOOD["digest_answer"].items() if key != section}
    with pytest.raises(ReplyRejected, match=f"{section} is missing"):
        DIGEST_ANSWER.extract(json.dumps(arguments))


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps({"facts": [{}] * 20_000}),
        json.dumps({f"field {number}": 1 for number in range(20_000)}),
    ],
    ids=["entries", "fields"],
)
def test_a_reply_of_very_many_values_is_refused_before_each_is_an_error(reply: str) -> None:
    with pytest.raises(ReplyRejected) as caught:
        EXTRACT_FACTS.extract(reply)
    assert caught.value.code is RejectionCode.WRONG_COUNT
    assert len(str(caught.value)) < 100
