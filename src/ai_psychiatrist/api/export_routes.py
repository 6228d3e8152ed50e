"""The route that gives out everything that somebody may have, as others read it."""

from collections.abc import AsyncIterator
from typing import Final

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from ai_psychiatrist.api.doors_of import PrincipalOf, requires_one_of
from ai_psychiatrist.api.export_query import ExportedAs, ExportOfQuery
from ai_psychiatrist.api.export_stream import Export
from ai_psychiatrist.api.records_of import RecordsOf
from ai_psychiatrist.domain.access import Scope

_RESPONSES: Final[dict[int | str, dict[str, object]]] = {
    200: {
        "description": "One assessment after another, the newest first.",
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
    query: ExportOfQuery, records: RecordsOf, principal: PrincipalOf
) -> StreamingResponse:
    """Give out all assessments or ratings that you may have, as JSON lines, CSV or FHIR.

    Whoever is given scores rates those assessments blind no more. Those that you are rating blind
    are left out. What others rated is for admins alone.
    """
    export = Export(query=query.checked(), records=records, principal=principal)
    chunks = export.chunks()
    # An error of the first one still has a status of its own.
    first = await anext(chunks, b"")
    return StreamingResponse(
        _after(first, chunks),
        media_type=query.format.media_type,
        headers={"Content-Disposition": f'attachment; filename="{query.file_name}"'},
    )


async def _after(first: bytes, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in chunks:
        yield chunk
