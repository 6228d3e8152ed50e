"""Plain chat over any model that Pydantic AI speaks to: one direct request, no agent."""

from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest, TextPart, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.llm.call_failures import call_failure
from ai_psychiatrist.llm.chat import ChatReply
from ai_psychiatrist.llm.reply_reading import is_well_formed


class DirectChatClient:
    """One model, asked in plain text."""

    def __init__(self, model: Model, *, temperature: float) -> None:
        self._model = model
        self._settings = ModelSettings(temperature=temperature)

    @property
    def model(self) -> str:
        """The model's name at its backend."""
        return self._model.model_name

    async def simple_chat(self, user_prompt: str, *, system_prompt: str = "") -> ChatReply:
        """Send one request."""
        request = ModelRequest(
            parts=[UserPromptPart(user_prompt)], instructions=system_prompt or None
        )
        try:
            response = await model_request(
                self._model, [request], model_settings=self._settings, instrument=False
            )
        except Exception as error:  # noqa: BLE001  a backend may make a library fail in any way
            raise call_failure(error) from None
        if not is_well_formed(response):
            raise ModelCallFailed(FailureCode.MALFORMED_RESPONSE)
        if response.finish_reason == "content_filter":
            raise ModelCallFailed(FailureCode.CONTENT_FILTERED)
        return ChatReply(
            text="".join(part.content for part in response.parts if isinstance(part, TextPart)),
            is_cut_off=response.finish_reason == "length",
            input_tokens=response.usage.input_tokens or None,
            output_tokens=response.usage.output_tokens or None,
            cache_read_tokens=response.usage.cache_read_tokens or None,
            cache_write_tokens=response.usage.cache_write_tokens or None,
        )
