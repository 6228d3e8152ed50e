"""Pydantic AI agents whose output is what an extractor makes of the reply, in every mode."""

from typing import Final

import pydantic_ai
from pydantic_ai import Agent, NativeOutput, RunContext, StructuredDict, TextOutput, ToolOutput

from ai_psychiatrist.llm.account import CallAccount
from ai_psychiatrist.llm.definition import AgentDefinition, OutputT
from ai_psychiatrist.llm.output_mode import OutputMode

DEFAULT_RETRIES: Final = 3

# The first run of a process would print the library's logo and advice among the results.
pydantic_ai.BANNER_ENABLED = False


def create_agent(
    definition: AgentDefinition[OutputT],
    *,
    retries: int = DEFAULT_RETRIES,
    mode: OutputMode = OutputMode.TEXT,
) -> Agent[CallAccount, OutputT]:
    """Return an agent without a model: each run names its own.

    Raises `ValueError` when the mode needs a schema and the definition has none.
    """
    return Agent(
        deps_type=CallAccount,
        output_type=_output(definition, mode),
        instructions=definition.system,
        name=definition.name,
        retries={"output": retries, "tools": 0},
    )


def _output(
    definition: AgentDefinition[OutputT], mode: OutputMode
) -> TextOutput[OutputT] | ToolOutput[OutputT] | NativeOutput[OutputT]:
    async def extract(context: RunContext[CallAccount], text: str) -> OutputT:
        return await context.deps.judge(definition.extract, text)

    if mode is OutputMode.TEXT:
        return TextOutput(extract)
    tool = definition.tool
    if tool is None:
        msg = f"agent {definition.name!r} has no schema to send"
        raise ValueError(msg)
    reply_type = StructuredDict(dict(tool.schema))

    # The library reads arguments more leniently than text (the last of two equal keys wins, NaN is
    # a number), so the model's own characters are judged, by the one extractor of all modes.
    async def extract_reply(context: RunContext[CallAccount], _: object) -> OutputT:
        return await context.deps.judge(definition.extract, context.deps.reply_text)

    extract_reply.__annotations__["_"] = reply_type
    if mode is OutputMode.TOOL:
        return ToolOutput(extract_reply, name=tool.name, description=tool.description)
    return NativeOutput(extract_reply, name=tool.name, description=tool.description)
