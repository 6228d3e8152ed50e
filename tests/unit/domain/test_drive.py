from collections.abc import Mapping

import pytest

from ai_psychiatrist.domain.drive import (
    Change,
    ChangedScore,
    DriveReason,
    DriveVerdict,
    ScoringEnd,
    drive_of,
)
from ai_psychiatrist.domain.failures import FailureCode

SCORE = 2
SAME = ChangedScore(end=ScoringEnd.SCORED, score=SCORE)
OTHER = ChangedScore(end=ScoringEnd.SCORED, score=0)
NO_SCORE = ChangedScore(end=ScoringEnd.NOT_DETERMINABLE)
FAILED = ChangedScore(end=ScoringEnd.FAILED, code=FailureCode.TIMED_OUT)

DRIVEN = {
    Change.SILENT: NO_SCORE,
    Change.REWORDED: SAME,
    Change.ERASED: NO_SCORE,
    Change.ALONE: SAME,
    Change.TEN_YEARS_BACK: NO_SCORE,
    Change.REVERSED: OTHER,
}


def without(change: Change) -> dict[Change, ChangedScore]:
    return {name: score for name, score in DRIVEN.items() if name is not change}


@pytest.mark.parametrize(
    ("scores", "verdict", "reason"),
    [
        pytest.param(DRIVEN, "evidence_driven", "needed", id="needed"),
        pytest.param(
            DRIVEN | {Change.REVERSED: SAME}, "evidence_driven", "needed", id="several-clauses"
        ),
        pytest.param(
            DRIVEN | {Change.TEN_YEARS_BACK: FAILED},
            "evidence_driven",
            "needed",
            id="one-other-meaning-is-enough",
        ),
        pytest.param(without(Change.REWORDED), "evidence_driven", "needed", id="nobody-asked"),
        pytest.param(
            DRIVEN | {Change.ERASED: SAME},
            "over_determined",
            "enough_but_not_needed",
            id="other-words-carry-it-too",
        ),
        pytest.param(
            DRIVEN | {Change.SILENT: SAME}, "not_evidence_driven", "same_in_silence", id="prior"
        ),
        pytest.param(
            DRIVEN | {Change.REWORDED: OTHER},
            "not_evidence_driven",
            "moved_by_wording",
            id="wording",
        ),
        pytest.param(
            DRIVEN | {Change.TEN_YEARS_BACK: SAME, Change.REVERSED: SAME},
            "not_evidence_driven",
            "meaning_ignored",
            id="keywords",
        ),
        pytest.param(
            DRIVEN | {Change.ERASED: SAME, Change.ALONE: OTHER},
            "not_evidence_driven",
            "neither_needed_nor_enough",
            id="other-words-alone",
        ),
        pytest.param(
            DRIVEN | {Change.SILENT: FAILED}, "undetermined", "call_failed", id="silent-failed"
        ),
        pytest.param(
            DRIVEN | {Change.REWORDED: FAILED}, "undetermined", "call_failed", id="reworded-failed"
        ),
        pytest.param(
            DRIVEN | {Change.ERASED: FAILED}, "undetermined", "call_failed", id="erased-failed"
        ),
        pytest.param(
            DRIVEN | {Change.ERASED: SAME, Change.ALONE: FAILED},
            "undetermined",
            "call_failed",
            id="alone-failed",
        ),
        pytest.param(
            DRIVEN | {Change.TEN_YEARS_BACK: SAME, Change.REVERSED: FAILED},
            "undetermined",
            "call_failed",
            id="meaning-failed",
        ),
        pytest.param(
            without(Change.TEN_YEARS_BACK) | {Change.REVERSED: SAME},
            "undetermined",
            "change_not_made",
            id="several-clauses-of-which-one-is-reversed",
        ),
        pytest.param(
            without(Change.REVERSED) | {Change.TEN_YEARS_BACK: SAME},
            "undetermined",
            "change_not_made",
            id="no-reversal",
        ),
        pytest.param({}, "undetermined", "change_not_made", id="nothing-made"),
    ],
)
def test_verdict(scores: Mapping[Change, ChangedScore], verdict: str, reason: str) -> None:
    drive = drive_of(SCORE, scores)
    assert (drive.verdict, drive.reason) == (
        DriveVerdict(verdict),
        DriveReason(reason),
    )


def test_meaning_that_no_change_could_test_is_undetermined() -> None:
    scores = dict(DRIVEN)
    del scores[Change.TEN_YEARS_BACK], scores[Change.REVERSED]
    assert drive_of(SCORE, scores).reason is DriveReason.CHANGE_NOT_MADE


def test_score_under_every_change_is_told() -> None:
    assert set(drive_of(SCORE, {}).scores) == set(Change)
