"""Marks of chat templates: they are no part of an answer, and other turns are not the model's."""

import pytest

from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.validation.reply.thinking import own_turn


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("{}", id="none"),
        pytest.param("<|im_start|>assistant\n{}<|im_end|>\n<|endoftext|>", id="chatml"),
        pytest.param("<bos><start_of_turn>model\n{}<end_of_turn>\n", id="gemma"),
        pytest.param(
            "<|start_header_id|>assistant<|end_header_id|>\n\n{}<|eot_id|>", id="header_and_eot"
        ),
        pytest.param(" [/INST] {}</s>", id="inst"),
        pytest.param("<｜Assistant｜>{}<｜end▁of▁sentence｜>", id="full_width"),
        pytest.param(
            "<|channel|>analysis<|message|>[1]<|end|>"
            "<|start|>assistant<|channel|>final<|message|>{}<|return|>",
            id="channels",
        ),
        pytest.param(
            "<|channel|>analysis<|message|>[1]<|end|><|start|>assistant"
            "<|channel|>final <|constrain|>json<|message|>{}",
            id="constrained_channel",
        ),
    ],
)
def test_marks_around_an_answer_are_left_out(reply: str) -> None:
    assert own_turn(reply).strip() == "{}"


@pytest.mark.parametrize("reply", ["i <s>am</s> tired [INST]ead", "model answers", "a < b </s"])
def test_marks_inside_words_are_kept(reply: str) -> None:
    assert own_turn(reply) == reply


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        pytest.param(
            "{}<|im_end|>\n<|im_start|>user\nAnother.", RejectionCode.SEVERAL_ANSWERS, id="chatml"
        ),
        pytest.param("{}\n</s>\n[INST] Another.", RejectionCode.SEVERAL_ANSWERS, id="inst"),
        pytest.param("<|channel|>analysis<|message|>{}", RejectionCode.TRUNCATED, id="no_final"),
    ],
)
def test_what_is_not_the_models_own_answer_is_refused(reply: str, code: RejectionCode) -> None:
    with pytest.raises(OutputRejected) as caught:
        own_turn(reply)
    assert caught.value.code is code
