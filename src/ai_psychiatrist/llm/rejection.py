"""A reply that is not accepted, as Pydantic AI's wish to ask again."""

from collections.abc import Mapping

from pydantic_ai import ModelRetry

from ai_psychiatrist.domain.failures import RejectionCode


class ReplyRejected(ModelRetry):
    """A reply that is not accepted; the message is the feedback for the model."""

    def __init__(
        self, code: RejectionCode, feedback: str, violations: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(feedback)
        self.code = code
        self.violations = dict(violations or {})
