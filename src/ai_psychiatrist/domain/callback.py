"""The address that a caller or an operator gives for notices of what happened."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """An address that is notified of the end of a job, or of danger."""

    host: str
    """Host and port."""
    url: str = field(repr=False)
