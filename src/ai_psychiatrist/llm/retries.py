"""When a call that the transport lost is made again, and how long it waits before."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode

T = TypeVar("T")

PASSING_FAILURES: Final = frozenset(
    {
        FailureCode.CONNECTION_FAILED,
        FailureCode.TIMED_OUT,
        FailureCode.RATE_LIMITED,
        FailureCode.BACKEND_ERROR,
    }
)
"""What the same call may not meet again a moment later; a refused request stays refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransportRetries:
    """How often a lost call is made again; by default never."""

    waits_seconds: tuple[float, ...] = ()
    """The wait before each further try."""
    sleep: Callable[[float], Awaitable[object]] = field(default=asyncio.sleep, repr=False)

    async def run(self, call: Callable[[float], Awaitable[T]]) -> T:
        """Return what the first successful try gives; raises the failure of the last one.

        `call` gets the seconds that it has to wait before it goes out.
        """
        wait_seconds = 0.0
        for next_wait_seconds in self.waits_seconds:
            try:
                return await call(wait_seconds)
            except ModelCallFailed as error:
                if error.code not in PASSING_FAILURES:
                    raise
            wait_seconds = next_wait_seconds
        return await call(wait_seconds)

    async def pause(self, seconds: float) -> None:
        """Wait before a try."""
        if seconds > 0:
            await self.sleep(seconds)

    def is_spent_on(self, code: FailureCode) -> bool:
        """Return whether a call that ended with this failure was tried as often as allowed."""
        return bool(self.waits_seconds) and code in PASSING_FAILURES


INTERVIEW_RETRIES: Final = TransportRetries(waits_seconds=(1.0, 2.0))
