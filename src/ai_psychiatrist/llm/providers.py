"""The providers that model names begin with, and the settings that say where and who they are."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One kind of model server, which the names of its models begin with."""

    name: str
    url_variable: str
    """The setting that says where it is."""
    key_variable: str | None = None
    default_url: str | None = None
    """Address of a hosted provider, which its name alone stands for."""
    extra: str | None = None
    """The optional dependency that it needs."""
    caches_prefixes: bool = False
    """Whether it charges less for the beginning of a prompt that it has just read."""
    only_samples_by_schema: bool = False
    """Whether schemas bound what its models write, and are no part of what they read."""


OLLAMA: Final = Provider(name="ollama", url_variable="OLLAMA_HOST", only_samples_by_schema=True)
OPENAI_CHAT: Final = Provider(
    name="openai-chat", url_variable="OPENAI_BASE_URL", key_variable="OPENAI_API_KEY"
)
OPENAI: Final = Provider(
    name="openai",
    url_variable="OPENAI_BASE_URL",
    key_variable="OPENAI_API_KEY",
    default_url="https://api.openai.com/v1",
    caches_prefixes=True,
)
ANTHROPIC: Final = Provider(
    name="anthropic",
    url_variable="ANTHROPIC_BASE_URL",
    key_variable="ANTHROPIC_API_KEY",
    default_url="https://api.anthropic.com",
    extra="anthropic",
    caches_prefixes=True,
)
GOOGLE: Final = Provider(
    name="google",
    url_variable="GOOGLE_BASE_URL",
    key_variable="GOOGLE_API_KEY",
    default_url="https://generativelanguage.googleapis.com",
    extra="google",
    caches_prefixes=True,
)
PROVIDERS: Final = {one.name: one for one in (OLLAMA, OPENAI_CHAT, OPENAI, ANTHROPIC, GOOGLE)}


def provider_of(model: str) -> Provider | None:
    """Return the provider that a model's name begins with."""
    return PROVIDERS.get(model.partition(":")[0])
