"""When a webhook that was not taken is tried again."""

import random
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Final, TypeAlias

MOST_TRIES: Final = 12
FIRST_WAIT_SECONDS: Final = 5.0
LONGEST_WAIT_SECONDS: Final = 21_600.0
"""Six hours; with twelve tries the last one is a little less than a day after the first."""
MOST_ASKED_SECONDS: Final = 86_400.0
"""A receiver that asks for more is waited for no longer than this."""
_FACTOR: Final = 3.0
_JITTER: Final = 0.2
_MOST_DIGITS: Final = 9

Draw: TypeAlias = Callable[[], float]
"""Returns a number from 0 to 1."""


def wait_after(tries: int, asked_seconds: float | None = None, draw: Draw = random.random) -> float:
    """Return the seconds until the next try, up to a fifth more or less: not all come at once.

    `tries`: made so far, one at least; `asked_seconds`: what the receiver asks to wait for.
    """
    wait = min(FIRST_WAIT_SECONDS * _FACTOR ** (tries - 1), LONGEST_WAIT_SECONDS)
    jittered = wait * (1.0 - _JITTER + 2.0 * _JITTER * draw())
    return max(jittered, min(asked_seconds or 0.0, MOST_ASKED_SECONDS))


def asked_wait(retry_after: str | None, now: float) -> float | None:
    """Return the seconds that a `Retry-After` asks for, `None` where it is none.

    `now`: seconds since 1970.
    """
    if retry_after is None:
        return None
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return float(text[:_MOST_DIGITS])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, OverflowError):
        return None
