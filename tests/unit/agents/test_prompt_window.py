import asyncio

import pytest
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.llm.recording_model import WholePromptModel

ENGLISH = "I wake up at four nearly every night and cannot get back to sleep. " * 1_000
"""14,000 words, which are some 15,000 tokens."""


def asked(
    prompt: str,
    *counts: int,
    num_ctx: int | None = None,
    messages: list[ModelMessage] | None = None,
) -> list[FailureCode | None]:
    """Return what becomes of calls with one prompt, of which the server counts so many tokens."""
    left = iter(counts)

    async def answer(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[TextPart("fine")], usage=RequestUsage(input_tokens=next(left)))

    model = WholePromptModel(FunctionModel(answer), num_ctx)
    sent = messages or [ModelRequest.user_text_prompt(prompt)]

    async def ask() -> FailureCode | None:
        try:
            await model_request(model, sent)
        except ModelCallFailed as error:
            return error.code
        return None

    async def run() -> list[FailureCode | None]:
        return [await ask() for _ in counts]

    return asyncio.run(run())


@pytest.mark.parametrize("tokens", [2_048, 4_096, 3_000, 300])
def test_a_prompt_with_far_fewer_tokens_than_words_was_cut(tokens: int) -> None:
    assert asked(ENGLISH, tokens) == [FailureCode.CONTEXT_TRUNCATED]


@pytest.mark.parametrize("tokens", [4_096, 4_095])
def test_a_prompt_that_fills_the_window_was_cut(tokens: int) -> None:
    assert asked("short", tokens, num_ctx=4_096) == [FailureCode.CONTEXT_TRUNCATED]


@pytest.mark.parametrize(
    ("prompt", "tokens"),
    [
        pytest.param(ENGLISH, 15_000, id="whole"),
        pytest.param(ENGLISH, 9_000, id="words joined to tokens"),
        pytest.param("我每天晚上四点醒来，再也睡不着。" * 1_000, 6_000, id="chinese"),
        pytest.param(("tired" + " " * 400 + "\n" * 100) * 500, 1_200, id="white space"),
        pytest.param("=" * 40_000, 640, id="one long line"),
        pytest.param(ENGLISH, 0, id="no count"),
        pytest.param(ENGLISH, 12, id="fewer than any window"),
    ],
)
def test_a_whole_prompt_is_not_taken_for_a_cut_one(prompt: str, tokens: int) -> None:
    assert asked(prompt, tokens) == [None]


def test_tokens_that_a_cache_leaves_out_are_not_missed() -> None:
    assert asked(ENGLISH, 15_000, 700, 40, 0, 2_048) == [None] * 5


def test_instructions_count_once_however_many_requests_name_them() -> None:
    messages: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart("Rate it.")], instructions=ENGLISH),
        ModelResponse(parts=[TextPart("no")]),
        ModelRequest(parts=[UserPromptPart("Rate it again.")], instructions=ENGLISH),
    ]
    assert asked("", 9_000, messages=messages) == [None]
    assert asked("", 3_000, messages=messages) == [FailureCode.CONTEXT_TRUNCATED]
