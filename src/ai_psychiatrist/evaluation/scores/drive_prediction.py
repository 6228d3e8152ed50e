"""Whether the evidence drives a score, as predictions keep it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Final

from pydantic import ConfigDict, Field

from ai_psychiatrist.domain.drive import (
    Change,
    DriveReason,
    DriveVerdict,
    ItemDrive,
    ScoringEnd,
)
from ai_psychiatrist.domain.failures import FailureCode

_STRICT: Final = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedScorePrediction:
    """What the model said of the item of one changed transcript."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    end: ScoringEnd
    score: Annotated[int, Field(ge=0, le=3)] | None
    code: FailureCode | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DrivePrediction:
    """The verdict on one score, and the score under each change."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT

    verdict: DriveVerdict
    reason: DriveReason
    scores: Mapping[Change, ChangedScorePrediction]

    @property
    def left_open(self) -> "DrivePrediction":
        """The same without the verdict, because replies that it stands on do not count any more."""
        return replace(self, verdict=DriveVerdict.UNDETERMINED, reason=DriveReason.CALL_FAILED)


def drive_prediction_of(drive: ItemDrive | None) -> DrivePrediction | None:
    """Return a verdict as predictions keep it."""
    if drive is None:
        return None
    return DrivePrediction(
        verdict=drive.verdict,
        reason=drive.reason,
        scores={
            change: ChangedScorePrediction(end=said.end, score=said.score, code=said.code)
            for change, said in drive.scores.items()
        },
    )
