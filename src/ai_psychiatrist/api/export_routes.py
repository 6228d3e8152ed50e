"""The route that gives out everything that somebody may have, as others read it."""

from collections.abc import AsyncIterator
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from ai_psychiatrist.api.doors_of import PrincipalOf, requires_one_of
from ai_psychiatrist.api.export_query import ExportedAs, ExportOfQuery
from ai_psychiatrist.api.export_stream import Export
from ai_psychiatrist.api.records_of import RecordsOf
from ai_psychiatrist.api.request_deadline import renew_deadline
from ai_psychiatrist.domain.access import Scope

LEFT_OUT: Final = "X-Left-Out"
_RESPONSES: Final[dict[int | str, dict[str, object]]] = {
    200: {
        "description": "One assessment after another, the newest first.",
        "headers": {
            LEFT_OUT: {
                "description": "How many you are not given, because you have not rated them yet.",
                "schema": {"type": "integer"},
            }
        },
        "content": {
            one.media_type.partition(";")[0]: {"schema": {"type": "string"}} for one in ExportedAs
        },
    },
    409: {"description": "The first of what is stored cannot be read."},
    422: {"description": "The query names something unknown, or what does not go together."},
    503: {"description": "Stored assessments cannot be read now."},
}

router = APIRouter(
    prefix="/v1/export",
    tags=["stored assessments"],
    dependencies=[requires_one_of(Scope.READ, Scope.REVIEW)],
)


@router.get("", response_class=StreamingResponse, responses=_RESPONSES)
async def export_records(
    query: ExportOfQuery, request: Request, records: RecordsOf, principal: PrincipalOf
) -> StreamingResponse:
    """Give out all assessments or ratings that you may have, as JSON lines, CSV or FHIR.

    Whoever is given scores rates those assessments blind no more. Those that you are rating blind
    are left out, and X-Left-Out says how many. What others rated is for admins alone.
    """
    export = Export(query=query.checked(), records=records, principal=principal)
    left_out = await export.left_out()
    chunks = export.chunks()
    # An error of the first one still has a status of its own.
    first = await anext(chunks, b"")
    return StreamingResponse(
        _after(first, chunks, request),
        media_type=query.format.media_type,
        headers={
            "Content-Disposition": f'attachment; filename="{query.file_name}"',
            LEFT_OUT: str(left_out),
        },
    )


async def _after(
    first: bytes, chunks: AsyncIterator[bytes], request: Request
) -> AsyncIterator[bytes]:
    yield first
    async for chunk in chunks:
        # How long it takes is told by how much is stored.
        renew_deadline(request.scope)
        yield chunk
