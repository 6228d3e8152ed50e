"""Results with any scores: a real one of the example, in which items are put in place of others."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import ai_psychiatrist as ap
from ai_psychiatrist.domain.assessment import Assessment, AssessmentStatus
from ai_psychiatrist.domain.items import ItemAssessment
from ai_psychiatrist.domain.phq8 import Item, UnknownReason
from ai_psychiatrist.domain.review import (
    ChangedScore,
    Committed,
    ItemRating,
    ReviewPhase,
    ReviewRow,
    Said,
    SpanRating,
)
from ai_psychiatrist.domain.risk import RiskLevel, RiskReport

EXAMPLE = Path(__file__).parents[2] / "examples" / "interview.txt"
DIGEST = "5f" * 32
AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)

Given = int | UnknownReason
"""A score, or why there is none."""


@cache
def example_result() -> Assessment:
    """Return what the rule baseline says of the example."""
    return asyncio.run(_assessed())


async def _assessed() -> Assessment:
    async with ap.open() as opened:
        return await opened.assess(EXAMPLE.read_text("utf-8"), certificate=True)


def result_with(given: Sequence[Given] | None, *, level: RiskLevel = RiskLevel.NONE) -> Assessment:
    """Return a result with these eight, or one whose scoring failed."""
    whole = example_result()
    risk = _risk(whole.risk, level)
    if given is None:
        return replace(whole, quantitative=None, status=AssessmentStatus.PARTIAL, risk=risk)
    assert whole.quantitative is not None
    found = whole.quantitative.items
    items = {item: _item(found[item], one) for item, one in zip(Item, given, strict=True)}
    return replace(whole, quantitative=replace(whole.quantitative, items=items), risk=risk)


def _risk(found: RiskReport, level: RiskLevel) -> RiskReport:
    """Return a report of a level, by a sign of it or by a turn that was not read."""
    if level is RiskLevel.NOT_EXAMINED:
        return replace(found, examined=replace(found.examined, count_not_examined=1))
    signals = tuple(replace(one, level=level) for one in found.signals)
    return replace(found, signals=signals)


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


def _item(found: ItemAssessment, given: Given) -> ItemAssessment:
    if isinstance(given, UnknownReason):
        return replace(found, score=None, unknown_reason=given)
    return replace(found, score=given, unknown_reason=None)
