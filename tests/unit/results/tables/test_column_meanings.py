"""What columns mean is said once, in words that the documentation and workbooks share."""

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

import pytest

from ai_psychiatrist.domain.assessment import AssessmentMode, AssessmentStatus
from ai_psychiatrist.domain.evidence import Frequency
from ai_psychiatrist.domain.interview import EndReason, InterviewState
from ai_psychiatrist.domain.interview_items import ItemSource, UnansweredReason
from ai_psychiatrist.domain.phq8 import Item, NotExaminedCause, Severity, UnknownReason
from ai_psychiatrist.domain.review import RejectReason, Verdict
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.results.column_meanings import COLUMN_MEANINGS

DOCUMENT = Path(__file__).parents[4] / "docs" / "review.md"
FIRST, *OTHERS = Item


def documented(what: str) -> list[str]:
    """Return the rows that the documentation has of a table; columns of eight items are one."""
    lines = [f"| {what} | |", "| --- | --- |"]
    for name, meaning in COLUMN_MEANINGS[what].items():
        if any(one.value in name for one in OTHERS):
            continue
        shown = name.replace(FIRST.value, "PHQ8_…")
        lines.append(f"| `{shown}` | {meaning.replace(FIRST.label, 'the item')} |")
    return lines


@pytest.mark.parametrize("what", COLUMN_MEANINGS)
def test_the_documentation_says_the_same_of_each_column(what: str) -> None:
    wanted = "\n".join(documented(what))
    assert wanted in DOCUMENT.read_text("utf-8"), f"docs/review.md needs:\n{wanted}"


@pytest.mark.parametrize(
    ("what", "column", "values"),
    [
        ("results", "status", AssessmentStatus),
        ("results", "mode", AssessmentMode),
        ("results", "danger", RiskLevel),
        ("items", "unknown_reason", UnknownReason),
        ("items", "not_examined_cause", NotExaminedCause),
        ("items", "frequency", Frequency),
        ("items", "interview_unknown_reason", UnansweredReason),
        ("ratings", "verdict", Verdict),
        ("ratings", "reason", RejectReason),
        ("interviews", "state", InterviewState),
        ("interviews", "end_reason", EndReason),
        ("interviews", f"{FIRST.value}_from", ItemSource),
    ],
)
def test_every_value_is_named(what: str, column: str, values: Iterable[StrEnum]) -> None:
    meaning = COLUMN_MEANINGS[what][column]
    assert [one.value for one in values if one.value not in meaning] == []


def test_every_band_is_named() -> None:
    meaning = COLUMN_MEANINGS["results"]["severity"]
    assert [band.label for band in Severity if band.label not in meaning] == []


def test_each_meaning_is_one_sentence() -> None:
    meanings = [one for table in COLUMN_MEANINGS.values() for one in table.values()]
    assert [one for one in meanings if not one.endswith(".") or ". " in one] == []
