"""The prompt that a model is sent, read back into its transcript, its task and its data blocks."""

import json
import re
from dataclasses import dataclass, field
from typing import Final

_OPENING: Final = re.compile(r"^<transcript-(?P<boundary>[0-9a-f]{16})>\n", re.MULTILINE)
_TASK: Final = re.compile(r"^Task: (?P<name>[^\n]*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What one prompt asks for."""

    task: str
    transcript: str = field(repr=False)
    """The transcript's text exactly as it was received."""
    boundary: str
    instructions: str = field(repr=False)
    """Everything after the transcript, the data blocks included."""

    def block(self, name: str) -> str:
        """Return the content of a data block, or nothing where it is missing."""
        opening, closing = f"<{name}-{self.boundary}>\n", f"\n</{name}-{self.boundary}>"
        _, is_open, rest = self.instructions.partition(opening)
        content, is_closed, _ = rest.rpartition(closing)
        return content if is_open and is_closed else ""

    def json_block(self, name: str) -> dict[str, object]:
        """Return the JSON object of a data block; anything else counts as an empty one."""
        try:
            value = json.loads(self.block(name))
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


def read_request(prompt: str) -> Request:
    """Read a prompt. Raises `ValueError` when it holds no transcript block or no task."""
    opening = _OPENING.search(prompt)
    if opening is None:
        msg = "the prompt holds no transcript block"
        raise ValueError(msg)
    boundary = opening["boundary"]
    # The transcript's author cannot know the boundary, but a model may echo the closing tag into
    # findings that a later prompt quotes; so the first one counts.
    closing = prompt.find(f"\n</transcript-{boundary}>", opening.end() - 1)
    if closing < 0:
        msg = "the prompt's transcript block is not closed"
        raise ValueError(msg)
    instructions = prompt[closing + 1 :]
    task = _TASK.search(instructions)
    if task is None:
        msg = "the prompt names no task"
        raise ValueError(msg)
    return Request(
        task=task["name"].strip(),
        transcript=prompt[opening.end() : max(closing, opening.end())],
        boundary=boundary,
        instructions=instructions,
    )
