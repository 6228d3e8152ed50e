"""What goes into a run and what comes out of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from ai_psychiatrist.domain.failures import FailureStage
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.validation.config.retry_limits import RetryLimits

RETRYABLE_STAGES: Final = tuple(stage for stage in FailureStage if stage.is_retryable)


class Origin(StrEnum):
    """What made an attempt."""

    MODEL = "model"
    IMPORT = "import"
    VALIDATE = "validate"
    REVALIDATE = "revalidate"
    """The rules were applied again to an answer that was there; no model was asked."""


class KeptCall(NamedTuple):
    """A model call of one attempt at a unit; no two of an attempt have digest and occurrence."""

    unit_id: str
    attempt: int
    """From 1."""
    call: ModelCall


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRecord:
    """What became of one attempt of one unit at one step."""

    unit_id: str
    step: str
    round: int = 0
    attempt: int
    """From 1."""
    origin: Origin
    stage: str | None = None
    """A failure stage; `None` when the unit is valid."""
    errors: Sequence[Mapping[str, object]] = field(default=(), repr=False)
    warnings: Sequence[Mapping[str, object]] = field(default=(), repr=False)
    coercions: Sequence[Mapping[str, object]] = field(default=(), repr=False)
    raw: str | None = field(default=None, repr=False)
    """The answer's exact text; `None` when there is none, or the run keeps none."""
    output: Mapping[str, object] | None = field(default=None, repr=False)
    """The object as it was accepted."""
    ruleset_digest: str = ""
    schema_digest: str = ""

    @property
    def is_valid(self) -> bool:
        """Whether it passed."""
        return self.stage is None


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentRow:
    """The last attempt of one unit at one step, and how many there were."""

    record: AttemptRecord
    attempts: int
    recorded_at: str
    """When it was recorded: UTC in ISO 8601."""
    newest_attempt: int
    """Number of the last attempt of all; second answers have numbers and are never current."""
    provider_failures: int
    other_failures: int
    """Answers that did not pass or never came; applying rules again does not count."""

    @property
    def is_valid(self) -> bool:
        """Whether the last attempt passed."""
        return self.record.is_valid

    @property
    def failures(self) -> int:
        """How many attempts did not pass."""
        return self.provider_failures + self.other_failures

    @property
    def is_retryable(self) -> bool:
        """Whether another answer may pass."""
        return self.record.stage in RETRYABLE_STAGES

    def is_exhausted(self, limits: RetryLimits) -> bool:
        """Return whether a failed unit has used up its attempts."""
        is_spent = (
            self.provider_failures >= limits.provider_attempts
            or self.other_failures >= limits.validation_attempts
        )
        return self.is_retryable and is_spent


class CallUsage(NamedTuple):
    """What calls of about one length used, made by one agent at one model."""

    agent: str
    model: str
    is_batch: int
    """1 for calls that a batch interface answered, 0 for those that were made live."""
    calls: int
    counted: int
    """Those of which the backend told the tokens in and out."""
    refused: int
    """Those that the backend answered with an error, and those that no batch made."""
    input: int
    output: int
    cache_read: int
    cache_write: int


class StepUsage(NamedTuple):
    """What the calls of one unit at one step took."""

    duration_ms: float
    input_tokens: int | None
    """`None` where the backend never said how many."""
    output_tokens: int | None


class QueuedUnit(NamedTuple):
    """A unit that a step is to be asked for."""

    unit_id: str
    round: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCounts:
    """Where the units of one step are, counted by unit and round."""

    requested: int
    valid: int
    failed: int
    pending: int
    by_stage: Mapping[str, int] = field(default_factory=dict)
    """Failure stage → failed units."""

    @property
    def balances(self) -> bool:
        """Whether every unit that was asked for is in exactly one place."""
        return self.requested == self.valid + self.failed + self.pending
