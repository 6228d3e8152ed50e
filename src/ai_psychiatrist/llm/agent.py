"""Pydantic AI agents whose output is what an extractor makes of the reply."""

from typing import Final, TypeAlias

import pydantic_ai
from pydantic_ai import Agent, RunContext, TextOutput

from ai_psychiatrist.llm.agent_calls import AgentCalls
from ai_psychiatrist.llm.definition import AgentDefinition, OutputT

DEFAULT_RETRIES: Final = 3

ReplyAgent: TypeAlias = Agent[AgentCalls, OutputT]
"""An agent without a model, whose calls are accounted for."""

# The first run of a process would print the library's logo and advice among the results.
pydantic_ai.BANNER_ENABLED = False


def create_agent(
    definition: AgentDefinition[OutputT], *, retries: int = DEFAULT_RETRIES
) -> ReplyAgent[OutputT]:
    """Return an agent without a model: each run names its own."""

    async def extract(context: RunContext[AgentCalls], text: str) -> OutputT:
        return await context.deps.judge(definition.extract, text)

    output: TextOutput[OutputT] = TextOutput(extract)
    return Agent(
        deps_type=AgentCalls,
        output_type=output,
        instructions=definition.system,
        name=definition.name,
        retries={"output": retries, "tools": 0},
    )
