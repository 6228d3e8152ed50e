"""Calls that come in while the disk is busy are written together; none is reported too early."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Self

import pytest

from ai_psychiatrist.domain.failures import CallPath
from ai_psychiatrist.domain.model_call import ModelCall
from ai_psychiatrist.store.run_records import KeptCall
from ai_psychiatrist.store.run_writer import RunWriter


@dataclass
class SlowDisk:
    """Writes when it is let to, and keeps what came in one transaction together."""

    is_free: threading.Event = field(default_factory=threading.Event)
    error: Exception | None = None
    batches: list[list[str]] = field(default_factory=list)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Wait, then begin."""
        self.is_free.wait(10)
        self.batches.append([])
        yield

    @property
    def calls(self) -> Self:
        """Write them here."""
        return self

    def keep(self, calls: Sequence[KeptCall]) -> None:
        """Write."""
        if self.error is not None:
            raise self.error
        self.batches[-1] += [call.call.digest for call in calls]


def writer_to(disk: SlowDisk) -> RunWriter:
    return RunWriter(disk)  # type: ignore[arg-type]


def call(name: str) -> KeptCall:
    made = ModelCall(agent="evidence", model="m", path=CallPath.AGENT, digest=name)
    return KeptCall("u", 1, made)


def test_calls_that_wait_are_written_in_one_transaction() -> None:
    disk = SlowDisk()

    async def write() -> None:
        writer = writer_to(disk)
        first = asyncio.create_task(writer.write(call("first")))
        await asyncio.sleep(0.01)
        rest = [asyncio.create_task(writer.write(call(name))) for name in "abc"]
        await asyncio.sleep(0.01)
        assert not first.done()
        disk.is_free.set()
        await asyncio.gather(first, *rest)

    asyncio.run(write())
    assert disk.batches == [["first"], ["a", "b", "c"]]


def test_call_of_a_cancelled_caller_is_written_all_the_same() -> None:
    disk = SlowDisk()

    async def write() -> None:
        writer = writer_to(disk)
        caller = asyncio.create_task(writer.write(call("paid")))
        await asyncio.sleep(0.01)
        caller.cancel()
        disk.is_free.set()
        await writer.aclose()
        with pytest.raises(asyncio.CancelledError):
            await caller

    asyncio.run(write())
    assert disk.batches == [["paid"]]


def test_disk_that_fails_is_told_to_whoever_waits() -> None:
    disk = SlowDisk(error=OSError("no space"))
    disk.is_free.set()

    async def write() -> None:
        writer = writer_to(disk)
        results = await asyncio.gather(
            *(writer.write(call(name)) for name in "ab"), return_exceptions=True
        )
        assert [type(result) for result in results] == [OSError, OSError]

    asyncio.run(write())
