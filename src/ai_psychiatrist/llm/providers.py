"""The providers that model names begin with, and the variables that say where and who they are."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One kind of model server."""

    name: str
    url_variable: str
    key_variable: str | None = None
    default_url: str | None = None
    """Address of a hosted provider, which its name alone stands for."""
    extra: str | None = None
    """The optional dependency that it needs."""


OLLAMA: Final = Provider(name="ollama", url_variable="OLLAMA_HOST")
OPENAI_CHAT: Final = Provider(
    name="openai-chat", url_variable="OPENAI_BASE_URL", key_variable="OPENAI_API_KEY"
)
OPENAI: Final = Provider(
    name="openai",
    url_variable="OPENAI_BASE_URL",
    key_variable="OPENAI_API_KEY",
    default_url="https://api.openai.com/v1",
)
ANTHROPIC: Final = Provider(
    name="anthropic",
    url_variable="ANTHROPIC_BASE_URL",
    key_variable="ANTHROPIC_API_KEY",
    default_url="https://api.anthropic.com",
    extra="anthropic",
)
GOOGLE: Final = Provider(
    name="google",
    url_variable="GOOGLE_BASE_URL",
    key_variable="GOOGLE_API_KEY",
    default_url="https://generativelanguage.googleapis.com",
    extra="google",
)
PROVIDERS: Final = {
    provider.name: provider for provider in (OLLAMA, OPENAI_CHAT, OPENAI, ANTHROPIC, GOOGLE)
}


CACHING_PROVIDERS: Final = frozenset({OPENAI, ANTHROPIC, GOOGLE})
"""Those that charge less for the beginning of a prompt that they have just read."""


def provider_of(model: str) -> Provider | None:
    """Return the provider that a model's name begins with."""
    return PROVIDERS.get(model.partition(":")[0])
