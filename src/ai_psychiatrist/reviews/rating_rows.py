"""What people said as rows of a table: one for each score, stretch of words, verdict, statement."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields, replace
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
from ai_psychiatrist.results.tables import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingRow:
    """One thing that a rater said; empty cells do not belong to its kind."""

    assessment_id: str
    number: int
    """The same in all rows that were said at once."""
    rater: str
    at: str
    kind: str = ""
    """`committed` and `committed_evidence`, or what the API calls it: `evidence`, `missed`,
    `score`, `gold`."""
    phase: str | None = None
    item: str = ""
    score: int | None = None
    cannot_tell: bool | None = None
    start: int | None = None
    end: int | None = None
    evidence: int | None = None
    verdict: str | None = None
    reason: str | None = None


RATING_COLUMNS: Final = tuple(field.name for field in fields(RatingRow))


def rating_rows(assessment_id: str, rows: Iterable[ReviewRow]) -> Iterator[Row]:
    """Yield the rows of one assessment in the order in which all was said."""
    for row in rows:
        about = RatingRow(
            assessment_id=assessment_id,
            number=row.number,
            rater=row.rater,
            at=row.at.isoformat(),
        )
        yield from map(asdict, _said(about, row))


def _said(about: RatingRow, row: ReviewRow) -> Iterator[RatingRow]:
    match row.said:
        case Committed(items=items, phase=phase, has_scores=has_scores):
            of_phase = replace(about, phase=phase.value)
            for rating in items:
                yield from _committed(of_phase, rating, has_scores=has_scores)
        case Adjudicated(items=gold):
            for one in gold:
                of_item = replace(about, kind="gold", item=one.item.value)
                yield replace(_scored(of_item, one.score), reason=one.reason or None)
        case ChangedScore(item=item, score=score):
            yield _scored(replace(about, kind="score", item=item.value), score)
        case MissedEvidence(item=item, span=span):
            yield _spanned(replace(about, kind="missed", item=item.value), span)
        case EvidenceVerdict() as said:
            yield replace(
                about,
                kind="evidence",
                item=said.item.value,
                evidence=said.evidence,
                verdict=said.verdict.value,
                reason=None if said.reason is None else said.reason.value,
            )


def _committed(about: RatingRow, rating: ItemRating, *, has_scores: bool) -> Iterator[RatingRow]:
    item = rating.item.value
    if has_scores:
        yield _scored(replace(about, kind="committed", item=item), rating.score)
    for span in rating.evidence:
        yield _spanned(replace(about, kind="committed_evidence", item=item), span)


def _scored(about: RatingRow, score: int | None) -> RatingRow:
    return replace(about, score=score, cannot_tell=score is None)


def _spanned(about: RatingRow, span: SpanRating) -> RatingRow:
    return replace(about, start=span.start, end=span.end)


@dataclass(frozen=True, slots=True, kw_only=True)
class AcknowledgementRow:
    """That one person has read one statement of danger."""

    assessment_id: str
    number: int
    """The same for all statements that were confirmed at once."""
    reader: str
    at: str
    start: int
    end: int
    note: str | None
    """Empty unless words are asked for."""


ACKNOWLEDGEMENT_COLUMNS: Final = tuple(field.name for field in fields(AcknowledgementRow))


def acknowledgement_rows(
    assessment_id: str, rows: Iterable[Acknowledgement], *, with_words: bool
) -> Iterator[Row]:
    """Yield the rows of one assessment in the order in which all was confirmed."""
    for row in rows:
        for statement in row.said.statements:
            yield asdict(
                AcknowledgementRow(
                    assessment_id=assessment_id,
                    number=row.number,
                    reader=row.reader,
                    at=row.at.isoformat(),
                    start=statement.start,
                    end=statement.end,
                    note=row.said.note if with_words else None,
                )
            )
