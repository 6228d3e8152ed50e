"""The calls of one agent for one output: each is found or made, judged, and settled once."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from contextvars import Context
from dataclasses import dataclass, field
from typing import Final, TypeAlias, TypeVar

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import (
    Attempt,
    AttemptOutcome,
    CallPath,
    FailureCode,
    RejectionCode,
)
from ai_psychiatrist.domain.model_call import ModelCall, RequestMessage
from ai_psychiatrist.infrastructure.telemetry.watching import watched
from ai_psychiatrist.infrastructure.worker_threads import WorkerThreads, WorkTimedOut
from ai_psychiatrist.llm.attempt_account import AttemptAccount
from ai_psychiatrist.llm.call_log import CallLog
from ai_psychiatrist.llm.call_store import CallResult, credible_tokens
from ai_psychiatrist.llm.chat import ChatReply
from ai_psychiatrist.llm.metering import note_spent
from ai_psychiatrist.llm.output import ModelOutput, OnKept, PartialOutput, PartsReader
from ai_psychiatrist.llm.rejection import ReplyRejected
from ai_psychiatrist.llm.reply_reading import Reply, ReplyReading, is_well_formed
from ai_psychiatrist.llm.routes import ModelRoute
from ai_psychiatrist.llm.watched_calls import agent_work, call_work, note_result

OutputT = TypeVar("OutputT", bound=ModelOutput)
ReadT = TypeVar("ReadT")
Review: TypeAlias = Callable[[ModelOutput], Awaitable[None]]

_LARGE_REPLY_CHARACTERS: Final = 16_384
_READERS: Final = WorkerThreads(count=1, seconds=60.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that is to be made: where to, how it is sent and how its reply is read."""

    route: ModelRoute
    path: CallPath
    digest: Callable[[], str] = field(repr=False)
    """Makes the digest of everything that is sent."""
    messages: Callable[[], tuple[RequestMessage, ...]] = field(repr=False)
    """Makes the messages that are sent, for whoever keeps them."""
    send: Callable[[], Awaitable[Reply]] = field(repr=False)
    read: Callable[[Reply], ReplyReading] = field(repr=False)


class AgentCalls:
    """Makes the calls of one agent on one prompt, and accounts for every one of them."""

    def __init__(
        self,
        agent: str,
        log: CallLog,
        *,
        review: Review | None = None,
        on_kept: OnKept | None = None,
    ) -> None:
        """`review`: looks at an output that was read, and may refuse it with `ReplyRejected`."""
        self._agent = agent
        self.prompt_digest = ""
        """Of the prompt that is asked next."""
        self.last_rejection: ReplyRejected | None = None
        self.kept: PartialOutput | None = None
        """What is valid of the replies that were refused for their form."""
        self.kept_of = ""
        """The model that gave the last of it."""
        self._account = AttemptAccount(agent, log)
        self.attempts = self._account.attempts
        self._log = log
        self._review = review
        self._on_kept = on_kept
        self._reading = ReplyReading(text="")
        self._asked = ""

    @contextmanager
    def as_one_run(self, route: ModelRoute) -> Iterator[None]:
        """Let the block be seen as a run of the agent that asks one model; it may raise.

        A call that the block leaves open is settled at its end.
        """
        with watched(agent_work(self._agent, (route,), self.attempts)) as work:
            try:
                yield
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
                wait = call.route.retries.wait_before(failure, tries)
                if wait is None or not self._log.has_time_for(wait):
                    raise
                tries, wait_seconds = tries + 1, wait
        self._reading, self._asked = call.read(response), call.route.name
        self._account.note(reply_characters=len(self._reading.text))
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
        self._account.note(
            outcome=AttemptOutcome.ACCEPTED,
            code=None,
            repaired=output.repaired,
            coercions=output.coercions,
        )
        self._account.settle(text=self._reading.text, output=output)
        return output

    def close(self, code: FailureCode) -> None:
        """Settle the call that is still under way, because something cut it short."""
        self._account.close(code)

    def _refuse(self, rejection: ReplyRejected) -> None:
        # Without its frames, which hold the reply.
        self.last_rejection = rejection.detached()
        self._account.note(outcome=AttemptOutcome.REJECTED, code=rejection.code)
        self._account.settle(text=self._reading.text, feedback=str(rejection))

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

    async def _found_or_made(self, call: Call, wait_seconds: float) -> Reply:
        store = self._log.store
        digest = "" if store is None else call.digest()
        occurrence = self._log.made[digest]
        self._log.made[digest] += 1
        kept = None if store is None else await store.recall(digest, occurrence)
        if kept is not None:
            from ai_psychiatrist.llm.kept_results import result_of  # noqa: PLC0415

            self._begin(call, is_kept=True)
            self._account.note(duration_ms=kept.duration_ms)
            # It was paid for when it was made.
            return self._returned(result_of(kept))
        if wait_seconds > 0:
            await call.route.retries.sleep(wait_seconds)
        async with AsyncExitStack() as admission:
            async with self._after_the_first(call.route), self._turn_at(call.route):
                if store is not None:
                    await admission.enter_async_context(store.admitted())
                attempt = self._begin(call, is_kept=False)
                if not call.route.is_local:
                    note_spent(calls=1)
                with watched(call_work(self._agent, call.route)) as work:
                    result = await self._sent(call)
                    note_result(work, result)
            if store is not None:
                from ai_psychiatrist.llm.kept_results import with_result  # noqa: PLC0415

                made = ModelCall(
                    agent=attempt.agent,
                    model=attempt.model,
                    path=attempt.path,
                    digest=digest,
                    occurrence=occurrence,
                    sent=call.messages(),
                    duration_ms=self._account.known["duration_ms"],
                )
                await store.keep(with_result(made, result))
        returned = self._returned(result)
        known = self._account.known
        note_spent(tokens=(known["input_tokens"] or 0) + (known["output_tokens"] or 0))
        return returned

    def _after_the_first(self, route: ModelRoute) -> AbstractAsyncContextManager[None]:
        """Wait where another call puts into the provider's cache what this one begins with."""
        return nullcontext() if self._log.ahead is None else self._log.ahead.turn(route)

    @asynccontextmanager
    async def _turn_at(self, route: ModelRoute) -> AsyncIterator[None]:
        """Hold one of the calls that may be under way at the backend."""
        if route.limiter is None:
            yield
            return
        with self._log.clock.paused():
            await route.limiter.acquire()
        try:
            yield
        finally:
            route.limiter.release()

    async def _sent(self, call: Call) -> CallResult:
        started = time.perf_counter()
        try:
            async with asyncio.timeout(None) as timeout:
                # A timer keeps the context that it was made in, and with it the prompt, for as long
                # as it was to run; in an empty one there is nothing to keep.
                end = asyncio.get_running_loop().time() + call.route.timeout_seconds
                Context().run(timeout.reschedule, end)
                response = await call.send()
            if is_well_formed(response):
                return response
            return ModelCallFailed(FailureCode.MALFORMED_RESPONSE)
        except asyncio.CancelledError:
            if call.route.is_batched:
                # It waits for its batch: nothing has become of it that could be told.
                self._account.drop()
            raise
        except Exception as error:  # noqa: BLE001  a backend may make a library fail in any way
            # Told apart by the errors of all libraries that reach servers.
            from ai_psychiatrist.llm.call_failures import call_failure  # noqa: PLC0415

            return call_failure(error)
        finally:
            self._account.note(duration_ms=round((time.perf_counter() - started) * 1000, 3))

    def _returned(self, result: CallResult) -> Reply:
        if isinstance(result, ModelCallFailed):
            self._account.note(code=result.code, http_status=result.http_status)
            self._account.settle(error_type=result.error_type)
            raise result from None
        usage = result if isinstance(result, ChatReply) else result.usage
        sent, written = credible_tokens(usage.input_tokens), credible_tokens(usage.output_tokens)
        self._account.note(input_tokens=sent, output_tokens=written)
        return result

    def _begin(self, call: Call, *, is_kept: bool) -> Attempt:
        return self._account.begin(call.route, call.path, self.prompt_digest, is_kept=is_kept)


async def _read(read: Callable[[str], ReadT], text: str) -> ReadT:
    """Read a reply, a large one beside the event loop; raises what reading does, `WorkTimedOut`."""
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
