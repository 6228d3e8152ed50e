"""Delivers what is due, to each place so much at once that a slow one holds up no other."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.errors import AssessmentServiceError
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads, WorkTimedOut
from ai_psychiatrist.jobs.webhooks.letter import Answer, Letter
from ai_psychiatrist.jobs.webhooks.outbox import Outbox
from ai_psychiatrist.jobs.webhooks.schedule import MOST_TRIES, Draw, wait_after

logger = get_logger(__name__)

AT_ONCE: Final = 4
"""Tries under way at one place."""
LOOK_SECONDS: Final = 2.0
"""Between two looks; another process may have put in what is due."""


@dataclass(slots=True, kw_only=True)
class Courier:
    """Looks for what is due, and delivers it; several processes may do so at once."""

    outbox: Outbox
    send: Callable[[Letter], Awaitable[Answer]]
    places: tuple[str, ...]
    threads: WorkerThreads
    now: Callable[[], float] = time.time
    draw: Draw = random.random
    look_seconds: float = LOOK_SECONDS
    _under_way: Counter[str] = field(default_factory=Counter)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)

    def wake(self) -> None:
        """Look now: something is due."""
        self._wake.set()

    async def run(self) -> None:
        """Deliver until this is cancelled; what is under way then is tried again later."""
        async with asyncio.TaskGroup() as group:
            while True:
                self._wake.clear()
                for letter in await self._claimed():
                    self._under_way[letter.place] += 1
                    group.create_task(self._deliver(letter))
                await self._wait()

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(self.look_seconds):
                await self._wake.wait()
        except TimeoutError:
            return

    async def _claimed(self) -> tuple[Letter, ...]:
        free = {place: AT_ONCE - self._under_way[place] for place in self.places}
        wanted = {place: most for place, most in free.items() if most > 0}
        try:
            return await self.threads.run(lambda: self.outbox.claim(wanted, now=self.now()))
        except (AssessmentServiceError, WorkTimedOut) as error:
            logger.error("webhooks_unavailable", error_type=type(error).__name__)
            return ()

    async def _deliver(self, letter: Letter) -> None:
        try:
            answer = await self.send(letter)
            await self.threads.run(lambda: self._note(letter, answer))
        except Exception as error:  # noqa: BLE001  one webhook must not end the delivery of all
            # It stays claimed for a while, and is then tried again with the same id.
            logger.error("webhooks_unavailable", error_type=type(error).__name__)
        finally:
            self._under_way[letter.place] -= 1
            self.wake()

    def _note(self, letter: Letter, answer: Answer) -> None:
        now = self.now()
        if answer.reason is None:
            self.outbox.delivered(letter, now=now)
            outcome = "delivered"
        elif answer.is_refusal or letter.tries >= MOST_TRIES:
            self.outbox.give_up(letter, answer.reason, now=now)
            outcome = "given_up"
        else:
            wait = wait_after(letter.tries, answer.asked_seconds, self.draw)
            self.outbox.try_again(letter, answer.reason, due=now + wait)
            outcome = "to_be_tried_again"
        logger.info(
            "webhook_tried",
            assessment_id=letter.job_id,
            outcome=outcome,
            reason=answer.reason,
            http_status=answer.http_status,
            count=letter.tries,
        )
