import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.validation.reply.json_decoder import Parsed
from ai_psychiatrist.validation.reply.limits import MAX_DEPTH
from ai_psychiatrist.validation.reply.parse import parse_object

Code = RejectionCode

FINAL = '{"score": 2, "quotes": ["I feel tired"]}'
DRAFT = '{"score": 0, "quotes": []}'
ANSWER: dict[str, object] = {"score": 2, "quotes": ["I feel tired"]}


def rejection(reply: str) -> OutputRejected:
    with pytest.raises(OutputRejected) as caught:
        parse_object(reply)
    return caught.value


def objects(depth: int) -> str:
    return '{"a": ' * depth + "1" + "}" * depth


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(FINAL, id="bare"),
        pytest.param(f"\ufeff\n {FINAL}\n", id="byte_order_mark_and_space"),
        pytest.param(f"Sure, here it is:\n{FINAL}\nAnything else?", id="in_prose"),
        pytest.param(f"```json\n{FINAL}\n```", id="fenced"),
        pytest.param(f"Result:\n\n```\n{FINAL}\n```\nDone.", id="fenced_without_language"),
        pytest.param(f"~~~json\n{FINAL}\n~~~", id="fenced_with_tildes"),
        pytest.param(f"````json\n{FINAL}\n````", id="long_fence"),
        pytest.param(f"```json\r\n{FINAL}\r\n```\r\n", id="fenced_with_crlf"),
        pytest.param(f"```json\n{FINAL}", id="fence_never_closed"),
        pytest.param(f"```json\n{DRAFT}\n```json\n{FINAL}\n```", id="fence_opened_twice"),
        pytest.param(f"<answer>{FINAL}</answer>", id="answer_tags"),
        pytest.param(f"<ANSWER>\n```json\n{FINAL}\n```\n</Answer>", id="fence_in_answer_tags"),
        pytest.param(f"{DRAFT}\n<answer>{FINAL}</answer>", id="answer_tags_after_a_draft"),
        pytest.param(f"I use <answer> tags.\n<answer>{FINAL}</answer>", id="answer_tag_mentioned"),
        pytest.param(f"<think>{DRAFT}</think>\n{FINAL}", id="thinking"),
        pytest.param(f"<thinking>{DRAFT}</thinking>{FINAL}", id="thinking_long_name"),
        pytest.param(f"<THINK>{DRAFT}</THINK>{FINAL}", id="thinking_upper_case"),
        pytest.param(f"{FINAL}\n<think>{DRAFT}</think>", id="thinking_after_the_answer"),
        pytest.param(f"{DRAFT}\n</think>\n{FINAL}", id="thinking_never_opened"),
        pytest.param(f"<think>a</think><think>{DRAFT}</think>{FINAL}", id="thinking_twice"),
        pytest.param(f"<think>{{ not closed</think>{FINAL}", id="brace_in_thinking"),
        pytest.param(f"{DRAFT}\nOn reflection:\n{FINAL}", id="draft_before_the_answer"),
        pytest.param(f"```\n{DRAFT}\n```\nNo:\n```\n{FINAL}\n```", id="fenced_draft"),
        pytest.param(f"<answer>{DRAFT}</answer> no: <answer>{FINAL}</answer>", id="answered_twice"),
        pytest.param(f"I use {{braces}} and {{}}.\n{FINAL} {{}}", id="braces_of_prose"),
        pytest.param(f"The answer is: {FINAL}", id="after_words_that_announce_it"),
        pytest.param(f'{FINAL} (was {{"score": 1}} before)', id="remark_on_its_line"),
        pytest.param(f'{FINAL}\n\nIt was {{"score": 1, "quotes": []}} before.', id="remark_after"),
        pytest.param(
            f"{FINAL}\n\nNotes:\n- score: see above (twice)\n- quotes: one", id="notes_on_each_key"
        ),
        pytest.param(f"{FINAL}\n\nNote: I use {{x: y}}.", id="braces_in_a_note"),
        pytest.param(f"**Answer**\n\n{FINAL}", id="under_a_heading"),
        pytest.param(f"<json>{FINAL}</json>", id="other_tags"),
        pytest.param(f"```json {FINAL}```", id="fence_on_one_line"),
        pytest.param(f"<answer>{FINAL}", id="answer_tag_never_closed"),
        pytest.param(
            f"<answer>{FINAL}</answer>\nIn <answer></answer> tags.",
            id="tags_mentioned",
        ),
        pytest.param(f'{{"score": 1,,, }}\nNo, once more:\n{FINAL}', id="unreadable_draft"),
    ],
)
def test_answer_is_found_wherever_it_stands(reply: str) -> None:
    assert parse_object(reply) == Parsed(value=ANSWER, repaired=False)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a ,] b ,} c", id="comma_before_bracket"),
        pytest.param('```json\n{"score": 0}\n```', id="fence"),
        pytest.param("before </think> after", id="closing_thinking_tag"),
        pytest.param("<think> {", id="opening_thinking_tag"),
        pytest.param("an </answer> tag", id="closing_answer_tag"),
        pytest.param('He said "no" \\ "yes"', id="quotes_and_backslash"),
        pytest.param("// no comment /* at all */ # here", id="comments"),
        pytest.param("True None NaN Infinity", id="constants"),
        pytest.param("“curly” ‘quotes’ \u200b\u00a0\u2028", id="typography"),
        pytest.param("line\nbreak\ttab\x07", id="control_characters"),
        pytest.param("{" * 100 + "[" * 100, id="brackets"),
        pytest.param("😀 é 漢", id="other_scripts"),
    ],
)
def test_strings_of_valid_json_come_out_unchanged(text: str) -> None:
    value: dict[str, object] = {"PHQ8_Sleep": [text], text: "key", "n": [1, 2.5, True, None]}
    for frame in ("{}", "```json\n{}\n```", "<answer>{}</answer>", "Here:\n{}\n"):
        for ascii_only in (True, False):
            reply = frame.replace("{}", json.dumps(value, ensure_ascii=ascii_only))
            assert parse_object(reply) == Parsed(value=value, repaired=False), reply


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        pytest.param('{"a": [1, 2,], "b": "x",}', {"a": [1, 2], "b": "x"}, id="trailing_commas"),
        pytest.param('{"a": 1 "b": 2}', {"a": 1, "b": 2}, id="missing_comma"),
        pytest.param('{"a": ["x"\n"y"]}', {"a": ["x", "y"]}, id="missing_comma_in_list"),
        pytest.param(
            "{'a': ['x'], 'b': \"don't\"}", {"a": ["x"], "b": "don't"}, id="single_quotes"
        ),
        pytest.param("{a: 1, b: 'x'}", {"a": 1, "b": "x"}, id="keys_without_quotes"),
        pytest.param('{"a": True, "b": None}', {"a": True, "b": None}, id="python_constants"),
        pytest.param('{"a": 1, // two\n"b": 2}', {"a": 1, "b": 2}, id="comment"),
        pytest.param('{"a": "x\ny"}', {"a": "x\ny"}, id="line_break_in_string"),
        pytest.param('{"a": "x\\ty\\u00e9",}', {"a": "x\tyé"}, id="escapes_are_read"),
        pytest.param("{“a”: “don’t know”}", {"a": "don’t know"}, id="typographic_quotes"),
        pytest.param('{"a": N/A}', {"a": "N/A"}, id="bare_word"),
        pytest.param('{"a": ["x", "b": ["y"]}', {"a": ["x"], "b": ["y"]}, id="missing_bracket"),
        pytest.param('{"a": -1.50,}', {"a": -1.5}, id="number"),
        pytest.param("{'a': ['x}y', 'z']}", {"a": ["x}y", "z"]}, id="bracket_in_a_string"),
        pytest.param('{"a": [{}{}]}', {"a": [{}, {}]}, id="missing_comma_between_objects"),
        pytest.param('{"a": [1\n2]}', {"a": [1, 2]}, id="missing_comma_between_lines"),
        pytest.param('{"a": 2 // most days\n, "b": 1}', {"a": 2, "b": 1}, id="after_number"),
        pytest.param('{"a": 2, # most days\n"b": 1}', {"a": 2, "b": 1}, id="comment_after_a_comma"),
        pytest.param('{"a": 2/* most days */}', {"a": 2}, id="comment_without_space"),
        pytest.param('{\u200b"a":\u2060 2\ufeff}', {"a": 2}, id="zero_width_spaces"),
        pytest.param(
            '{"a": ["he said "no" to me", "b"]}', {"a": ['he said "no" to me', "b"]}, id="quotation"
        ),
        pytest.param(
            '{"a": "it was "bad", "sad" and so on", "b": 1}',
            {"a": 'it was "bad", "sad" and so on', "b": 1},
            id="quotations_with_a_comma",
        ),
        pytest.param('{"a": ["so he said "no""]}', {"a": ['so he said "no"']}, id="at_the_end"),
        pytest.param("{'a': ['I don't sleep', 'ok']}", {"a": ["I don't sleep", "ok"]}, id="word"),
        pytest.param('{"a\\_b": "x\\_y"}', {"a_b": "x_y"}, id="escapes_of_markdown"),
        pytest.param('{"a": ["x"]}, "b": ["y"]}', {"a": ["x"], "b": ["y"]}, id="closed_too_early"),
        pytest.param('{"a": ["x"]], "b": ["y"]}', {"a": ["x"], "b": ["y"]}, id="stray_bracket"),
        pytest.param('{"a": ["x"}, "b": ["y"]}', {"a": ["x"], "b": ["y"]}, id="miswritten_bracket"),
        pytest.param('{"a": {"b": 1}}}]', {"a": {"b": 1}}, id="brackets_too_many"),
        pytest.param('{"a": 1},', {"a": 1}, id="comma_after_it"),
        pytest.param('{"a": 1, b": 2}', {"a": 1, "b": 2}, id="key_not_opened"),
        pytest.param('{"a": 1, "b: [2]}', {"a": 1, "b": [2]}, id="key_not_closed"),
        pytest.param('{"a": [1]; "b": {};}', {"a": [1], "b": {}}, id="semicolons"),
        pytest.param('{"a" = 1, "b" = 2}', {"a": 1, "b": 2}, id="equals_signs"),
        pytest.param('{{"a": 1}}', {"a": 1}, id="doubled_braces"),
        pytest.param("{„a“: „x“, „b“: 1}", {"a": "x", "b": 1}, id="low_quotation_marks"),
        pytest.param("{”a”: [”x”]}", {"a": ["x"]}, id="only_right_quotation_marks"),
        pytest.param(
            r"{\"a\": \"x \\\"y\\\"\",\n \"b\": 1}",
            {"a": 'x "y"', "b": 1},
            id="marks_escaped_without_a_string",
        ),
    ],
)
def test_syntax_is_repaired_around_values(reply: str, value: dict[str, object]) -> None:
    assert parse_object(f"Here:\n{reply}") == Parsed(value=value, repaired=True)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(f"{{ {FINAL} ", id="cut_after_it"),
        pytest.param(f"{{\n{FINAL}\n}}", id="closed"),
        pytest.param(f"Here it is:\n{{\n{FINAL}}}\n\nAnything else?", id="in_prose"),
        pytest.param(f"```json\n{{\n{FINAL}\n```", id="fenced"),
        pytest.param(f"<answer>{{ {FINAL}}}</answer>", id="tagged"),
    ],
)
def test_object_inside_one_brace_too_many_is_read(reply: str) -> None:
    assert parse_object(reply) == Parsed(value=ANSWER, repaired=True)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(f"{{ {FINAL}, {FINAL} }}", id="two_objects"),
        pytest.param(f"{{ {FINAL}, [1] }}", id="a_list_after_it"),
        pytest.param(f'{{\n{FINAL}\n"b": 2', id="a_member_after_it"),
        pytest.param(f"{{ {{ {FINAL} }}", id="two_braces"),
        pytest.param(f"so {{ {FINAL}", id="in_a_sentence"),
    ],
)
def test_object_inside_one_brace_too_many_is_read_only_where_it_is_all(reply: str) -> None:
    assert rejection(reply).code is Code.NO_JSON


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(f"analysisThe user wants {DRAFT}.assistantfinal{FINAL}", id="after_analysis"),
        pytest.param(f"final{FINAL}", id="at_the_beginning"),
        pytest.param(f"assistantfinal json\n{FINAL}<|return|>", id="constrained"),
        pytest.param(f"analysisI weigh it. final {FINAL}", id="without_the_role"),
        pytest.param(f"commentaryDone.assistantfinal```json\n{FINAL}\n```", id="fenced"),
        pytest.param(
            f"commentary Drafts: <answer>{DRAFT}</answer>. final <answer>{FINAL}</answer>",
            id="tagged",
        ),
        pytest.param(f"assistantfinal{FINAL}\n\nI hope this helps.", id="words_after_it"),
    ],
)
def test_answer_of_a_final_channel_without_its_marks_is_read(reply: str) -> None:
    assert parse_object(reply) == Parsed(value=ANSWER, repaired=False)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(f"In the final {FINAL} analysis", id="sentence"),
        pytest.param(f"analysis of it, in the final {FINAL}", id="sentence_of_analysis"),
        pytest.param(f"final {FINAL} analysis", id="words_on_its_line"),
        pytest.param(f"assistantfinal{DRAFT}{FINAL}", id="two_objects"),
        pytest.param(f"assistantfinal{DRAFT} assistantfinal{FINAL}", id="two_channels"),
        pytest.param(f'assistantfinal{FINAL}\n"b": 2', id="a_member_after_it"),
    ],
)
def test_the_word_final_is_no_channel_in_a_sentence_or_before_two_answers(reply: str) -> None:
    assert rejection(reply).code is Code.NO_JSON


def test_object_that_is_written_as_a_text_is_read() -> None:
    assert parse_object(json.dumps(FINAL)) == Parsed(value=ANSWER, repaired=True)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param('{"score": , "confidence": 3}', id="score_left_out"),
        pytest.param('{"score" "confidence": 3}', id="score_and_colon_left_out"),
        pytest.param('{"score": , "reason": "null"}', id="null_elsewhere"),
        pytest.param('{"score": 2, 3}', id="two_scores"),
        pytest.param('{"score": 2 3}', id="two_scores_without_comma"),
        pytest.param('{"score": 1, "score": 3,}', id="key_twice"),
        pytest.param('{"score": +2,}', id="signed_number"),
        pytest.param('{"a": ["x", ...]}', id="ellipsis"),
        pytest.param('{"a": tired of it all}', id="words_without_quotes"),
        pytest.param('{"a": {"b": 1}', id="brace_left_out"),
        pytest.param('{"a": "x}', id="string_never_closed"),
        pytest.param('{"a": "x, "b": "y, "c": "z"}', id="two_strings_never_closed"),
        pytest.param('{"a": ["x, "y, "z"]}', id="two_elements_never_closed"),
        pytest.param('{"a": ["x" "y", "z"]}', id="strings_without_comma"),
        pytest.param('{"a": ["he called it "bad", "sad" and left", "z"]}', id="two_readings"),
        pytest.param('{"a": ["he is 6" tall", "z"]}', id="lone_quotation_mark"),
        pytest.param('{"a": ["x, "y"], "b": []}', id="mark_left_out"),
        pytest.param('{"a": [1 000]}', id="spaced_number"),
        pytest.param('{"a": [1,,2]}', id="element_left_out"),
        pytest.param('{"a": 1 // one, "b": 2\n}', id="member_in_a_comment"),
        pytest.param('{"a": 1}, {"b": 2}', id="objects_in_a_row"),
        pytest.param('{"a": 1}\n\n"b": ["y"]', id="member_after_the_end"),
        pytest.param('{"a": "C:\\data",}', id="escape_that_json_does_not_know"),
        pytest.param('{"a": ["x"], "y"], "b": []}', id="element_after_its_list"),
        pytest.param('{"a": 1,\n// ... rest unchanged\n}', id="comment_for_what_is_left_out"),
        pytest.param('{"a": "x"; "b": "y"}', id="semicolon_between_strings"),
        pytest.param('{"a": 1, "b: "x"}', id="key_not_closed_before_a_string"),
    ],
)
def test_repair_neither_supplies_nor_changes_nor_loses_a_value(reply: str) -> None:
    assert rejection(reply).code in {Code.UNREPAIRABLE, Code.TRUNCATED, Code.DUPLICATE_KEY}


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        pytest.param("", Code.NO_JSON, id="empty"),
        pytest.param(" \n\t", Code.NO_JSON, id="blank"),
        pytest.param("The participant seems tired.", Code.NO_JSON, id="prose"),
        pytest.param("<think>hm", Code.TRUNCATED, id="thinking_only"),
        pytest.param(f"<think>{FINAL}</think>", Code.NO_JSON, id="answer_only_in_thinking"),
        pytest.param(f"{FINAL}\n<answer>N/A</answer>", Code.NO_JSON, id="answer_without_object"),
        pytest.param(FINAL[:-1], Code.TRUNCATED, id="cut_off"),
        pytest.param(FINAL[:-4], Code.TRUNCATED, id="cut_off_in_a_string"),
        pytest.param('{"a": {"b": 1}, "c": ', Code.TRUNCATED, id="inner_object_is_not_offered"),
        pytest.param(f"{DRAFT}\n{FINAL[:-1]}", Code.TRUNCATED, id="draft_before_a_cut_off_answer"),
        pytest.param(f"<answer>{FINAL[:-1]}", Code.TRUNCATED, id="cut_off_in_answer_tags"),
        pytest.param(
            f"<answer>{DRAFT}</answer> no: <answer>{FINAL[:-1]}",
            Code.TRUNCATED,
            id="answer_before_a_cut_off_answer",
        ),
        pytest.param('[{"a": 1}]', Code.NOT_AN_OBJECT, id="list"),
        pytest.param("[1, 2]", Code.NOT_AN_OBJECT, id="list_of_numbers"),
        pytest.param(f"```json\n[{FINAL}]\n```", Code.NOT_AN_OBJECT, id="fenced_list"),
        pytest.param('{"a": NaN}', Code.NOT_FINITE, id="nan"),
        pytest.param('{"a": -Infinity}', Code.NOT_FINITE, id="infinity"),
        pytest.param('{"a": 1e999}', Code.NOT_FINITE, id="too_large_a_number"),
        pytest.param('{"a": 1e999,}', Code.NOT_FINITE, id="too_large_in_broken_json"),
        pytest.param('{"a": 1, "a": 2}', Code.DUPLICATE_KEY, id="key_twice"),
        pytest.param('{"a": {"b": 1, "b": 1}}', Code.DUPLICATE_KEY, id="inner_key_twice"),
        pytest.param('{"a": "\\ud83d"}', Code.UNREPAIRABLE, id="half_a_character"),
        pytest.param("[" * 2000 + "]" * 2000, Code.TOO_DEEP, id="2000_lists"),
        pytest.param('{"a": ' + "[" * 2000 + "]" * 2000 + "}", Code.TOO_DEEP, id="2000_in_object"),
        pytest.param(objects(MAX_DEPTH + 1), Code.TOO_DEEP, id="one_level_too_deep"),
        pytest.param("{" + "[" * 50_000, Code.TOO_DEEP, id="opening_brackets"),
        pytest.param(f"<think>{DRAFT}\n{FINAL}", Code.TRUNCATED, id="thinking_never_closed"),
        pytest.param(f"{FINAL}\n<think>But", Code.TRUNCATED, id="cut_off_in_second_thoughts"),
        pytest.param(f"{DRAFT}\n</think>", Code.NO_JSON, id="nothing_after_thinking"),
        pytest.param(f"{DRAFT}\nNo:\n```json\n{FINAL[:-4]}", Code.TRUNCATED, id="cut_off_fence"),
        pytest.param(f"{DRAFT}\nNo:\n```json\n", Code.TRUNCATED, id="cut_off_before_the_answer"),
        pytest.param(f"{DRAFT}\n<answer>", Code.TRUNCATED, id="cut_off_after_the_tag"),
        pytest.param(
            f"{DRAFT}\nBut it is {FINAL[:-9]}", Code.TRUNCATED, id="cut_off_in_a_sentence"
        ),
        pytest.param(f"{DRAFT}\nNo: {FINAL[:-9]}", Code.SEVERAL_ANSWERS, id="cut_off_in_a_line"),
        pytest.param(
            f"{DRAFT}\nNo:\n" + FINAL.replace('"', "&quot;"), Code.SEVERAL_ANSWERS, id="entities"
        ),
        pytest.param(f"I would say {FINAL} or so.", Code.NO_JSON, id="remark_alone"),
        pytest.param(f"Draft: {DRAFT}\nFinal: {FINAL}", Code.SEVERAL_ANSWERS, id="two_in_lines"),
        pytest.param(f"{FINAL}\nDraft: {DRAFT}", Code.SEVERAL_ANSWERS, id="one_in_a_line_after"),
        pytest.param(
            f"<answer>{FINAL}</answer>\n{DRAFT}", Code.SEVERAL_ANSWERS, id="one_after_answer_tags"
        ),
        pytest.param(f"{DRAFT}\nThe final answer:\n{{\n  ", Code.TRUNCATED, id="cut_off_at_once"),
        pytest.param(f"{DRAFT}\nThe final answer:\n[", Code.TRUNCATED, id="list_cut_off_at_once"),
        pytest.param(f"{FINAL}\n\nCorrection: 3.", Code.SEVERAL_ANSWERS, id="corrected_in_words"),
        pytest.param('{"a": 1}\n{"b": 2}', Code.SEVERAL_ANSWERS, id="parts"),
        pytest.param('"a": {\n"b": 1\n},\n"c":\n{"d": 2}', Code.NO_JSON, id="parts_of_no_object"),
    ],
)
def test_unusable_replies_are_rejected_with_their_code(reply: str, code: RejectionCode) -> None:
    assert rejection(reply).code is code


def test_feedback_never_repeats_the_reply() -> None:
    error = rejection('{"lanterns": ["copper lanterns"')
    assert error.feedback == "The reply ends too early. Reply with all of it, more briefly."
    assert "lanterns" not in f"{error} {error!r} {error.violations}"
    assert error.__cause__ is None


def test_nesting_up_to_the_limit_is_read() -> None:
    assert parse_object(objects(MAX_DEPTH)).repaired is False


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("{" * 1_000_000, id="braces"),
        pytest.param('{"' * 500_000, id="braces_and_quotes"),
        pytest.param("{a:" * 330_000, id="keys"),
        pytest.param("[" * 1_000_000, id="brackets"),
        pytest.param("```a\n" * 200_000, id="fences"),
        pytest.param("~~~\n" * 200_001, id="bare_fences"),
        pytest.param("<think>" * 150_000, id="thinking_tags"),
        pytest.param("<answer>" * 120_000, id="answer_tags"),
        pytest.param('{"a": "' + '\\"' * 30_000 + "}", id="escaped_quotes"),
        pytest.param('{"a": "' + '"' * 60_000 + "}", id="quotes"),
        pytest.param("{a" + "/*" * 30_000 + "}", id="comments"),
        pytest.param("{" + " " * 1_000_000, id="spaces"),
    ],
)
def test_a_megabyte_of_marks_is_rejected(reply: str) -> None:
    """A reader that is not linear in time would keep this for minutes."""
    assert isinstance(rejection(reply), OutputRejected)


def calls_made(reply: str) -> int:
    """Return how many functions are called while a reply is read."""
    calls = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        with suppress(OutputRejected):
            parse_object(reply)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize(
    "unit",
    [
        pytest.param("{a: 1}\n", id="objects"),
        pytest.param('On reflection:\n{"a": 1,,,}\n', id="unreadable_objects"),
        pytest.param("```json\n{a: 1}\n```\n", id="fences"),
        pytest.param("<answer>{a: 1}</answer>\n", id="answers"),
        pytest.param("<think>{a: 1}</think>\n", id="thinking"),
        pytest.param('he was {"a": 1} and ', id="remarks"),
    ],
)
@pytest.mark.parametrize("head", ["", '{"a": ["', "<answer>"])
def test_work_grows_no_faster_than_the_reply(head: str, unit: str) -> None:
    assert calls_made(head + unit * 800) <= 2.2 * calls_made(head + unit * 400) + 100


@pytest.mark.parametrize("inside", ['he said "no" and ', "\\n", "a\n", '", "', '"b": ["'])
def test_work_grows_no_faster_than_a_text(inside: str) -> None:
    once, twice = (f'{{"a": ["{inside * number}"],}}' for number in (400, 800))
    assert calls_made(twice) <= 2.2 * calls_made(once) + 100


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
JSON_OBJECTS = st.dictionaries(st.text(), JSON_VALUES, max_size=6)


@given(value=JSON_OBJECTS, ascii_only=st.booleans())
@example(value={"</think>": ["<answer>", "```\n"]}, ascii_only=False)
def test_valid_json_is_read_as_the_library_reads_it(
    value: dict[str, object], ascii_only: bool
) -> None:
    reply = json.dumps(value, ensure_ascii=ascii_only)
    assert parse_object(reply) == Parsed(value=value, repaired=False)


@given(value=JSON_OBJECTS, data=st.data())
def test_valid_json_that_was_cut_off_is_never_read(
    value: dict[str, object], data: st.DataObject
) -> None:
    text = json.dumps(value)
    end = data.draw(st.integers(0, len(text) - 1))
    assert rejection(text[:end]).code in set(Code)


MARKS = st.text(alphabet="{}[]\",:'\\`~<>/#*ak1e.- \n“”nullthinkanswer")


@given(st.one_of(st.text(), MARKS, MARKS.map(lambda text: f'{{"a": {text}}}')))
def test_no_text_raises_anything_but_a_rejection(reply: str) -> None:
    with suppress(OutputRejected):
        value = parse_object(reply).value
        assert json.loads(json.dumps(value)) == value


def texts_of(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from texts_of(inner)
        case list():
            for inner in value:
                yield from texts_of(inner)


def test_public_replies_are_read_or_rejected(
    public_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = sorted((public_data / "llm_output").glob("*.jsonl"))
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    replies = {text for line in lines for text in texts_of(json.loads(line))}
    assert len(replies) > 200
    for reply in replies:
        value = valid_object(reply)
        if value is not None:
            assert parse_object(reply) == Parsed(value=value, repaired=False)
            continue
        with suppress(OutputRejected):
            assert parse_object(reply).value is not None
    assert capsys.readouterr().out == ""


def valid_object(reply: str) -> dict[str, object] | None:
    try:
        value = json.loads(reply)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
