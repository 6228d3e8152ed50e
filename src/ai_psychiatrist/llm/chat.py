"""What a plain chat client is: one system text and one user text in, one reply out."""

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """The text a model replied with, and what the backend said about it."""

    text: str = field(repr=False)
    is_cut_off: bool = False
    """Whether the backend stopped the reply at a length limit."""
    input_tokens: int | None = None
    """What the backend counted, those of its cache among them; `None` where it counts nothing."""
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None


class SimpleChatClient(Protocol):
    """One plain chat call to one model, without any framework around it."""

    @property
    def model(self) -> str:
        """The model's name at its backend."""
        ...

    async def simple_chat(self, user_prompt: str, *, system_prompt: str = "") -> ChatReply:
        """Send the two texts and return the reply; raises `ModelCallFailed` when none comes."""
        ...
