"""What handing in and looking at a batch can come to."""

from dataclasses import dataclass, field

from ai_psychiatrist.domain.errors import ModelCallFailed


class BatchNotTaken(Exception):
    """The provider said that it does not take a batch."""

    def __init__(self, failure: ModelCallFailed) -> None:
        super().__init__(failure.code)
        self.failure = failure


class BatchVanished(Exception):
    """The provider knows of no such batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """Where a batch is."""

    handle: str = field(repr=False)
    """As JSON, with what the provider says by now."""
    has_ended: bool
