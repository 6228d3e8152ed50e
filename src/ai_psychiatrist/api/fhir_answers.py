"""A stored assessment as a FHIR bundle, for those who ask for one."""

import asyncio
import hashlib
from collections.abc import Sequence
from typing import Final

from fastapi import Response
from fastapi.responses import JSONResponse

from ai_psychiatrist.domain.review import ReviewRow
from ai_psychiatrist.results.fhir.bundle import MEDIA_TYPE, bundle_of, bytes_of
from ai_psychiatrist.results.fhir.source import Wanted
from ai_psychiatrist.results.reading import result_of
from ai_psychiatrist.reviews.archive.records import Record

JSON: Final = JSONResponse.media_type
RESULT_TYPES: Final = (JSON, MEDIA_TYPE)
"""What a stored assessment can be had as; its own JSON unless something else is asked for."""

OF_FORMS: Final[dict[int | str, dict[str, object]]] = {
    200: {"content": {MEDIA_TYPE: {"schema": {"type": "object"}}}},
    406: {"description": "Accept names neither JSON nor FHIR."},
}


async def answer_of(record: Record, media_type: str, own_rows: Sequence[ReviewRow]) -> Response:
    """Return a record with its result as one of those types; with the caller's rating in FHIR."""
    if media_type == MEDIA_TYPE:
        content = await asyncio.to_thread(bundle_bytes, record, own_rows)
    else:
        content = record.result
    return Response(content, media_type=media_type, headers={"Vary": "Accept"})


def bundle_bytes(
    record: Record, rows: Sequence[ReviewRow] = (), wanted: Wanted | None = None
) -> bytes:
    """Return the program's bundle or, with the rows of a rater, the rater's, on one line."""
    result = result_of(record.result, field="assessment_id")
    sha256 = hashlib.sha256(record.transcript_text.encode()).hexdigest()
    made = wanted or Wanted(made_at=record.created_at)
    return bytes_of(bundle_of(result, transcript_sha256=sha256, ratings=rows, wanted=made))
