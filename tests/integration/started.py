"""Commands in processes of their own: forked from one that has imported them, or afresh."""

import atexit
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from tests.integration.command_parent import Request
from tests.patience import PATIENCE_SECONDS

_READ_BY_THE_INTERPRETER = "PYTHON"
"""Variables whose names begin so take effect only when an interpreter starts."""


class Started:
    """A command that runs; it is ended with its block."""

    def __init__(self, report: BinaryIO, streams: Mapping[int, BinaryIO]) -> None:
        self._report = report
        self._streams = streams
        self._code: int | None = None
        started = report.readline()
        if not started:
            msg = "the process that commands are forked from has ended"
            raise ChildProcessError(msg)
        self.pid = int(started)

    @property
    def stdin(self) -> BinaryIO:
        """Our end of its standard input, where that is a pipe."""
        return self._streams[0]

    @property
    def stdout(self) -> BinaryIO:
        """Our end of its standard output, where that is a pipe."""
        return self._streams[1]

    @property
    def stderr(self) -> BinaryIO:
        """Our end of its standard error, where that is a pipe."""
        return self._streams[2]

    def poll(self) -> int | None:
        """Return its exit status, −n after signal n, or nothing while it runs."""
        return self._read_code(0)

    def wait(self, seconds: float = PATIENCE_SECONDS) -> int:
        """Return its exit status when it has ended; raises `TimeoutError` when it never does."""
        code = self._read_code(seconds)
        if code is None:
            msg = "the command did not end"
            raise TimeoutError(msg)
        return code

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def is_waiting(self) -> bool:
        """Whether it sleeps until something comes; where that cannot be told, that it does."""
        try:
            state = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return True
        return state.rpartition(")")[2].split()[0] == "S"

    def _read_code(self, seconds: float) -> int | None:
        if self._code is None and _is_readable(self._report, seconds):
            self._code = int(self._report.readline())
        return self._code

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it and all that it has started."""
        self.end()

    def end(self) -> None:
        """End it and all that it has started, and close our ends of its pipes."""
        self.send_signal(signal.SIGKILL)
        self.wait()
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        for stream in (self._report, *self._streams.values()):
            with suppress(BrokenPipeError):
                stream.close()


def start(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    streams: Mapping[int, int | BinaryIO] | None = None,
    is_afresh: bool = False,
    is_on_terminal: bool = False,
    limits: Mapping[str, int] | None = None,
) -> Started:
    """Start a command; a stream is a pipe of ours, unless `streams` names a file for it.

    `limits`: what it may use at most, by the names of `resource`, such as `RLIMIT_FSIZE`; and
    `umask`: the rights that nothing it makes is given by itself.
    It is forked from a process that has imported it, unless it is to start `is_afresh`.
    """
    inherited = {name: os.environ.get(name) for name in environment}
    is_afresh |= any(
        name.startswith(_READ_BY_THE_INTERPRETER) and value != inherited[name]
        for name, value in environment.items()
    )
    request = Request(
        command=list(command),
        folder=os.fspath(folder),
        environment=dict(environment),
        is_afresh=is_afresh,
        is_on_terminal=is_on_terminal,
        limits=dict(limits or {}),
    )
    return _parent().start(request, streams or {})


class _Parent:
    """The process that all commands are forked from; it ends with this one."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair()
        self._lock = threading.Lock()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.integration.command_parent"],
                cwd=Path(__file__).parents[2],
                # A library that computes in threads must have none when it is forked.
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
                stdin=theirs.fileno(),
                start_new_session=True,
            )

    def start(self, request: Request, streams: Mapping[int, int | BinaryIO]) -> Started:
        """Let it fork a child with these streams; the others are pipes of ours."""
        with ExitStack() as theirs:
            ours: dict[int, BinaryIO] = {}
            given = []
            for number in range(3):
                wanted = streams.get(number)
                if wanted is None:
                    ours[number], end = _pipe(is_read_by_child=number == 0)
                    theirs.callback(os.close, end)
                    wanted = end
                given.append(wanted if isinstance(wanted, int) else wanted.fileno())
            report, reported = os.pipe()
            theirs.callback(os.close, reported)
            sent = request.sent()
            with self._lock:
                done = socket.send_fds(self._control, [sent], [*given, reported])
                self._control.sendall(sent[done:])
        return Started(os.fdopen(report, "rb", buffering=0), ours)

    def end(self) -> None:
        """Let it end, and whatever of its children is left."""
        self._control.close()
        self._process.wait()


@cache
def _parent() -> _Parent:
    parent = _Parent()
    atexit.register(parent.end)
    return parent


def _pipe(*, is_read_by_child: bool) -> tuple[BinaryIO, int]:
    reading, writing = os.pipe()
    if is_read_by_child:
        return os.fdopen(writing, "wb", buffering=0), reading
    return os.fdopen(reading, "rb"), writing


def _is_readable(stream: BinaryIO, seconds: float) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        return bool(selector.select(seconds))
