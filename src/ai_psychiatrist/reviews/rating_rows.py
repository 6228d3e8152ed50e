"""What people said as rows of a table: one for each score, stretch of words, verdict, statement."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from ai_psychiatrist.domain.acknowledgement import Acknowledgement
from ai_psychiatrist.domain.review import (
    Adjudicated,
    ChangedScore,
    Committed,
    EvidenceVerdict,
    ItemRating,
    MissedEvidence,
    ReviewRow,
    SpanRating,
)
from ai_psychiatrist.results.tables import Cell, Row, as_row
from ai_psychiatrist.store.person_names import PersonNames

RATING_COLUMNS: Final = (
    *("assessment_id", "number", "rater", "at", "kind", "phase", "item", "score", "cannot_tell"),
    *("start", "end", "evidence", "verdict", "reason", "rater_name"),
)
"""`number` is the same in all rows that were said at once. `kind` is `committed` or
`committed_evidence`, or what the API calls it: `evidence`, `missed`, `score`, `gold`; cells that do
not belong to it are empty."""
ACKNOWLEDGEMENT_COLUMNS: Final = (
    *("assessment_id", "interview", "number", "reader", "at", "turn", "start", "end", "note"),
    "reader_name",
)
"""A row says that one person has read one statement; `number` as above.

`interview`, `turn`: of a statement in an interview's answer, as `interview_table` has them.
"""
_Cells = Mapping[str, Cell]


def rating_rows(
    assessment_id: str, rows: Iterable[ReviewRow], names: PersonNames, *, with_words: bool
) -> Iterator[Row]:
    """Yield the rows of one assessment in the order in which all was said.

    `with_words`: whether the reasons of gold scores are among them, which may quote the interview.
    """
    for row in rows:
        about: _Cells = {
            "assessment_id": assessment_id,
            "number": row.number,
            "rater": row.rater,
            "rater_name": names.known(row.rater),
        }
        for cells in _said(row, with_words=with_words):
            yield as_row(RATING_COLUMNS, **about, at=row.at.isoformat(), **cells)


def _said(row: ReviewRow, *, with_words: bool) -> Iterator[_Cells]:
    match row.said:
        case Committed(items=items, phase=phase, has_scores=has_scores):
            for rating in items:
                for cells in _committed(rating, has_scores=has_scores):
                    yield {"phase": phase, **cells}
        case Adjudicated(items=gold):
            for one in gold:
                reason = (one.reason or None) if with_words else None
                yield {"kind": "gold", "item": one.item, "reason": reason, **_scored(one.score)}
        case ChangedScore(item=item, score=score):
            yield {"kind": "score", "item": item, **_scored(score)}
        case MissedEvidence(item=item, span=span):
            yield {"kind": "missed", "item": item, **_spanned(span)}
        case EvidenceVerdict(item=item, evidence=evidence, verdict=verdict, reason=why):
            judged: _Cells = {"evidence": evidence, "verdict": verdict, "reason": why}
            yield {"kind": "evidence", "item": item, **judged}


def _committed(rating: ItemRating, *, has_scores: bool) -> Iterator[_Cells]:
    if has_scores:
        yield {"kind": "committed", "item": rating.item, **_scored(rating.score)}
    for span in rating.evidence:
        yield {"kind": "committed_evidence", "item": rating.item, **_spanned(span)}


def _scored(score: int | None) -> _Cells:
    return {"score": score, "cannot_tell": score is None}


def _spanned(span: SpanRating) -> _Cells:
    return {"start": span.start, "end": span.end}


def acknowledgement_rows(
    assessment_id: str | None,
    rows: Iterable[Acknowledgement],
    names: PersonNames,
    *,
    interview: str | None = None,
    with_words: bool,
) -> Iterator[Row]:
    """Yield the rows of one assessment or interview in the order in which all was confirmed.

    `with_words`: whether what readers noted is among them.
    """
    for row in rows:
        about: _Cells = {
            "assessment_id": assessment_id,
            "interview": interview,
            "number": row.number,
            "reader": row.reader,
            "reader_name": names.known(row.reader),
        }
        note = row.said.note if with_words else None
        for one in row.said.statements:
            turn = one.turn or None
            cells: _Cells = {"turn": turn, "start": one.start, "end": one.end, "note": note}
            yield as_row(ACKNOWLEDGEMENT_COLUMNS, **about, at=row.at.isoformat(), **cells)
