"""Processes that share work end with the one that they work for."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

SCRIPT = """
import time, os, signal, sys
from ai_psychiatrist.infrastructure.process_pool import process_pool

def start(word):
    pass

def tell():
    os.write(1, b"%d\\n" % os.getpid())
    time.sleep(float(sys.argv[1]))

if __name__ == "__main__":
    # A shell's background jobs, of which the tests may be one, leave it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with process_pool(2, start, "word") as pool:
        for call in [pool.submit(tell) for _ in range(4)]:
            call.result()
"""


@contextmanager
def working(folder: Path, seconds: float) -> Iterator["subprocess.Popen[bytes]"]:
    """Run two processes that are busy for so long each time; all are gone in the end."""
    script = folder / "script.py"
    script.write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, script, str(seconds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def said_by(stream: IO[bytes] | None) -> bytes:
    """Return a line of a stream."""
    assert stream is not None
    return stream.readline()


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGTERM])
def test_they_end_with_a_process_that_ends_without_a_word(tmp_path: Path, stop: int) -> None:
    with working(tmp_path, 600) as process:
        assert said_by(process.stdout)
        assert said_by(process.stdout)
        process.send_signal(stop)
        # It ends once nobody holds the other side, which they inherit.
        process.communicate()
    assert process.returncode == -stop


@pytest.mark.parametrize("waits", [False, True], ids=["as they start", "as they work"])
def test_ctrl_c_is_told_of_once_and_ends_all(tmp_path: Path, *, waits: bool) -> None:
    with working(tmp_path, 0.5) as process:
        if waits:
            said_by(process.stdout)
        else:
            while not children_of(process.pid):
                time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate()
    assert process.returncode == -signal.SIGINT
    assert errors.count(b"Traceback") == errors.count(b"KeyboardInterrupt") == 1


def children_of(pid: int) -> list[str]:
    """Return the processes that it has started to work for it."""
    told = subprocess.run(
        ["ps", "-ww", "-o", "args=", "--ppid", str(pid)],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    return [line for line in told.stdout.splitlines() if "multiprocessing-fork" in line]
