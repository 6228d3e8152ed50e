"""What the agents of an assessment share: whom they ask, and how."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import BaseModel

from ai_psychiatrist.llm.connections import as_chain
from ai_psychiatrist.llm.definition import AgentDefinition, OutputT
from ai_psychiatrist.llm.endpoints import FallbackChain
from ai_psychiatrist.llm.replies import SimpleChatClient
from ai_psychiatrist.llm.runner import AgentRunner
from ai_psychiatrist.llm.settings import PydanticAISettings

if TYPE_CHECKING:
    from pydantic_ai import Agent

    from ai_psychiatrist.llm.agent_calls import AgentCalls

SettingsT = TypeVar("SettingsT", bound=BaseModel | None)


class ModelAgent(Generic[SettingsT]):
    """An agent over a chain of models; built once and used for every assessment."""

    default_settings: Callable[[], SettingsT]
    """Read from the environment where no settings are given."""

    def __init__(
        self,
        models: SimpleChatClient | FallbackChain,
        *,
        pydantic_ai_settings: PydanticAISettings | None = None,
        ollama_base_url: str | None = None,
        settings: SettingsT | None = None,
        temperature: float | None = 0.0,
    ) -> None:
        """`models`: a chain, or the plain client of one Ollama model.

        Without `pydantic_ai_settings` only the plain path is taken. `ollama_base_url`: where a
        single model's server is, for the agent path. `settings`: how quotes are checked, and what
        is done about those that nobody said, where an agent gives any.
        """
        self._settings = settings or self.default_settings()
        self._pydantic_ai = pydantic_ai_settings or PydanticAISettings(enabled=False)
        self._retries = self._pydantic_ai.retries
        self._temperature = temperature
        self._chain = as_chain(
            models, pydantic_ai_settings=self._pydantic_ai, ollama_base_url=ollama_base_url
        )

    def _runner(
        self,
        definition: AgentDefinition[OutputT],
        create_agent: "Callable[..., Agent[AgentCalls | None, OutputT]]",
    ) -> AgentRunner[OutputT]:
        return AgentRunner(
            definition,
            partial(create_agent, retries=self._retries),
            self._chain,
            self._pydantic_ai,
            temperature=self._temperature,
        )
