"""The interview about what an assessment left unknown: begun by a link, and seen as it goes on."""

import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from ai_psychiatrist.access.interview_links import InterviewLink, is_of_token
from ai_psychiatrist.api.authentication import KEY_READERS, NEW_LINK_COOKIE, set_new_link_cookie
from ai_psychiatrist.api.authorization import principal_of, requires
from ai_psychiatrist.api.dependencies import (
    FOLLOWING,
    RecordId,
    RecordsOf,
    ServicesOf,
    records_of,
    services_of,
)
from ai_psychiatrist.api.interview_requests import assessment_input
from ai_psychiatrist.api.interviews import Interviewing, interviews_of, make_link
from ai_psychiatrist.api.json_body import BoundedRequest
from ai_psychiatrist.api.page_held_interview import danger_in_interview
from ai_psychiatrist.api.pages import (
    message_page,
    no_assessment_page,
    read_form,
    redirect_to,
    render_page,
)
from ai_psychiatrist.api.records import RESULT_READERS
from ai_psychiatrist.api.slots import AdmittedRoute
from ai_psychiatrist.domain.access import Principal, Scope
from ai_psychiatrist.domain.errors import ArtifactMismatch, NotFound, RequestConflict
from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.infrastructure.options import is_of_this_machine
from ai_psychiatrist.interview.interview_store import ReadInterview, read_all
from ai_psychiatrist.interview.protocol.records import ProtocolKind
from ai_psychiatrist.interview.record import Interview
from ai_psychiatrist.interview.service import InterviewService
from ai_psychiatrist.interview.snapshot import InterviewSnapshot
from ai_psychiatrist.results.reading import result_of
from ai_psychiatrist.reviews.acknowledging import unread_count
from ai_psychiatrist.reviews.blindness import give_scores, is_asked_first
from ai_psychiatrist.store.interviews import id_hash
from ai_psychiatrist.store.store import Store

_PREFIX: Final = "/assessments/{assessment_id}/interview"
_PROTOCOL: Final = "phq8"
_ALL: Final = "all"
"""Of the form: whether what was answered before is asked again."""
_ADDRESS: Final = "link"
"""For what the address of a new link is sealed."""
_UNREAD_DANGER: Final = (
    "The transcript has signs of danger that nobody has confirmed reading. Read and confirm them, "
    "or go back and confirm that the person is to be asked alone all the same."
)
_STATES: Final = {
    InterviewState.PREPARING: "It is being prepared.",
    InterviewState.AWAITING: "A question waits for the person's answer.",
    InterviewState.DIGESTING: "An answer is being worked in.",
    InterviewState.PAUSED: "The person has paused it.",
    InterviewState.FAILED: "A model failed; what was answered is kept, and the person can go on.",
    InterviewState.REPORTING: "It is over.",
    InterviewState.DONE: "It is over.",
    InterviewState.SAFETY_HOLD: "It is held: an answer has signs of danger.",
}

router = APIRouter(prefix=_PREFIX, include_in_schema=False)
stepping = APIRouter(
    prefix=_PREFIX,
    include_in_schema=False,
    dependencies=[requires(Scope.ASSESS)],
    route_class=AdmittedRoute,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewView:
    """What the pages of an assessment show of the latest interview about it."""

    read: ReadInterview
    link: InterviewLink | None
    link_words: str
    """What became of its link."""

    @property
    def interview(self) -> Interview:
        """What was asked and said."""
        return self.read.interview

    @property
    def state(self) -> str:
        """Where it stands, in a sentence."""
        return _STATES[self.interview.state]

    @property
    def asked(self) -> int:
        """How many items were asked about so far, in whatever wording."""
        return sum(goal.asks > 0 for goal in self.interview.goals)

    @property
    def unknown(self) -> tuple[Item, ...]:
        """The items that neither the transcript nor any interview has scored."""
        return tuple(one.item for one in self.read.items if one.score is None)

    @property
    def is_open(self) -> bool:
        """Whether the person can still answer, or a person has to look first."""
        return is_open(self.interview.state)

    @property
    def danger_count(self) -> int:
        """How many statements of danger there are in it."""
        return len(self.read.statements)

    @property
    def is_begun(self) -> bool:
        """Whether the person has answered, or opened the link."""
        return self.interview.turn > 0 or not self.is_link_waiting

    @property
    def is_link_waiting(self) -> bool:
        """Whether its link is still valid and was never opened."""
        return self.link is not None and self.link.is_unopened(time.time())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """An assessment that is shown with its scores, and the interviews about it."""

    interviews: tuple[ReadInterview, ...]
    """The newest first."""
    subject: str | None

    @property
    def interview_id(self) -> str | None:
        """The id of the latest."""
        return next((one.listed.id for one in self.interviews), None)


async def interview_view(
    interviews: Sequence[ReadInterview], request: Request
) -> InterviewView | None:
    """Return the first of the interviews about an assessment, `None` where there is none."""
    if not interviews:
        return None
    links, hashed = services_of(request).interview_links, interviews[0].listed.row.id_hash
    link = await KEY_READERS.run(lambda: links.of(hashed))
    return InterviewView(read=interviews[0], link=link, link_words=_link_words(link))


def is_open(state: InterviewState) -> bool:
    """Return whether the person can still answer, or a person has to look first."""
    return not state.is_over or state is InterviewState.SAFETY_HOLD


async def item_protocols(request: Request) -> tuple[str, ...]:
    """Return the ids of the protocols that ask about items; `phq8` comes first."""
    if not services_of(request).settings.interview.protocols:
        return (_PROTOCOL,)
    protocols = (await interviews_of(request, principal_of(request))).protocols
    return tuple(one.id for one in protocols if one.kind is ProtocolKind.ITEMS)


@router.get("", dependencies=[requires()])
async def follow(assessment_id: RecordId, request: Request) -> Response:
    """Show the interview as it stands; the page follows it."""
    seen = await _look(assessment_id, request)
    if isinstance(seen, Response):
        return seen
    view = await interview_view(seen.interviews, request)
    if view is None:
        return redirect_to(request, f"/assessments/{assessment_id}")
    address = await _new_address(view, request)
    shown = await render_page(
        request,
        "interview_review",
        id=assessment_id,
        subject=seen.subject,
        view=view,
        danger=await danger_in_interview(view.interview, request),
        address=address,
        is_local_address=address is not None
        and is_of_this_machine(urlsplit(address).hostname or ""),
        is_reported=services_of(request).settings.danger.is_reported,
        may_ask=Scope.ASSESS in principal_of(request).scopes,
        may_read=Scope.READ in principal_of(request).scopes,
    )
    if NEW_LINK_COOKIE in request.cookies:
        set_new_link_cookie(shown, request.scope, _path(assessment_id), "")
    return shown


@router.get("/progress", dependencies=FOLLOWING)
async def progress(assessment_id: RecordId, request: Request) -> Response:
    """Say whether there is more to be shown; no word and no score."""
    about = await records_of(request).ask(lambda store: _about(store, assessment_id))
    view = await interview_view(about, request)
    shown = None if view is None else f"{view.interview.version} {view.link_words}"
    return JSONResponse({"shown": shown, "danger": 0 if view is None else view.danger_count})


@stepping.post("")
async def ask_person(
    assessment_id: RecordId,
    request: BoundedRequest,
    records: RecordsOf,
    service: Interviewing,
) -> Response:
    """Begin the interview where there is none under way, and make a link to it.

    The page that this leads to shows it, once; until then the browser has its address, sealed.
    """
    form, seen = await read_form(request), await _look(assessment_id, request)
    if isinstance(seen, Response):
        return seen
    here = _path(assessment_id)
    interview = await _kept(seen.interview_id, service)
    if interview is None or interview.state.is_over:
        record = await records.ask(lambda store: store.get(assessment_id))
        result = await RESULT_READERS.run(lambda: result_of(record.result, field="assessment_id"))
        rows = await records.ask(lambda store: store.acknowledgements.of(assessment_id))
        is_unread = result.risk.level.is_urgent and unread_count(result.risk, rows) > 0
        if is_unread and "knows_danger" not in form:
            return await message_page(request, "Not begun", _UNREAD_DANGER, status=409)
        asked_by = form.get("asked_by", "").strip()
        inputs = {"asked_by": asked_by} if asked_by else {}
        if result.quantitative is None:
            words = "It has no scores, so nothing is known of what to ask."
            return await message_page(request, "Nothing to ask", words, status=409)
        interview = await service.create(
            form.get("protocol", _PROTOCOL),
            inputs,
            assessment_input(result.quantitative.items),
            about=assessment_id,
            asks_all=_ALL in form,
        )
    if interview.state.is_over:
        return redirect_to(request, here)
    link = await make_link(interview, request)
    seal = await records.ask(lambda store: store.interviews.seal(interview.id))
    sealed = seal.put(link.address.encode(), id_hash(interview.id), _ADDRESS)
    shown = redirect_to(request, here)
    set_new_link_cookie(shown, request.scope, here, urlsafe_b64encode(sealed).decode())
    return shown


@stepping.post("/revoke")
async def revoke(assessment_id: RecordId, request: Request, services: ServicesOf) -> Response:
    """End the link of the interview, and what was opened with it."""
    seen = await _look(assessment_id, request)
    if isinstance(seen, Response):
        return seen
    if seen.interview_id is not None:
        hashed = id_hash(seen.interview_id)
        await KEY_READERS.run(lambda: services.interview_links.revoke(hashed))
    return redirect_to(request, _path(assessment_id))


def _path(assessment_id: str) -> str:
    return f"/assessments/{assessment_id}/interview"


async def _new_address(view: InterviewView, request: Request) -> str | None:
    """Return the address of the link that was made just now, as the browser brings it sealed."""
    sealed, interview_id = request.cookies.get(NEW_LINK_COOKIE), view.interview.id
    if not sealed or view.link is None:
        return None
    with suppress(ValueError, NotFound, ArtifactMismatch):
        content = urlsafe_b64decode(sealed)
        seal = await records_of(request).ask(lambda store: store.interviews.seal(interview_id))
        address = seal.take(content, id_hash(interview_id), _ADDRESS).decode()
        if is_of_token(view.link, address.partition("#")[2]):
            return address
    return None


async def _look(record_id: str, request: Request) -> _Seen | Response:
    """Return an assessment as it is shown with its scores, or what is answered instead."""
    principal = principal_of(request)
    try:
        return await records_of(request).ask(lambda store: _seen(store, record_id, principal))
    except NotFound:
        return await no_assessment_page(request)
    except RequestConflict:
        return redirect_to(request, f"/assessments/{record_id}")


def _seen(store: Store, record_id: str, principal: Principal) -> _Seen:
    """Return an assessment; raises `RequestConflict` where its scores are not to be shown yet."""
    record, phase = store.summary(record_id), store.reviews.standing(record_id, principal.id)
    is_finished = record.state is RecordState.FINISHED
    if not is_finished or (is_asked_first(principal) and phase is ReviewPhase.UNSEEN):
        raise RequestConflict("still_blind")
    give_scores(store, record_id, principal)
    may_read = Scope.READ in principal.scopes
    return _Seen(
        interviews=_about(store, record_id),
        subject=store.keys.name(record.subject_id) if may_read else None,
    )


def _about(store: Store, record_id: str) -> tuple[ReadInterview, ...]:
    return read_all(store.interviews.about(record_id))


async def _kept(interview_id: str | None, service: InterviewService) -> InterviewSnapshot | None:
    """Return an interview that is still kept, and can be read."""
    try:
        return None if interview_id is None else await service.get(interview_id)
    except (NotFound, ArtifactMismatch):
        return None


def _link_words(link: InterviewLink | None) -> str:
    if link is None:
        return "no link"
    if link.revoked_at is not None:
        return "link revoked"
    ends = datetime.fromtimestamp(link.expires_at, UTC)
    if ends <= datetime.now(UTC):
        return "link expired"
    opened = "not opened yet" if link.opened_at is None else "opened"
    return f"link {opened}, until {ends:%Y-%m-%d %H:%M} UTC"
