"""Results with any scores: a real one of the example, in which items are put in place of others."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import ai_psychiatrist as ap
from ai_psychiatrist.domain.assessment import AssessmentStatus
from ai_psychiatrist.domain.phq8 import Item, UnknownReason, total_of
from ai_psychiatrist.domain.review import (
    ChangedScore,
    Committed,
    ItemRating,
    ReviewPhase,
    ReviewRow,
    Said,
    SpanRating,
)
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.results.full_result import FullResult
from ai_psychiatrist.results.models import ItemResult

EXAMPLE = Path(__file__).parents[2] / "examples" / "interview.txt"
DIGEST = "5f" * 32
AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)

Given = int | UnknownReason
"""A score, or why there is none."""


@cache
def example_result() -> FullResult:
    """Return what the rule baseline says of the example."""
    return asyncio.run(_assessed())


async def _assessed() -> FullResult:
    async with ap.open() as opened:
        return await opened.assess(EXAMPLE.read_text("utf-8"), certificate=True)


def result_with(given: Sequence[Given] | None, *, level: RiskLevel = RiskLevel.NONE) -> FullResult:
    """Return a result with these eight, or one whose scoring failed."""
    whole = example_result()
    risk = whole.risk.model_copy(update={"level": level})
    if given is None:
        changed = {"quantitative": None, "status": AssessmentStatus.PARTIAL, "risk": risk}
        return whole.model_copy(update=changed)
    assert whole.quantitative is not None
    assert whole.quantitative.items is not None
    found = whole.quantitative.items
    items = {
        item.value: _item(found[item.value], one) for item, one in zip(Item, given, strict=True)
    }
    total = total_of(one.score for one in items.values())
    part = whole.quantitative.model_copy(
        update={
            "items": items,
            "total_score": total.exact,
            "total_score_min": total.minimum,
            "total_score_max": total.maximum,
            "na_count": sum(one.score is None for one in items.values()),
        }
    )
    return whole.model_copy(update={"quantitative": part, "risk": risk})


def rows_of(
    rater: str, scores: Sequence[int | None], *, changed: dict[Item, int | None] | None = None
) -> tuple[ReviewRow, ...]:
    """Return the rows of a rater who commits these scores and then changes some."""
    span = (SpanRating(start=3, end=9),)
    ratings = tuple(
        ItemRating(item=item, score=score, evidence=span if score else ())
        for item, score in zip(Item, scores, strict=True)
    )
    said: tuple[Said, ...] = (
        Committed(items=ratings, phase=ReviewPhase.BLIND),
        *(ChangedScore(item=item, score=score) for item, score in (changed or {}).items()),
    )
    return tuple(
        ReviewRow(number=number, rater=rater, at=AT, said=one)
        for number, one in enumerate(said, start=1)
    )


def _item(found: ItemResult, given: Given) -> ItemResult:
    if isinstance(given, UnknownReason):
        return found.model_copy(update={"score": None, "unknown_reason": given})
    return found.model_copy(update={"score": given, "unknown_reason": None})
