"""What was read of clauses is remembered while transcripts are worked on, and then forgotten.

Forgotten a minute after the last one: read anew for each, they would cost a third of the CPU time
of an assessment.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context
from typing import Final

from ai_psychiatrist.services.language.remembered import forget_remembered

IDLE_SECONDS: Final = 60.0
"""How long they are remembered when nothing is worked on."""


class _Working:
    """How many transcripts are worked on in this process, and when all is to be forgotten."""

    count = 0
    lock = threading.Lock()
    timer: asyncio.TimerHandle | None = None


@contextmanager
def remembering_clauses() -> Iterator[None]:
    """Keep the readings of clauses inside the block, and for a while after the last block."""
    with _Working.lock:
        _Working.count += 1
    try:
        yield
    finally:
        with _Working.lock:
            _Working.count -= 1
        _forget_later()


def forget_clauses() -> None:
    """Forget all that was read of clauses, unless some are being worked on."""
    with _Working.lock:
        if not _Working.count:
            forget_remembered()


def _forget_later() -> None:
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        forget_clauses()
        return
    if _Working.timer is not None:
        _Working.timer.cancel()
    # A timer keeps the context that it was made in, and all that it holds.
    _Working.timer = loop.call_later(IDLE_SECONDS, forget_clauses, context=Context())
