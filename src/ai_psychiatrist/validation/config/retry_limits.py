"""How often something is tried."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryLimits:
    """How many failures of each kind a unit may have at one step before it stays failed."""

    provider_attempts: int = 3
    """Calls that gave no answer; from 1."""
    validation_attempts: int = 3
    """Answers that did not pass, and answers that never came; from 1."""
