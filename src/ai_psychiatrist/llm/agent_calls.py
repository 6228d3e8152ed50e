"""The calls of one agent for one output: each is found or made, judged, and settled once."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from contextvars import Context
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, TypeAlias, TypeVar

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import (
    Attempt,
    AttemptOutcome,
    CallPath,
    FailureCode,
    RejectionCode,
)
from ai_psychiatrist.domain.model_call import ModelCall, RequestMessage
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads, WorkTimedOut
from ai_psychiatrist.infrastructure.tasks import Pending
from ai_psychiatrist.infrastructure.telemetry.watching import publish, watched
from ai_psychiatrist.infrastructure.telemetry.work import AgentWork
from ai_psychiatrist.llm.calls import (
    CallRecorder,
    CallResult,
    Judgement,
    agent_work,
    call_digest,
    call_work,
    note_result,
    result_of,
    with_result,
)
from ai_psychiatrist.llm.endpoints import FallbackChain, ModelEndpoint
from ai_psychiatrist.llm.replies import (
    ChatReply,
    ModelOutput,
    OnKept,
    PartialOutput,
    PartsReader,
    ReplyReading,
    ReplyRejected,
    credible_tokens,
)

logger = get_logger(__name__)

OutputT = TypeVar("OutputT", bound=ModelOutput)
ReadT = TypeVar("ReadT")
Review: TypeAlias = Callable[[ModelOutput], Awaitable[None]]

_UNLOGGED: Final = ("hosts", "served_model", "system_fingerprint")
_LOGGED: Final = tuple(one.name for one in fields(Attempt) if one.name not in _UNLOGGED)
"""Codes and counts: a server can write any text where its model's name is expected."""
_NAME: Final = re.compile(r"[\w.:/@+-]{1,128}", re.ASCII)
_LARGE_REPLY_CHARACTERS: Final = 16_384
_READERS: Final = WorkerThreads(count=1, seconds=60.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that is to be made: where to, how it is sent and how its reply is read."""

    endpoint: ModelEndpoint
    path: CallPath
    asked_for: Callable[[], tuple[object, ...]] = field(repr=False)
    """Makes everything that is asked for, of which a digest is made where calls are kept."""
    messages: Callable[[], tuple[RequestMessage, ...]] = field(repr=False)
    """Makes the messages that are sent, where calls are kept."""
    send: Callable[[], Awaitable[ChatReply]] = field(repr=False)
    read: Callable[[ChatReply], ReplyReading] = field(repr=False)


class AgentCalls:
    """Makes the calls of one agent on one prompt, at most one at a time, and records each."""

    def __init__(
        self,
        agent: str,
        recorder: CallRecorder,
        *,
        review: Review | None = None,
        on_kept: OnKept | None = None,
    ) -> None:
        """`review`: looks at an output that was read, and may refuse it with `ReplyRejected`."""
        self.attempts: list[Attempt] = []
        self.prompt_digest = ""
        """Of the prompt that is asked next."""
        self.last_rejection: ReplyRejected | None = None
        self.kept: PartialOutput | None = None
        """What is valid of the replies that were refused for their form."""
        self.kept_of = ""
        """The model that gave the last of it."""
        self._agent = agent
        self._recorder = recorder
        self._round = recorder.asked[agent]
        recorder.asked[agent] += 1
        self._review = review
        self._on_kept = on_kept
        self._open: Attempt | None = None
        self._known: dict[str, Any] = {}
        """What is known of the attempt that is open."""
        self._is_replayed = False
        """Whether the open attempt was made, and paid for, some other time."""
        self._reading = ReplyReading(text="")
        self._asked = ""

    @contextmanager
    def as_one_run(self, chain: FallbackChain) -> Iterator[AgentWork]:
        """Let the block be seen as a run of the agent over some models; it may raise.

        A call that the block leaves open is settled at its end.
        """
        with watched(agent_work(self._agent, chain, self.attempts)) as work:
            try:
                yield work
            except ModelCallFailed as failure:
                work.error = failure.code
                raise
            except ReplyRejected:
                work.error = FailureCode.OUTPUT_REJECTED
                raise
            finally:
                self.close(FailureCode.DEADLINE_EXCEEDED)

    async def make(self, call: Call) -> ReplyReading:
        """Return what is read of the reply; raises `ModelCallFailed` when none comes."""
        tries, wait_seconds = 0, 0.0
        while True:
            try:
                response = await self._found_or_made(call, wait_seconds)
                break
            except ModelCallFailed as failure:
                if not failure.is_adjusted:
                    wait = call.endpoint.retries.wait_before(failure, tries)
                    if wait is None or not self._recorder.has_time_for(wait):
                        raise
                    tries, wait_seconds = tries + 1, wait
                # Nothing came back: what is set aside for other models and agents stays theirs.
                self._recorder.budget.give_back()
        self._reading, self._asked = call.read(response), call.endpoint.name
        self._known["reply_characters"] = len(self._reading.text)
        return self._reading

    async def judge(
        self, extract: Callable[[str], OutputT], text: str, parts: PartsReader | None = None
    ) -> OutputT:
        """Return the output of the reply and settle its attempt; raises `ReplyRejected`.

        `parts`: reads what is valid of a reply that is refused for its form.
        """
        try:
            output = await self._extracted(extract, text)
        except ReplyRejected as rejection:
            if parts is not None:
                await self._keep(parts, text)
            self._refuse(rejection)
            raise
        try:
            if self._review is not None:
                await self._review(output)
        except ReplyRejected as rejection:
            # A reply that was read as a whole takes the place of parts of those before it.
            self.kept = None
            self._refuse(rejection)
            raise
        self._known |= {
            "outcome": AttemptOutcome.ACCEPTED,
            "code": None,
            "repaired": output.repaired,
            "coercions": output.coercions,
        }
        self._settle(text=self._reading.text, output=output)
        return output

    def close(self, code: FailureCode) -> None:
        """Settle the call that is still under way, because something cut it short."""
        if self._open is not None:
            self._known["code"] = code
            self._settle()

    def _refuse(self, rejection: ReplyRejected) -> None:
        # Without its frames, which hold the reply.
        self.last_rejection = rejection.detached()
        self._known |= {"outcome": AttemptOutcome.REJECTED, "code": rejection.code}
        self._settle(text=self._reading.text, feedback=str(rejection))

    async def _keep(self, parts: PartsReader, text: str) -> None:
        """Keep what is valid of a refused reply, unless it is no answer at all."""
        refusal = self._reading.refusal
        if refusal is not None and not (
            parts.takes_cut_off and refusal.code is RejectionCode.TRUNCATED
        ):
            return
        valid = None
        with suppress(WorkTimedOut):
            valid = await _read(parts.read, text)
        if valid is not None:
            kept = valid if self.kept is None else valid.over(self.kept)
            if kept is not self.kept:
                self.kept, self.kept_of = kept, self._asked
            if self._on_kept is not None:
                self._on_kept(kept)

    async def _extracted(self, extract: Callable[[str], OutputT], text: str) -> OutputT:
        if self._reading.refusal is not None:
            raise self._reading.refusal.detached()
        if not text.strip():
            raise ReplyRejected(RejectionCode.EMPTY_REPLY, "The reply is empty. Do the task.")
        try:
            return await _read(extract, text)
        except WorkTimedOut:
            self.close(FailureCode.TIMED_OUT)
            raise ModelCallFailed(FailureCode.TIMED_OUT) from None

    async def _found_or_made(self, call: Call, wait_seconds: float) -> ChatReply:
        recorder, store = self._recorder, self._recorder.store
        digest = "" if store is None else call_digest(*call.asked_for())
        occurrence = recorder.made[digest]
        recorder.made[digest] += 1
        kept = None if store is None else await store.recall(digest, occurrence)
        if kept is not None:
            self._begin(call, is_replayed=True)
            self._known["duration_ms"] = kept.duration_ms
            if kept.hosts is not None:
                self._known["hosts"] = kept.hosts
            # It was paid for when it was made.
            return self._returned(result_of(kept))
        if wait_seconds > 0:
            await call.endpoint.retries.sleep(wait_seconds)
        async with AsyncExitStack() as admission:
            async with AsyncExitStack() as turn:
                if recorder.ahead is not None:
                    # Another call puts into the provider's cache what this one begins with.
                    await turn.enter_async_context(recorder.ahead.turn(call.endpoint))
                if call.endpoint.limiter is not None:
                    # The library's own limit would wait inside the call, whose time runs.
                    with recorder.paused():
                        await turn.enter_async_context(call.endpoint.limiter)
                if store is not None:
                    await admission.enter_async_context(store.admitted())
                attempt = self._begin(call, is_replayed=False)
                with watched(call_work(self._agent, call.endpoint)) as work:
                    result = await self._sent(call)
                    note_result(work, result)
            if store is not None:
                made = ModelCall(
                    agent=attempt.agent,
                    model=attempt.model,
                    path=attempt.path,
                    digest=digest,
                    occurrence=occurrence,
                    sent=call.messages(),
                    duration_ms=self._known["duration_ms"],
                    hosts=attempt.hosts,
                )
                await store.keep(with_result(made, result))
        return self._returned(result)

    async def _sent(self, call: Call) -> CallResult:
        started = time.perf_counter()
        try:
            async with asyncio.timeout(None) as timeout:
                # A timer keeps the context that it was made in, and with it the prompt, for as long
                # as it was to run; in an empty one there is nothing to keep.
                end = asyncio.get_running_loop().time() + call.endpoint.timeout_seconds
                Context().run(timeout.reschedule, end)
                return await call.send()
        except Pending:
            # Nothing has become of it that could be told.
            self._open = None
            raise
        except Exception as error:  # noqa: BLE001  a backend may make a library fail in any way
            # Told apart by the errors of all libraries that reach servers.
            from ai_psychiatrist.llm.failures import call_failure  # noqa: PLC0415

            # Without its frames, which may hold the reply.
            return call_failure(error).with_traceback(None)
        finally:
            self._known["duration_ms"] = round((time.perf_counter() - started) * 1000, 3)

    def _returned(self, result: CallResult) -> ChatReply:
        if isinstance(result, ModelCallFailed):
            self._known |= {"code": result.code, "http_status": result.http_status}
            self._settle(error_type=result.error_type)
            raise result from None
        self._known["input_tokens"] = credible_tokens(result.input_tokens)
        self._known["output_tokens"] = credible_tokens(result.output_tokens)
        if result.response is not None:
            details = result.response.provider_details or {}
            self._known["served_model"] = _name(result.response.model_name)
            self._known["system_fingerprint"] = _name(details.get("system_fingerprint"))
        return result

    def _begin(self, call: Call, *, is_replayed: bool) -> Attempt:
        """Take a call from the budget; until it is settled, it counts as cut short."""
        self._recorder.budget.spend()
        self._open = Attempt(
            agent=self._agent,
            model=call.endpoint.name,
            path=call.path,
            outcome=AttemptOutcome.FAILED,
            code=FailureCode.DEADLINE_EXCEEDED,
            prompt_digest=self.prompt_digest,
            hosts=call.endpoint.hosts,
        )
        self._is_replayed, self._known = is_replayed, {}
        return self._open

    def _settle(
        self,
        *,
        text: str | None = None,
        output: ModelOutput | None = None,
        feedback: str | None = None,
        error_type: str | None = None,
    ) -> None:
        """Put the open attempt among those that ended, and publish it."""
        if self._open is None:
            msg = "no call is under way"
            raise RuntimeError(msg)
        attempt, self._open = replace(self._open, **self._known), None
        self.attempts.append(attempt)
        self._recorder.attempts.append(attempt)
        if not self._is_replayed:
            publish(attempt)
        if self._recorder.store is not None:
            self._recorder.store.judged(
                Judgement(
                    attempt=attempt,
                    round=self._round,
                    text=text,
                    output=None if output is None else output.model_dump(mode="json"),
                    feedback=feedback,
                )
            )
        known = {name: getattr(attempt, name) for name in _LOGGED}
        logger.info("attempt_finished", **known, error_type=error_type)


def _name(told: object) -> str | None:
    """Return a name that a server tells; `None` for anything that cannot be one."""
    return told if isinstance(told, str) and _NAME.fullmatch(told) else None


async def _read(read: Callable[[str], ReadT], text: str) -> ReadT:
    """Read a reply, a large one off the event loop; raises what reading does, `WorkTimedOut`."""
    if len(text) <= _LARGE_REPLY_CHARACTERS:
        return read(text)
    outcome = await _READERS.run(lambda: _outcome(read, text))
    if isinstance(outcome, ReplyRejected):
        raise outcome.detached()
    return outcome


def _outcome(read: Callable[[str], ReadT], text: str) -> ReadT | ReplyRejected:
    """Return what was read or why not: raised in the thread, it would keep the thread's frames."""
    try:
        return read(text)
    except ReplyRejected as rejection:
        return rejection.detached()
