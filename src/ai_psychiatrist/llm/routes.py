"""The models that an agent may ask, in order, and the two ways to reach each."""

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.llm.chat import SimpleChatClient
from ai_psychiatrist.llm.retries import BUSY_RETRIES, CallRetries
from ai_psychiatrist.llm.settings import PydanticAISettings

if TYPE_CHECKING:
    from pydantic_ai.models import Model

logger = get_logger(__name__)

DEFAULT_TIMEOUT_SECONDS: Final = 600.0
DEFAULT_MAX_REPLY_BYTES: Final = 262_144


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRoute:
    """One model: through Pydantic AI, through a plain chat client, or both."""

    name: str
    """As in the settings, such as `ollama:gemma3`."""
    agent_model: "Model | None"
    """`None` when only the plain path can be taken."""
    chat: SimpleChatClient | None
    """`None` when the provider has no plain client."""
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    max_reply_bytes: int = DEFAULT_MAX_REPLY_BYTES
    address: str | None = None
    """URL of the server, without credentials; `None` for a model of this process."""
    takes_tools: bool = True
    """Whether a model is behind it that can be made to call a tool."""
    is_local: bool = False
    """Whether its plain client answers in this process: what an agent does is done without one."""
    caches_prefixes: bool = False
    """Whether the beginning of a prompt is cheaper once the provider has read it."""
    limiter: asyncio.Semaphore | None = field(default=None, repr=False)
    """Bounds the calls under way at the model's backend; shared by all models of it."""
    retries: CallRetries = BUSY_RETRIES
    """When a call that gave no reply is made again."""
    is_batched: bool = False
    """Whether its calls are answered from batches, or wait for one until they are cancelled."""


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
    timeout = pydantic_ai_settings.timeout_seconds or DEFAULT_TIMEOUT_SECONDS
    agent_model = None
    if pydantic_ai_settings.enabled and ollama_base_url is not None:
        # Their libraries take a second, and only servers are asked by them.
        from ai_psychiatrist.llm.http_client import http_client  # noqa: PLC0415
        from ai_psychiatrist.llm.ollama import OllamaChatModel  # noqa: PLC0415

        agent_model = OllamaChatModel(
            models.model,
            base_url=ollama_base_url.rstrip("/"),
            http=http_client(timeout_seconds=timeout, max_reply_bytes=DEFAULT_MAX_REPLY_BYTES),
            timeout_seconds=timeout,
        )
    elif pydantic_ai_settings.enabled:
        logger.warning("agent_path_unavailable", model=models.model, reason="no_base_url")
    return (
        ModelRoute(
            name=models.model, agent_model=agent_model, chat=models, timeout_seconds=timeout
        ),
    )
