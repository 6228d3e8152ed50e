"""What a rater may say of an assessment: checked against its transcript and its evidence."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.review import (
    Adjudicated,
    ChangedScore,
    Committed,
    EvidenceVerdict,
    ItemRating,
    MissedEvidence,
    ReviewRow,
    Said,
    SpanRating,
    Verdict,
)
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.store.records import Record

MOST_SPANS: Final = 50
"""Of one item."""
MOST_REASON: Final = 2_000
"""Characters of the reason of a gold score."""


def refuse_unfounded(said: Said, record: Record) -> None:
    """Raise `InputError` for what does not fit the record that it is said of."""
    match said:
        case Committed():
            _check_ratings(said, record.transcript)
        case EvidenceVerdict():
            _check_verdict(said, record.result)
        case MissedEvidence():
            require_span(said.span, record.transcript, field="start")
        case ChangedScore() | Adjudicated():
            return


def _check_ratings(said: Committed, transcript: Transcript) -> None:
    rated = [rating.item for rating in said.items]
    if sorted(rated) != sorted(Item):
        msg = f"items has to rate each of the eight items once: {', '.join(Item)}"
        raise InputError(msg, field="items")
    for rating in said.items:
        for span in rating.evidence:
            require_span(span, transcript, field="items")


def require_span(span: SpanRating, transcript: Transcript, *, field: str) -> None:
    """Raise `InputError` for marked words that are not within one turn of the participant."""
    if any(
        turn.words_start <= span.start < span.end <= turn.end
        for turn in transcript.participant_turns()
    ):
        return
    msg = (
        "evidence is marked by start and end, characters of the transcript within the words of "
        "one turn of the participant, the end exclusive"
    )
    raise InputError(msg, field=field)


def _check_verdict(said: EvidenceVerdict, result: bytes) -> None:
    if (said.verdict is Verdict.REJECTED) != (said.reason is not None):
        msg = "a rejected piece of evidence needs a reason, and an accepted one has none"
        raise InputError(msg, field="reason")
    if not 0 <= said.evidence < evidence_count(result, said.item):
        msg = "evidence has to be the position of a quote among the item's evidence, from 0"
        raise InputError(msg, field="evidence")


def committed_of(rows: Iterable[ReviewRow]) -> dict[str, Committed]:
    """Return what each rater of a record committed, which is done once."""
    return {row.rater: row.said for row in rows if isinstance(row.said, Committed)}


def program_ratings(result: bytes) -> tuple[ItemRating, ...]:
    """Return the program's rating of each item; one without a score is unknown."""
    items = _items_of(result)
    return tuple(_rating(item, items.get(item.value) or {}) for item in Item)


def _rating(item: Item, found: Mapping[str, Any]) -> ItemRating:
    segments = (one for quote in found.get("evidence") or () for one in quote["segments"])
    evidence = tuple(SpanRating(start=one["start"], end=one["end"]) for one in segments)
    return ItemRating(item=item, score=found.get("score"), evidence=evidence)


def evidence_count(result: bytes, item: Item) -> int:
    """Return how many quotes a result has for an item."""
    found = _items_of(result).get(item.value) or {}
    return len(found.get("evidence") or ())


def _items_of(result: bytes) -> Mapping[str, Any]:
    scores = json.loads(result).get("quantitative") or {}
    return scores.get("items") or {}
