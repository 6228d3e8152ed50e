"""A stored assessment: what is sealed of it, and what stands in clear to be sorted by."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from sqlalchemy import BindParameter, ColumnElement, and_, bindparam, case, func, not_, select

from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.domain.errors import ArtifactMismatch, NotFound
from ai_psychiatrist.domain.phq8 import Severity
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.domain.risk import RiskGroup, RiskLevel, RiskReport, gravest
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.store.contents import transcript_bytes
from ai_psychiatrist.store.database import Found, TenantDatabase, Value, own
from ai_psychiatrist.store.keys import Seal, TenantKeys
from ai_psychiatrist.store.schema import bodies, erased, interviews, jobs, records

_LEVELS: Final = tuple(RiskLevel)

WHOLE: Final = "assessment"
"""The stage that stands for all of an assessment; its last event ends what is told."""
REQUEST: Final = "request"
RESULT: Final = "result"
TRANSCRIPT: Final = "transcript"

HAS_JOB: Final = and_(jobs.c.tenant == records.c.tenant, jobs.c.record_id == records.c.id)
"""What joins records with their jobs."""
OF_RECORD: Final[BindParameter[str]] = bindparam("of_record")
IS_KEPT: Final = records.c.swept_at.is_(None)
"""A record that a sweep has hidden counts as gone."""
IS_OWN: Final = and_(own(records), IS_KEPT)
"""A record that a sweep has hidden counts as gone."""
NOT_ERASED: Final = not_(
    select(erased)
    .where(erased.c.tenant == records.c.tenant, erased.c.subject_id == records.c.subject_id)
    .exists()
)
"""The erasing of a subject begins with its row there and ends with its records."""
_OF_INTERVIEWS: Final = (
    select(
        interviews.c.record_id,
        func.max(interviews.c.danger).label("danger"),
        func.sum(interviews.c.to_read).label("to_read"),
        func.sum(interviews.c.unread).label("unread"),
        func.max(case((interviews.c.state == "safety_hold", 1), else_=0)).label("is_held"),
    )
    .where(own(interviews, swept_at=None), interviews.c.record_id.is_not(None))
    .group_by(interviews.c.record_id)
    .subquery()
)
WITH_INTERVIEWS: Final = (_OF_INTERVIEWS, _OF_INTERVIEWS.c.record_id == records.c.id)
"""What records are joined with for the danger in all interviews about each."""
IS_UNREAD: Final = (func.coalesce(records.c.unread, 0) > 0) | (_OF_INTERVIEWS.c.unread > 0)
"""Whether nobody has confirmed reading a statement, of records that are joined so."""
INTERVIEW_FIGURES: Final[tuple[ColumnElement[Any], ...]] = (
    _OF_INTERVIEWS.c.danger.label("interview_danger"),
    func.coalesce(_OF_INTERVIEWS.c.to_read, 0).label("interview_to_read"),
    func.coalesce(_OF_INTERVIEWS.c.unread, 0).label("interview_unread"),
    IS_UNREAD.label("is_unread"),
    func.coalesce(_OF_INTERVIEWS.c.is_held, 0).label("is_held"),
)
"""Of records that are joined so: what `ListedRecord` names, and what orders by danger."""
RECORD: Final = select(records).where(IS_OWN, records.c.id == OF_RECORD, NOT_ERASED)
"""One record, until its erasing begins."""


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
    danger_group: RiskGroup | None = None
    """The first group that its signs of danger are shown in; `None` without signs."""
    to_read: int | None = None
    """How many statements of danger a person is to read now."""
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
    unread: int | None
    """How many of the transcript's statements to read now nobody has confirmed to have read."""

    def unread_with(self, in_interviews: int) -> int | None:
        """Return how many those are with the unread ones of interviews about it.

        `None` where the transcript was not read for danger.
        """
        return None if self.unread is None else self.unread + in_interviews


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
class ListedRecord:
    """A line of a list, as one rater may see it."""

    summary: RecordSummary
    phase: ReviewPhase
    """How far the rater is with it."""
    is_hidden: bool
    """Whether scores are to be left out."""
    interview_danger: RiskLevel | None = None
    """The gravest that held an interview about it."""
    interview_to_read: int = 0
    """How many statements of danger in interviews about it a person is to read."""
    interview_unread: int = 0
    interview_total: tuple[int, int] | None = None
    """The lowest and the highest total with the answers of the interviews that are done."""

    @property
    def danger(self) -> RiskLevel | None:
        """The gravest level of transcript and interviews."""
        return gravest((self.summary.figures.danger, self.interview_danger))

    @property
    def to_read(self) -> int | None:
        """How many statements a person is to read, those of interviews as well."""
        found = self.summary.figures.to_read
        return None if found is None else found + self.interview_to_read

    @property
    def unread(self) -> int | None:
        """How many of those nobody has confirmed to have read."""
        return self.summary.unread_with(self.interview_unread)


def figures_of(result: Assessment) -> Figures:
    """Return what of a result holds neither words nor names."""
    models = (name for agent in result.models.values() for name in agent.answered_by)
    scores = result.quantitative
    found = replace(
        danger_figures(result.risk),
        status=result.status.value,
        models=tuple(dict.fromkeys(models)),
    )
    if scores is None:
        return found
    interval = scores.total_interval
    return replace(
        found,
        total_min=scores.total_score_min,
        total_max=scores.total_score_max,
        severity_lower=scores.severity_lower_bound,
        severity_upper=scores.severity_upper_bound,
        unknown_items=scores.na_count,
        width=None if interval is None else interval.high - interval.low,
    )


def danger_figures(risk: RiskReport) -> Figures:
    """Return what is known of an assessment as soon as its transcript is read for danger."""
    return Figures(danger=risk.level, danger_group=risk.group, to_read=len(risk.to_read))


def columns_of(figures: Figures) -> dict[str, Value]:
    """Return figures by column name, with all statements unread."""
    return {
        "status": figures.status,
        "total_min": figures.total_min,
        "total_max": figures.total_max,
        "severity_lower": figures.severity_lower,
        "severity_upper": figures.severity_upper,
        "unknown_items": figures.unknown_items,
        "width": figures.width,
        "danger": None if figures.danger is None else figures.danger.rank,
        "danger_group": figures.danger_group,
        "to_read": figures.to_read,
        "unread": figures.to_read,
        "models": "\n".join(figures.models),
    }


def summary_in(row: Found) -> RecordSummary:
    """Return the summary that a row of the records holds."""
    lower, upper = row.severity_lower, row.severity_upper
    figures = Figures(
        status=row.status,
        total_min=row.total_min,
        total_max=row.total_max,
        severity_lower=None if lower is None else Severity(lower),
        severity_upper=None if upper is None else Severity(upper),
        unknown_items=row.unknown_items,
        width=row.width,
        danger=level_of(row.danger),
        danger_group=None if row.danger_group is None else RiskGroup(row.danger_group),
        to_read=row.to_read,
        models=tuple(row.models.splitlines()),
    )
    return RecordSummary(
        id=row.id,
        created_at=datetime.fromisoformat(row.created_at),
        subject_id=row.subject_id,
        state=RecordState(row.state),
        reason=row.reason,
        figures=figures,
        raters=row.raters,
        unread=row.unread,
    )


def level_of(rank: int | None) -> RiskLevel | None:
    """Return the level of danger that a column holds."""
    return None if rank is None else _LEVELS[rank]


def is_record(record_id: str) -> ColumnElement[bool]:
    """Return the condition of one record that no sweep has hidden."""
    return and_(IS_OWN, records.c.id == record_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRows:
    """The rows of a tenant."""

    database: TenantDatabase
    keys: TenantKeys = field(repr=False)

    def insert(self, new: NewRecord, subject_id: str, *, seq: int) -> Seal:
        """Write a record with its parts, and return what seals more of them.

        One without a result waits to be made.
        """
        now = self.database.now()
        state = RecordState.WAITING if new.result is None else RecordState.FINISHED
        row = columns_of(new.figures) | {
            "seq": seq,
            "id": new.id,
            "subject_id": subject_id,
            "created_at": now,
            "kept_from": now,
            "state": state.value,
        }
        self.database.add(records, row)
        seal = self.keys.seal(subject_id)
        self.put(new.id, TRANSCRIPT, transcript_bytes(new.transcript), seal)
        if new.result is not None:
            self.put(new.id, RESULT, new.result, seal)
        return seal

    def put(self, record_id: str, part: str, content: str | bytes, seal: Seal) -> None:
        """Write a part of a record."""
        row = {"record_id": record_id, "part": part}
        self.database.add(bodies, seal.sealed(bodies, row, content))

    def take(self, record_id: str, part: str, seal: Seal) -> bytes:
        """Return a part of a record; raises `ArtifactMismatch`."""
        query = select(bodies).where(own(bodies, record_id=record_id, part=part))
        return seal.opened(bodies, self.database.one(query))

    def row(self, record_id: str) -> Found:
        """Return what stands in the clear; raises `NotFound`, also once its erasing began."""
        row = self.database.one(RECORD, of_record=record_id)
        if row is None:
            raise NotFound("assessment_not_found")
        return row

    @contextmanager
    def opening(self, record_id: str) -> Iterator[Seal]:
        """Give what opens a record; raises `NotFound` and `ArtifactMismatch`.

        What cannot be read inside because the record is erased is `NotFound`, too.
        """
        row = self.row(record_id)
        try:
            yield self.keys.seal(row.subject_id)
        except ArtifactMismatch:
            self.row(record_id)
            raise

    def seal_of(self, record_id: str) -> Seal:
        """Return what seals a record; raises as `opening` does."""
        with self.opening(record_id) as seal:
            return seal
