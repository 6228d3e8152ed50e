"""The page on which the person of an interview answers, and what that page asks for.

A link lets them in, to that one interview; no key and no session counts here. What is answered
holds the words of the interview, and nothing of what was made of them.
"""

from typing import Annotated, Final, TypeAlias

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field, StrictStr

from ai_psychiatrist.access.interview_links import InterviewLink, is_of_token
from ai_psychiatrist.api.audit_trail import note_record
from ai_psychiatrist.api.authentication import KEY_READERS, set_link_cookie
from ai_psychiatrist.api.authorization import LINK, LOGIN_REFUSED, PRINCIPAL, address_of
from ai_psychiatrist.api.dependencies import ServicesOf, json_of, services_of
from ai_psychiatrist.api.interview_models import OptionResult
from ai_psychiatrist.api.interview_requests import (
    IdempotencyKey,
    ParticipantAnswer,
)
from ai_psychiatrist.api.interviews import send_hold_notice
from ai_psychiatrist.api.json_body import BoundedRoute
from ai_psychiatrist.api.pages import render_page
from ai_psychiatrist.api.paths import PARTICIPANT_PATH
from ai_psychiatrist.api.problems import Problem
from ai_psychiatrist.api.requests import RequestBody
from ai_psychiatrist.api.slots import AdmittedRoute
from ai_psychiatrist.domain.errors import ConfigurationError, NotFound, StoreUnusable
from ai_psychiatrist.domain.interview import (
    AnswerKind,
    InterviewState,
    Message,
    Question,
    QuestionPurpose,
)
from ai_psychiatrist.domain.interview_items import UnansweredReason
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.item_outcomes import item_outcomes
from ai_psychiatrist.interview.protocol.records import InterviewProtocol, ProtocolKind
from ai_psychiatrist.interview.protocol.texts import PageTexts
from ai_psychiatrist.interview.service import InterviewService
from ai_psychiatrist.interview.snapshot import InterviewSnapshot
from ai_psychiatrist.results.result import Result

router = APIRouter(prefix=PARTICIPANT_PATH, include_in_schema=False, route_class=BoundedRoute)
stepping = APIRouter(prefix=PARTICIPANT_PATH, include_in_schema=False, route_class=AdmittedRoute)
"""Of the route behind which a model may be asked."""

_MOST_TOKEN: Final = 200


class OpeningRequest(RequestBody):
    """A link to open."""

    token: Annotated[StrictStr, Field(max_length=_MOST_TOKEN)]
    """What stands behind the `#` of its address."""
    idempotency_key: IdempotencyKey | None = None
    """Made up by the page, at random: sent again with the token it gives the same cookie again."""


class NotedAnswer(Result):
    """A line of what was noted, as the person looks it through at the end."""

    option_id: str
    """Chooses to answer it again."""
    name: str
    """Of the item."""
    words: str
    """The person's own; empty where there are none."""
    noted: str
    """What was put down for them, or that nothing was."""


class ParticipantQuestion(Result):
    """The question that waits for an answer."""

    id: str
    text: str
    options: tuple[OptionResult, ...]
    allows_free_text: bool
    most_characters: int
    """Of a free answer."""
    noted: tuple[NotedAnswer, ...] = ()
    """What was noted of each item, where the person is to look it through."""
    closing: str = ""
    """What is asked after these lines."""


class Progress(Result):
    """Which of the questions one is; another wording of a question counts as the same."""

    number: int
    of: int


class ChangeableAnswer(Result):
    """An item that was answered, and can be asked about again."""

    item: Item
    question: str
    """As it was put."""
    words: str
    """The person's own."""
    noted: str
    """What was put down for them, in the words of the answer that stands for it."""


class ParticipantState(Result):
    """An interview as far as its person may see it."""

    state: InterviewState
    version: int
    spoken: str
    """What is said before the question, or at the end."""
    question: ParticipantQuestion | None
    messages: tuple[Message, ...]
    progress: Progress | None
    """`None` where how many there will be is not known."""
    changeable: tuple[ChangeableAnswer, ...]
    can_retry: bool
    """Whether a step failed or was cut short, and can be taken again."""
    help: str
    texts: PageTexts


def _link_of(request: Request) -> InterviewLink | None:
    link: InterviewLink | None = request.scope["state"].get(LINK)
    return link


async def _service_of(request: Request) -> InterviewService:
    link = _link_of(request)
    if link is None:
        raise Problem("link_refused")
    return await services_of(request).tenant_interviews.service(link.tenant)


async def _interview_of(
    request: Request, service: Annotated[InterviewService, Depends(_service_of)]
) -> InterviewSnapshot:
    """Return the interview of the link; raises `Problem` where it is not there any more."""
    link = _link_of(request)
    try:
        snapshot = await service.get_by_hash(link.interview if link else "")
    except NotFound:
        raise Problem("link_refused") from None
    note_record(request, snapshot.id)
    return snapshot


Interviewing: TypeAlias = Annotated[InterviewService, Depends(_service_of)]
Standing: TypeAlias = Annotated[InterviewSnapshot, Depends(_interview_of)]


@router.get("")
async def participant_page(request: Request, services: ServicesOf) -> Response:
    """Show the page, the same to everybody; what it is about comes by its script."""
    texts, resources = services.tenant_interviews.page_texts, services.crisis_resources
    return await render_page(request, "interview", texts=texts, crisis_resources=resources)


@router.post("/session", status_code=204)
async def open_link(body: OpeningRequest, request: Request, services: ServicesOf) -> Response:
    """Exchange the token of a link for the cookie of its interview, once.

    Whoever guesses a token, or comes after it was used, gets the same answer.
    """
    answer, link = Response(status_code=204), _link_of(request)
    if link is not None and is_of_token(link, body.token):
        return answer
    links, key = services.interview_links, body.idempotency_key
    try:
        opened = await KEY_READERS.run(lambda: links.open(body.token, key))
    except (ConfigurationError, StoreUnusable):
        raise Problem("entrance_unusable") from None
    if opened is None:
        request.scope["state"][LOGIN_REFUSED] = True
        raise Problem("link_refused")
    request.app.state.failed_logins.succeeded(address_of(request.scope))
    request.scope["state"][PRINCIPAL] = opened.link.principal
    set_link_cookie(answer, request.scope, opened)
    return answer


@router.get("/state")
async def read_state(service: Interviewing, interview: Standing) -> Response:
    """Return the interview as its person may see it; no model is asked."""
    return json_of(participant_state(interview, service))


@stepping.post("/answers")
async def answer(
    body: ParticipantAnswer,
    request: Request,
    service: Interviewing,
    interview: Standing,
) -> Response:
    """Answer the question that waits, pause, end, or take a step again that failed."""
    if body.is_retry:
        following = await service.retry(interview.id)
    else:
        following = await service.answer(interview.id, body.as_submission())
    send_hold_notice(following, request)
    return json_of(participant_state(following, service))


def participant_state(snapshot: InterviewSnapshot, service: InterviewService) -> ParticipantState:
    """Return of an interview what its person may see."""
    protocol, question = service.protocol_of(snapshot), None
    if snapshot.question is not None:
        question = _question_of(snapshot, snapshot.question, protocol)
    asked_about = sum(goal.asks > 0 for goal in snapshot.goals)
    has_progress = snapshot.kind is ProtocolKind.ITEMS and question is not None
    return ParticipantState(
        state=snapshot.state,
        version=snapshot.version,
        spoken=snapshot.spoken,
        question=question,
        messages=snapshot.messages,
        progress=Progress(number=asked_about, of=len(snapshot.goals)) if has_progress else None,
        changeable=changeable_answers(snapshot, protocol)
        if question is not None and not question.noted
        else (),
        can_retry=snapshot.is_resumable,
        help=snapshot.resources,
        texts=protocol.page,
    )


def _question_of(
    snapshot: InterviewSnapshot, asked: Question, protocol: InterviewProtocol
) -> ParticipantQuestion:
    text, closing = asked.text, ""
    noted: tuple[NotedAnswer, ...] = ()
    if asked.purpose is QuestionPurpose.REVIEW and protocol.conversation.review is not None:
        review = protocol.conversation.review
        before, _, after = review.question.partition("{noted}")
        if text.startswith(before) and text.endswith(after):
            # The lines between stand in `noted`.
            text, closing = before.strip(), after.strip()
        noted = _noted_answers(snapshot, asked, protocol, review.none)
    return ParticipantQuestion(
        id=asked.id,
        text=text,
        options=tuple(one for one in asked.offered if one.kind is not AnswerKind.ITEM or not noted),
        allows_free_text=asked.allows_free_text,
        most_characters=protocol.answers.max_length,
        noted=noted,
        closing=closing,
    )


def _noted_answers(
    snapshot: InterviewSnapshot, asked: Question, protocol: InterviewProtocol, none: str
) -> tuple[NotedAnswer, ...]:
    known = {one.item: one for one in changeable_answers(snapshot, protocol)}
    return tuple(
        NotedAnswer(
            option_id=one.id,
            name=protocol.items[one.item].name,
            words=known[one.item].words if one.item in known else "",
            noted=known[one.item].noted if one.item in known else none,
        )
        for one in asked.options
        if one.item is not None
    )


def changeable_answers(
    snapshot: InterviewSnapshot, protocol: InterviewProtocol
) -> tuple[ChangeableAnswer, ...]:
    """Return the items that the person has answered, or preferred not to, as they were put down."""
    noted = {anchor.score: anchor.text for anchor in protocol.answers.anchors}
    return tuple(
        ChangeableAnswer(
            item=one.item,
            question=protocol.items[one.item].question,
            words=snapshot.words_of(one.answer_turn),
            noted=protocol.answers.decline or "" if one.score is None else noted[one.score],
        )
        # Of this interview alone: nothing that was said in another is shown to the person.
        for one in item_outcomes(snapshot)
        if one.answer_turn is not None
        and (one.score is not None or one.unknown_reason is UnansweredReason.DECLINED)
    )
