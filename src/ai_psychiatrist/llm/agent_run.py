"""A run of a Pydantic AI agent: its extractor reads the replies, and has some sent back."""

from dataclasses import dataclass, field

import pydantic_ai
from pydantic_ai import Agent, RunContext, TextOutput
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.llm.accounted_model import AccountedModel
from ai_psychiatrist.llm.agent_calls import AgentCalls
from ai_psychiatrist.llm.asking_again import asked_again
from ai_psychiatrist.llm.definition import AgentDefinition, OutputT
from ai_psychiatrist.llm.output_mode import OutputMode, OutputTool
from ai_psychiatrist.llm.prompt import Prompt, ending_with
from ai_psychiatrist.llm.provider_settings import provider_settings, user_content
from ai_psychiatrist.llm.rejection import ReplyRejected
from ai_psychiatrist.llm.routes import ModelRoute

# The first run of a process would print the library's logo and advice among the results.
pydantic_ai.BANNER_ENABLED = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an agent asks one model, and in which form the reply is wanted."""

    route: ModelRoute
    model: Model
    prompt: Prompt = field(repr=False)
    mode: OutputMode
    tool: OutputTool | None
    temperature: float
    max_tokens: int | None
    """Longest reply, where it is not to be the model's own."""


def reply_agent(
    definition: AgentDefinition[OutputT], *, retries: int
) -> Agent[AgentCalls, OutputT]:
    """Return an agent without a model: each run names its own."""

    async def extract(context: RunContext[AgentCalls], text: str) -> OutputT:
        try:
            return await context.deps.judge(definition.extract, text, definition.parts)
        except ReplyRejected as rejection:
            again = asked_again(rejection.detached())
        # The cause would carry the reply into tracebacks, and so would this frame if it held it.
        raise again.detached()

    output: TextOutput[OutputT] = TextOutput(extract)
    agent = Agent(
        deps_type=AgentCalls,
        output_type=output,
        instructions=definition.system,
        name=definition.name,
        retries={"output": retries, "tools": 0},
    )
    # A process can have all agents traced with what they are asked and answer; not this one.
    agent.instrument = False
    return agent


async def run_agent(agent: Agent[AgentCalls, OutputT], asked: Asked, calls: AgentCalls) -> OutputT:
    """Return the output; raises `ModelCallFailed` when no reply is accepted, or none comes."""
    model, prompt, mode, tool = asked.model, asked.prompt, asked.mode, asked.tool
    settings = ModelSettings(temperature=asked.temperature)
    if asked.max_tokens is not None:
        settings["max_tokens"] = asked.max_tokens
    if tool is not None:
        prompt = ending_with(prompt, tool.ending(mode))
        settings = provider_settings(model, prompt, tool, mode, asked.temperature)
    content = user_content(model, prompt)
    calls.prompt_digest = prompt.digest
    accounted = AccountedModel(asked.route, calls, mode=mode, tool=tool)
    try:
        result = await agent.run(content, model=accounted, deps=calls, model_settings=settings)
    except UnexpectedModelBehavior:
        raise ModelCallFailed(FailureCode.OUTPUT_REJECTED) from None
    return result.output
