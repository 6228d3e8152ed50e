"""Interviews from their creation to their report: load one, take one transition, store it."""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar
from weakref import WeakValueDictionary

from ai_psychiatrist.domain.errors import AgentFailed, InputError
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.domain.interview_items import AssessmentInput
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.worker_threads import WorkerThreads, WorkTimedOut
from ai_psychiatrist.interview.agents_port import InterviewAgentsPort
from ai_psychiatrist.interview.engine.context import StepContext
from ai_psychiatrist.interview.engine.danger import DangerReader
from ai_psychiatrist.interview.errors import (
    InterviewNotFound,
    InterviewUnfinished,
    KeyReused,
    ProtocolChanged,
    ReportNotMade,
    StoreUnusable,
    VersionConflict,
)
from ai_psychiatrist.interview.ids import check_id, make_id
from ai_psychiatrist.interview.interview_log import log_interview
from ai_psychiatrist.interview.limits import InterviewLimits
from ai_psychiatrist.interview.machine import Event, follow
from ai_psychiatrist.interview.protocol.accepted_inputs import accepted_inputs
from ai_psychiatrist.interview.protocol.records import InterviewProtocol, ProtocolKind
from ai_psychiatrist.interview.record import Interview, ProtocolReference
from ai_psychiatrist.interview.snapshot import InterviewListing, InterviewSnapshot, snapshot_of
from ai_psychiatrist.interview.store.store import InterviewStore, TakenAnswer
from ai_psychiatrist.interview.submission import AnswerSubmission, check_key, refuse_broken_text

logger = get_logger(__name__)

T = TypeVar("T")

_STORE_SECONDS: Final = 15.0
"""Three times as long as the store itself waits for another program."""

__all__ = ["AnswerSubmission", "InterviewLimits", "InterviewService"]


class InterviewService:
    """Begins interviews, takes answers and reports; any number of interviews at once.

    Every method may raise `StoreUnusable`, and those that take an id `InterviewNotFound`,
    `InterviewUnreadable` and `ProtocolChanged`. What the state of an interview does not take is
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
        self._store = store
        self._agents = agents
        self._danger = danger
        self._limits = limits or InterviewLimits()
        # One: what is asked of the store happens in the order in which it was asked.
        self._threads = WorkerThreads(count=1, seconds=_STORE_SECONDS)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def has_model(self) -> bool:
        """Whether a model may be asked."""
        return self._agents is not None

    async def create(
        self,
        protocol: str,
        inputs: Mapping[str, str | int] | None = None,
        assessment: AssessmentInput | None = None,
    ) -> InterviewSnapshot:
        """Begin an interview and put its first question.

        Raises `InputError` for inputs that the protocol does not take, `RequestConflict` when the
        protocol needs a model and there is none, and `StoreFull` when no more can be kept. Of a
        creation that is cancelled nothing is kept.
        """
        followed = self._protocol_named(protocol)
        context = self._context(followed)
        interview = self._new(context, inputs or {}, assessment)
        if not followed.needs_model:
            interview = await follow(context, interview, Event.ADVANCE)
        async with self._lock(interview.id):
            try:
                await self._at_rest(partial(self._store.add, interview))
                if interview.state is InterviewState.PREPARING:
                    interview = await self._take(context, interview, Event.ADVANCE)
            except asyncio.CancelledError:
                # Nobody was given its id, so nobody could ever go on with it.
                with suppress(InterviewNotFound, StoreUnusable):
                    await self._at_rest(partial(self._store.delete, interview.id))
                raise
        log_interview("interview_created", interview)
        return snapshot_of(followed, interview)

    async def answer(self, interview_id: str, submission: AnswerSubmission) -> InterviewSnapshot:
        """Take an answer and put the next question; the same key gives the same snapshot.

        Raises `VersionConflict`, `InterviewOver` or `KeyReused`, all of them `RequestConflict`s, or
        `InputError` for an answer that was not offered, is empty or too long.
        """
        check_key(submission)
        started = time.perf_counter()
        async with self._lock(check_id(interview_id)):
            interview = await self._load(interview_id)
            context = self._context(self._protocol_of(interview), submission)
            known = await self._at_rest(
                partial(self._store.known, interview.id, submission.idempotency_key)
            )
            if known is not None:
                if known.sent != submission.to_bytes():
                    raise KeyReused
                if known.after is not None:
                    return snapshot_of(context.protocol, known.after)
                is_open = interview.answer_key == submission.idempotency_key
            else:
                event = Event.STOP if submission.is_stop else Event.ANSWER
                interview = await self._take(context, interview, event)
                is_open = interview.state is InterviewState.DIGESTING
            if is_open:
                context = replace(context, submission=None)
                interview = await self._take(context, interview, Event.ADVANCE)
        log_interview("interview_turn_finished", interview, started=started)
        return snapshot_of(context.protocol, interview)

    async def get(self, interview_id: str) -> InterviewSnapshot:
        """Return an interview as it was stored last."""
        interview = await self._load(check_id(interview_id))
        return snapshot_of(self._protocol_of(interview), interview)

    async def pause(self, interview_id: str) -> InterviewSnapshot:
        """Set a waiting interview aside; `retry`, or an answer, goes on with it."""
        return await self._happens(interview_id, Event.PAUSE)

    async def retry(self, interview_id: str) -> InterviewSnapshot:
        """Take the one step that failed or was cut short, or go on after a pause.

        Where no step is open nothing changes.
        """
        return await self._happens(interview_id, Event.ADVANCE)

    async def make_report(self, interview_id: str) -> InterviewSnapshot:
        """Return the report, which is made once and kept; raises `InterviewUnfinished`.

        Raises `AgentFailed` when the model that writes it fails; it can be asked for again.
        """
        async with self._lock(check_id(interview_id)):
            before = await self._load(interview_id)
            context = self._context(self._protocol_of(before))
            interview = await self._take(context, before, Event.REPORT)
        if interview.state is InterviewState.REPORTING:
            raise AgentFailed("generate_analysis", interview.failure or FailureCode.OUTPUT_REJECTED)
        if interview.version > before.version:
            log_interview("interview_report_written", interview)
        return snapshot_of(context.protocol, interview)

    async def report(self, interview_id: str) -> InterviewSnapshot:
        """Return the report that was made; raises `InterviewUnfinished` and `ReportNotMade`."""
        interview = await self._load(check_id(interview_id))
        if interview.state is InterviewState.REPORTING:
            raise ReportNotMade
        if not interview.state.is_over:
            raise InterviewUnfinished
        return snapshot_of(self._protocol_of(interview), interview)

    async def delete(self, interview_id: str) -> None:
        """Remove all that is stored of an interview."""
        async with self._lock(check_id(interview_id)):
            await self._at_rest(partial(self._store.delete, interview_id))
        logger.info("interview_deleted", interview_hash=keyed_digest(interview_id))

    async def list(self) -> tuple[InterviewListing, ...]:
        """Return all interviews, the latest first; one that cannot be read is marked."""
        return await self._at_rest(self._store.list)

    async def remove_expired(self) -> None:
        """Remove the interviews that were kept as long as they may be."""
        removed = await self._at_rest(self._store.remove_expired)
        if removed:
            logger.info("interviews_expired", count=removed)

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
            refuse_broken_text(f"{name}{value}", field_="inputs")
        for item in assessment.items.values() if assessment else ():
            refuse_broken_text("".join(item.evidence), field_="assessment")
        return Interview(
            id=make_id(),
            protocol=ProtocolReference(
                id=protocol.id, version=protocol.version, digest=protocol.digest
            ),
            state=InterviewState.PREPARING,
            inputs=accepted_inputs(protocol, inputs),
            assessment=AssessmentInput(items=dict(assessment.items)) if assessment else None,
        )

    async def _happens(self, interview_id: str, event: Event) -> InterviewSnapshot:
        async with self._lock(check_id(interview_id)):
            interview = await self._load(interview_id)
            context = self._context(self._protocol_of(interview))
            interview = await self._take(context, interview, event)
        return snapshot_of(context.protocol, interview)

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
            answer = TakenAnswer(key=key, turn=interview.turn + 1, sent=sent.to_bytes())
        is_worked_in = numbered.answer_key is None
        finished_key = key if is_worked_in else None
        try:
            await self._at_rest(
                partial(self._store.save, numbered, answer=answer, finished_key=finished_key)
            )
        except VersionConflict:
            if sent is not None:
                raise
            # Another process has taken the step meanwhile: what it stored stands.
            return await self._load(interview.id)
        return numbered

    async def _keep_spent(self, context: StepContext, interview: Interview) -> None:
        """Count the calls of a step that was cut short: they were paid for."""
        made = [attempt for log in context.logs for attempt in log.attempts]
        if made:
            spent = interview.spent.with_calls(made)
            counted = replace(interview, version=interview.version + 1, spent=spent)
            with suppress(InterviewNotFound, StoreUnusable, VersionConflict):
                await self._at_rest(
                    partial(self._store.save, counted, answer=None, finished_key=None)
                )

    async def _load(self, interview_id: str) -> Interview:
        return await self._at_rest(partial(self._store.load, interview_id))

    async def _at_rest(self, work: Callable[[], T]) -> T:
        try:
            return await self._threads.run(work)
        except WorkTimedOut:
            raise StoreUnusable from None

    def _context(
        self, protocol: InterviewProtocol, submission: AnswerSubmission | None = None
    ) -> StepContext:
        return StepContext(
            protocol=protocol,
            agents=self._agents,
            danger=self._danger,
            limits=self._limits,
            submission=submission,
        )

    def _protocol_named(self, name: str) -> InterviewProtocol:
        protocol = self._protocols.get(name)
        if protocol is None:
            msg = f"there is no such protocol; there are {', '.join(sorted(self._protocols))}"
            raise InputError(msg, field="protocol")
        if protocol.needs_model:
            _ = self._context(protocol).required_agents
        return protocol

    def _protocol_of(self, interview: Interview) -> InterviewProtocol:
        protocol = self._protocols.get(interview.protocol.id)
        if protocol is None or protocol.digest != interview.protocol.digest:
            raise ProtocolChanged(interview.protocol.id)
        return protocol

    def _lock(self, interview_id: str) -> asyncio.Lock:
        return self._locks.setdefault(interview_id, asyncio.Lock())
