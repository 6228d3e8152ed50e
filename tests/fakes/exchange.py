"""What a script sees of one call to the model server, and what it may answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Wire: TypeAlias = Literal["openai", "ollama"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One chat message, its content flattened to text."""

    role: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One chat call as it arrived."""

    wire: Wire
    task: str
    """Name in the line `Task: NAME` after the transcript block; empty when there is none."""
    attempt: int
    """1 for the first call with this task and transcript since the last reset."""
    transcript: str
    """Text inside the transcript block; empty when there is none."""
    messages: tuple[Message, ...]
    body: Mapping[str, object]
    headers: Mapping[str, str]
    """Names in lower case."""
    arrived_at: float
    """Seconds of the monotonic clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drip:
    """Send a reply in small pieces."""

    chunk_bytes: int
    seconds: float
    """Pause after each piece."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call of the model."""

    name: str
    arguments: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the server does with one call."""

    text: str | None = ""
    """Content of the assistant's message; none is sent as null."""
    call: Call | None = None
    status: int = 200
    raw_body: bytes | None = None
    """Sent in place of the wire's own envelope around `text`."""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    finish_reason: str | None = "stop"
    tokens: Mapping[str, float] | None = None
    """Probabilities of the first token, told to who asks for them."""
    prompt_tokens: int | None = None
    """Reported size of the prompt; an estimate from its length when absent."""
    delay_seconds: float = 0.0
    """Added to the delay of the server."""
    drip: Drip | None = None
    reset: bool = False
    """Drop the connection in the middle of the body."""
    hang: bool = False
    """Never answer."""


Script: TypeAlias = Callable[[Request], Reply]
