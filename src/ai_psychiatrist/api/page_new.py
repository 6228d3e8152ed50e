"""The page on which an assessment is entered: by plain forms, and better with its module."""

from dataclasses import dataclass, field

from fastapi import APIRouter, Request, Response
from starlette.datastructures import ImmutableMultiDict

from ai_psychiatrist.api.assessments import preview_of
from ai_psychiatrist.api.audit_trail import note_record
from ai_psychiatrist.api.authorization import requires
from ai_psychiatrist.api.dependencies import ServicesOf
from ai_psychiatrist.api.json_body import BoundedRequest
from ai_psychiatrist.api.page_cohort import example_text
from ai_psychiatrist.api.pages import (
    message_page,
    no_assessment_page,
    read_form,
    redirect_to,
    render_page,
)
from ai_psychiatrist.api.requests import KeptAssessmentRequest, ScoringInQuery
from ai_psychiatrist.api.slots import AdmittedRoute
from ai_psychiatrist.api.submission import submit_again, submit_job
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.domain.errors import (
    InputError,
    NotFound,
    RequestConflict,
    SpeakersUnknown,
)
from ai_psychiatrist.services.transcripts.formats.known import ENDINGS
from ai_psychiatrist.services.transcripts.preview import Preview
from ai_psychiatrist.services.transcripts.speaker_labels import given_roles
from ai_psychiatrist.wiring import Services

router = APIRouter(
    include_in_schema=False, dependencies=[requires(Scope.ASSESS)], route_class=AdmittedRoute
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entered:
    """What was entered so far."""

    text: str = field(default="", repr=False)
    subject: str = field(default="", repr=False)
    speakers: dict[str, str] = field(default_factory=dict, repr=False)
    """Label and role, where one was chosen."""


@router.get("/new")
async def new_page(request: Request) -> Response:
    """Ask for a transcript."""
    return await _shown(request, Entered())


@router.post("/new")
async def new(request: BoundedRequest, services: ServicesOf) -> Response:
    """Begin an assessment, or ask who is who; what was entered stays on the page.

    An assessment without a result is tried again with what is stored of it.
    """
    form = await read_form(request)
    entered, action = _entered(form), form.get("action")
    if action == "again":
        return await _try_again(form.get("id", ""), request)
    try:
        if action == "preview":
            return await _shown(request, entered, preview=await _preview(entered, services))
        body = KeptAssessmentRequest(
            transcript_text=entered.text,
            subject=entered.subject or None,
            speakers=entered.speakers or None,
        )
        record_id = await submit_job(body, ScoringInQuery(), request)
    except SpeakersUnknown:
        return await _shown(request, entered, preview=await _preview(entered, services), status=422)
    except InputError as error:
        return await _shown(request, entered, problem=str(error), status=422)
    note_record(request, record_id)
    return redirect_to(request, f"/assessments/{record_id}")


async def _try_again(record_id: str, request: Request) -> Response:
    """Assess the stored text of an assessment without a result again, with the same options."""
    try:
        begun = await submit_again(record_id, request)
    except NotFound:
        return await no_assessment_page(request)
    except RequestConflict as error:
        return await message_page(request, "Not tried again", f"{error}.", status=409)
    if begun is not None:
        note_record(request, begun)
    return redirect_to(request, f"/assessments/{begun or record_id}")


def _entered(form: ImmutableMultiDict[str, str]) -> Entered:
    if form.get("action") == "example":
        return Entered(text=example_text())
    chosen = zip(form.getlist("label"), form.getlist("role"), strict=False)
    return Entered(
        text=form.get("text", ""),
        subject=form.get("subject", "").strip(),
        speakers={label: role for label, role in chosen if role},
    )


async def _preview(entered: Entered, services: Services) -> Preview:
    roles = given_roles(entered.speakers, field="speakers")
    return await preview_of(entered.text, roles, services)


async def _shown(
    request: Request,
    entered: Entered,
    *,
    preview: Preview | None = None,
    problem: str = "",
    status: int = 200,
) -> Response:
    return await render_page(
        request,
        "new",
        status=status,
        problem=problem,
        form=entered,
        preview=preview,
        endings=sorted(ENDINGS),
    )
