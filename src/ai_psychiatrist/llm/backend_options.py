"""Everything that says where models are and how they are called."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ai_psychiatrist.llm.routes import ModelRoute
from ai_psychiatrist.llm.settings import (
    AnthropicSettings,
    GoogleSettings,
    ModelCallSettings,
    OllamaSettings,
    OpenAISettings,
    PydanticAISettings,
)

if TYPE_CHECKING:
    from ai_psychiatrist.llm.batches.providers import BatchModels


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendOptions:
    """What is set about models, and those that need no server."""

    models: ModelCallSettings
    openai: OpenAISettings
    ollama: OllamaSettings
    pydantic_ai: PydanticAISettings
    anthropic: AnthropicSettings = field(default_factory=AnthropicSettings)
    google: GoogleSettings = field(default_factory=GoogleSettings)
    local: Mapping[str, ModelRoute] = field(default_factory=dict)
    """Models that run in this process, by name."""
    batches: "BatchModels | None" = None
    """Takes the models that are asked by batches; `None` where all are asked live."""
