"""Refuses models, embedders and proxies of other machines where MODEL_LOCAL_ONLY asks for it."""

import httpx2

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.options import is_of_this_machine, plain_host
from ai_psychiatrist.llm.providers import OLLAMA, OPENAI, provider_of
from ai_psychiatrist.llm.settings import ModelCallSettings, OllamaSettings, OpenAISettings


def require_local(models: ModelCallSettings, what: str, address: str, *, setting: str) -> None:
    """Raise `ConfigurationError` where an address is of a machine that may not see transcripts.

    `what`: is at the address, as in `model 'ollama:x'`. `setting`: says where it is. A key or a
    password in the address is not shown.
    """
    if not models.local_only:
        return
    try:
        # The client's own reading of the address: another one could find another host in it.
        host = httpx2.URL(address).host
    except httpx2.InvalidURL:
        host = ""
    if is_of_this_machine(host) or plain_host(host) in models.local_hosts:
        return
    msg = (
        f"MODEL_LOCAL_ONLY=true refuses {what}: it is served by {host or 'an unreadable address'}, "
        f"which is neither this machine nor in MODEL_LOCAL_HOSTS; set {setting} to a server that "
        "is, choose another model, or add the host"
    )
    raise ConfigurationError(msg)


def require_local_embedder(
    name: str, models: ModelCallSettings, *, ollama: OllamaSettings, openai: OpenAISettings
) -> None:
    """Raise `ConfigurationError` for an embedder of such a machine; some need no server."""
    provider, address = provider_of(name), embedder_address(name, ollama=ollama, openai=openai)
    if provider is not None and address is not None:
        require_local(models, f"embedder {name!r}", address, setting=provider.url_variable)


def embedder_address(name: str, *, ollama: OllamaSettings, openai: OpenAISettings) -> str | None:
    """Return where an embedder is served; `None` for one that needs no server."""
    provider = provider_of(name)
    if provider is OLLAMA:
        return ollama.base_url
    return (openai.base_url or OPENAI.default_url) if provider is OPENAI else None
