"""The page on which an assessment is entered: by plain forms, and better with its module."""

from dataclasses import dataclass, field

from fastapi import APIRouter, Request, Response

from ai_psychiatrist.api.admission import AdmittedRoute
from ai_psychiatrist.api.audit_trail import note_record
from ai_psychiatrist.api.begun_job import begin_again, begin_job
from ai_psychiatrist.api.doors_of import PrincipalOf, requires
from ai_psychiatrist.api.kept_assessment import Asked
from ai_psychiatrist.api.page_example import example_text
from ai_psychiatrist.api.page_forms import Form, read_form
from ai_psychiatrist.api.page_frame import sent_to, shown, told
from ai_psychiatrist.api.query_options import ScoringInQuery
from ai_psychiatrist.api.records_of import RecordsOf
from ai_psychiatrist.api.requests import KeptAssessmentRequest
from ai_psychiatrist.api.served import ServicesOf
from ai_psychiatrist.api.transcript_preview import previewed
from ai_psychiatrist.domain.access import Principal, Scope
from ai_psychiatrist.domain.errors import InputError, SpeakersUnknown
from ai_psychiatrist.reviews.archive.errors import RecordNotFound
from ai_psychiatrist.reviews.archives import Records
from ai_psychiatrist.services.transcripts.preview import Preview
from ai_psychiatrist.services.transcripts.speaker_labels import given_roles
from ai_psychiatrist.wiring import Services

router = APIRouter(
    include_in_schema=False, dependencies=[requires(Scope.ASSESS)], route_class=AdmittedRoute
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entered:
    """What somebody has entered so far."""

    text: str = field(default="", repr=False)
    subject: str = field(default="", repr=False)
    speakers: dict[str, str] = field(default_factory=dict, repr=False)
    """Label and role, where one was chosen."""


@router.get("/new")
async def new_page(request: Request) -> Response:
    """Ask for a transcript."""
    return await shown(request, "new", form=Entered(), preview=None)


@router.post("/new")
async def new(
    request: Request, services: ServicesOf, records: RecordsOf, principal: PrincipalOf
) -> Response:
    """Begin an assessment, or ask who is who; what was entered stays on the page.

    An assessment without a result is tried again with what is stored of it.
    """
    form = await read_form(request)
    entered, action = _entered(form), form.get("action")
    if action == "again":
        return await _try_again(form.get("id"), request, records, principal)
    try:
        if action == "preview":
            return await _again(request, entered, preview=await _preview(entered, services))
        body = KeptAssessmentRequest(
            transcript_text=entered.text,
            subject=entered.subject or None,
            speakers=entered.speakers or None,
        )
        asked = Asked(
            body=body, query=ScoringInQuery(), request=request, services=services, records=records
        )
        record_id = await begin_job(asked, principal)
    except SpeakersUnknown:
        return await _again(request, entered, preview=await _preview(entered, services), status=422)
    except InputError as error:
        return await _again(request, entered, problem=str(error), status=422)
    note_record(request, record_id)
    return sent_to(request, f"/assessments/{record_id}")


async def _try_again(
    record_id: str, request: Request, records: Records, principal: Principal
) -> Response:
    """Assess the stored text of an assessment without a result again, with the same options."""
    try:
        begun = await begin_again(record_id, records, request, principal)
    except RecordNotFound:
        return await told(request, "Not here", "No assessment has this address.", status=404)
    if begun is not None:
        note_record(request, begun)
    return sent_to(request, f"/assessments/{begun or record_id}")


def _entered(form: Form) -> Entered:
    if form.get("action") == "example":
        return Entered(text=example_text())
    chosen = zip(form.all("label"), form.all("role"), strict=False)
    return Entered(
        text=form.get("text"),
        subject=form.get("subject").strip(),
        speakers={label: role for label, role in chosen if role},
    )


async def _preview(entered: Entered, services: Services) -> Preview:
    roles = given_roles(entered.speakers, field="speakers")
    return await previewed(entered.text, roles, services)


async def _again(
    request: Request,
    entered: Entered,
    *,
    preview: Preview | None = None,
    problem: str = "",
    status: int = 200,
) -> Response:
    return await shown(
        request, "new", status=status, problem=problem, form=entered, preview=preview
    )
