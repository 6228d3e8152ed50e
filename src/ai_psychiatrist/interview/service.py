"""Interviews from their creation to their report."""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar
from weakref import WeakValueDictionary

from ai_psychiatrist.domain.errors import AgentFailed, InputError, RequestConflict
from ai_psychiatrist.domain.failures import FailureCode
from ai_psychiatrist.domain.interview import AssessmentInput, EndReason, InterviewState
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.worker_processes import beside_the_loop
from ai_psychiatrist.infrastructure.worker_threads import WorkerThreads, WorkTimedOut
from ai_psychiatrist.interview.agents_port import InterviewAgentsPort
from ai_psychiatrist.interview.engine.confirming import is_for_model
from ai_psychiatrist.interview.engine.danger import (
    DangerReader,
    danger_in,
    danger_of,
    is_to_be_read,
    note_reading,
    note_unread,
    read_by_model,
)
from ai_psychiatrist.interview.engine.driver import REPORT_CALLS, GoalsDriver
from ai_psychiatrist.interview.engine.items import begin_items, digest_item_answer
from ai_psychiatrist.interview.engine.proposing import with_proposal
from ai_psychiatrist.interview.engine.record import Interview, ProtocolReference
from ai_psychiatrist.interview.engine.turns import end, hold, take_answer
from ai_psychiatrist.interview.errors import (
    InterviewNotFound,
    InterviewUnfinished,
    KeyReused,
    ProtocolChanged,
    StoreUnusable,
    VersionConflict,
)
from ai_psychiatrist.interview.ids import check_id, make_id
from ai_psychiatrist.interview.limits import InterviewLimits
from ai_psychiatrist.interview.protocol.accepted_inputs import accepted_inputs
from ai_psychiatrist.interview.protocol.records import InterviewProtocol, ProtocolKind
from ai_psychiatrist.interview.snapshot import (
    InterviewListing,
    InterviewReport,
    InterviewSnapshot,
)
from ai_psychiatrist.interview.store.store import InterviewStore, TakenAnswer
from ai_psychiatrist.interview.submission import (
    AnswerSubmission,
    check_is_current,
    check_key,
    given_answer,
    refuse_broken_text,
)
from ai_psychiatrist.interview.visible_state import (
    is_resumable,
    report_inputs_hash,
    report_of,
    snapshot_of,
)
from ai_psychiatrist.llm.call_log import CallLog

logger = get_logger(__name__)

T = TypeVar("T")

_STORE_SECONDS: Final = 15.0
"""Three times as long as the store itself waits for another program."""

__all__ = ["AnswerSubmission", "InterviewLimits", "InterviewService"]


class InterviewService:
    """Begins interviews, takes answers and reports; any number of interviews at once.

    Every method may raise `StoreUnusable`, and those that take an id `InterviewNotFound`,
    `InterviewUnreadable` and `ProtocolChanged`.
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

        Raises `InputError` for inputs that the protocol does not take, and `RequestConflict` when
        the protocol needs a model and there is none; `StoreFull` when no more can be kept. A model
        that fails does not raise: the snapshot's state is `failed`, and `resume` tries again. Of a
        creation that is cancelled nothing is kept.
        """
        followed = self._protocol_named(protocol)
        interview = self._new(followed, inputs or {}, assessment)
        if followed.kind is ProtocolKind.ITEMS:
            interview = begin_items(followed, interview)
        async with self._lock(interview.id):
            try:
                await self._at_rest(partial(self._store.add, interview))
                if is_resumable(interview):
                    interview = await self._advance(followed, interview)
            except asyncio.CancelledError:
                # Nobody was told its id, so nobody could ever go on with it.
                with suppress(InterviewNotFound, StoreUnusable):
                    await self._at_rest(partial(self._store.delete, interview.id))
                raise
        _log("interview_created", interview)
        return snapshot_of(followed, interview)

    async def answer(self, interview_id: str, submission: AnswerSubmission) -> InterviewSnapshot:
        """Take an answer and put the next question; the same key gives the same snapshot.

        Raises `VersionConflict`, `InterviewOver` or `KeyReused`, all of them `RequestConflict`s, or
        `InputError` for an answer that was not offered, is empty or too long. A model that fails
        does not raise: the answer is kept, the snapshot's state is `failed`, and `resume` tries
        again.
        """
        check_key(submission)
        started = time.perf_counter()
        async with self._lock(check_id(interview_id)):
            interview = await self._load(interview_id)
            protocol = self._protocol_of(interview)
            after = await self._answered_before(protocol, interview, submission)
            if after is None:
                after = await self._take(protocol, interview, submission)
                _log("interview_turn_finished", after, started=started)
        return snapshot_of(protocol, after)

    async def get(self, interview_id: str) -> InterviewSnapshot:
        """Return an interview as it was stored last; no model is asked."""
        interview = await self._load(check_id(interview_id))
        return snapshot_of(self._protocol_of(interview), interview)

    async def pause(self, interview_id: str) -> InterviewSnapshot:
        """Set a waiting interview aside; `resume`, or an answer, goes on with it.

        Raises `RequestConflict` when it does not wait for an answer.
        """
        async with self._lock(check_id(interview_id)):
            interview = await self._load(interview_id)
            protocol = self._protocol_of(interview)
            if interview.state is not InterviewState.AWAITING:
                msg = f"the interview is {interview.state.value} and does not wait for an answer"
                raise RequestConflict(msg, field="interview_id")
            paused = replace(interview, state=InterviewState.PAUSED)
            interview = await self._save(paused, after=interview)
        return snapshot_of(protocol, interview)

    async def resume(self, interview_id: str) -> InterviewSnapshot:
        """Go on with an interview that was paused, failed or was cut short.

        The one step that is open is tried once; an interview that waits for an answer stays as it
        is.
        """
        async with self._lock(check_id(interview_id)):
            interview = await self._load(interview_id)
            protocol = self._protocol_of(interview)
            if is_resumable(interview):
                interview = await self._advance(protocol, interview)
            elif interview.state is InterviewState.PAUSED:
                awaiting = replace(interview, state=InterviewState.AWAITING)
                interview = await self._save(awaiting, after=interview)
        return snapshot_of(protocol, interview)

    async def report(self, interview_id: str) -> InterviewReport:
        """Return the report, made once and kept; raises `InterviewUnfinished` before the end.

        Raises `AgentFailed` when the model that writes it fails; asking again tries again.
        """
        async with self._lock(check_id(interview_id)):
            interview = await self._load(interview_id)
            protocol = self._protocol_of(interview)
            if not interview.state.is_over:
                raise InterviewUnfinished
            if interview.state is InterviewState.REPORTING:
                interview = await self._analysed(protocol, interview)
        return report_of(protocol, interview)

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
        protocol: InterviewProtocol,
        inputs: Mapping[str, str | int],
        assessment: AssessmentInput | None,
    ) -> Interview:
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

    async def _answered_before(
        self, protocol: InterviewProtocol, interview: Interview, submission: AnswerSubmission
    ) -> Interview | None:
        """Return what came of the same answer; one that is not yet worked in is worked in now."""
        known = await self._at_rest(
            partial(self._store.known, interview.id, submission.idempotency_key)
        )
        if known is None:
            return None
        if known.sent != submission.to_bytes():
            raise KeyReused
        if known.after is not None:
            return known.after
        is_pending = interview.answer_key == submission.idempotency_key
        return await self._advance(protocol, interview) if is_pending else interview

    async def _take(
        self, protocol: InterviewProtocol, interview: Interview, submission: AnswerSubmission
    ) -> Interview:
        check_is_current(interview, submission)
        key = submission.idempotency_key
        taken = TakenAnswer(key=key, turn=interview.turn + 1, sent=submission.to_bytes())
        if submission.is_stop:
            ended = end(protocol, interview, EndReason.STOPPED)
            return await self._save(ended, after=interview, answer=taken, finished_key=key)
        taken_in = self._with_answer(protocol, interview, submission)
        stored = await beside_the_loop(partial(note_unread, taken_in))
        if stored.not_examined != interview.not_examined:
            _log("answer_not_examined", stored)
        is_read = self._danger is not None and is_to_be_read(stored)
        following = await beside_the_loop(
            partial(_without_model, protocol, stored, has_model=self.has_model, is_read=is_read)
        )
        if following is not None:
            return await self._save(following, after=interview, answer=taken, finished_key=key)
        stored = await self._save(stored, after=interview, answer=taken)
        return await self._advance(protocol, stored)

    def _with_answer(
        self, protocol: InterviewProtocol, interview: Interview, submission: AnswerSubmission
    ) -> Interview:
        if interview.question is None:
            raise VersionConflict(field="question_id")
        answer = given_answer(
            interview.question,
            submission,
            turn=interview.turn + 1,
            max_characters=min(self._limits.max_answer_characters, protocol.answers.max_length),
        )
        return take_answer(interview, answer, submission.idempotency_key)

    async def _advance(self, protocol: InterviewProtocol, interview: Interview) -> Interview:
        """Take the step that is open, and store what came of it."""
        key = None
        if (interview.failed_from or interview.state) is InterviewState.PREPARING:
            following = await self._driver(protocol).prepare(interview)
        else:
            following = await self._turn(protocol, interview)
            is_finished = following.state is not InterviewState.FAILED
            key = interview.answer_key if is_finished else None
        try:
            return await self._save(following, after=interview, finished_key=key)
        except VersionConflict:
            # Another process has taken the step meanwhile: what it stored stands.
            return await self._load(interview.id)

    async def _turn(self, protocol: InterviewProtocol, interview: Interview) -> Interview:
        """Work the stored answer in while the danger agent reads it, and hold for what it finds."""
        reader, question, answer = self._danger, interview.question, interview.answer
        if reader is None or question is None or answer is None or not is_to_be_read(interview):
            return await self._worked_in(protocol, interview)
        calls = CallLog.of(self._calls_to_read(reader, interview))
        seconds = self._limits.turn_timeout_seconds
        reading = asyncio.create_task(
            read_by_model(reader, question, answer, calls, seconds=seconds)
        )
        try:
            worked_in = await self._worked_in(protocol, interview, kept_back=calls.budget.left)
            read = await reading
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        danger = danger_of(read.signals, question, answer)
        following = worked_in if danger is None else hold(protocol, interview, danger)
        following = note_reading(following, answer.turn, read)
        if read.code is not None:
            _log("answer_not_read_for_danger", following, code=read.code)
        return replace(following, spent=worked_in.spent.with_calls(calls.attempts))

    async def _worked_in(
        self, protocol: InterviewProtocol, interview: Interview, *, kept_back: int = 0
    ) -> Interview:
        """Return the interview after its answer; `kept_back`: calls that others may make."""
        if protocol.kind is ProtocolKind.GOALS:
            return await self._driver(protocol, kept_back=kept_back).turn(interview)
        is_open = await beside_the_loop(partial(is_for_model, protocol.answers, interview))
        if is_open and self._agents is not None:
            left = self._limits.max_calls - interview.spent.calls - kept_back
            interview = await with_proposal(
                protocol, interview, self._agents, self._limits, most_calls=left
            )
        return await beside_the_loop(partial(digest_item_answer, protocol, interview))

    def _calls_to_read(self, reader: DangerReader, interview: Interview) -> int:
        """Return how many calls a reading may make: at most half of those that are left."""
        left = self._limits.max_calls - REPORT_CALLS - interview.spent.calls
        return min(reader.most_calls, max(0, left) // 2)

    async def _save(
        self,
        following: Interview,
        *,
        after: Interview,
        answer: TakenAnswer | None = None,
        finished_key: str | None = None,
    ) -> Interview:
        """Store an interview as the next version after another one."""
        numbered = replace(following, version=after.version + 1)
        await self._at_rest(
            partial(self._store.save, numbered, answer=answer, finished_key=finished_key)
        )
        return numbered

    async def _analysed(self, protocol: InterviewProtocol, interview: Interview) -> Interview:
        analysed = await self._driver(protocol).analyse(interview)
        code = analysed.failure
        if code is not None:
            kept = replace(interview, failure=code, spent=analysed.spent)
            await self._save(kept, after=interview)
            raise AgentFailed("generate_analysis", code)
        reported = replace(analysed, analysis_inputs_hash=report_inputs_hash(interview))
        saved = await self._save(reported, after=interview)
        _log("interview_report_written", saved)
        return saved

    async def _load(self, interview_id: str) -> Interview:
        return await self._at_rest(partial(self._store.load, interview_id))

    async def _at_rest(self, work: Callable[[], T]) -> T:
        try:
            return await self._threads.run(work)
        except WorkTimedOut:
            raise StoreUnusable from None

    def _driver(self, protocol: InterviewProtocol, *, kept_back: int = 0) -> GoalsDriver:
        if self._agents is None:
            raise _needs_model(protocol.id)
        limits = replace(self._limits, max_calls=self._limits.max_calls - kept_back)
        return GoalsDriver(protocol=protocol, agents=self._agents, limits=limits)

    def _protocol_named(self, name: str) -> InterviewProtocol:
        protocol = self._protocols.get(name)
        if protocol is None:
            msg = f"there is no such protocol; there are {', '.join(sorted(self._protocols))}"
            raise InputError(msg, field="protocol")
        if protocol.needs_model and self._agents is None:
            raise _needs_model(protocol.id)
        return protocol

    def _protocol_of(self, interview: Interview) -> InterviewProtocol:
        protocol = self._protocols.get(interview.protocol.id)
        if protocol is None or protocol.digest != interview.protocol.digest:
            raise ProtocolChanged(interview.protocol.id)
        return protocol

    def _lock(self, interview_id: str) -> asyncio.Lock:
        return self._locks.setdefault(interview_id, asyncio.Lock())


def _without_model(
    protocol: InterviewProtocol, interview: Interview, *, has_model: bool, is_read: bool
) -> Interview | None:
    """Return the interview after a turn that needs no model, `None` when one is to be asked.

    `is_read`: whether a model reads the answer for danger.
    """
    if interview.question is not None and interview.answer is not None:
        danger = danger_in(interview.question, interview.answer)
        if danger is not None:
            return hold(protocol, interview, danger)
    if protocol.kind is ProtocolKind.GOALS or is_read:
        return None
    if has_model and is_for_model(protocol.answers, interview):
        return None
    return digest_item_answer(protocol, interview)


def _needs_model(protocol_id: str) -> RequestConflict:
    return RequestConflict(
        f"the protocol {protocol_id!r} needs a model: set INTERVIEW_MODEL or MODEL_DEFAULT",
        field="protocol",
    )


def _log(
    event: str,
    interview: Interview,
    *,
    started: float | None = None,
    code: FailureCode | None = None,
) -> None:
    """Write one line without any words; an id opens its interview, so only its digest is told."""
    duration = None if started is None else round((time.perf_counter() - started) * 1000, 1)
    logger.info(
        event,
        interview_hash=keyed_digest(interview.id),
        protocol=interview.protocol.id,
        status=interview.state,
        turn=interview.turn,
        model_calls=interview.spent.calls,
        code=code or interview.failure,
        duration_ms=duration,
    )
