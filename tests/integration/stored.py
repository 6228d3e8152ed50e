"""Stored assessments and ratings, put into a running application's store."""

import json
from collections.abc import Sequence

from ai_psychiatrist.domain.phq8 import Item, total_of
from ai_psychiatrist.domain.review import Committed, ItemRating, ReviewPhase, SpanRating
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.store.records import Figures, NewRecord
from ai_psychiatrist.store.store import Store

Scores = Sequence[int | None]
TEXT = "Interviewer: How do you sleep?\nParticipant: I hardly sleep at all.\n"


def store(
    store: Store, record_id: str, scores: Scores, *, subject: str, width: int | None = None
) -> None:
    """Store a result that says these scores, and marks the first ten characters for each."""
    total = total_of(scores)
    items = {
        item.value: {"score": score, "evidence": [{"segments": [{"start": 0, "end": 10}]}]}
        for item, score in zip(Item, scores, strict=True)
    }
    store.add(
        NewRecord(
            id=record_id,
            transcript=parse_transcript(TEXT),
            subject=subject,
            result=json.dumps({"quantitative": {"items": items}}).encode(),
            figures=Figures(
                status="complete",
                total_min=total.total_score_min,
                total_max=total.total_score_max,
                unknown_items=sum(score is None for score in scores),
                width=width,
            ),
        )
    )


def rate(
    store: Store,
    record_id: str,
    rater: str,
    scores: Scores,
    *,
    spans: Sequence[tuple[int, int]] = (),
) -> None:
    """Begin a review and commit these scores, with the same marks for each item."""
    store.reviews.begin(record_id, rater)
    marks = tuple(SpanRating(start=start, end=end) for start, end in spans)
    items = tuple(
        ItemRating(item=item, score=score, evidence=marks)
        for item, score in zip(Item, scores, strict=True)
    )
    store.reviews.append(record_id, rater, Committed(items=items, phase=ReviewPhase.BLIND))
