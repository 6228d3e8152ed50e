"""An agent as a value: its name and how a reply becomes its output."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from ai_psychiatrist.llm.output import ModelOutput, PartsReader
from ai_psychiatrist.llm.output_mode import OutputTool

OutputT = TypeVar("OutputT", bound=ModelOutput)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDefinition(Generic[OutputT]):
    """What the runner has to know about an agent."""

    name: str
    """Names the agent in accounts and logs."""
    extract: Callable[[str], OutputT]
    """Reads a reply's text, or raises `ReplyRejected`."""
    system: str
    """What all calls of the agent begin with."""
    parts: PartsReader | None = None
    """Reads what stands of a refused reply once no other is accepted; `None` where only whole
    replies count."""
    tool: OutputTool | None = None
    """The schema of the output; `None` for an agent whose format is part of its task."""
