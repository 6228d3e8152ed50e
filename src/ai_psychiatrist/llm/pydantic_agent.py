"""Agents of Pydantic AI: an extractor reads the replies, and has some sent back."""

from collections.abc import Mapping, Sequence
from typing import Final

import pydantic_ai
from pydantic_ai import Agent, ModelRetry, RunContext, TextOutput
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import CachePoint, ModelRequest, UserContent, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.llm.agent_calls import AgentCalls
from ai_psychiatrist.llm.definition import AgentDefinition, OutputT, Prompt, asking_in
from ai_psychiatrist.llm.endpoints import ModelEndpoint
from ai_psychiatrist.llm.failures import call_failure
from ai_psychiatrist.llm.recording_model import RecordingModel
from ai_psychiatrist.llm.replies import (
    ChatReply,
    OutputMode,
    OutputTool,
    ReplyRejected,
)

# The first run of a process would print the library's logo and advice among the results.
pydantic_ai.BANNER_ENABLED = False

_ANTHROPIC: Final = "anthropic"


class AskedAgain(ReplyRejected, ModelRetry):
    """A rejection that an agent of Pydantic AI answers by asking the model again."""


def asked_again(rejection: ReplyRejected) -> AskedAgain:
    """Return a rejection in the form that the library understands."""
    if isinstance(rejection, AskedAgain):
        return rejection
    return AskedAgain(rejection.code, str(rejection), rejection.violations)


def reply_agent(
    definition: AgentDefinition[OutputT], *, retries: int
) -> Agent[AgentCalls | None, OutputT]:
    """Return an agent without a model: each run names its own.

    Run without calls that record it, it asks again where the extractor refuses a reply.
    """

    async def extract(context: RunContext[AgentCalls | None], text: str) -> OutputT:
        try:
            if context.deps is None:
                return definition.extract(text)
            return await context.deps.judge(definition.extract, text, definition.parts)
        except ReplyRejected as rejection:
            again = asked_again(rejection.detached())
        # The cause would carry the reply into tracebacks, and so would this frame if it held it.
        raise again.detached()

    output: TextOutput[OutputT] = TextOutput(extract)
    agent: Agent[AgentCalls | None, OutputT] = Agent(
        output_type=output,
        instructions=definition.system,
        name=definition.name,
        retries={"output": retries, "tools": 0},
    )
    # A process can have all agents traced with what they are asked and answer; not this one.
    agent.instrument = False
    return agent


async def run_agent(
    agent: Agent[AgentCalls | None, OutputT],
    model: Model,
    prompt: Prompt,
    calls: AgentCalls,
    *,
    endpoint: ModelEndpoint,
    mode: OutputMode,
    tool: OutputTool | None,
    temperature: float | None,
    max_tokens: int | None,
) -> OutputT:
    """Return the output; raises `ModelCallFailed` when no reply is accepted, or none comes.

    `endpoint`: that of the model; `mode`: how the reply to a `tool` is wanted; `temperature`:
    `None` sends none; `max_tokens`: longest reply, where it is not to be the model's own.
    """
    settings = _sampling(temperature)
    if tool is not None:
        prompt = asking_in(mode, prompt, tool)
        settings = _provider_settings(model, prompt, tool, mode, temperature)
    if max_tokens is not None:
        settings["max_tokens"] = max_tokens
    calls.prompt_digest = prompt.digest
    recording = RecordingModel(endpoint, model, calls, mode=mode, tool=tool)
    try:
        result = await agent.run(
            _user_content(model, prompt), model=recording, deps=calls, model_settings=settings
        )
    except UnexpectedModelBehavior:
        raise ModelCallFailed(FailureCode.OUTPUT_REJECTED) from None
    return result.output


class _AnthropicSettings(ModelSettings, total=False):
    """The library's own type needs Anthropic's package, which is an extra."""

    anthropic_cache_instructions: bool
    anthropic_cache_tool_definitions: bool
    anthropic_metadata: Mapping[str, str]


def _sampling(temperature: float | None) -> ModelSettings:
    return ModelSettings() if temperature is None else ModelSettings(temperature=temperature)


def _provider_settings(
    model: Model, prompt: Prompt, tool: OutputTool, mode: OutputMode, temperature: float | None
) -> ModelSettings:
    """Return the settings of a call whose output keeps to a schema.

    Of one required tool nothing else can be called, and the servers of OpenAI's chat protocol are
    left at that: llama.cpp's takes a tool's name there for no choice at all.
    """
    if model.system != _ANTHROPIC:
        return _sampling(temperature)
    settings = _AnthropicSettings(anthropic_cache_instructions=True)
    if temperature is not None:
        settings["temperature"] = temperature
    if prompt.subject:
        settings["anthropic_metadata"] = {"user_id": prompt.subject}
    if mode is OutputMode.TOOL:
        settings["anthropic_cache_tool_definitions"] = True
        if model.profile.get("supports_forced_tool_choice", True):
            # These take the place of the model's own, MODEL_EXTRA_BODY, instead of joining them.
            own = (model.settings or ModelSettings()).get("extra_body")
            choice = {"tool_choice": {"type": "tool", "name": tool.name}}
            settings["extra_body"] = {**own, **choice} if isinstance(own, dict) else choice
    return settings


def _user_content(model: Model, prompt: Prompt) -> str | Sequence[UserContent]:
    """Return the user's text, with a cache mark where the provider uses one."""
    if model.system != _ANTHROPIC or not prompt.stable_characters:
        return prompt.user
    stable = prompt.user[: prompt.stable_characters]
    changing = prompt.user[prompt.stable_characters :]
    return [stable, CachePoint(), changing] if changing else prompt.user


class PlainChat:
    """Plain chat over any model that Pydantic AI speaks to: one direct request, no agent."""

    def __init__(self, model: Model, *, temperature: float | None) -> None:
        self._model = model
        self._settings = _sampling(temperature)

    @property
    def model(self) -> str:
        """The model's name at its backend."""
        return self._model.model_name

    async def simple_chat(self, user_prompt: str, *, system_prompt: str = "") -> ChatReply:
        """Send one request; raises `ModelCallFailed`."""
        request = ModelRequest(
            parts=[UserPromptPart(user_prompt)], instructions=system_prompt or None
        )
        try:
            response = await model_request(
                self._model, [request], model_settings=self._settings, instrument=False
            )
        except Exception as error:  # noqa: BLE001  a backend may make a library fail in any way
            raise call_failure(error) from None
        return ChatReply.of(response)
