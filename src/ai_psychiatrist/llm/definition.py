"""An agent as a value: its name, its prompts, and how a reply becomes its output."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.llm.replies import ModelOutput, OutputMode, OutputTool, PartsReader

OutputT = TypeVar("OutputT", bound=ModelOutput)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What one call sends: the system text, and transcript block and task as the user's text."""

    system: str = field(repr=False)
    user: str = field(repr=False)
    stable_characters: int = 0
    """How much of the user's text later calls begin with, too; 0 when that is not known."""
    subject: str = ""
    """Keyed digest of what the call belongs to: metadata for a provider, part of no text."""

    @property
    def digest(self) -> str:
        """Keyed digest of both texts."""
        return keyed_digest(f"{self.system}\n{self.user}")


def asking_in(mode: OutputMode, prompt: Prompt, tool: OutputTool) -> Prompt:
    """Return the prompt with what it has to end with, so that the reply comes in a mode."""
    if not tool.text_format:
        return replace(prompt, user=f"{prompt.user}\n\n{tool.ending(mode)}")
    if mode is OutputMode.TEXT:
        return prompt
    task = prompt.user.removesuffix(tool.text_format)
    # A task in words of the user's own keeps its end.
    between = "\n" if task == prompt.user else ""
    return replace(prompt, user=f"{task}{between}{tool.schema_format}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDefinition(Generic[OutputT]):
    """An agent as a value: its name and how a reply becomes its output."""

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
    """The schema of the output; `None` where there is none."""
