import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.validation.reply.thinking import without_thinking


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        pytest.param("answer", "answer", id="none"),
        pytest.param("<think>hm</think>\n answer ", "answer", id="paired"),
        pytest.param("<THINKING>hm</Thinking>answer", "answer", id="other_name_and_case"),
        pytest.param("<reasoning>a</reasoning><thought>b</thought>c", "c", id="several"),
        pytest.param("hm</think>answer", "answer", id="only_closed"),
        pytest.param("answer\n<think>hm</think>", "answer", id="after_the_answer"),
        pytest.param("<think>a <think> b</think>answer", "answer", id="opened_twice"),
        pytest.param("[THINK]hm[/THINK]answer", "answer", id="in_square_brackets"),
        pytest.param('{"a": "</think>"} answer', '{"a": "</think>"} answer', id="tag_in_a_string"),
        pytest.param("<think>hm</think>\ufeffanswer", "answer", id="byte_order_mark"),
        pytest.param("<think>hm</think>", "", id="nothing_after"),
        pytest.param("I think > 4 hours < 5", "I think > 4 hours < 5", id="no_tags"),
        pytest.param("<thinker>a</thinker>", "<thinker>a</thinker>", id="longer_name"),
        pytest.param("", "", id="empty"),
    ],
)
def test_thinking_is_no_part_of_the_answer(reply: str, answer: str) -> None:
    assert without_thinking(reply) == answer


@pytest.mark.parametrize("reply", ["<think>answer", "answer<think>", "<think>a</think>b<thought>c"])
def test_a_reply_that_ends_while_the_model_thinks_is_truncated(reply: str) -> None:
    with pytest.raises(OutputRejected) as caught:
        without_thinking(reply)
    assert caught.value.code is RejectionCode.TRUNCATED


@given(st.text(), st.sampled_from(["think", "thinking", "thought", "reasoning"]))
def test_whatever_was_thought_the_answer_is_left(thought: str, name: str) -> None:
    assert without_thinking(f"<{name}>{thought}</{name}>the answer") == "the answer"


def test_public_thinking_replies_lose_their_tags(public_data: Path) -> None:
    lines = (public_data / "llm_output" / "thinking_tags.jsonl").read_text("utf-8").splitlines()
    cases = [json.loads(line)["steps"] for line in lines]
    replies = ["".join(step["input"] for step in steps) for steps in cases]
    assert any("<think>" in reply for reply in replies)
    ended = [reply for reply in replies if reply.rfind("<think>") <= reply.rfind("</think>")]
    assert [reply for reply in ended if "<think>" in without_thinking(reply)] == []
