"""Interviews from their creation to their report: load one, take one transition, store it."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Final, TypeVar
from weakref import WeakValueDictionary

from ai_psychiatrist.domain.callback import Callback
from ai_psychiatrist.domain.errors import (
    AgentFailed,
    InputError,
    NotFound,
    RequestConflict,
    StoreUnusable,
)
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.domain.interview_items import AssessmentInput
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads, WorkTimedOut
from ai_psychiatrist.interview.agents_port import InterviewAgentsPort
from ai_psychiatrist.interview.engine.context import InterviewLimits, StepContext
from ai_psychiatrist.interview.engine.danger import DangerReader
from ai_psychiatrist.interview.errors import protocol_changed, store_unusable, translated
from ai_psychiatrist.interview.ids import check_id, make_id
from ai_psychiatrist.interview.interview_log import log_interview, report_hold
from ai_psychiatrist.interview.interview_store import InterviewStore
from ai_psychiatrist.interview.item_outcomes import answered_in
from ai_psychiatrist.interview.joining import Joining
from ai_psychiatrist.interview.machine import Event, follow
from ai_psychiatrist.interview.protocol.accepted_inputs import accepted_inputs
from ai_psychiatrist.interview.protocol.records import InterviewProtocol, ProtocolKind
from ai_psychiatrist.interview.record import Interview, ProtocolReference, Reopening
from ai_psychiatrist.interview.snapshot import (
    InterviewListing,
    InterviewPage,
    InterviewSnapshot,
    WordsInDanger,
    snapshot_of,
)
from ai_psychiatrist.interview.submission import AnswerSubmission, check_key, refuse_broken_input
from ai_psychiatrist.store.deliveries import DeliveryEvent
from ai_psychiatrist.store.interviews import InterviewListRequest, Keyed

logger = get_logger(__name__)

T = TypeVar("T")

_FINISHED: Final = (InterviewState.REPORTING, InterviewState.DONE)
_STORE_SECONDS: Final = 15.0
"""Three times as long as the store itself waits for another program."""
MOST_REASON: Final = 2_000
"""Characters of why a held interview goes on."""

__all__ = ["AnswerSubmission", "InterviewLimits", "InterviewService"]


class InterviewService:
    """Begins interviews, takes answers and reports; any number of interviews at once.

    Every method may raise `StoreUnusable`, and those that take an id `NotFound`,
    `ArtifactMismatch`. What the state of an interview does not take is
    refused with a `RequestConflict`. A model that fails raises nothing but for a report: what was
    there is kept, the snapshot's state is `failed`, and `retry` tries again.
    """

    def __init__(
        self,
        protocols: Mapping[str, InterviewProtocol],
        store: InterviewStore,
        agents: InterviewAgentsPort | None = None,
        *,
        danger: DangerReader | None = None,
        limits: InterviewLimits | None = None,
        in_danger: WordsInDanger | None = None,
    ) -> None:
        """`protocols`: by their ids. `agents`: `None` where there is no model.

        `danger`: reads free answers for danger beside the rules; `None` leaves them to the rules.
        `in_danger`: what a person whose interview is held is told.
        """
        self._protocols = dict(protocols)
        self._store = store
        # One: what is asked of the store happens in the order in which it was asked.
        self._threads = WorkerThreads(count=1, seconds=_STORE_SECONDS)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._agents = agents
        self._danger = danger
        self._in_danger = in_danger or WordsInDanger()
        self._limits = limits or InterviewLimits()
        self._joining = Joining(self._limits.join_seconds)

    @property
    def has_model(self) -> bool:
        """Whether a model may be asked."""
        return self._agents is not None

    async def create(
        self,
        protocol: str,
        inputs: Mapping[str, str | int] | None = None,
        assessment: AssessmentInput | None = None,
        *,
        callback: Callback | None = None,
        about: str | None = None,
        asks_all: bool = False,
    ) -> InterviewSnapshot:
        """Begin an interview and put its first question.

        `callback`: where it is told that the interview is held. `about`: the id of the assessment
        that it is about, which counts where it is stored. `asks_all`: whether it also asks what
        earlier interviews about that assessment have answered.
        Raises `InputError` for inputs that the protocol does not take, `RequestConflict` when the
        protocol needs a model and there is none, and `StoreUnusable` when no more can be kept. Of a
        creation that is cancelled nothing is kept.
        """
        followed = self._protocol_named(protocol)
        context = self._context(followed)
        record_id = await self._ask(lambda store: store.rows.stored_record(about))
        begun = self._new(context, inputs or {}, assessment)
        interview = replace(begun, callback=callback, about=record_id)
        if interview.assessment is not None and not asks_all:
            answered = answered_in(await self._earlier(interview))
            known = replace(interview.assessment, answered_before=answered)
            interview = replace(interview, assessment=known)
        if not followed.needs_model:
            interview = await follow(context, interview, Event.ADVANCE)
        async with self._lock(interview.id):
            try:
                await self._ask(lambda store: store.add(interview))
                if interview.state is InterviewState.PREPARING:
                    interview = await self._take(context, interview, Event.ADVANCE)
            except asyncio.CancelledError:
                # Nobody was given its id, so nobody could ever go on with it.
                with suppress(NotFound, StoreUnusable):
                    await self._ask(lambda store: store.delete(interview.id))
                raise
        log_interview("interview_created", interview)
        return await self._shown(interview)

    async def answer(self, interview_id: str, submission: AnswerSubmission) -> InterviewSnapshot:
        """Take an answer and put the next question; the same key gives the same snapshot.

        Raises `RequestConflict` for another version, a key that was used or an interview that is
        over, and `InputError` for an answer that was not offered, is empty or too long.
        """
        check_key(submission)
        is_joined = submission.is_appended and submission.text is not None
        if (
            is_joined
            and submission.option_id is None
            and not await self._is_known(interview_id, submission.idempotency_key)
        ):
            return await self._joining.answer(
                interview_id, submission, lambda whole: self._answer(interview_id, whole)
            )
        return await self._answer(interview_id, submission)

    async def _is_known(self, interview_id: str, key: str) -> bool:
        """Return whether an answer with this key was taken already."""
        known = await self._ask(lambda store: store.known(check_id(interview_id), key))
        return known is not None

    async def _answer(self, interview_id: str, submission: AnswerSubmission) -> InterviewSnapshot:
        started = time.perf_counter()
        async with self._lock(check_id(interview_id)):
            interview = await self._load(interview_id)
            context = self._context(self.protocol_of(interview), submission)
            known = await self._ask(
                lambda store: store.known(interview.id, submission.idempotency_key)
            )
            if known is not None:
                if known.sent != submission.to_bytes():
                    raise RequestConflict("key_reused")
                if known.after is not None:
                    return await self._shown(known.after)
                is_open = interview.answer_key == submission.idempotency_key
            else:
                event = _event_of(submission)
                interview = await self._take(context, interview, event)
                is_open = interview.state is InterviewState.DIGESTING
            if is_open:
                context = replace(context, submission=None)
                interview = await self._take(context, interview, Event.ADVANCE)
        log_interview("interview_turn_finished", interview, started=started)
        return await self._shown(interview)

    async def get(self, interview_id: str) -> InterviewSnapshot:
        """Return an interview as it was stored last."""
        return await self._shown(await self._load(check_id(interview_id)))

    async def pause(self, interview_id: str) -> InterviewSnapshot:
        """Pause a waiting interview; `retry`, or an answer, continues it."""
        return await self._happens(interview_id, Event.PAUSE)

    async def retry(self, interview_id: str) -> InterviewSnapshot:
        """Take the one step that failed or was cut short, or go on after a pause.

        Where no step is open nothing changes.
        """
        return await self._happens(interview_id, Event.ADVANCE)

    async def reopen(self, interview_id: str, *, reason: str, author: str) -> InterviewSnapshot:
        """Let a held interview go on: the question that waited is put again.

        `author`: `Principal.id` of whoever decides it. Raises `InputError` for a reason that is
        blank or too long, and `RequestConflict` for an interview that is not held.
        """
        refuse_broken_input(reason, field_="reason")
        if not reason.strip() or len(reason) > MOST_REASON:
            msg = f"the reason has 1 to {MOST_REASON} characters, not all blank"
            raise InputError(msg, field="reason")
        # The step knows after which message it is.
        reopening = Reopening(author=author, at=datetime.now(UTC), reason=reason, after="")
        reopened = await self._happens(interview_id, Event.REOPEN, reopening)
        log_interview("interview_reopened", reopened)
        return reopened

    async def make_report(self, interview_id: str) -> InterviewSnapshot:
        """Return the report, which is made once and kept; raises `RequestConflict`.

        Raises `AgentFailed` when the model that writes it fails; it can be asked for again.
        """
        async with self._lock(check_id(interview_id)):
            before = await self._load(interview_id)
            context = self._context(self.protocol_of(before))
            interview = await self._take(context, before, Event.REPORT)
        if interview.state is InterviewState.REPORTING:
            raise AgentFailed("generate_analysis", interview.failure or FailureCode.OUTPUT_REJECTED)
        if interview.version > before.version:
            log_interview("interview_report_written", interview)
        return await self._shown(interview)

    async def report(self, interview_id: str) -> InterviewSnapshot:
        """Return the report that was made; raises `RequestConflict`."""
        interview = await self._load(check_id(interview_id))
        if interview.state is InterviewState.REPORTING:
            raise RequestConflict("report_not_made")
        if not interview.state.is_over:
            raise RequestConflict("interview_unfinished")
        return await self._shown(interview)

    async def delete(self, interview_id: str) -> None:
        """Remove all that is stored of an interview."""
        async with self._lock(check_id(interview_id)):
            await self._ask(lambda store: store.delete(interview_id))
        logger.info("interview_deleted", interview_hash=keyed_digest(interview_id))

    async def list(self) -> tuple[InterviewListing, ...]:
        """Return all interviews, those that are held first, then the latest.

        One that cannot be read is marked.
        """
        return await self._ask(lambda store: store.list())

    async def meant_by(self, given: str) -> tuple[InterviewListing, ...]:
        """Return the interviews of an id, an assessment's id or a study id, the newest first.

        Raises `InputError` for what is not valid Unicode.
        """
        refuse_broken_input(given, field_="ID")
        return await self._ask(lambda store: store.meant_by(given))

    async def page(self, wanted: InterviewListRequest) -> InterviewPage:
        """Return a part of that list; raises `InputError` for a cursor that no page gave."""
        return await self._ask(lambda store: store.page(wanted))

    def _new(
        self,
        context: StepContext,
        inputs: Mapping[str, str | int],
        assessment: AssessmentInput | None,
    ) -> Interview:
        protocol = context.protocol
        if assessment is not None and protocol.kind is not ProtocolKind.ITEMS:
            msg = f"the protocol {protocol.id!r} does not begin with an assessment"
            raise InputError(msg, field="assessment")
        for name, value in inputs.items():
            refuse_broken_input(f"{name}{value}", field_="inputs")
        for item in assessment.items.values() if assessment else ():
            refuse_broken_input("".join(item.evidence), field_="assessment")
        return Interview(
            id=make_id(),
            protocol=ProtocolReference(
                id=protocol.id, version=protocol.version, digest=protocol.digest
            ),
            state=InterviewState.PREPARING,
            inputs=accepted_inputs(protocol, inputs),
            assessment=AssessmentInput(items=dict(assessment.items)) if assessment else None,
        )

    async def _happens(
        self, interview_id: str, event: Event, reopening: Reopening | None = None
    ) -> InterviewSnapshot:
        async with self._lock(check_id(interview_id)):
            interview = await self._load(interview_id)
            context = self._context(self.protocol_of(interview), reopening=reopening)
            interview = await self._take(context, interview, event)
        return await self._shown(interview)

    async def _shown(self, interview: Interview) -> InterviewSnapshot:
        """Return an interview as its caller gets it; raises `ArtifactMismatch`."""
        protocol = self.protocol_of(interview)
        earlier = await self._earlier(interview)
        return snapshot_of(protocol, interview, earlier, self._in_danger)

    def _context(
        self,
        protocol: InterviewProtocol,
        submission: AnswerSubmission | None = None,
        *,
        reopening: Reopening | None = None,
    ) -> StepContext:
        return StepContext(
            protocol=protocol,
            agents=self._agents,
            danger=self._danger,
            limits=self._limits,
            submission=submission,
            reopening=reopening,
        )

    def _protocol_named(self, name: str) -> InterviewProtocol:
        protocol = self._protocols.get(name)
        if protocol is None:
            msg = f"there is no such protocol; there are {', '.join(sorted(self._protocols))}"
            raise InputError(msg, field="protocol")
        if protocol.needs_model:
            _ = self._context(protocol).required_agents
        return protocol

    def protocol_of(self, interview: Interview) -> InterviewProtocol:
        """Return the protocol that an interview follows; raises `ArtifactMismatch`."""
        protocol = self._protocols.get(interview.protocol.id)
        if protocol is None or protocol.digest != interview.protocol.digest:
            raise protocol_changed(interview.protocol.id)
        return protocol

    @property
    def protocols(self) -> tuple[InterviewProtocol, ...]:
        """All protocols that an interview can follow, the built-in ones first."""
        return tuple(self._protocols.values())

    async def get_by_hash(self, id_hash: str) -> InterviewSnapshot:
        """Return the interview with this hash of its id as it was stored last."""
        return await self.get(await self._ask(lambda store: store.rows.id_of(id_hash)))

    async def _take(self, context: StepContext, interview: Interview, event: Event) -> Interview:
        """Take one transition and store what it leads to, with the answer that brought it."""
        try:
            following = await follow(context, interview, event)
        except asyncio.CancelledError:
            await self._keep_spent(context, interview)
            raise
        if following is interview:
            return interview
        numbered = replace(following, version=interview.version + 1)
        sent, key, answer = context.submission, interview.answer_key, None
        if sent is not None:
            key = sent.idempotency_key
            answer = Keyed(key=key, number=interview.turn + 1, content=sent.to_bytes())
        is_worked_in = numbered.answer_key is None
        finished_key = key if is_worked_in else None
        events = tuple(_events(interview, numbered))
        try:
            await self._ask(
                lambda store: store.save(
                    numbered, answer=answer, finished_key=finished_key, events=events
                )
            )
        except RequestConflict:
            if sent is not None:
                raise
            # Another process has taken the step meanwhile: what it stored stands.
            return await self._load(interview.id)
        for danger in numbered.dangers[len(interview.dangers) :]:
            report_hold(numbered, danger)
        return numbered

    async def _load(self, interview_id: str) -> Interview:
        """Return an interview as it was stored last; raises `NotFound`."""
        return await self._ask(lambda store: store.load(interview_id))

    async def _earlier(self, interview: Interview) -> tuple[Interview, ...]:
        """Return the earlier interviews about the same assessment that count, the newest first."""
        if interview.about is None:
            return ()
        return await self._ask(lambda store: store.earlier(interview))

    async def _ask(self, work: Callable[[InterviewStore], T]) -> T:
        """Do work on the store after all that was asked of it before."""
        try:
            return await self._threads.run(partial(_worded, work, self._store))
        except WorkTimedOut:
            raise store_unusable() from None

    def _lock(self, interview_id: str) -> asyncio.Lock:
        """Return what holds an interview for one step at a time."""
        return self._locks.setdefault(interview_id, asyncio.Lock())

    async def _keep_spent(self, context: StepContext, interview: Interview) -> None:
        """Count the calls of a step that was cut short: they were paid for."""
        made = [attempt for log in context.logs for attempt in log.attempts]
        if made:
            spent = interview.spent.with_calls(made)
            counted = replace(interview, version=interview.version + 1, spent=spent)
            with suppress(NotFound, StoreUnusable, RequestConflict):
                await self._ask(lambda store: store.save(counted, answer=None, finished_key=None))


def _worded(work: Callable[[InterviewStore], T], store: InterviewStore) -> T:
    with translated():
        return work(store)


def _event_of(submission: AnswerSubmission) -> Event:
    if submission.is_stop:
        return Event.STOP
    return Event.PAUSE if submission.is_pause else Event.ANSWER


def _events(before: Interview, after: Interview) -> Iterator[DeliveryEvent]:
    """Yield what a step has led to that others may be told of."""
    if len(after.dangers) > len(before.dangers):
        yield DeliveryEvent.INTERVIEW_HELD
    if after.state in _FINISHED and before.state not in _FINISHED:
        yield DeliveryEvent.INTERVIEW_FINISHED
