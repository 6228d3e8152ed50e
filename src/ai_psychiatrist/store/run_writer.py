"""One writer for all units of a run."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from ai_psychiatrist.store.group_writer import GroupWriter
from ai_psychiatrist.store.run_records import KeptCall
from ai_psychiatrist.store.runs import RunStore

Work: TypeAlias = KeptCall | Callable[[], object]


class RunWriter(GroupWriter[Work]):
    """Writes kept calls, and what functions write, in a thread."""

    def __init__(self, run: RunStore) -> None:
        super().__init__(partial(asyncio.to_thread, partial(_carry_out, run)))


def _carry_out(run: RunStore, works: Sequence[Work]) -> None:
    with run.transaction():
        run.calls.keep([work for work in works if isinstance(work, KeptCall)])
        for work in works:
            if not isinstance(work, KeptCall):
                work()
