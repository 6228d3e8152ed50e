"""An event loop that runs what is ready in any order, in a time of its own."""

import asyncio
from collections import deque
from collections.abc import Coroutine
from dataclasses import replace
from random import Random
from typing import Any, TypeVar

from ai_psychiatrist.infrastructure.runtime import current_runtime, using_runtime

T = TypeVar("T")


class PermutingLoop(asyncio.SelectorEventLoop):
    """Draws the order of events by a seed; sleeping takes no time, and threads are not allowed."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._draw = Random(seed)  # noqa: S311  no secret
        self._now = 0.0

    def time(self) -> float:
        """Return the seconds of this loop's own clock."""
        return self._now

    def _run_once(self) -> None:
        state: Any = self
        ready = list(state._ready)
        self._draw.shuffle(ready)
        state._ready = deque(ready)
        coming = [timer.when() for timer in state._scheduled if not timer.cancelled()]
        if not ready and coming:
            self._now = max(self._now, min(coming))
        step: Any = super()
        step._run_once()

    def run_in_executor(self, *_: Any) -> Any:  # type: ignore[override]
        """Refuse threads: they would run in real time."""
        msg = "the work of this loop has to stay in its thread"
        raise RuntimeError(msg)


def run_permuted(work: Coroutine[Any, Any, T], seed: int) -> T:
    """Run work to its end with its events in an order drawn by the seed; texts are read in it."""
    # A thread works in real time, while the loop's own would go on to the next deadline.
    inline = replace(current_runtime(), works_inline=True)
    with using_runtime(inline), asyncio.Runner(loop_factory=lambda: PermutingLoop(seed)) as runner:
        return runner.run(work)
