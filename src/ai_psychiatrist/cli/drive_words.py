"""Whether the evidence drives the scores, in a few words for a terminal."""

from collections.abc import Iterable
from typing import Final

from ai_psychiatrist.domain.drive import Change, ChangedScore, DriveVerdict, ItemDrive, ScoringEnd
from ai_psychiatrist.domain.items import ItemAssessment

_CHANGES: Final = {
    Change.ERASED: "struck out",
    Change.ALONE: "alone",
    Change.REVERSED: "reversed",
    Change.TEN_YEARS_BACK: "10 years back",
    Change.REWORDED: "asked otherwise",
    Change.SILENT: "nothing said",
}
STYLES: Final = {
    DriveVerdict.EVIDENCE_DRIVEN: "green",
    DriveVerdict.OVER_DETERMINED: "green",
    DriveVerdict.NOT_EVIDENCE_DRIVEN: "bold red",
    DriveVerdict.UNDETERMINED: "yellow",
}


def has_drives(items: Iterable[ItemAssessment]) -> bool:
    """Whether the scores were asked for again with their evidence changed."""
    return any(item.drive is not None for item in items)


def item_drive(drive: ItemDrive) -> str:
    """Return the verdict, its reason, and the score under each change."""
    scores = "\n".join(
        f"{name}: {_said(drive.scores[change])}" for change, name in _CHANGES.items()
    )
    return f"{_in_words(drive.verdict)}: {_in_words(drive.reason)}\n{scores}"


def _said(found: ChangedScore) -> str:
    match found.end:
        case ScoringEnd.SCORED:
            return str(found.score)
        case ScoringEnd.NOT_DETERMINABLE:
            return "no score"
        case ScoringEnd.NOT_MADE:
            return "not made"
        case ScoringEnd.FAILED:
            return "failed" if found.code is None else f"failed ({found.code.value})"


def _in_words(code: str) -> str:
    return code.replace("_", " ")
