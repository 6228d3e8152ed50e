"""How a model is made to keep to a schema: a tool it must call, a native schema, or text."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal, TypeAlias, assert_never

OutputModeSetting: TypeAlias = Literal["auto", "tool", "native", "text"]
"""`auto`: a tool where the model is asked through Pydantic AI, text otherwise."""


class OutputMode(StrEnum):
    """In which form a schema goes out."""

    TOOL = "tool"
    """As the only tool, which has to be called."""
    NATIVE = "native"
    """As the response format of the provider."""
    TEXT = "text"
    """As words of the prompt."""


_AS_TOOL: Final = "Use the '{name}' tool to return your response."
_AS_NATIVE: Final = "Reply with one JSON object in the response format, and nothing else."
_AS_TEXT: Final = """\
Reply with one JSON object that keeps to this JSON Schema, and nothing else:
{schema}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputTool:
    """The schema of an agent's output with the name under which models know it."""

    name: str
    description: str
    schema: Mapping[str, object] = field(repr=False)

    def ending(self, mode: OutputMode) -> str:
        """Return what a prompt ends with, so that the model knows where its reply goes."""
        match mode:
            case OutputMode.TOOL:
                return _AS_TOOL.format(name=self.name)
            case OutputMode.NATIVE:
                return _AS_NATIVE
            case OutputMode.TEXT:
                schema = json.dumps(self.schema, ensure_ascii=False, separators=(",", ":"))
                return _AS_TEXT.format(schema=schema)
            case _:
                assert_never(mode)
