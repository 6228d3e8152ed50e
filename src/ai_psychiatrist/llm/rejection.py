"""A reply that is not accepted, and what the model is told about it."""

from collections.abc import Mapping
from typing import Self

from ai_psychiatrist.domain.failures import RejectionCode


class ReplyRejected(Exception):
    """A reply that is not accepted; the message is the feedback for the model."""

    def __init__(
        self, code: RejectionCode, feedback: str, violations: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(feedback)
        self.message = feedback
        self.code = code
        self.violations = dict(violations or {})

    def detached(self) -> Self:
        """Return an equal one that holds no frames: theirs hold the reply and all read of it."""
        return type(self)(self.code, self.message, self.violations)
