"""What is to be delivered, and what came of it."""

from dataclasses import dataclass, field
from enum import StrEnum

from ai_psychiatrist.domain.shape import Shape
from ai_psychiatrist.jobs.engine import JobRef
from ai_psychiatrist.jobs.webhooks.places import Destination


class DeliveryState(StrEnum):
    """How far a webhook is."""

    EXPECTED = "expected"
    """The job has no end yet."""
    PENDING = "pending"
    DELIVERED = "delivered"
    GIVEN_UP = "given_up"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Delivery(Shape):
    """How far the webhook of one job is."""

    state: DeliveryState
    """`expected` while the job has no end, then `pending`, and `delivered` or `given_up`."""
    tries: int
    """How often it was tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenUp:
    """A webhook that is tried no more."""

    job: JobRef
    place: str
    tries: int
    reason: str | None
    """Code of why its last try failed, `None` where each was broken off."""
    given_up: float
    """When, in seconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A job whose end somebody wants to be told of."""

    job: JobRef
    batch: str | None = None
    destination: Destination
    created: float
    """When the job was asked for, in seconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """One webhook that is due."""

    id: str
    job_id: str
    place: str
    url: str = field(repr=False)
    body: bytes = field(repr=False)
    tries: int
    """With the one that is to be made now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a receiver answered."""

    reason: str | None
    """Code of why it is not delivered; `None` when it is."""
    http_status: int | None = None
    asked_seconds: float | None = None
    """How long the receiver asks to wait."""

    @property
    def is_refusal(self) -> bool:
        """Whether the receiver wants this webhook never again."""
        return self.http_status == _GONE


_GONE = 410
