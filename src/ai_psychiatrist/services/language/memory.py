"""What was read of short texts is remembered while transcripts are worked on, and then forgotten.

Forgotten a minute after the last one: read again for each, they would cost a sixth of the CPU time
of reading a conversation.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context
from functools import lru_cache
from typing import Concatenate, Final, Generic, ParamSpec, TypeVar

IDLE_SECONDS: Final = 60.0
"""How long readings are remembered when no transcript is worked on."""
LONGEST_REMEMBERED: Final = 600
"""In characters: a clause, or the end of a question. Longer texts could fill the memory."""

P = ParamSpec("P")
T = TypeVar("T")


class Remembered(Generic[P, T]):
    """A pure function of a text that remembers what it returned for the last short ones."""

    def __init__(self, read: Callable[Concatenate[str, P], T], most: int) -> None:
        self._read = read
        self._kept = lru_cache(maxsize=most)(read)
        self.cache_info = self._kept.cache_info
        _Memory.forgetting.append(self._kept.cache_clear)

    def __call__(self, text: str, *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what the function returns."""
        read = self._read if len(text) > LONGEST_REMEMBERED else self._kept
        return read(text, *args, **kwargs)


def remembered(
    most: int,
) -> Callable[[Callable[Concatenate[str, P], T]], Remembered[P, T]]:
    """Remember the results of a pure function for so many short texts."""
    return lambda read: Remembered(read, most)


class _Memory:
    """How many transcripts are worked on in this process, and what is to be forgotten, and when."""

    forgetting: Final[list[Callable[[], None]]] = []
    working = 0
    lock = threading.Lock()
    timer: asyncio.TimerHandle | None = None


@contextmanager
def remembering_clauses() -> Iterator[None]:
    """Keep the readings of clauses inside the block, and for a while after the last block."""
    with _Memory.lock:
        _Memory.working += 1
    try:
        yield
    finally:
        with _Memory.lock:
            _Memory.working -= 1
        _forget_later()


def _forget_later() -> None:
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        forget_clauses()
        return
    if _Memory.timer is not None:
        _Memory.timer.cancel()
    # A timer keeps the context that it was made in, and all that it holds.
    _Memory.timer = loop.call_later(IDLE_SECONDS, forget_clauses, context=Context())


def forget_clauses() -> None:
    """Forget all that was read, unless transcripts are worked on.

    Together the readings could tell much of a transcript.
    """
    with _Memory.lock:
        if not _Memory.working:
            for forget in _Memory.forgetting:
                forget()
