"""Whether the cited evidence drives a score: the changes it is scored under, and the verdict."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ai_psychiatrist.domain.failures import FailureCode


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedScore:
    """What the model said of an item of a changed transcript."""

    end: ScoringEnd
    score: int | None = None
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDrive:
    """The verdict on one scored item, and its score under each change."""

    verdict: DriveVerdict
    reason: DriveReason
    scores: Mapping[Change, ChangedScore]


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
    reason = _Deciding(score, known).reason()
    return ItemDrive(verdict=_VERDICTS[reason], reason=reason, scores=known)


class _Undecided(Exception):
    """An answer that the verdict needs is missing."""

    def __init__(self, reason: DriveReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


class _Deciding:
    """Asks for the score under one change after the other, until the verdict is clear."""

    def __init__(self, score: int, scores: Mapping[Change, ChangedScore]) -> None:
        self._score = score
        self._scores = scores

    def reason(self) -> DriveReason:
        try:
            return self._reason()
        except _Undecided as undecided:
            return undecided.reason

    def _reason(self) -> DriveReason:
        if not self._moves(Change.SILENT):
            return DriveReason.SAME_IN_SILENCE
        # Where nobody asked, no question can have moved the score.
        if self._is_made(Change.REWORDED) and self._moves(Change.REWORDED):
            return DriveReason.MOVED_BY_WORDING
        if self._moves(Change.ERASED):
            return DriveReason.NEEDED if self._means_something() else DriveReason.MEANING_IGNORED
        if self._moves(Change.ALONE):
            return DriveReason.NEITHER_NEEDED_NOR_ENOUGH
        return DriveReason.ENOUGH_BUT_NOT_NEEDED

    def _means_something(self) -> bool:
        """Whether the score is another where the cited words mean something else.

        Either of two changes can show it; that it is not so, both have to show.
        """
        changes = (Change.TEN_YEARS_BACK, Change.REVERSED)
        answered = [change for change in changes if self._scores[change].is_answer]
        if any(self._moves(change) for change in answered):
            return True
        return any(self._moves(change) for change in changes)

    def _is_made(self, change: Change) -> bool:
        return self._scores[change].end is not ScoringEnd.NOT_MADE

    def _moves(self, change: Change) -> bool:
        found = self._scores[change]
        if found.end is ScoringEnd.FAILED:
            raise _Undecided(DriveReason.CALL_FAILED)
        if found.end is ScoringEnd.NOT_MADE:
            raise _Undecided(DriveReason.CHANGE_NOT_MADE)
        return found.score != self._score
