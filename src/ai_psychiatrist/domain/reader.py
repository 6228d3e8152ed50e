"""What became of the learned reader, the second voice beside the rules."""

from dataclasses import dataclass
from enum import StrEnum

from ai_psychiatrist.domain.evidence import Segment


class ReaderStatus(StrEnum):
    """Whether the learned reader took part in a result."""

    OFF = "off"
    """It was switched off, or the caller works without one."""
    MISSING = "missing"
    """Its packages are not installed."""
    ANSWERED = "answered"
    FAILED = "failed"
    """Its files could not be read, or it broke off: the rules stand alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderState:
    """Whether the reader took part, and which one."""

    status: ReaderStatus = ReaderStatus.OFF
    digest: str | None = None
    """SHA-256 of its files; `None` where there is none."""
    read_first: tuple[Segment, ...] = ()
    """Those that it ranks highest for danger and for which nothing alarms; they carry no level."""

    @property
    def name(self) -> str:
        """What a run's record calls it: its digest, or why it takes no part."""
        return self.digest or self.status.value
