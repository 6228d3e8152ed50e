"""How long, and how often, models are asked for a person who waits."""

from dataclasses import replace
from typing import Final

from ai_psychiatrist.llm.endpoints import CallRetries, FallbackChain
from ai_psychiatrist.llm.settings import PydanticAISettings

MOST_REPAIRS: Final = 1
"""How often each model is sent a rejected reply back, with what is wrong; then it has failed."""


def repairing_once(settings: PydanticAISettings) -> PydanticAISettings:
    """Return settings by which a rejected reply is sent back at most once."""
    return settings.model_copy(update={"retries": min(MOST_REPAIRS, settings.retries)})


def limited_chain(
    chain: FallbackChain, *, call_timeout_seconds: float, retries: CallRetries
) -> FallbackChain:
    """Return the models with calls as short, and tried as often, as a waiting person bears."""
    return tuple(
        replace(
            route,
            timeout_seconds=min(route.timeout_seconds, call_timeout_seconds),
            retries=retries,
        )
        for route in chain
    )
