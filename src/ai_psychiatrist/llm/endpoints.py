"""Where models are asked: one endpoint a model, when it is asked again, and chains of them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.llm.replies import OutputMode, SimpleChatClient
from ai_psychiatrist.llm.settings import (
    AnthropicSettings,
    GoogleSettings,
    ModelCallSettings,
    OllamaSettings,
    OpenAISettings,
    PydanticAISettings,
)

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from ai_psychiatrist.llm.batches import BatchModels

DEFAULT_TIMEOUT_SECONDS: Final = 600.0
DEFAULT_MAX_REPLY_BYTES: Final = 262_144


_PASSING: Final = frozenset(
    {
        FailureCode.CONNECTION_FAILED,
        FailureCode.TIMED_OUT,
        FailureCode.RATE_LIMITED,
        FailureCode.BACKEND_ERROR,
        FailureCode.BROKEN_OFF,
    }
)
NO_ROOM: Final = frozenset({502, 503, 504, 529, *range(520, 525)})
"""What servers, and the proxies and networks ahead of them, answer while they are busy."""
_UNREACHED: Final = frozenset({429, 502, 503, 521, 522, 523, 529})
"""What servers, and the proxies ahead of them, answer that have not put a call to a model."""
_LONGEST_WAIT_SECONDS: Final = 120.0


def is_passing(failure: ModelCallFailed) -> bool:
    """Return whether the same call may be answered a moment later; a refused one stays refused."""
    return failure.code in _PASSING


def reached_no_model(code: Enum | None, http_status: int | None) -> bool:
    """Return whether a call ended, by its failure code or HTTP status, before a model saw it."""
    is_unsent = code in (FailureCode.CONNECTION_FAILED, FailureCode.RATE_LIMITED)
    return is_unsent or http_status in _UNREACHED


def is_busy(failure: ModelCallFailed) -> bool:
    """Return whether the backend has no room just now; waiting for a dead one doubles the wait."""
    is_busy_code = failure.code in (FailureCode.RATE_LIMITED, FailureCode.BROKEN_OFF)
    return is_busy_code or failure.http_status in NO_ROOM


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRetries:
    """How often a call without a reply is made again, and how long it waits before."""

    waits_seconds: tuple[float, ...] = ()
    """The wait before each further try, where the backend names none that is longer."""
    applies_to: Callable[[ModelCallFailed], bool] = is_passing
    sleep: Callable[[float], Awaitable[object]] = field(default=asyncio.sleep, repr=False)

    def wait_before(self, failure: ModelCallFailed, tries: int) -> float | None:
        """Return the seconds to wait before the next try, `None` when there is to be none.

        `tries`: how often the call was made again already.
        """
        if tries >= len(self.waits_seconds) or not self.applies_to(failure):
            return None
        wait = max(self.waits_seconds[tries], failure.retry_after_seconds or 0.0)
        return wait if wait <= _LONGEST_WAIT_SECONDS else None

    def is_spent_on(self, failure: ModelCallFailed) -> bool:
        """Return whether a call that ended with this failure was tried as often as allowed."""
        return bool(self.waits_seconds) and self.applies_to(failure)


BUSY_RETRIES: Final = CallRetries(waits_seconds=(1.0, 2.0, 4.0), applies_to=is_busy)
"""A server that is busy is waited for; from a dead or slow one the next model takes over."""
INTERVIEW_RETRIES: Final = CallRetries(waits_seconds=(1.0, 2.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEndpoint:
    """One model at its server: through Pydantic AI, through a plain chat client, or both."""

    name: str
    """As in the settings, such as `ollama:gemma3`."""
    agent_model: "Model | None"
    """`None` when only the plain path can be taken."""
    chat: SimpleChatClient | None
    """`None` when there is no plain path."""
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    max_reply_bytes: int = DEFAULT_MAX_REPLY_BYTES
    address: str | None = None
    """URL of the server, without credentials; `None` for a model of this process."""
    output_mode: OutputMode = OutputMode.TEXT
    """How the schemas of an assessment's agents go out."""
    hosts: tuple[str, ...] = ()
    """Where the words of its calls are sent, as attempts name it."""
    takes_tools: bool = True
    """Whether a model is behind it that can be made to call a tool."""
    is_local: bool = False
    """Whether its plain client answers in this process: what an agent does is done without one."""
    caches_prefixes: bool = False
    """Whether the beginning of a prompt is cheaper once the provider has read it."""
    limiter: asyncio.Semaphore | None = field(default=None, repr=False)
    """Bounds the calls under way at the model's server; shared by all models of it."""
    retries: CallRetries = BUSY_RETRIES
    """When a call that gave no reply is made again."""


FallbackChain: TypeAlias = tuple[ModelEndpoint, ...]
"""The models that an agent may ask, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointOptions:
    """What is set about models, and those that need no server."""

    models: ModelCallSettings
    openai: OpenAISettings
    ollama: OllamaSettings
    pydantic_ai: PydanticAISettings
    anthropic: AnthropicSettings = field(default_factory=AnthropicSettings)
    google: GoogleSettings = field(default_factory=GoogleSettings)
    local: Mapping[str, ModelEndpoint] = field(default_factory=dict)
    """Models that run in this process, by name."""
    batches: "BatchModels | None" = None
    """Takes the models that are asked by batches; `None` where all are asked live."""
