"""The model calls of one assessment: those made, and how many may still be made."""

from typing import Final

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import Attempt, FailureCode
from ai_psychiatrist.llm.call_store import CallStore, Occurrences

DEFAULT_MAX_CALLS: Final = 60


class CallLog:
    """The model calls of one assessment: those made, and how many may still be made."""

    def __init__(
        self, max_calls: int = DEFAULT_MAX_CALLS, *, store: CallStore | None = None
    ) -> None:
        """`store`: where calls are kept and found again; without one nothing is kept."""
        self._left = max_calls
        self.store = store
        self.occurrences = Occurrences()
        self.attempts: list[Attempt] = []
        """In the order in which they ended."""

    def spend(self) -> None:
        """Take one call; raises `ModelCallFailed` when none is left."""
        if self._left <= 0:
            raise ModelCallFailed(FailureCode.CALL_BUDGET_SPENT)
        self._left -= 1
