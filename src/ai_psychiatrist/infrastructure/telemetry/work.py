"""What can be watched from outside: requests, assessments, agents, their calls and jobs.

Names, codes, counts and durations: nothing here can hold a word of a participant or a model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ai_psychiatrist.domain.failures import Attempt

CANCELLED: Final = "cancelled"
"""What ended work that was cut short."""


@dataclass(slots=True, kw_only=True)
class _Work:
    seconds: float = 0.0
    """How long it took; known at its end."""
    error: str | None = None
    """Code of why it did not come to a good end."""


@dataclass(slots=True, kw_only=True)
class RequestWork(_Work):
    """One request to the server."""

    method: str
    """`OTHER` for a word that is no method of HTTP."""
    traceparent: str | None = field(default=None, repr=False)
    """The header as the caller sent it."""
    route: str | None = None
    """Path with the names of its parameters; `None` for a path that no route has."""
    status: int = 0
    """0 where nothing was sent."""


@dataclass(slots=True, kw_only=True)
class AssessmentWork(_Work):
    """One assessment."""

    mode: str
    status: str | None = None
    """How whole it is; `None` where it was broken off."""
    danger: str | None = None
    """Level of the signs of danger."""
    calls: int = 0
    failures: int = 0


@dataclass(slots=True, kw_only=True)
class AgentWork(_Work):
    """One run of an agent, over all models of its chain."""

    agent: str
    provider: str
    attempts: Sequence[Attempt]
    """Of all its calls so far, in the order in which they ended."""


@dataclass(slots=True, kw_only=True)
class CallWork(_Work):
    """One call that is sent to a model."""

    agent: str
    model: str
    """As in the settings, such as `ollama:gemma3`."""
    provider: str
    requested: str
    """The model's name at its provider."""
    is_local: bool
    """Whether the model is in this process."""
    answered_by: str | None = None
    """The model that its provider says has answered, where the name is like the requested one."""
    finish_reason: str | None = None
    input_tokens: int | None = None
    """What the provider counted, those of its cache among them; `None` where it counts nothing."""
    output_tokens: int | None = None
    cache_read_tokens: int = 0
    """How many of the input tokens the provider read from its cache."""
    http_status: int | None = None


Work: TypeAlias = RequestWork | AssessmentWork | AgentWork | CallWork


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEnded:
    """The end of a job."""

    state: str
    reason: str | None
    """Code of what failed."""
    seconds: float
    """Since it was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewHeld:
    """An interview that was held because an answer states a danger; nothing says which."""


Event: TypeAlias = Attempt | JobEnded | InterviewHeld
"""What has no duration of its own: how a reply was judged, how a job ended, a held interview."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSeen:
    """The jobs that have no end yet."""

    by_state: Mapping[str, int]
    oldest_waiting_seconds: float | None
    """`None` where none waits."""
