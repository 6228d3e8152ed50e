"""Lists of stored assessments, a page at a time, in an order that later additions do not shift."""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import Severity
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.ledger.store.database import Value
from ai_psychiatrist.reviews.archive.records import ListedRecord


class Sort(StrEnum):
    """The order of a list: the newest, the widest belief, the gravest danger or the highest
    possible total first; what has no figure comes last."""

    CREATED = "created"
    WIDTH = "width"
    DANGER = "danger"
    TOTAL = "total"


class Rated(StrEnum):
    """Whose committed ratings there are: `none` are nobody's, `mine` the caller's."""

    NONE = "none"
    ANY = "any"
    MINE = "mine"
    NOT_MINE = "not_mine"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageWanted:
    """Which part of a list is wanted, and for whom."""

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
    hidden: frozenset[ReviewPhase] = frozenset()
    """How far somebody is who gets no scores; no filter and no order tells them either."""

    @property
    def is_steered_by_scores(self) -> bool:
        """Whether it tells of scores also by what is not in it, or by its length."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """The last line of a page: its place in the order."""

    sort: Sort
    value: int
    seq: int

    def written(self) -> str:
        """Return it as callers send it back."""
        content = json.dumps([self.sort.value, self.value, self.seq]).encode()
        return base64.urlsafe_b64encode(content).decode().rstrip("=")


def read_cursor(given: str, sort: Sort) -> Cursor:
    """Return a cursor of such a list; raises `InputError` for anything else."""
    try:
        named, value, seq = json.loads(base64.urlsafe_b64decode(given + "=" * (-len(given) % 4)))
        # SQLite's integers have 64 bits.
        is_stored = all(type(one) is int and abs(one) < 2**63 for one in (value, seq))
        if named == sort.value and is_stored:
            return Cursor(sort=sort, value=value, seq=seq)
    except (ValueError, TypeError, binascii.Error, RecursionError):
        pass
    msg = "cursor has to be the `next` of a page in the same order; leave it out for the first page"
    raise InputError(msg, field="cursor")


_WITHOUT_FIGURE: Final = -1
_KEYS: Final = {
    Sort.CREATED: "0",
    Sort.WIDTH: f"CASE WHEN is_hidden THEN {_WITHOUT_FIGURE} ELSE IFNULL(width, -1) END",
    Sort.DANGER: f"IFNULL(danger, {_WITHOUT_FIGURE})",
    Sort.TOTAL: f"CASE WHEN is_hidden THEN {_WITHOUT_FIGURE} ELSE IFNULL(total_max, -1) END",
}
_RATED: Final = {
    Rated.NONE: "raters = 0",
    Rated.ANY: "raters > 0",
    Rated.MINE: "mine = 'revealed'",
    Rated.NOT_MINE: "mine <> 'revealed'",
}
STANDING: Final = """
    CASE WHEN begun.is_committed THEN 'revealed'
         WHEN begun.phase IS NOT NULL THEN begun.phase
         WHEN shown.rater IS NOT NULL THEN 'seen'
         ELSE 'unseen' END
"""
JOINED: Final = """
    LEFT JOIN begun ON begun.record_id = records.id AND begun.rater = :rater
    LEFT JOIN shown ON shown.record_id = records.id AND shown.rater = :rater
"""
CANDIDATES: Final = f"""
    SELECT id, created_at, unknown_items, width, {STANDING} AS mine FROM records {JOINED}
    WHERE state = 'finished'
"""  # noqa: S608  our names


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A statement and its values."""

    text: str
    values: dict[str, Value]


def page_query(wanted: PageWanted) -> Query:
    """Return the query of a page and of one line more, by which the next page is told."""
    listed = _listed(wanted)
    values = dict(listed.values)
    where = ""
    if wanted.cursor is not None:
        cursor = read_cursor(wanted.cursor, wanted.sort)
        where = " WHERE (sort_key, seq) < (:after_key, :after_seq)"
        values |= {"after_key": cursor.value, "after_seq": cursor.seq}
    text = (
        f"SELECT * FROM (SELECT *, {_KEYS[wanted.sort]} AS sort_key FROM ({listed.text})){where}"  # noqa: S608  our names
        " ORDER BY sort_key DESC, seq DESC LIMIT :lines"
    )
    return Query(text=text, values=values | {"lines": wanted.limit + 1})


def count_query(wanted: PageWanted, *, only_hidden: bool = False) -> Query:
    """Return the query that counts the whole list, or what of it is hidden."""
    listed = _listed(wanted)
    where = " WHERE is_hidden" if only_hidden else ""
    return Query(text=f"SELECT COUNT(*) FROM ({listed.text}){where}", values=listed.values)  # noqa: S608  our names


def lines_query(record_ids: Sequence[str], rater: str) -> Query:
    """Return the query of these lines alone."""
    listed = _listed(PageWanted(rater=rater))
    text = f"{listed.text} AND id IN (SELECT value FROM json_each(:ids))"  # noqa: S608  our names
    return Query(text=text, values=listed.values | {"ids": json.dumps(list(record_ids))})


def _listed(wanted: PageWanted) -> Query:
    hidden = ", ".join(f"'{phase.value}'" for phase in sorted(wanted.hidden)) or "''"
    conditions = ["1"]
    values: dict[str, Value] = {"rater": wanted.rater}
    if wanted.band is not None:
        conditions.append("NOT is_hidden AND :band BETWEEN severity_lower AND severity_upper")
        values["band"] = int(wanted.band)
    if wanted.unknown is not None:
        conditions.append("NOT is_hidden AND unknown_items >= :unknown")
        values["unknown"] = wanted.unknown
    if wanted.danger is not None:
        conditions.append("danger >= :danger")
        values["danger"] = wanted.danger.rank
    if wanted.state is not None:
        conditions.append("state = :state")
        values["state"] = wanted.state.value
    if wanted.rated is not None:
        conditions.append(_RATED[wanted.rated])
    text = (
        f"SELECT * FROM (SELECT *, mine IN ({hidden}) AS is_hidden FROM "  # noqa: S608  our names
        f"(SELECT records.*, {STANDING} AS mine FROM records {JOINED})) "
        f"WHERE {' AND '.join(conditions)}"
    )
    return Query(text=text, values=values)
