"""Whether the cited evidence drives a score: the changes it is scored under, and the verdict."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.shape import Shape


class Change(StrEnum):
    """What is changed in the transcript before an item is scored again."""

    ERASED = "erased"
    """The cited clauses are struck out."""
    ALONE = "alone"
    """Of the participant's words only the cited clauses are left."""
    REVERSED = "reversed"
    """One cited clause says the opposite."""
    TEN_YEARS_BACK = "ten_years_back"
    """The cited clauses tell of ten years ago."""
    REWORDED = "reworded"
    """The interviewer asks in other words."""
    SILENT = "silent"
    """All of the participant's words are struck out."""


class ScoringEnd(StrEnum):
    """How the scoring of a changed transcript ended."""

    SCORED = "scored"
    NOT_DETERMINABLE = "not_determinable"
    """The model said that there is no score."""
    NOT_MADE = "not_made"
    """There was nothing to change, or no wording that reads as the change is meant."""
    FAILED = "failed"
    """The call gave no answer."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ChangedScore(Shape):
    """What the model said of an item of a changed transcript."""

    end: ScoringEnd
    """How the scoring ended."""
    score: Annotated[int, Field(ge=0, le=3)] | None = None
    """0-3 where it is scored."""
    code: FailureCode | None = None
    """Why the call failed."""

    @property
    def is_answer(self) -> bool:
        """Whether the model answered."""
        return self.end in {ScoringEnd.SCORED, ScoringEnd.NOT_DETERMINABLE}


NOT_MADE: Final = ChangedScore(end=ScoringEnd.NOT_MADE)


class DriveVerdict(StrEnum):
    """Whether the cited evidence drives the score of an item."""

    EVIDENCE_DRIVEN = "evidence_driven"
    OVER_DETERMINED = "over_determined"
    """The cited words are enough, and other words of the participant are as well."""
    NOT_EVIDENCE_DRIVEN = "not_evidence_driven"
    UNDETERMINED = "undetermined"


class DriveReason(StrEnum):
    """What a verdict stands on."""

    NEEDED = "needed"
    """Without the cited words, and with another meaning of theirs, the score is another."""
    ENOUGH_BUT_NOT_NEEDED = "enough_but_not_needed"
    SAME_IN_SILENCE = "same_in_silence"
    """The score is the same where the participant says nothing."""
    MOVED_BY_WORDING = "moved_by_wording"
    """The score is another where only the interviewer's words are others."""
    MEANING_IGNORED = "meaning_ignored"
    """Reversed or ten years back, the cited words give the same score."""
    NEITHER_NEEDED_NOR_ENOUGH = "neither_needed_nor_enough"
    CALL_FAILED = "call_failed"
    """A call that the verdict needs gave no answer."""
    CHANGE_NOT_MADE = "change_not_made"
    """A change that the verdict needs could not be made."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ItemDrive(Shape):
    """The verdict on a score, what it stands on, and the score under each change."""

    verdict: DriveVerdict
    """Whether the evidence drives the score."""
    reason: DriveReason
    """What the verdict stands on."""
    scores: Mapping[Change, ChangedScore]
    """Change → the score under it."""


_VERDICTS: Final = {
    DriveReason.NEEDED: DriveVerdict.EVIDENCE_DRIVEN,
    DriveReason.ENOUGH_BUT_NOT_NEEDED: DriveVerdict.OVER_DETERMINED,
    DriveReason.SAME_IN_SILENCE: DriveVerdict.NOT_EVIDENCE_DRIVEN,
    DriveReason.MOVED_BY_WORDING: DriveVerdict.NOT_EVIDENCE_DRIVEN,
    DriveReason.MEANING_IGNORED: DriveVerdict.NOT_EVIDENCE_DRIVEN,
    DriveReason.NEITHER_NEEDED_NOR_ENOUGH: DriveVerdict.NOT_EVIDENCE_DRIVEN,
    DriveReason.CALL_FAILED: DriveVerdict.UNDETERMINED,
    DriveReason.CHANGE_NOT_MADE: DriveVerdict.UNDETERMINED,
}


def drive_of(score: int, scores: Mapping[Change, ChangedScore]) -> ItemDrive:
    """Return the verdict on an item's score; a change that is missing was not made."""
    known = {change: scores.get(change, NOT_MADE) for change in Change}
    moves = {change: one.score != score for change, one in known.items() if one.is_answer}
    is_asked = known[Change.REWORDED].end is not ScoringEnd.NOT_MADE
    try:
        reason = _reason(moves, is_asked=is_asked)
    except KeyError as missing:
        has_failed = known[missing.args[0]].end is ScoringEnd.FAILED
        reason = DriveReason.CALL_FAILED if has_failed else DriveReason.CHANGE_NOT_MADE
    return ItemDrive(verdict=_VERDICTS[reason], reason=reason, scores=known)


def _reason(moves: Mapping[Change, bool], *, is_asked: bool) -> DriveReason:
    """Return what the verdict stands on; raises `KeyError` for a change that it needs.

    `moves`: change → whether the score is another under it, for the changes that were answered.
    """
    if not moves[Change.SILENT]:
        return DriveReason.SAME_IN_SILENCE
    # Where nobody asked, no question can have moved the score.
    if is_asked and moves[Change.REWORDED]:
        return DriveReason.MOVED_BY_WORDING
    if moves[Change.ERASED]:
        # Either of two other meanings can show that they count; that they do not, both have to.
        meanings = (Change.TEN_YEARS_BACK, Change.REVERSED)
        means_something = any(map(moves.get, meanings)) or any(moves[one] for one in meanings)
        return DriveReason.NEEDED if means_something else DriveReason.MEANING_IGNORED
    if moves[Change.ALONE]:
        return DriveReason.NEITHER_NEEDED_NOR_ENOUGH
    return DriveReason.ENOUGH_BUT_NOT_NEEDED
