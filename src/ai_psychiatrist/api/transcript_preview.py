"""The route that tells who is who in a transcript before it is assessed."""

from dataclasses import replace
from functools import partial
from typing import Final

from fastapi import APIRouter, Request
from pydantic import ConfigDict, Field, InstanceOf, StrictStr
from pydantic.json_schema import SkipJsonSchema

from ai_psychiatrist.api.admission import AdmittedRoute
from ai_psychiatrist.api.doors_of import requires
from ai_psychiatrist.api.query_options import SpeakersOfQuery
from ai_psychiatrist.api.requests import RequestBody, Speakers, chosen
from ai_psychiatrist.api.sent_file import FILE_BODY, SentFile
from ai_psychiatrist.api.served import ServicesOf
from ai_psychiatrist.api.wanted_assessment import too_large
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.infrastructure.worker_processes import work_on_text
from ai_psychiatrist.results.result import Result
from ai_psychiatrist.results.transcript_result import NoteResult
from ai_psychiatrist.services.transcripts.preview import Preview, preview
from ai_psychiatrist.services.transcripts.speaker_labels import Roles, given_roles
from ai_psychiatrist.wiring import BYTES_PER_CHARACTER, Services

_PROBLEMS: Final[dict[int | str, dict[str, object]]] = {
    413: {"description": "The body or the transcript is too large."},
    422: {"description": "The request names no usable transcript; the body says which field."},
}

router = APIRouter(
    tags=["assessment"],
    route_class=AdmittedRoute,
    responses=_PROBLEMS,
    dependencies=[requires(Scope.ASSESS)],
)


class PreviewRequest(RequestBody):
    """One transcript that is looked at and not assessed."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"transcript_text": "A: How do you sleep?\nB: Badly."}],
            "oneOf": [chosen("transcript_text", ("transcript_text",))],
        }
    )

    transcript_text: StrictStr | None = None
    """The interview: lines that begin with a label such as `A:`, or a file's content."""
    speakers: Speakers | None = None
    """Who is who where the labels do not tell: label → participant, interviewer or other."""
    file: SkipJsonSchema[InstanceOf[SentFile] | None] = Field(default=None, exclude=True)
    """A body that is no JSON but the transcript itself."""


class PreviewedSpeakerResult(Result):
    """A label, whom it stands for, and how that speaker begins."""

    label: str | None
    """As the transcript has it; null for words without one, `*` for all words."""
    role: Speaker | None
    """Null where somebody has to say."""
    turns: int
    """How many turns this speaker has."""
    said: tuple[str, ...]
    """The first two turns, each cut off after 160 characters."""


class PreviewResult(Result):
    """How a transcript would be read."""

    form: str
    """Such as text, webvtt, whisper or docx; told by the content."""
    turns: int
    """How many turns there are in all."""
    speakers: tuple[PreviewedSpeakerResult, ...]
    """At most 20, in the order in which they first speak."""
    notes: tuple[NoteResult, ...]
    """What was assumed, left out or odd."""
    speakers_assumed: bool
    """True when no label names anybody, so that all words count as the participant's."""
    is_open: bool
    """True when somebody has to say who the participant is, in `speakers` of the assessment."""
    reason: str
    """Why, and what to do; empty where nothing is open."""


@router.post(
    "/v1/transcripts/preview",
    operation_id="preview_transcript",
    openapi_extra={"requestBody": {"content": FILE_BODY}},
)
async def preview_transcript(
    body: PreviewRequest, query: SpeakersOfQuery, request: Request, services: ServicesOf
) -> PreviewResult:
    """Who is who in a transcript, and how they begin; nothing is assessed or kept."""
    content = body.transcript_text if body.file is None else body.file
    if content is None:
        msg = "send transcript_text, or a file as the body"
        raise InputError(msg, field="transcript_text")
    roles = (*given_roles(body.speakers or {}, field="speakers"), *query.roles)
    async with request.app.state.text_room.hold(len(content)):
        shown = await previewed(
            content, roles, services, name="" if body.file is None else body.file.name
        )
    return PreviewResult.model_validate(shown)


async def previewed(
    content: str | bytes, roles: Roles, services: Services, *, name: str = ""
) -> Preview:
    """Return who is who; raises `Refusal` for what is too long, `InputError` for the unusable."""
    limit = services.settings.api.max_transcript_chars
    if len(content) > (limit if isinstance(content, str) else limit * BYTES_PER_CHARACTER):
        raise too_large(limit)
    read = partial(preview, name=name, most_characters=limit)
    return await work_on_text(content, read, content, replace(services.labels, given=roles))
