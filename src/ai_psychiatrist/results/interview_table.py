"""Interviews as rows of a table, and the columns that they add to rows of their assessments."""

from collections.abc import Iterator, Sequence
from typing import Final

from ai_psychiatrist.domain.interview_items import ItemOutcome, ItemSource
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.risk import gravest
from ai_psychiatrist.interview.interview_store import ReadInterview, latest_done, read_all, state_of
from ai_psychiatrist.results.tables import Cell, Row, as_row, score_cells
from ai_psychiatrist.store.interviews import ListedInterview

_TOTALS: Final = (
    *("total", "total_min", "total_max"),
    *("severity", "severity_min", "severity_max", "unknown_items"),
)
_OF_DANGER: Final = ("danger", "danger_read_now", "danger_unread")
INTERVIEW_COLUMNS: Final = (
    # `interview`: SHA-256 of the id, which itself would let its reader answer.
    *("assessment_id", "interview", "begun_at", "changed_at", "protocol", "state", "end_reason"),
    *("answers", "reopened", *_OF_DANGER, *_TOTALS),
    *(item.value for item in Item),
    *(f"{item.value}_from" for item in Item),
)
"""Of a row for each interview; `…_from` is `transcript`, `answer`, `earlier_answer` of an
interview before it, or `none` without a score."""
RESULT_COLUMNS: Final = (
    *("interview", *(f"with_interview_{name}" for name in _TOTALS)),
    *(f"interview_{item.value}" for item in Item),
    *(f"interview_{name}" for name in _OF_DANGER),
)
"""What interviews that are done add to the row of an assessment; danger is of all interviews.

`interview_PHQ8_…` is the score of an answer, empty where the transcript has scored the item.
"""
ITEM_COLUMNS: Final = ("interview_score", "interview_unknown_reason")
"""What it adds to the row of an item that it has asked about."""
ITEM_COLUMNS_WITH_WORDS: Final = (*ITEM_COLUMNS, "interview_quote")


def interview_rows(about: Sequence[ListedInterview]) -> Iterator[Row]:
    """Yield the row of each interview; of one that cannot be read what stands in the clear."""
    read = {one.listed.row.id_hash: one for one in read_all(about)}
    for listed in about:
        row, found = listed.row, read.get(listed.row.id_hash)
        yield as_row(
            INTERVIEW_COLUMNS,
            assessment_id=row.record_id,
            interview=row.id_hash,
            begun_at=row.created_at,
            changed_at=row.updated_at,
            protocol=row.protocol,
            state=state_of(listed),
            end_reason=row.end_reason,
            answers=row.turns,
            reopened=None if found is None else len(found.interview.reopenings),
            **_danger([listed]),
            **({} if found is None else _scores(found)),
            **{f"{one.item.value}_from": one.source for one in (found.items if found else ())},
        )


def result_cells(about: Sequence[ListedInterview]) -> Row:
    """Return the cells that interviews add to the row of their assessment.

    `about`: the newest first.
    """
    danger = {f"interview_{name}": cell for name, cell in _danger(about).items()}
    done = latest_done(read_all(about))
    if done is None:
        return as_row(RESULT_COLUMNS, **danger)
    scores = _scores(done)
    return as_row(
        RESULT_COLUMNS,
        interview=done.listed.row.id_hash,
        **danger,
        **{f"with_interview_{name}": scores.get(name) for name in _TOTALS},
        **{f"interview_{one.item.value}": one.score for one in done.items if _is_asked(one)},
    )


def item_cells(about: Sequence[ListedInterview]) -> dict[str, Row]:
    """Return the cells that interviews that are done add to rows of items, by item."""
    done = latest_done(read_all(about))
    return {
        one.item.value: {
            "interview_score": one.score,
            "interview_unknown_reason": one.unknown_reason and one.unknown_reason.value,
            "interview_quote": None if one.quote is None else one.quote.text,
        }
        for one in (() if done is None else done.items)
        if _is_asked(one)
    }


def _is_asked(one: ItemOutcome) -> bool:
    return one.source is not ItemSource.TRANSCRIPT


def _scores(found: ReadInterview) -> Row:
    scores = {one.item: one.score for one in found.items}
    return {} if found.total is None else score_cells(found.total, scores)


def _danger(about: Sequence[ListedInterview]) -> dict[str, Cell]:
    found = [one for one in about if one.danger is not None]
    return {
        "danger": gravest(one.danger for one in found),
        "danger_read_now": sum(one.row.to_read for one in found),
        "danger_unread": sum(one.row.unread for one in found),
    }
