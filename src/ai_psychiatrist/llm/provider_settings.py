"""What goes out beside the prompt: sampling, and what only one provider understands."""

from collections.abc import Mapping, Sequence
from typing import Final

from pydantic_ai.messages import CachePoint, UserContent
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from ai_psychiatrist.llm.output_mode import OutputMode, OutputTool
from ai_psychiatrist.llm.prompt import Prompt

ANTHROPIC: Final = "anthropic"


class _OpenAISettings(ModelSettings, total=False):
    """The library's own type imports OpenAI's package, which takes half a second."""

    openai_logprobs: bool
    openai_top_logprobs: int


class _AnthropicSettings(ModelSettings, total=False):
    """The library's own type needs Anthropic's package, which is an extra."""

    anthropic_cache_instructions: bool
    anthropic_cache_tool_definitions: bool
    anthropic_metadata: dict[str, str]


LOG_PROBABILITIES: Final[Mapping[str, ModelSettings]] = {
    "ollama": ModelSettings(extra_body={"logprobs": True}, max_tokens=200),
    "openai-chat": _OpenAISettings(openai_logprobs=True, openai_top_logprobs=1, max_tokens=200),
}
"""What asks for the log-probabilities of a reply, which has to be short, by the provider's name."""


def provider_settings(
    model: Model, prompt: Prompt, tool: OutputTool, mode: OutputMode, temperature: float
) -> ModelSettings:
    """Return the settings of a call whose output keeps to a schema.

    Of one required tool nothing else can be called, and the servers of OpenAI's chat protocol are
    left at that: llama.cpp's takes a tool's name there for no choice at all.
    """
    if model.system != ANTHROPIC:
        return ModelSettings(temperature=temperature)
    settings = _AnthropicSettings(temperature=temperature, anthropic_cache_instructions=True)
    if prompt.subject:
        settings["anthropic_metadata"] = {"user_id": prompt.subject}
    if mode is OutputMode.TOOL:
        settings["anthropic_cache_tool_definitions"] = True
        if model.profile.get("supports_forced_tool_choice", True):
            settings["extra_body"] = {"tool_choice": {"type": "tool", "name": tool.name}}
    return settings


def user_content(model: Model, prompt: Prompt) -> str | Sequence[UserContent]:
    """Return the user's text, marked where a provider is told what later calls begin with."""
    if model.system != ANTHROPIC or not prompt.stable_characters:
        return prompt.user
    stable = prompt.user[: prompt.stable_characters]
    changing = prompt.user[prompt.stable_characters :]
    return [stable, CachePoint(), changing] if changing else prompt.user
