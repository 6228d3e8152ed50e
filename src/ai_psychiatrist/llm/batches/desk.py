"""Where the calls of a unit of a run are handed in, and wait for their batch."""

from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NoReturn, Protocol


class CallState(StrEnum):
    """Where a call is that no model has been asked live."""

    NEW = "new"
    HANDED_IN = "handed_in"
    ANSWERED = "answered"
    GIVEN_UP = "given_up"
    """It was handed in as often as allowed, and no batch made it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAnswer:
    """What a provider says of one call of a batch."""

    custom_id: str
    status: str
    """`succeeded`, `errored`, `expired` or `canceled`."""
    body: str | None = field(repr=False)
    """The provider's JSON of the reply or the error."""

    @property
    def is_of_a_call(self) -> bool:
        """Whether the call was made, however it ended."""
        return self.body is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingCall:
    """A call, the id that it has or would have in a batch, and where it is."""

    custom_id: str
    state: CallState
    answer: BatchAnswer | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedCall:
    """A call in its provider's form."""

    model: str
    """As in the settings."""
    custom_id: str
    kin: str
    """Calls of one batch share it; no secret."""
    body: str = field(repr=False)
    """JSON of the request."""
    size: int
    """Bytes that it adds to a batch."""


class Desk(Protocol):
    """Takes the calls of one attempt at one unit."""

    def asked(self) -> WaitingCall:
        """Return where the call is that this task looked for in the ledger last."""
        ...

    def collect(self, call: EncodedCall) -> None:
        """Take a call for the next batch."""
        ...

    async def wait(self) -> NoReturn:
        """Stay here until the unit is broken off."""
        ...


DESK: Final[ContextVar[Desk]] = ContextVar("desk")
"""That of the unit which the running task works on."""
