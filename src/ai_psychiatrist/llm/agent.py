"""Pydantic AI agents whose output is what an extractor makes of the reply."""

from typing import TYPE_CHECKING, Final, TypeAlias

from ai_psychiatrist.llm.definition import AgentDefinition, OutputT

if TYPE_CHECKING:
    from pydantic_ai import Agent

    from ai_psychiatrist.llm.agent_calls import AgentCalls

DEFAULT_RETRIES: Final = 3

ReplyAgent: TypeAlias = "Agent[AgentCalls | None, OutputT]"
"""An agent without a model, whose calls are accounted for."""


def create_agent(
    definition: AgentDefinition[OutputT], *, retries: int = DEFAULT_RETRIES
) -> "Agent[AgentCalls | None, OutputT]":
    """Return an agent without a model: each run names its own."""
    # Half a second that models of this process do without.
    from ai_psychiatrist.llm.agent_run import reply_agent  # noqa: PLC0415

    return reply_agent(definition, retries=retries)
