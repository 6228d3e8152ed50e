"""Who reads for danger beside the rules."""

from ai_psychiatrist.agents.baseline import BASELINE
from ai_psychiatrist.agents.danger import DangerAgent
from ai_psychiatrist.config import Settings
from ai_psychiatrist.llm.connections import ModelConnections
from ai_psychiatrist.llm.endpoints import FallbackChain
from ai_psychiatrist.llm.settings import PydanticAISettings


def danger_chain(settings: Settings, connections: ModelConnections, default: str) -> FallbackChain:
    """Return who reads for danger; the baseline, which is the rules, is left out."""
    if settings.danger.is_off:
        return ()
    return of_models(connections.chain(settings.danger.model or default))


def of_models(chain: FallbackChain) -> FallbackChain:
    """Return a chain without the baseline."""
    return tuple(route for route in chain if route.name != BASELINE)


def danger_agent(
    settings: Settings, chain: FallbackChain, pydantic_ai: PydanticAISettings
) -> DangerAgent | None:
    """Return the agent that asks a chain; `None` for nobody."""
    if not chain:
        return None
    return DangerAgent(
        chain,
        pydantic_ai_settings=pydantic_ai,
        ollama_base_url=settings.ollama.base_url,
        temperature=settings.model.temperature,
    )
