"""Messages that a person sends one after the other are one answer."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from ai_psychiatrist.interview.snapshot import InterviewSnapshot
from ai_psychiatrist.interview.submission import AnswerSubmission

Answering: TypeAlias = Callable[[AnswerSubmission], Awaitable[InterviewSnapshot]]
_MOST_JOINED: Final = 50


@dataclass(slots=True)
class _Waiting:
    """Messages to one question, until no further one comes."""

    messages: list[AnswerSubmission]
    more: asyncio.Event = field(default_factory=asyncio.Event)
    work: asyncio.Task[InterviewSnapshot] = field(init=False)
    callers: int = 0


class Joining:
    """Joins what is sent to the same question within a few seconds; for one event loop.

    Each of the messages gets the response to all of them. It knows the messages of this process
    alone: another process that gets one of them refuses it as a stale version.
    """

    def __init__(self, seconds: float) -> None:
        """`seconds`: how long after a message further ones are waited for; 0 for not at all."""
        self._seconds = seconds
        self._waiting: dict[tuple[str, str, int], _Waiting] = {}

    async def answer(
        self, interview_id: str, submission: AnswerSubmission, answering: Answering
    ) -> InterviewSnapshot:
        """Return the response to a message and to what was joined to it.

        `answering`: takes the whole answer. Raises what it raises.
        """
        if self._seconds <= 0:
            return await answering(submission)
        place = (interview_id, submission.question_id, submission.version)
        waiting = self._waiting.get(place)
        if waiting is None:
            waiting = self._waiting[place] = _Waiting([submission])
            waiting.work = asyncio.create_task(self._joined(place, waiting, answering))
        elif all(one.idempotency_key != submission.idempotency_key for one in waiting.messages):
            waiting.messages.append(submission)
            waiting.more.set()
        return await self._wait(waiting)

    async def _wait(self, waiting: _Waiting) -> InterviewSnapshot:
        waiting.callers += 1
        try:
            return await asyncio.shield(waiting.work)
        finally:
            waiting.callers -= 1
            if waiting.callers == 0 and not waiting.work.done():
                # Nobody waits any more: what was not answered is sent again.
                waiting.work.cancel()

    async def _joined(
        self, place: tuple[str, str, int], waiting: _Waiting, answering: Answering
    ) -> InterviewSnapshot:
        try:
            while len(waiting.messages) < _MOST_JOINED:
                waiting.more.clear()
                try:
                    async with asyncio.timeout(self._seconds):
                        await waiting.more.wait()
                except TimeoutError:
                    break
        finally:
            self._waiting.pop(place, None)
        first = waiting.messages[0]
        text = "\n".join(one.text or "" for one in waiting.messages)
        return await answering(replace(first, text=text, began_as=first.text))
