"""The time, in whole seconds, as keys and sessions count it."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, TypeAlias

Clock: TypeAlias = Callable[[], int]
"""Seconds since 1970."""
NOTED_EVERY_SECONDS: Final = 60
"""A use is noted no more often: each note is a write to the disk."""


def seconds_now() -> int:
    """Return the time of this machine."""
    return int(time.time())


def utc_now() -> datetime:
    """Return the time of this machine, where parts of a second or the day count."""
    return datetime.now(UTC)


def written_time(seconds: int | None) -> str | None:
    """Return a moment as text, such as `2026-11-23T16:00:00Z`."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
