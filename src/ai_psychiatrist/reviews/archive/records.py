"""A stored assessment: what is sealed of it, and what stands in clear to be sorted by."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from ai_psychiatrist.domain.phq8 import Severity
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.domain.transcript import Transcript

WHOLE: Final = "assessment"
"""The stage that stands for all of an assessment; its last event ends what is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What of a result can be read without any key: no words and no names."""

    status: str | None = None
    """Whether all parts are there; `None`, as the rest is, while there is no result."""
    total_min: int | None = None
    total_max: int | None = None
    severity_lower: Severity | None = None
    severity_upper: Severity | None = None
    unknown_items: int | None = None
    width: int | None = None
    """How many totals the belief's interval spans, from its lowest to its highest."""
    danger: RiskLevel | None = None
    models: tuple[str, ...] = ()
    """Those that answered, by their names in the settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecord:
    """An assessment to store."""

    id: str
    transcript: Transcript
    subject: str | None = field(default=None, repr=False)
    """Whose interview it is, as the caller calls them; met again under the same name."""
    result: bytes | None = field(default=None, repr=False)
    """JSON of the whole result; `None` for one that is still to be made."""
    figures: Figures = Figures()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSummary:
    """A stored assessment as far as it can be read without any key."""

    id: str
    created_at: datetime
    subject_id: str
    """Random; says nothing of the subject."""
    state: RecordState
    reason: str | None
    """Code of why it failed."""
    figures: Figures
    raters: int
    """How many have committed their ratings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A stored assessment with its words."""

    summary: RecordSummary
    result: bytes = field(repr=False)
    """JSON of the whole result as it was made; empty while there is none.

    Of an assessment that failed it says which calls did, and what was found of danger.
    """
    transcript: Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class StageEvent:
    """One step of an assessment, without words, in the order in which they came."""

    number: int
    """From 1."""
    stage: str
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRecord:
    """A line of a list, as one rater may see it."""

    summary: RecordSummary
    phase: ReviewPhase
    """How far the rater is with it."""
    is_hidden: bool
    """Whether scores are to be left out."""
