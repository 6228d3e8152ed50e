"""Work beside the event loop: threads with places and time limits, processes that can be ended."""

import asyncio
import gc
import os
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Coroutine, Iterator
from contextvars import ContextVar
from functools import wraps
from pathlib import Path

import pytest
from tests.patience import wait_until

from ai_psychiatrist.agents.baseline import answers
from ai_psychiatrist.agents.baseline.signals import analyse
from ai_psychiatrist.domain.errors import TranscriptUnreadable
from ai_psychiatrist.infrastructure.off_loop import (
    LARGE_TEXT_CHARACTERS,
    WorkerLost,
    WorkerThreads,
    WorkTimedOut,
    end_idle_processes,
    run_in_process,
    work_inline,
    work_on_text,
)
from ai_psychiatrist.services.evidence_validation.transcript_index import Lookup, ground_all
from ai_psychiatrist.services.risk.detector import read_with_risk
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript
from ai_psychiatrist.services.transcripts.speaker_labels import DEFAULT_LABELS
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript

TEXT = "Participant: I am tired."
_kept: ContextVar[str] = ContextVar("kept", default="")


def _in_loop(test: Callable[[], Coroutine[None, None, None]]) -> Callable[[], None]:
    @wraps(test)
    def run() -> None:
        asyncio.run(test())

    return run


@pytest.fixture(autouse=True)
def _no_processes_are_left() -> Iterator[None]:
    yield
    end_idle_processes()


@_in_loop
async def test_threads_give_back_what_the_work_returns_or_raises() -> None:
    threads = WorkerThreads(count=2, seconds=60)
    _kept.set("mine")
    assert await threads.run(_kept.get) == "mine"
    with pytest.raises(ZeroDivisionError):
        await threads.run(lambda: 1 // 0)


@_in_loop
async def test_work_that_hangs_holds_its_place_and_lets_go_of_its_caller() -> None:
    threads, gate = WorkerThreads(count=1, seconds=0.05), threading.Event()
    begun: list[int] = []
    with pytest.raises(WorkTimedOut):
        await threads.run(gate.wait)
    with pytest.raises(WorkTimedOut):
        await threads.run(lambda: begun.append(1))
    gate.set()
    while True:
        try:
            assert await threads.run(lambda: 3) == 3
        except WorkTimedOut:
            continue
        break
    assert begun == []


@_in_loop
async def test_a_thread_that_is_free_is_used_again() -> None:
    threads = WorkerThreads(count=1, seconds=60)
    assert await threads.run(threading.get_ident) == await threads.run(threading.get_ident)


@_in_loop
async def test_what_work_raises_whose_caller_has_gone_is_told_to_nobody() -> None:
    threads, gate = WorkerThreads(count=1, seconds=60), threading.Event()
    told: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))

    def fail() -> None:
        gate.wait()
        raise ValueError(TEXT)

    calling = asyncio.create_task(threads.run(fail))
    await asyncio.sleep(0)
    calling.cancel()
    await asyncio.gather(calling, return_exceptions=True)
    del calling
    gate.set()
    assert await threads.run(lambda: 3) == 3
    gc.collect()
    assert told == []


def test_work_for_which_no_thread_can_be_started_gives_its_place_back() -> None:
    program = (
        "import asyncio, threading\n"
        "from ai_psychiatrist.infrastructure.off_loop import WorkerThreads\n"
        "async def main():\n"
        "    threads = WorkerThreads(count=1, seconds=30)\n"
        "    usual = threading.stack_size(1 << 47)\n"
        "    try:\n"
        "        await threads.run(lambda: 3)\n"
        "    except RuntimeError:\n"
        "        threading.stack_size(usual)\n"
        "        print(await threads.run(lambda: 3))\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == b"3\n"


def test_a_forked_process_has_threads_of_its_own() -> None:
    program = (
        "import asyncio, os\n"
        "from ai_psychiatrist.infrastructure.off_loop import WorkerThreads\n"
        "def three():\n"
        "    return asyncio.run(WorkerThreads(count=1, seconds=30).run(lambda: 3))\n"
        "three()\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    os._exit(three())\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == b"3\n"


def test_a_program_ends_although_a_thread_hangs() -> None:
    program = (
        "import asyncio, threading\n"
        "from ai_psychiatrist.infrastructure.off_loop import WorkerThreads\n"
        "async def main():\n"
        "    try:\n"
        "        await WorkerThreads(count=1, seconds=0.01).run(threading.Event().wait)\n"
        "    except TimeoutError:\n"
        "        print('let go')\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, timeout=60, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "let go\n", "")


@_in_loop
async def test_a_small_text_is_worked_on_in_this_process_and_a_large_one_in_another() -> None:
    assert await work_on_text("x" * LARGE_TEXT_CHARACTERS, os.getpid) == os.getpid()
    assert await work_on_text("x" * (LARGE_TEXT_CHARACTERS + 1), os.getpid) != os.getpid()


@_in_loop
async def test_a_command_works_on_large_texts_in_its_own_process() -> None:
    work_inline()
    assert await work_on_text("x" * (LARGE_TEXT_CHARACTERS + 1), os.getpid) == os.getpid()


@_in_loop
async def test_a_call_that_cannot_be_sent_is_an_error_and_leaves_no_process() -> None:
    process = await run_in_process(TEXT, os.getpid)
    with pytest.raises(AttributeError, match="pickle"):
        await run_in_process(TEXT, lambda: 1)
    await asyncio.to_thread(wait_until, lambda: _is_gone(process))


@_in_loop
async def test_a_process_is_used_again() -> None:
    assert await run_in_process(TEXT, os.getpid) == await run_in_process(TEXT, os.getpid)


@_in_loop
async def test_an_error_in_a_process_is_raised_here() -> None:
    with pytest.raises(TranscriptUnreadable) as caught:
        await run_in_process(TEXT, parse_transcript, " ")
    assert caught.value.field == "transcript_text"


async def _is_let_go(refusing: Callable[[], Coroutine[None, None, object]]) -> bool:
    """Return whether an error, and the text that its frames hold, is gone without the collector."""
    gc.collect()
    gc.disable()
    try:
        try:
            await refusing()
        except TranscriptUnreadable as refused:
            error = weakref.ref(refused)
        # The loop still holds what this goes on with, on a busy machine for some rounds.
        for _ in range(100):
            if error() is None:
                break
            await asyncio.sleep(0.01)
        return error() is None
    finally:
        gc.enable()


@_in_loop
async def test_nothing_holds_a_text_once_it_is_refused() -> None:
    """What holds itself is found too late: a few long texts would fill the memory."""
    for _ in range(2):
        await run_in_process(TEXT, gc.collect)
        assert await _is_let_go(lambda: run_in_process(TEXT, read_transcript, b"PK\x03\x04"))
    assert await run_in_process(TEXT, gc.collect) == 0


@_in_loop
async def test_nothing_holds_a_text_once_a_thread_has_refused_it() -> None:
    threads = WorkerThreads(count=1, seconds=60)
    for _ in range(2):
        assert await _is_let_go(lambda: threads.run(lambda: read_transcript(b"PK\x03\x04")))


@_in_loop
async def test_what_a_process_prints_does_not_come_between_the_results() -> None:
    await run_in_process(TEXT, print, "words")
    assert await run_in_process(TEXT, len, "words") == 5


@_in_loop
async def test_a_process_is_ended_when_its_time_is_up() -> None:
    process = await run_in_process(TEXT, os.getpid)
    with pytest.raises(WorkTimedOut):
        await run_in_process(TEXT, time.sleep, 600, seconds=0.05)
    await asyncio.to_thread(wait_until, lambda: _is_gone(process))


@_in_loop
async def test_a_process_is_ended_when_nobody_waits_for_it() -> None:
    process = await run_in_process(TEXT, os.getpid)
    waiting = asyncio.create_task(run_in_process(TEXT, time.sleep, 600))
    await asyncio.sleep(0.05)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.to_thread(wait_until, lambda: _is_gone(process))


@_in_loop
async def test_a_process_that_ended_while_idle_is_replaced() -> None:
    first = await run_in_process(TEXT, os.getpid)
    os.kill(first, 9)
    assert await run_in_process(TEXT, os.getpid) != first


@_in_loop
async def test_a_process_that_is_lost_is_an_error_and_no_result() -> None:
    with pytest.raises(WorkerLost):
        await run_in_process(TEXT, os._exit, 1)


def _is_gone(process: int) -> bool:
    return not Path(f"/proc/{process}").exists()


@_in_loop
async def test_a_process_imports_no_more_than_reading_texts_takes() -> None:
    """A second and a hundred megabytes for each core would go into frameworks it never uses."""
    await run_in_process(TEXT, read_with_risk, TEXT, DEFAULT_LABELS)
    await run_in_process(TEXT, analyse, parse_transcript(TEXT))
    lookups = [Lookup("I am tired", "fuzzy", 0.8)]
    await run_in_process(TEXT, ground_all, parse_transcript(TEXT), lookups)
    await run_in_process(TEXT, eval, f"__import__({answers.__name__!r}) is None")
    for framework in ("fastapi", "pydantic_ai", "uvicorn", "openai", "aiohttp"):
        asked = f"{framework!r} in __import__('sys').modules"
        assert not await run_in_process(TEXT, eval, asked), framework
