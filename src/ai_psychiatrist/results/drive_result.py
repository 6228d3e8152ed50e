"""Whether the evidence drives a score, as callers see it."""

from pydantic import Field

from ai_psychiatrist.domain.drive import Change, DriveReason, DriveVerdict, ScoringEnd
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.results.frozen_table import FrozenTable
from ai_psychiatrist.results.result import Result


class ChangedScoreResult(Result):
    """What the model said of the item of one changed transcript."""

    end: ScoringEnd
    """How the scoring ended."""
    score: int | None = Field(ge=0, le=3)
    """0-3 where it is scored."""
    code: FailureCode | None
    """Why the call failed."""


class DriveResult(Result):
    """The verdict on a score, what it stands on, and the score under each change."""

    verdict: DriveVerdict
    """Whether the evidence drives the score."""
    reason: DriveReason
    """What the verdict stands on."""
    scores: FrozenTable[Change, ChangedScoreResult]
    """Change → what became of the score under it."""
