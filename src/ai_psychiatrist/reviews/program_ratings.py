"""What the program says of each item, read from a stored result: scores and places, no words."""

from pydantic import BaseModel

from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.review import ItemRating, SpanRating


class _Segment(BaseModel):
    start: int
    end: int


class _Quote(BaseModel):
    segments: tuple[_Segment, ...]


class _Item(BaseModel):
    score: int | None
    evidence: tuple[_Quote, ...]


class _Scores(BaseModel):
    items: dict[Item, _Item] | None


class _Result(BaseModel):
    quantitative: _Scores | None


def program_ratings(result: bytes) -> tuple[ItemRating, ...]:
    """Return a rating of each item; one without a result is unknown."""
    scores = _Result.model_validate_json(result).quantitative
    items = (scores and scores.items) or {}
    return tuple(_rating(item, items.get(item)) for item in Item)


def _rating(item: Item, found: _Item | None) -> ItemRating:
    if found is None:
        return ItemRating(item=item, score=None)
    segments = (segment for quote in found.evidence for segment in quote.segments)
    evidence = tuple(SpanRating(start=one.start, end=one.end) for one in segments)
    return ItemRating(item=item, score=found.score, evidence=evidence)
