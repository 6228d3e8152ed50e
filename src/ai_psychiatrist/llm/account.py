"""The account of an agent's model calls: one record per call, whatever became of it."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias, TypeVar

from ai_psychiatrist.domain.failures import (
    Attempt,
    AttemptOutcome,
    CallPath,
    FailureCode,
    RejectionCode,
)
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.llm.call_log import CallLog
from ai_psychiatrist.llm.call_store import CallRequest, Judgement, KeptReply
from ai_psychiatrist.llm.output import ModelOutput
from ai_psychiatrist.llm.prompt import Prompt
from ai_psychiatrist.llm.rejection import ReplyRejected

logger = get_logger(__name__)

OutputT = TypeVar("OutputT", bound=ModelOutput)

_LARGE_REPLY_CHARACTERS: Final = 32_768
_MOST_TOKENS: Final = 1_000_000_000


Review: TypeAlias = Callable[[ModelOutput], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back from one call, as far as the account needs it."""

    characters: int
    is_too_large: bool
    is_cut_off: bool
    input_tokens: int | None
    output_tokens: int | None
    text: str = field(default="", repr=False)
    """What the extractor reads, where the agent run is not given the reply as it came."""
    refusal: ReplyRejected | None = field(default=None, repr=False)
    """Why the reply cannot even be read, such as for a missing tool call."""


class CallAccount:
    """Gathers the attempts of one agent on one prompt."""

    def __init__(
        self, agent: str, prompt: Prompt, calls: CallLog, review: Review | None = None
    ) -> None:
        """`review`: looks at an output that was read, and may refuse it with `ReplyRejected`."""
        self.agent = agent
        self._review = review
        self._prompt_digest = prompt.digest
        self._calls = calls
        self._round = calls.occurrences.of_agent(agent)
        self._pending: Attempt | None = None
        self._reply: Reply | None = None
        self.attempts: list[Attempt] = []
        self.last_rejection: ReplyRejected | None = None

    @property
    def reply_text(self) -> str:
        """The text of the reply that waits for its verdict."""
        return "" if self._reply is None else self._reply.text

    def identify(self, model: str, path: CallPath, digest: Callable[[], str]) -> CallRequest | None:
        """Return which call is to be made; `None` when calls are not kept."""
        if self._calls.store is None:
            return None
        content = digest()
        return CallRequest(
            agent=self.agent,
            model=model,
            path=path,
            digest=content,
            occurrence=self._calls.occurrences.of_call(content),
        )

    async def recall(self, request: CallRequest | None) -> KeptReply | None:
        """Return what the call gave when it was made before."""
        if request is None or self._calls.store is None:
            return None
        return await self._calls.store.recall(request)

    async def keep(
        self, request: CallRequest | None, started: float, reply: Callable[[float], KeptReply]
    ) -> None:
        """Keep what the call that is under way gave, before anything is made of it.

        `reply` gets the duration of the call in milliseconds.
        """
        if request is None or self._calls.store is None:
            return
        try:
            await self._calls.store.keep(request, reply(_milliseconds_since(started)))
        except asyncio.CancelledError:
            self.failed(started, FailureCode.DEADLINE_EXCEEDED)
            raise

    async def keep_failure(
        self, request: CallRequest | None, started: float, code: FailureCode
    ) -> None:
        """Keep that the call that is under way failed."""
        await self.keep(
            request, started, lambda duration: KeptReply(code=code, duration_ms=duration)
        )

    def begin(self, model: str, path: CallPath) -> float:
        """Take a call from the budget and return its start time."""
        self._settle_unjudged()
        self._calls.spend()
        self._pending = Attempt(
            agent=self.agent,
            model=model,
            path=path,
            outcome=AttemptOutcome.FAILED,
            code=None,
            prompt_digest=self._prompt_digest,
            reply_characters=0,
            repaired=False,
            coercions=0,
            input_tokens=None,
            output_tokens=None,
            duration_ms=0.0,
        )
        return time.perf_counter()

    def replied(self, started: float, reply: Reply) -> None:
        """Note the reply to the call that is under way."""
        self._reply = reply
        self._pending = replace(
            self._require_pending(),
            reply_characters=reply.characters,
            input_tokens=_credible(reply.input_tokens),
            output_tokens=_credible(reply.output_tokens),
            duration_ms=_milliseconds_since(started),
        )

    def failed(self, started: float, code: FailureCode) -> None:
        """Note that the call that is under way gave no usable response."""
        attempt = self._require_pending()
        self._close(replace(attempt, code=code, duration_ms=_milliseconds_since(started)))

    async def judge(self, extract: Callable[[str], OutputT], text: str) -> OutputT:
        """Extract the output of the reply and note the verdict; raises `ReplyRejected`."""
        try:
            output = await self._extract(extract, text)
            if self._review is not None:
                await self._review(output)
        except ReplyRejected as rejection:
            self.last_rejection = rejection
            self._settle(AttemptOutcome.REJECTED, rejection.code, text, str(rejection))
            raise
        except asyncio.CancelledError:
            self._settle(AttemptOutcome.FAILED, FailureCode.DEADLINE_EXCEEDED)
            raise
        self._close(
            replace(
                self._require_pending(),
                outcome=AttemptOutcome.ACCEPTED,
                repaired=output.repaired,
                coercions=output.coercions,
            ),
            text=text,
            output=output,
        )
        return output

    async def _extract(self, extract: Callable[[str], OutputT], text: str) -> OutputT:
        reply = self._reply
        if reply is not None and reply.is_too_large:
            raise ReplyRejected(
                RejectionCode.REPLY_TOO_LARGE,
                "The reply is far too long. Give only what the task asks for.",
            )
        is_refused = reply is not None and reply.refusal is not None
        if not text.strip() and not is_refused:
            raise ReplyRejected(RejectionCode.EMPTY_REPLY, "The reply is empty. Do the task.")
        try:
            if reply is not None and reply.refusal is not None:
                raise reply.refusal
            if len(text) > _LARGE_REPLY_CHARACTERS:
                return await asyncio.to_thread(extract, text)
            return extract(text)
        except ReplyRejected as rejection:
            if reply is None or not reply.is_cut_off:
                raise
            raise ReplyRejected(RejectionCode.TRUNCATED, str(rejection)) from None

    def finish(self) -> None:
        """Close an attempt whose reply never reached the extractor."""
        self._settle_unjudged()

    def _settle_unjudged(self) -> None:
        if self._pending is not None:
            empty = self._pending.reply_characters == 0
            code = RejectionCode.EMPTY_REPLY if empty else RejectionCode.UNEXPECTED_TOOL_CALL
            self._settle(AttemptOutcome.REJECTED, code)

    def _settle(
        self,
        outcome: AttemptOutcome,
        code: RejectionCode | FailureCode,
        text: str | None = None,
        feedback: str | None = None,
    ) -> None:
        attempt = replace(self._require_pending(), outcome=outcome, code=code)
        self._close(attempt, text=text, feedback=feedback)

    def _require_pending(self) -> Attempt:
        if self._pending is None:
            msg = "no call is under way"
            raise RuntimeError(msg)
        return self._pending

    def _close(
        self,
        attempt: Attempt,
        *,
        text: str | None = None,
        output: ModelOutput | None = None,
        feedback: str | None = None,
    ) -> None:
        self._pending = None
        self._reply = None
        self.attempts.append(attempt)
        self._calls.attempts.append(attempt)
        if self._calls.store is not None:
            self._calls.store.judged(
                Judgement(
                    attempt=attempt,
                    round=self._round,
                    text=text,
                    output=None if output is None else output.model_dump(mode="json"),
                    feedback=feedback,
                )
            )
        logger.info(
            "attempt_finished",
            agent=attempt.agent,
            model=attempt.model,
            path=attempt.path,
            outcome=attempt.outcome,
            code=attempt.code,
            prompt_digest=attempt.prompt_digest,
            reply_characters=attempt.reply_characters,
            input_tokens=attempt.input_tokens,
            output_tokens=attempt.output_tokens,
            repaired=attempt.repaired,
            coercions=attempt.coercions,
            duration_ms=attempt.duration_ms,
        )


def _credible(tokens: int | None) -> int | None:
    """Drop a count that no model has: backends report what they like."""
    return tokens if tokens is not None and 0 <= tokens <= _MOST_TOKENS else None


def _milliseconds_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
