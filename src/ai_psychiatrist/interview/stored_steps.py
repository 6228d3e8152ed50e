"""Transitions of stored interviews, in a thread: load one, change it, store it."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar
from weakref import WeakValueDictionary

from ai_psychiatrist.domain.errors import NotFound, RequestConflict, StoreUnusable
from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads, WorkTimedOut
from ai_psychiatrist.interview.engine.context import StepContext
from ai_psychiatrist.interview.errors import store_unusable
from ai_psychiatrist.interview.interview_log import report_hold
from ai_psychiatrist.interview.interview_store import InterviewStore
from ai_psychiatrist.interview.machine import Event, follow
from ai_psychiatrist.interview.record import Interview
from ai_psychiatrist.store.deliveries import DeliveryEvent
from ai_psychiatrist.store.interviews import Keyed

T = TypeVar("T")

_FINISHED: Final = (InterviewState.REPORTING, InterviewState.DONE)
_STORE_SECONDS: Final = 15.0
"""Three times as long as the store itself waits for another program."""


class StoredSteps:
    """Takes the steps of interviews, each stored before it counts.

    Every method that waits may raise `StoreUnusable`.
    """

    def __init__(self, store: InterviewStore) -> None:
        self._store = store
        # One: what is asked of the store happens in the order in which it was asked.
        self._threads = WorkerThreads(count=1, seconds=_STORE_SECONDS)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def take(self, context: StepContext, interview: Interview, event: Event) -> Interview:
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
            await self.run(
                lambda store: store.save(
                    numbered, answer=answer, finished_key=finished_key, events=events
                )
            )
        except RequestConflict:
            if sent is not None:
                raise
            # Another process has taken the step meanwhile: what it stored stands.
            return await self.load(interview.id)
        for danger in numbered.dangers[len(interview.dangers) :]:
            report_hold(numbered, danger)
        return numbered

    async def load(self, interview_id: str) -> Interview:
        """Return an interview as it was stored last; raises `NotFound`."""
        return await self.run(lambda store: store.load(interview_id))

    async def run(self, work: Callable[[InterviewStore], T]) -> T:
        """Do work on the store after all that was asked of it before."""
        try:
            return await self._threads.run(partial(work, self._store))
        except WorkTimedOut:
            raise store_unusable() from None

    def lock(self, interview_id: str) -> asyncio.Lock:
        """Return what holds an interview for one step at a time."""
        return self._locks.setdefault(interview_id, asyncio.Lock())

    async def _keep_spent(self, context: StepContext, interview: Interview) -> None:
        """Count the calls of a step that was cut short: they were paid for."""
        made = [attempt for log in context.logs for attempt in log.attempts]
        if made:
            spent = interview.spent.with_calls(made)
            counted = replace(interview, version=interview.version + 1, spent=spent)
            with suppress(NotFound, StoreUnusable, RequestConflict):
                await self.run(lambda store: store.save(counted, answer=None, finished_key=None))


def _events(before: Interview, after: Interview) -> Iterator[DeliveryEvent]:
    """Yield what a step has led to that others may be told of."""
    if len(after.dangers) > len(before.dangers):
        yield DeliveryEvent.INTERVIEW_HELD
    if after.state in _FINISHED and before.state not in _FINISHED:
        yield DeliveryEvent.INTERVIEW_FINISHED
