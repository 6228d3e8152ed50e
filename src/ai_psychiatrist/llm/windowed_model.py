"""A model whose prompts are known to have reached it whole."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.llm.user_text import user_text

_WORDS_PER_TOKEN: Final = 2
_SMALLEST_WINDOW_TOKENS: Final = 256


class PromptWindow:
    """What a server's token counts say of the window that a prompt has to fit in.

    A token spans at most one word in all common vocabularies, and less than two on average in those
    that join words; runs of white space are none, and Chinese has more tokens than words. A server
    that once counted as many tokens as a prompt needs has room for it: when it then counts fewer,
    it leaves out those that it had in its cache.
    """

    def __init__(self, num_ctx: int | None = None) -> None:
        """`num_ctx`: size of the window in tokens, where it is known."""
        self._num_ctx = num_ctx
        self._most_tokens = 0

    def cuts(self, texts: Iterable[str], input_tokens: int) -> bool:
        """Return whether a prompt of some texts was cut; 0 tokens say nothing."""
        if self._num_ctx is not None and input_tokens >= self._num_ctx - 1:
            return True
        self._most_tokens = max(self._most_tokens, input_tokens)
        if input_tokens < _SMALLEST_WINDOW_TOKENS:
            return False
        sent = list(texts)
        # To count the words copies the prompt; no two of them share a character.
        most_words = sum((len(text) + 1) // 2 for text in sent)
        if self._most_tokens >= most_words // _WORDS_PER_TOKEN:
            return False
        words = sum(len(text.split()) for text in sent)
        return self._most_tokens < words // _WORDS_PER_TOKEN


class WindowedModel(WrapperModel):
    """Fails a call whose prompt was cut on its way to the model, instead of believing the reply."""

    def __init__(self, wrapped: Model, window: PromptWindow) -> None:
        super().__init__(wrapped)
        self._window = window

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Send one request; raises `ModelCallFailed` when its prompt was cut."""
        response = await super().request(messages, model_settings, model_request_parameters)
        if self._window.cuts(_texts(messages), response.usage.input_tokens):
            raise ModelCallFailed(FailureCode.CONTEXT_TRUNCATED)
        return response


def _texts(messages: Sequence[ModelMessage]) -> Iterator[str]:
    for message in messages:
        if isinstance(message, ModelRequest):
            yield message.instructions or ""
            for part in message.parts:
                if isinstance(part, UserPromptPart):
                    yield user_text(part)
