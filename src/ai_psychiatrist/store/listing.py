"""Lists of stored assessments, a page at a time, in an order that later additions do not shift.

Nothing is opened for them.
"""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Select,
    and_,
    bindparam,
    case,
    func,
    literal,
    not_,
    select,
    tuple_,
)

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import Severity
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.store.database import Found, TenantDatabase, own
from ai_psychiatrist.store.records import (
    INTERVIEW_FIGURES,
    IS_OWN,
    IS_UNREAD,
    WITH_INTERVIEWS,
    ListedRecord,
    level_of,
    summary_in,
)
from ai_psychiatrist.store.schema import begun, interviews, records, shown


class Sort(StrEnum):
    """The order of a list: the newest, unread danger, the widest belief, the gravest danger or the
    highest possible total first; what has no figure comes last. Of danger of one level comes first
    what holds an interview, then what has more statements to be read now."""

    CREATED = "created"
    UNREAD = "unread"
    WIDTH = "width"
    DANGER = "danger"
    TOTAL = "total"


class Rated(StrEnum):
    """Filter by committed ratings: `none` of any rater, `any`, `mine` of the caller, `not_mine`."""

    NONE = "none"
    ANY = "any"
    MINE = "mine"
    NOT_MINE = "not_mine"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordListRequest:
    """The filters and the page of a list of records, for one rater."""

    rater: str
    """`Principal.id` of whoever reads."""
    limit: int = 50
    cursor: str | None = None
    sort: Sort = Sort.CREATED
    band: Severity | None = None
    """Totals that may lie in this band."""
    unknown: int | None = None
    """At least so many unknown items."""
    danger: RiskLevel | None = None
    """At least this level."""
    state: RecordState | None = None
    rated: Rated | None = None
    unread: bool = False
    """With statements of danger to be read now that nobody has confirmed to have read."""
    subject_id: str | None = None
    """Of this subject alone."""
    only: frozenset[str] = frozenset()
    """Ids of the assessments to choose from; empty: all."""
    hidden: frozenset[ReviewPhase] = frozenset()
    """How far somebody is who gets no scores; no filter and no order tells them either."""

    @property
    def is_steered_by_scores(self) -> bool:
        """Whether scores can be inferred from what it leaves out, or from its length."""
        has_filter = self.band is not None or self.unknown is not None
        return has_filter or self.sort in {Sort.WIDTH, Sort.TOTAL}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPage:
    """A part of a list."""

    records: tuple[ListedRecord, ...]
    next: str | None
    """Cursor of the part after it, `None` at the end."""
    total: int
    """How many the whole list has."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last line of a page: its place in the order."""

    value: int
    seq: int


def read_cursor(given: str, sort: Sort) -> Cursor:
    """Return a cursor of such a list; raises `InputError` for anything else."""
    try:
        named, value, seq = json.loads(base64.urlsafe_b64decode(given + "=" * (-len(given) % 4)))
        # SQLite's integers have 64 bits.
        is_stored = all(type(one) is int and abs(one) < 2**63 for one in (value, seq))
        if named == sort.value and is_stored:
            return Cursor(value, seq)
    except (ValueError, TypeError, binascii.Error, RecursionError):
        pass
    msg = "cursor has to be the `next` of a page in the same order; leave it out for the first page"
    raise InputError(msg, field="cursor")


def paged(rows: Sequence[Found], limit: int, sort: Sort) -> tuple[Sequence[Found], str | None]:
    """Return the lines of a page, and the cursor of the next one, `None` at the end.

    `rows`: the page and where there is one the line after it, each with its `sort_key`.
    """
    if len(rows) <= limit:
        return rows, None
    last = rows[limit - 1]
    content = json.dumps([sort.value, last.sort_key, last.seq]).encode()
    return rows[:limit], base64.urlsafe_b64encode(content).decode().rstrip("=")


_WITHOUT_FIGURE: Final = -1
_OF_RATER: Final[BindParameter[str]] = bindparam("of_rater")
STANDING: Final = case(
    (begun.c.is_committed, ReviewPhase.REVEALED.value),
    (begun.c.phase.is_not(None), begun.c.phase),
    (shown.c.rater.is_not(None), ReviewPhase.SEEN.value),
    else_=ReviewPhase.UNSEEN.value,
).label("mine")
"""How far the rater `of_rater` is with a record, in a query of `SEEN_BY`."""
SEEN_BY: Final = records.outerjoin(
    begun,
    and_(
        begun.c.tenant == records.c.tenant,
        begun.c.record_id == records.c.id,
        begun.c.rater == _OF_RATER,
    ),
).outerjoin(
    shown,
    and_(
        shown.c.tenant == records.c.tenant,
        shown.c.record_id == records.c.id,
        shown.c.rater == _OF_RATER,
    ),
)
_SEEN: Final = (
    select(records, STANDING)
    .add_columns(*INTERVIEW_FIGURES)
    .select_from(SEEN_BY.outerjoin(*WITH_INTERVIEWS))
    .where(IS_OWN)
    .subquery()
)
_DANGER: Final = case(
    (_SEEN.c.interview_danger > func.coalesce(_SEEN.c.danger, -1), _SEEN.c.interview_danger),
    else_=_SEEN.c.danger,
)
"""The gravest of transcript and interviews."""
_MOST_COUNTED: Final = 999
"""Statements; two records with more are equally urgent."""
_TO_READ: Final = func.coalesce(_SEEN.c.to_read, 0) + _SEEN.c.interview_to_read
_URGENCY: Final = (
    _DANGER * 2 * (_MOST_COUNTED + 1)
    + _SEEN.c.is_held * (_MOST_COUNTED + 1)
    + case((_TO_READ > _MOST_COUNTED, _MOST_COUNTED), else_=_TO_READ)
)
"""Grows with the level; of one level with an interview that is held, then with the statements."""
_RATED: Final[Mapping[Rated, ColumnElement[bool]]] = {
    Rated.NONE: _SEEN.c.raters == 0,
    Rated.ANY: _SEEN.c.raters > 0,
    Rated.MINE: _SEEN.c.mine == ReviewPhase.REVEALED.value,
    Rated.NOT_MINE: _SEEN.c.mine != ReviewPhase.REVEALED.value,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLists:
    """Those of a tenant."""

    database: TenantDatabase

    def page(self, wanted: RecordListRequest) -> RecordPage:
        """Return a part of the list; raises `InputError` for a cursor of another list."""
        listed = _listed(wanted)
        found = listed.subquery()
        query = select(found).order_by(found.c.sort_key.desc(), found.c.seq.desc())
        if wanted.cursor is not None:
            after = read_cursor(wanted.cursor, wanted.sort)
            place = tuple_(found.c.sort_key, found.c.seq)
            query = query.where(place < tuple_(literal(after.value), literal(after.seq)))
        with self.database.reading():
            rows = self.database.all(query.limit(wanted.limit + 1), of_rater=wanted.rater)
            total = self.database.count(listed, of_rater=wanted.rater)
            shown, cursor = paged(rows, wanted.limit, wanted.sort)
            totals = self._interview_totals([row.id for row in shown])
        return RecordPage(
            records=tuple(_record(row, totals.get(row.id)) for row in shown),
            next=cursor,
            total=total,
        )

    def hidden(self, wanted: RecordListRequest) -> int:
        """Return of how many in the whole list no score is given."""
        hidden = _listed(wanted).where(_is_hidden(wanted))
        return self.database.count(hidden, of_rater=wanted.rater)

    def finished(self, rater: str) -> tuple[ListedRecord, ...]:
        """Return all finished records as a rater may see them, the oldest first."""
        listed = _listed(RecordListRequest(rater=rater, state=RecordState.FINISHED))
        rows = self.database.all(listed.order_by(_SEEN.c.seq), of_rater=rater)
        return tuple(map(_record, rows))

    def unread(self) -> int:
        """Return how many records have statements without a confirmation of reading."""
        from_all = select(records.c.seq).select_from(records.outerjoin(*WITH_INTERVIEWS))
        return self.database.count(from_all.where(IS_OWN, IS_UNREAD))

    def _interview_totals(self, record_ids: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Return the bounds of the total with the interviews about each that are done.

        That of the latest has the answers of those before it.
        """
        query = (
            select(*interviews.c["record_id", "total_min", "total_max"])
            .where(
                own(interviews, state="done", swept_at=None),
                interviews.c.record_id.in_(record_ids),
                interviews.c.total_min.is_not(None),
            )
            .order_by(interviews.c.created_at)
        )
        return {row.record_id: (row.total_min, row.total_max) for row in self.database.all(query)}

    def one_of_subject(self, subject_id: str) -> str | None:
        """Return the id of an assessment of a subject that did not fail and was not cancelled."""
        ends = (RecordState.FAILED.value, RecordState.CANCELLED.value)
        is_kept = (IS_OWN, records.c.subject_id == subject_id, records.c.state.not_in(ends))
        row = self.database.one(select(records.c.id).where(*is_kept).limit(1))
        return None if row is None else str(row.id)

    def of_subject(self, subject_id: str) -> tuple[str, ...]:
        """Return the ids of all records of a subject that are listed."""
        of_subject = select(records.c.id).where(IS_OWN, records.c.subject_id == subject_id)
        return tuple(str(row.id) for row in self.database.all(of_subject))


def _is_hidden(wanted: RecordListRequest) -> ColumnElement[bool]:
    return _SEEN.c.mine.in_(sorted(phase.value for phase in wanted.hidden))


def _listed(wanted: RecordListRequest) -> Select[Any]:
    is_hidden = _is_hidden(wanted)
    figures: dict[Sort, ColumnElement[int]] = {
        Sort.CREATED: literal(0),
        Sort.UNREAD: case((_SEEN.c.is_unread, func.coalesce(_URGENCY, 0))),
        Sort.DANGER: _URGENCY,
        Sort.WIDTH: case((not_(is_hidden), _SEEN.c.width)),
        Sort.TOTAL: case((not_(is_hidden), _SEEN.c.total_max)),
    }
    sort_key = func.coalesce(figures[wanted.sort], _WITHOUT_FIGURE)
    query = select(_SEEN, is_hidden.label("is_hidden"), sort_key.label("sort_key"))
    if wanted.band is not None:
        is_in_band = literal(int(wanted.band)).between(
            _SEEN.c.severity_lower, _SEEN.c.severity_upper
        )
        query = query.where(not_(is_hidden), is_in_band)
    if wanted.unknown is not None:
        query = query.where(not_(is_hidden), _SEEN.c.unknown_items >= wanted.unknown)
    if wanted.danger is not None:
        query = query.where(wanted.danger.rank <= _DANGER)
    if wanted.unread:
        query = query.where(_SEEN.c.is_unread)
    if wanted.subject_id is not None:
        query = query.where(_SEEN.c.subject_id == wanted.subject_id)
    if wanted.only:
        query = query.where(_SEEN.c.id.in_(wanted.only))
    if wanted.state is not None:
        query = query.where(_SEEN.c.state == wanted.state.value)
    if wanted.rated is not None:
        query = query.where(_RATED[wanted.rated])
    return query


def _record(row: Found, interview_total: tuple[int, int] | None = None) -> ListedRecord:
    return ListedRecord(
        summary=summary_in(row),
        phase=ReviewPhase(row.mine),
        is_hidden=bool(row.is_hidden),
        interview_danger=level_of(row.interview_danger),
        interview_to_read=row.interview_to_read,
        interview_unread=row.interview_unread,
        interview_total=interview_total,
    )
