"""What the code that runs now belongs to: an application in this process, and its assessment.

The only variable of the context for all of it: what an application logs to, digests with and works
by holds for the tasks that it starts, and leaves other applications of the process alone.
"""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

from structlog.typing import Processor

from ai_psychiatrist.domain.failures import FailureRecord

KEY_BYTES: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """What holds in a block and in the tasks that it starts."""

    log: Processor | None = field(default=None, repr=False)
    """Where events go; `None`: to the log of the process."""
    digest_key: bytes = field(default=secrets.token_bytes(KEY_BYTES), repr=False)
    """Of the keyed digests of texts; by default one of this process."""
    works_inline: bool = False
    """Whether texts are worked on in the event loop."""
    failures: list[FailureRecord] | None = None
    """Where the failures of an assessment are collected."""


_OF_PROCESS: Final = Runtime()
_current: Final[ContextVar[Runtime]] = ContextVar("runtime", default=_OF_PROCESS)


def current_runtime() -> Runtime:
    """Return what holds here."""
    return _current.get()


def use_runtime(runtime: Runtime) -> None:
    """Let it hold for this task from now on, and for those that it starts."""
    _current.set(runtime)


@contextmanager
def using_runtime(runtime: Runtime) -> Iterator[None]:
    """Let it hold inside the block, and after it again the one before, whatever was used inside."""
    before = _current.get()
    _current.set(runtime)
    try:
        yield
    finally:
        # Not by a token: the end of a generator may run in another context.
        _current.set(before)
