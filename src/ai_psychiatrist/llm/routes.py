"""The models that an agent may ask, in order, and the two ways to reach each."""

import asyncio
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from openai import AsyncOpenAI
from pydantic_ai.models import Model
from pydantic_ai.models.ollama import OllamaModel
from pydantic_ai.providers.ollama import OllamaProvider

from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.llm.chat import SimpleChatClient
from ai_psychiatrist.llm.retries import BUSY_RETRIES, CallRetries
from ai_psychiatrist.llm.settings import PydanticAISettings

logger = get_logger(__name__)

DEFAULT_TIMEOUT_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRoute:
    """One model: through Pydantic AI, through a plain chat client, or both."""

    name: str
    """As in the settings, such as `ollama:gemma3`."""
    agent_model: Model | None
    """`None` when only the plain path can be taken."""
    chat: SimpleChatClient | None
    """`None` when the provider has no plain client."""
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    max_reply_bytes: int = 1_048_576
    num_ctx: int | None = None
    """Context window in tokens, where it is known."""
    takes_tools: bool = True
    """Whether a model is behind it that can be made to call a tool."""
    limiter: asyncio.Semaphore | None = field(default=None, repr=False)
    """Bounds the calls under way at the model's backend; shared by all models of it."""
    retries: CallRetries = BUSY_RETRIES
    """When a call that gave no reply is made again."""


ModelChain: TypeAlias = tuple[ModelRoute, ...]


def as_chain(
    models: SimpleChatClient | ModelChain,
    *,
    pydantic_ai_settings: PydanticAISettings,
    ollama_base_url: str | None,
) -> ModelChain:
    """Return a chain as it is, or make one of a single plain client for an Ollama model.

    Without a base URL the single model is asked by plain chat alone, and a warning says so. The
    single model's connections live as long as the process; wiring's chains are closed with it.
    """
    if isinstance(models, tuple):
        return models
    agent_model = None
    if pydantic_ai_settings.enabled and ollama_base_url is not None:
        # The runner decides what is asked again; retries of the SDK would be calls nobody counts.
        client = AsyncOpenAI(
            base_url=f"{ollama_base_url.rstrip('/')}/v1", api_key="none", max_retries=0
        )
        agent_model = OllamaModel(models.model, provider=OllamaProvider(openai_client=client))
    elif pydantic_ai_settings.enabled:
        logger.warning("agent_path_unavailable", model=models.model, reason="no_base_url")
    timeout = pydantic_ai_settings.timeout_seconds or DEFAULT_TIMEOUT_SECONDS
    return (
        ModelRoute(
            name=models.model, agent_model=agent_model, chat=models, timeout_seconds=timeout
        ),
    )
