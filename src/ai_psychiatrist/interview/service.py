"""Interviews from their creation to their report: load one, take one transition, store it."""

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Final

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
from ai_psychiatrist.interview.agents_port import InterviewAgentsPort
from ai_psychiatrist.interview.engine.context import StepContext
from ai_psychiatrist.interview.engine.danger import DangerReader
from ai_psychiatrist.interview.errors import protocol_changed
from ai_psychiatrist.interview.ids import check_id, make_id
from ai_psychiatrist.interview.interview_log import log_interview
from ai_psychiatrist.interview.interview_store import InterviewStore
from ai_psychiatrist.interview.joining import Joining
from ai_psychiatrist.interview.limits import InterviewLimits
from ai_psychiatrist.interview.machine import Event, follow
from ai_psychiatrist.interview.protocol.accepted_inputs import accepted_inputs
from ai_psychiatrist.interview.protocol.records import InterviewProtocol, ProtocolKind
from ai_psychiatrist.interview.record import Interview, ProtocolReference, Reopening
from ai_psychiatrist.interview.snapshot import (
    InterviewListing,
    InterviewPage,
    InterviewSnapshot,
    snapshot_of,
)
from ai_psychiatrist.interview.stored_steps import StoredSteps
from ai_psychiatrist.interview.submission import AnswerSubmission, check_key, refuse_broken_input
from ai_psychiatrist.store.interviews import InterviewListRequest
from ai_psychiatrist.store.jobs import Callback

logger = get_logger(__name__)

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
    ) -> None:
        """`protocols`: by their ids. `agents`: `None` where there is no model.

        `danger`: reads free answers for danger beside the rules; `None` leaves them to the rules.
        """
        self._protocols = dict(protocols)
        self._stored = StoredSteps(store)
        self._agents = agents
        self._danger = danger
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
    ) -> InterviewSnapshot:
        """Begin an interview and put its first question.

        `callback`: where it is told that the interview is held. `about`: the id of the assessment
        that it is about, which counts where it is stored.
        Raises `InputError` for inputs that the protocol does not take, `RequestConflict` when the
        protocol needs a model and there is none, and `StoreUnusable` when no more can be kept. Of a
        creation that is cancelled nothing is kept.
        """
        followed = self._protocol_named(protocol)
        context = self._context(followed)
        if about is not None:
            is_stored = await self._stored.run(partial(_has_record, about))
            about = about if is_stored else None
        begun = self._new(context, inputs or {}, assessment)
        interview = replace(begun, callback=callback, about=about)
        if not followed.needs_model:
            interview = await follow(context, interview, Event.ADVANCE)
        async with self._stored.lock(interview.id):
            try:
                await self._stored.run(lambda store: store.add(interview))
                if interview.state is InterviewState.PREPARING:
                    interview = await self._stored.take(context, interview, Event.ADVANCE)
            except asyncio.CancelledError:
                # Nobody was given its id, so nobody could ever go on with it.
                with suppress(NotFound, StoreUnusable):
                    await self._stored.run(lambda store: store.delete(interview.id))
                raise
        log_interview("interview_created", interview)
        return snapshot_of(followed, interview)

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
        known = await self._stored.run(lambda store: store.known(check_id(interview_id), key))
        return known is not None

    async def _answer(self, interview_id: str, submission: AnswerSubmission) -> InterviewSnapshot:
        started = time.perf_counter()
        async with self._stored.lock(check_id(interview_id)):
            interview = await self._stored.load(interview_id)
            context = self._context(self.protocol_of(interview), submission)
            known = await self._stored.run(
                lambda store: store.known(interview.id, submission.idempotency_key)
            )
            if known is not None:
                if known.sent != submission.to_bytes():
                    raise RequestConflict("key_reused")
                if known.after is not None:
                    return snapshot_of(context.protocol, known.after)
                is_open = interview.answer_key == submission.idempotency_key
            else:
                event = _event_of(submission)
                interview = await self._stored.take(context, interview, event)
                is_open = interview.state is InterviewState.DIGESTING
            if is_open:
                context = replace(context, submission=None)
                interview = await self._stored.take(context, interview, Event.ADVANCE)
        log_interview("interview_turn_finished", interview, started=started)
        return snapshot_of(context.protocol, interview)

    async def get(self, interview_id: str) -> InterviewSnapshot:
        """Return an interview as it was stored last."""
        interview = await self._stored.load(check_id(interview_id))
        return snapshot_of(self.protocol_of(interview), interview)

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
        async with self._stored.lock(check_id(interview_id)):
            before = await self._stored.load(interview_id)
            context = self._context(self.protocol_of(before))
            interview = await self._stored.take(context, before, Event.REPORT)
        if interview.state is InterviewState.REPORTING:
            raise AgentFailed("generate_analysis", interview.failure or FailureCode.OUTPUT_REJECTED)
        if interview.version > before.version:
            log_interview("interview_report_written", interview)
        return snapshot_of(context.protocol, interview)

    async def report(self, interview_id: str) -> InterviewSnapshot:
        """Return the report that was made; raises `RequestConflict`."""
        interview = await self._stored.load(check_id(interview_id))
        if interview.state is InterviewState.REPORTING:
            raise RequestConflict("report_not_made")
        if not interview.state.is_over:
            raise RequestConflict("interview_unfinished")
        return snapshot_of(self.protocol_of(interview), interview)

    async def delete(self, interview_id: str) -> None:
        """Remove all that is stored of an interview."""
        async with self._stored.lock(check_id(interview_id)):
            await self._stored.run(lambda store: store.delete(interview_id))
        logger.info("interview_deleted", interview_hash=keyed_digest(interview_id))

    async def list(self) -> tuple[InterviewListing, ...]:
        """Return all interviews, those that are held first, then the latest.

        One that cannot be read is marked.
        """
        return await self._stored.run(lambda store: store.list())

    async def meant_by(self, given: str) -> tuple[InterviewListing, ...]:
        """Return the interviews of an id, an assessment's id or a study id, the newest first.

        Raises `InputError` for what is not valid Unicode.
        """
        refuse_broken_input(given, field_="ID")
        return await self._stored.run(lambda store: store.meant_by(given))

    async def page(self, wanted: InterviewListRequest) -> InterviewPage:
        """Return a part of that list; raises `InputError` for a cursor that no page gave."""
        return await self._stored.run(lambda store: store.page(wanted))

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
        async with self._stored.lock(check_id(interview_id)):
            interview = await self._stored.load(interview_id)
            context = self._context(self.protocol_of(interview), reopening=reopening)
            interview = await self._stored.take(context, interview, event)
        return snapshot_of(context.protocol, interview)

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
        return await self.get(await self._stored.run(lambda store: store.id_of(id_hash)))


def _has_record(record_id: str, store: InterviewStore) -> bool:
    return store.has_record(record_id)


def _event_of(submission: AnswerSubmission) -> Event:
    if submission.is_stop:
        return Event.STOP
    return Event.PAUSE if submission.is_pause else Event.ANSWER
