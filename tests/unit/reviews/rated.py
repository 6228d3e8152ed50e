"""Rated cases for tests."""

from collections.abc import Mapping, Sequence

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.review import Committed, ItemRating, ReviewPhase, SpanRating
from ai_psychiatrist.reviews.agreement_measures import RatedCase

Scores = Sequence[int | None]


def ratings(scores: Scores, *spans: tuple[int, int]) -> tuple[ItemRating, ...]:
    """Return eight ratings; the first item has the spans."""
    marks = tuple(SpanRating(start=start, end=end) for start, end in spans)
    return tuple(
        ItemRating(item=item, score=score, evidence=() if place else marks)
        for place, (item, score) in enumerate(zip(Item, scores, strict=True))
    )


def committed(
    scores: Scores, *spans: tuple[int, int], phase: ReviewPhase = ReviewPhase.BLIND
) -> Committed:
    return Committed(items=ratings(scores, *spans), phase=phase)


def case(
    program: Scores = (0,) * 8,
    said: Mapping[str, Committed] | None = None,
    *,
    subject: str = "subject",
    is_random: bool = False,
    program_spans: Sequence[tuple[int, int]] = (),
) -> RatedCase:
    return RatedCase(
        subject=subject,
        program=ratings(program, *program_spans),
        committed=said or {},
        is_random=is_random,
    )
