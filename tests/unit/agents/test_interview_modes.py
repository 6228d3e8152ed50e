import json
from dataclasses import replace

import pytest
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import (
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import FunctionModel
from tests.fakes.call_memory import CallMemory
from tests.fakes.captured_events import captured_events
from tests.fakes.interview_agents import GOOD, SAID, TOOLS, ask, changed, plain
from tests.fakes.scripted import (
    USAGE,
    Scripted,
    ScriptedModel,
    response,
    route,
    tool_call,
)

from ai_psychiatrist.domain.failures import CallPath, FailureCode, RejectionCode
from ai_psychiatrist.llm.settings import OutputModeSetting

VERB = "update_goals"
TOOL = TOOLS[VERB]
GOOD_TEXT = json.dumps(GOOD[VERB])
GOOD_CALL = tool_call(TOOL, GOOD[VERB])
PROSE = "Well, I think the violin was in the van."

every_verb = pytest.mark.parametrize("verb", TOOLS)


def calls(*parts: TextPart | ToolCallPart) -> ModelResponse:
    return ModelResponse(parts=list(parts), usage=USAGE)


@every_verb
def test_schema_goes_out_as_the_only_tool(verb: str) -> None:
    model = ScriptedModel([tool_call(TOOLS[verb], GOOD[verb])])
    asked = ask(verb, model)
    assert asked.codes == [None]
    (offered,) = model.offered
    (tool,) = offered.output_tools
    assert tool.name == TOOLS[verb]
    assert not offered.allow_text_output
    assert not offered.function_tools


@every_verb
def test_tool_prompt_names_the_tool_once_and_shows_no_format(verb: str) -> None:
    model = ScriptedModel([tool_call(TOOLS[verb], GOOD[verb])])
    ask(verb, model)
    (prompt,) = model.prompts
    assert prompt.endswith(f"Use the '{TOOLS[verb]}' tool to return your response.")
    assert prompt.count("tool") == 1
    assert "JSON" not in prompt
    assert '"properties"' not in prompt


@every_verb
@pytest.mark.parametrize("mode", ["native", "text"])
def test_schema_goes_out_natively_or_as_text(verb: str, mode: OutputModeSetting) -> None:
    model = ScriptedModel([response(json.dumps(GOOD[verb]))])
    asked = ask(verb, model, output_mode=mode)
    assert asked.codes == [None]
    (offered,) = model.offered
    assert not offered.output_tools
    sent = offered.model_request_parameters.output_object
    assert (sent is not None) == (mode == "native")
    assert ('"properties"' in model.prompts[0]) == (mode == "text")


def test_all_modes_read_the_same_output() -> None:
    replies: dict[OutputModeSetting, ModelResponse] = {
        "tool": GOOD_CALL,
        "native": response(GOOD_TEXT),
        "text": response(GOOD_TEXT),
    }
    outputs = [
        ask(VERB, ScriptedModel([reply]), output_mode=mode).output
        for mode, reply in replies.items()
    ]
    assert outputs[0] is not None
    assert outputs == [outputs[0]] * 3


@every_verb
@pytest.mark.parametrize(
    "frame",
    [
        pytest.param("{}", id="bare"),
        pytest.param("```json\n{}\n```", id="fenced"),
        pytest.param("<think>I call the tool.</think>\n\n{}", id="after_thinking"),
    ],
)
def test_a_text_that_is_the_arguments_of_the_tool_counts_as_its_call(verb: str, frame: str) -> None:
    called = ask(verb, ScriptedModel([tool_call(TOOLS[verb], GOOD[verb])]))
    written = ask(verb, ScriptedModel([response(frame.replace("{}", json.dumps(GOOD[verb])))]))
    assert written.codes == [None]
    assert written.output == called.output


def test_object_among_words_is_found_in_text() -> None:
    asked = ask(VERB, ScriptedModel([response(f"Sure:\n```json\n{GOOD_TEXT}\n```")]))
    assert asked.codes[0] is RejectionCode.NO_TOOL_CALL
    text = ScriptedModel([response(f"Sure:\n```json\n{GOOD_TEXT}\n```")])
    assert ask(VERB, text, output_mode="text").codes == [None]


@pytest.mark.parametrize(
    ("reply", "code", "characters"),
    [
        pytest.param(response(PROSE), RejectionCode.NO_TOOL_CALL, len(PROSE), id="prose"),
        pytest.param(
            response(f"{GOOD_TEXT} {GOOD_TEXT}"),
            RejectionCode.NO_TOOL_CALL,
            2 * len(GOOD_TEXT) + 1,
            id="arguments_twice",
        ),
        pytest.param(
            response('{"goal_updates": 1}'), RejectionCode.NO_TOOL_CALL, 19, id="other_arguments"
        ),
        pytest.param(
            response(f"Call: {GOOD_TEXT}"),
            RejectionCode.NO_TOOL_CALL,
            len(GOOD_TEXT) + 6,
            id="arguments_among_words",
        ),
        pytest.param(
            response(GOOD_TEXT[:-1]),
            RejectionCode.NO_TOOL_CALL,
            len(GOOD_TEXT) - 1,
            id="arguments_cut_off",
        ),
        pytest.param(ModelResponse(parts=[]), RejectionCode.EMPTY_REPLY, 0, id="nothing"),
        pytest.param(response(" \n"), RejectionCode.EMPTY_REPLY, 2, id="blank"),
        pytest.param(
            tool_call("extract_facts", GOOD_TEXT),
            RejectionCode.UNEXPECTED_TOOL_CALL,
            len(GOOD_TEXT),
            id="wrong_name",
        ),
        pytest.param(
            calls(ToolCallPart(TOOL, GOOD_TEXT), ToolCallPart(TOOL, GOOD_TEXT)),
            RejectionCode.UNEXPECTED_TOOL_CALL,
            2 * len(GOOD_TEXT) + 1,
            id="called_twice",
        ),
        pytest.param(
            calls(ToolCallPart("search", "{}"), ToolCallPart(TOOL, GOOD_TEXT)),
            RejectionCode.UNEXPECTED_TOOL_CALL,
            len(GOOD_TEXT) + 3,
            id="another_tool_first",
        ),
        pytest.param(
            tool_call(TOOL, '{"goal_updates": ['), RejectionCode.TRUNCATED, 18, id="cut_off"
        ),
        pytest.param(tool_call(TOOL, "zebra"), RejectionCode.NO_JSON, 5, id="garbage"),
        pytest.param(tool_call(TOOL, "[1]"), RejectionCode.NOT_AN_OBJECT, 3, id="list"),
        pytest.param(
            tool_call(TOOL, '{"goal_updates": [], "goal_updates": []}'),
            RejectionCode.DUPLICATE_KEY,
            40,
            id="same_key_twice",
        ),
        pytest.param(
            tool_call(TOOL, '{"goal_updates": NaN}'), RejectionCode.NOT_FINITE, 21, id="nan"
        ),
        pytest.param(
            tool_call(TOOL, '{"goal_updates": ["\\ud800"]}'),
            RejectionCode.UNREPAIRABLE,
            28,
            id="half_a_character_escaped",
        ),
        pytest.param(
            calls(ToolCallPart(TOOL, {"goal_updates": ["\ud800"]})),
            RejectionCode.UNREPAIRABLE,
            23,
            id="half_a_character",
        ),
        pytest.param(
            tool_call(TOOL, '{"goal_updates": ' + "[" * 100 + "]" * 100 + "}"),
            RejectionCode.TOO_DEEP,
            218,
            id="deep",
        ),
    ],
)
def test_reply_that_is_no_proper_call_is_refused_and_asked_again(
    reply: ModelResponse, code: RejectionCode, characters: int
) -> None:
    model = ScriptedModel([reply, GOOD_CALL])
    asked = ask(VERB, model)
    assert asked.codes == [code, None]
    assert asked.attempts[0].reply_characters == characters
    assert model.sent[1] != model.sent[0]
    assert str(model.sent[1][-1].parts[-1].content)  # type: ignore[union-attr]
    for message in model.sent[1]:
        str(message).encode()


@pytest.mark.parametrize("mode", ["tool", "native", "text"])
@pytest.mark.parametrize(
    "part",
    [
        pytest.param(TextPart(None), id="text"),  # type: ignore[arg-type]
        pytest.param(ToolCallPart(None, "{}"), id="tool_name"),  # type: ignore[arg-type]
        pytest.param(ToolCallPart(TOOL, "{}", None), id="id"),  # type: ignore[arg-type]
        pytest.param(ToolCallPart(TOOL, 5), id="arguments"),  # type: ignore[arg-type]
    ],
)
def test_null_in_place_of_text_is_a_failed_call(
    part: TextPart | ToolCallPart, mode: OutputModeSetting
) -> None:
    asked = ask(VERB, ScriptedModel([calls(part)]), output_mode=mode)
    assert asked.codes == [FailureCode.MALFORMED_RESPONSE]


def test_endlessly_nested_object_is_refused() -> None:
    nested: list[object] = []
    for _ in range(5_000):
        nested = [nested]
    reply = calls(ToolCallPart(TOOL, {"goal_updates": nested}))
    assert ask(VERB, ScriptedModel([reply, GOOD_CALL])).codes == [RejectionCode.TOO_DEEP, None]


def test_arguments_as_an_object_are_read_like_text() -> None:
    assert ask(VERB, ScriptedModel([calls(ToolCallPart(TOOL, GOOD[VERB]))])).codes == [None]


def test_words_beside_the_call_are_no_fault() -> None:
    reply = calls(TextPart("Here you are."), ToolCallPart(TOOL, GOOD_TEXT))
    assert ask(VERB, ScriptedModel([reply])).codes == [None]


def test_repaired_syntax_of_arguments_is_accounted() -> None:
    asked = ask(VERB, ScriptedModel([tool_call(TOOL, GOOD_TEXT[:-2] + ",]}")]))
    assert asked.codes == [None]
    assert asked.attempts[0].repaired


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(tool_call(TOOL, {"goal_updates": [1]}), id="bad_arguments"),
        pytest.param(
            calls(ToolCallPart(TOOL, "{", "one"), ToolCallPart(TOOL, "{", "two")), id="two_calls"
        ),
        pytest.param(calls(ToolCallPart(TOOL, "{", "\ud800")), id="id_that_no_provider_takes"),
    ],
)
def test_refused_call_is_shown_again_as_what_was_written(reply: ModelResponse) -> None:
    model = ScriptedModel([reply, GOOD_CALL])
    assert ask(VERB, model).output is not None
    for task, answer, feedback in model.sent[1:]:
        (shown,), (asked,) = answer.parts, feedback.parts
        assert isinstance(shown, TextPart)
        assert isinstance(asked, UserPromptPart)
        assert shown.content.startswith("{")
        assert task == model.sent[0][0]


def test_prose_is_shown_again_as_prose() -> None:
    model = ScriptedModel([response(PROSE), GOOD_CALL])
    ask(VERB, model)
    _, answer, feedback = model.sent[1]
    assert [part for part in answer.parts if isinstance(part, TextPart)] == [TextPart(PROSE)]
    assert TOOL in str(feedback.parts[0].content)  # type: ignore[union-attr]
    assert not any(isinstance(part, ToolReturnPart) for part in feedback.parts)


def test_huge_arguments_are_not_sent_back() -> None:
    huge = {"goal_updates": [{"reasoning": "x" * 100_000}]}
    model = ScriptedModel([tool_call(TOOL, huge), GOOD_CALL])
    asked = ask(VERB, model)
    assert asked.attempts[0].reply_characters > 100_000
    assert sum(len(str(message)) for message in model.sent[1]) < 20_000


def test_arguments_over_the_byte_cap_are_refused() -> None:
    huge = tool_call(TOOL, {"goal_updates": ["ä" * 2_000]})
    asked = ask(VERB, (route(ScriptedModel([huge, GOOD_CALL]), max_reply_bytes=2_000),))
    assert asked.codes == [RejectionCode.REPLY_TOO_LARGE, None]


def test_call_that_ends_at_the_length_limit_is_cut_off() -> None:
    cut = ModelResponse(parts=[TextPart(PROSE)], usage=USAGE, finish_reason="length")
    assert ask(VERB, ScriptedModel([cut, GOOD_CALL])).codes == [RejectionCode.TRUNCATED, None]


@pytest.mark.parametrize(
    ("reply", "code", "words"),
    [
        pytest.param("no json", RejectionCode.NO_JSON, "JSON", id="prose"),
        pytest.param("{}", RejectionCode.MISSING_ITEM, "goal_updates is missing", id="empty"),
    ],
)
def test_native_reply_is_checked_like_any_other(
    reply: str, code: RejectionCode, words: str
) -> None:
    model = ScriptedModel([response(reply), response(GOOD_TEXT)])
    asked = ask(VERB, model, output_mode="native")
    assert asked.codes == [code, None]
    assert words in model.feedback[1]
    assert model.sent[1][1].parts == [TextPart(reply)]


def test_native_mode_has_no_tool_to_call() -> None:
    asked = ask(VERB, ScriptedModel([GOOD_CALL, response(GOOD_TEXT)]), output_mode="native")
    assert asked.codes == [RejectionCode.UNEXPECTED_TOOL_CALL, None]


def test_refused_request_leads_to_one_plain_call_with_the_schema_in_its_prompt() -> None:
    chat = plain(GOOD_TEXT)
    model = ScriptedModel([ModelHTTPError(400, "scripted")])
    asked = ask(VERB, (route(model, chat),))
    assert asked.output is not None
    assert asked.codes == [FailureCode.REQUEST_REFUSED, None]
    assert asked.attempts[-1].path is CallPath.PLAIN
    assert '"goal_updates"' in chat.prompts[0]
    assert "tool" not in chat.prompts[0]
    assert chat.prompts[0].startswith(model.prompts[0].rpartition("\n\n")[0])


def test_plain_reply_is_checked_against_the_ids_too() -> None:
    verb = "generate_question_with_answers"
    wrong = json.dumps(changed(verb, "target_goal_id", value="g7"))
    asked = ask(verb, (route(None, plain(wrong)),))
    assert asked.codes == [RejectionCode.UNKNOWN_ID]
    assert asked.output is None


@pytest.mark.parametrize(
    ("has_model", "enabled"),
    [pytest.param(False, True, id="no_agent_model"), pytest.param(True, False, id="disabled")],
)
def test_without_the_agent_path_the_schema_is_text(has_model: bool, enabled: bool) -> None:
    model = ScriptedModel([GOOD_CALL]) if has_model else None
    chat = plain(GOOD_TEXT)
    asked = ask(VERB, (route(model, chat),), enabled=enabled)
    assert [attempt.path for attempt in asked.attempts] == [CallPath.PLAIN]
    assert asked.output is not None


@pytest.mark.parametrize(
    "replies",
    [
        pytest.param([response(SAID), GOOD_CALL], id="prose"),
        pytest.param([tool_call(TOOL, {SAID: SAID}), GOOD_CALL], id="bad_arguments"),
        pytest.param([RuntimeError(SAID), GOOD_CALL], id="library_crash"),
    ],
)
def test_no_words_of_a_person_are_logged(replies: list[Scripted]) -> None:
    with captured_events() as entries:
        ask(VERB, ScriptedModel(replies))
    assert entries
    assert SAID not in str(entries)
    assert "violin" not in str(entries)


@pytest.mark.parametrize("mode", ["tool", "native"])
def test_kept_calls_are_judged_again_without_asking(mode: OutputModeSetting) -> None:
    good = GOOD_CALL if mode == "tool" else response(GOOD_TEXT)
    first = ScriptedModel([response(PROSE), TimeoutError(), good])
    memory = CallMemory()
    asked = ask(VERB, first, output_mode=mode, store=memory)
    never = ScriptedModel([AssertionError()])
    again = ask(VERB, never, output_mode=mode, store=memory)
    assert never.sent == []
    assert again.output == asked.output is not None
    assert again.codes == asked.codes
    assert again.slept == []
    assert [one.text for one in memory.judgements][-1] == GOOD_TEXT


def test_model_that_knows_no_schemas_is_asked_plainly() -> None:
    model = ScriptedModel([response(GOOD_TEXT)])
    schemaless = FunctionModel(model._reply, profile={"supports_json_schema_output": False})
    chat = plain(GOOD_TEXT)
    asked = ask(VERB, (replace(route(model, chat), agent_model=schemaless),), output_mode="native")
    assert asked.output is not None
    assert [attempt.path for attempt in asked.attempts] == [CallPath.AGENT, CallPath.PLAIN]


def test_spent_budget_ends_the_agent() -> None:
    asked = ask(VERB, ScriptedModel([response(PROSE)]), max_calls=1)
    assert asked.outcome.failure is FailureCode.CALL_BUDGET_SPENT
    assert len(asked.attempts) == 1
