"""The rule baseline as a Pydantic AI model."""

from typing import Final

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from ai_psychiatrist.agents.baseline.answers import answer

BASELINE: Final = "baseline"


class BaselineModel(Model):
    """Answers every task by fixed rules; no language model and no clinical instrument."""

    @property
    def model_name(self) -> str:
        """The name under which results show it."""
        return BASELINE

    @property
    def system(self) -> str:
        """The provider's name."""
        return BASELINE

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,  # noqa: ARG002  rules have no sampling
        model_request_parameters: ModelRequestParameters,  # noqa: ARG002  text is all it writes
    ) -> ModelResponse:
        """Answer the task of the first message."""
        text = await answer(_prompt(messages))
        return ModelResponse(parts=[TextPart(text)], model_name=BASELINE, finish_reason="stop")


def _prompt(messages: list[ModelMessage]) -> str:
    first = messages[0]
    parts = first.parts if isinstance(first, ModelRequest) else []
    return "".join(
        part.content
        for part in parts
        if isinstance(part, UserPromptPart) and isinstance(part.content, str)
    )
