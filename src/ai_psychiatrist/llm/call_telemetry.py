"""What telemetry is shown of agents and of their calls to models: names, codes and counts."""

import re
from collections.abc import Sequence
from typing import Final

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import Attempt
from ai_psychiatrist.infrastructure.telemetry.work import AgentWork, CallWork
from ai_psychiatrist.llm.calls import CallResult
from ai_psychiatrist.llm.endpoints import FallbackChain, ModelEndpoint
from ai_psychiatrist.llm.providers import GOOGLE, OPENAI_CHAT, provider_of
from ai_psychiatrist.llm.replies import ChatReply, credible_tokens

_FINISH_REASONS: Final = frozenset({"stop", "length", "content_filter", "tool_call", "error"})
_NAMED_OTHERWISE: Final = {OPENAI_CHAT.name: "openai", GOOGLE.name: "gcp.gemini"}
"""As the conventions of OpenTelemetry call a provider, where that is not our name for it."""
_OTHER: Final = "_OTHER"
_VERSION: Final = re.compile(r"(?:[-@:.]?(?:\d+|latest))*")


def agent_work(agent: str, chain: FallbackChain, attempts: Sequence[Attempt]) -> AgentWork:
    """Return an agent's run as it begins. `attempts`: the list that its calls are added to."""
    provider = _provider(chain[0]) if chain else _OTHER
    return AgentWork(agent=agent, provider=provider, attempts=attempts)


def call_work(agent: str, endpoint: ModelEndpoint) -> CallWork:
    """Return a call as it begins."""
    is_prefixed = provider_of(endpoint.name) is not None
    return CallWork(
        agent=agent,
        model=endpoint.name,
        provider=_provider(endpoint),
        requested=endpoint.name.partition(":")[2] if is_prefixed else endpoint.name,
        is_local=endpoint.is_local,
    )


def note_result(work: CallWork, result: CallResult) -> None:
    """Write down what a call gave; of its words nothing."""
    if isinstance(result, ModelCallFailed):
        work.error, work.http_status = result.code, result.http_status
        return
    usage = result if isinstance(result, ChatReply) else result.usage
    work.input_tokens = credible_tokens(usage.input_tokens)
    work.output_tokens = credible_tokens(usage.output_tokens)
    work.cache_read_tokens = credible_tokens(usage.cache_read_tokens) or 0
    if isinstance(result, ChatReply):
        work.finish_reason = "length" if result.is_cut_off else "stop"
        return
    work.answered_by = _like_requested(result.model_name, work.requested)
    if result.finish_reason in _FINISH_REASONS:
        work.finish_reason = result.finish_reason


def _provider(endpoint: ModelEndpoint) -> str:
    if endpoint.is_local:
        return endpoint.name
    provider = provider_of(endpoint.name)
    return _OTHER if provider is None else _NAMED_OTHERWISE.get(provider.name, provider.name)


def _like_requested(answered_by: object, requested: str) -> str | None:
    """Return the name of a model that a server tells, if it is what was asked for, or a version.

    A server can send any text as a name.
    """
    if not isinstance(answered_by, str) or not answered_by.startswith(requested):
        return None
    return answered_by if _VERSION.fullmatch(answered_by.removeprefix(requested)) else None
