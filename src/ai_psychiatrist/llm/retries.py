"""When a call that gave no reply is made again, and how long it waits before."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from ai_psychiatrist.domain.errors import ModelCallFailed
from ai_psychiatrist.domain.failures import FailureCode

PASSING_FAILURES: Final = frozenset(
    {
        FailureCode.CONNECTION_FAILED,
        FailureCode.TIMED_OUT,
        FailureCode.RATE_LIMITED,
        FailureCode.BACKEND_ERROR,
    }
)
"""What the same call may not meet again a moment later; a refused request stays refused."""
_UNAVAILABLE: Final = 503
_LONGEST_WAIT_SECONDS: Final = 120.0


def is_passing(failure: ModelCallFailed) -> bool:
    """Return whether the same call may be answered a moment later."""
    return failure.code in PASSING_FAILURES


def is_turned_away(failure: ModelCallFailed) -> bool:
    """Return whether the backend has no room just now; a dead one only doubles the wait."""
    return failure.code is FailureCode.RATE_LIMITED or failure.http_status == _UNAVAILABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRetries:
    """How often a call without a reply is made again."""

    waits_seconds: tuple[float, ...] = ()
    """The wait before each further try, where the backend names none that is longer."""
    applies_to: Callable[[ModelCallFailed], bool] = is_passing
    sleep: Callable[[float], Awaitable[object]] = field(default=asyncio.sleep, repr=False)

    def wait_before(self, failure: ModelCallFailed, tries: int) -> float | None:
        """Return the seconds to wait before the next try, `None` when there is to be none.

        `tries`: how often the call was made again already.
        """
        if tries >= len(self.waits_seconds) or not self.applies_to(failure):
            return None
        wait = max(self.waits_seconds[tries], failure.retry_after_seconds or 0.0)
        return wait if wait <= _LONGEST_WAIT_SECONDS else None

    def is_spent_on(self, failure: ModelCallFailed) -> bool:
        """Return whether a call that ended with this failure was tried as often as allowed."""
        return bool(self.waits_seconds) and self.applies_to(failure)


BUSY_RETRIES: Final = CallRetries(waits_seconds=(1.0, 2.0, 4.0), applies_to=is_turned_away)
"""A server that is busy is waited for; from a dead or slow one the next model takes over."""
INTERVIEW_RETRIES: Final = CallRetries(waits_seconds=(1.0, 2.0))
