"""A process that has imported the command, and becomes it in a forked child for each request.

It starts no thread, opens no event loop and reads no setting, so that a child begins as a fresh
process does. Requests come in through a socket at standard input; it ends when that is closed.
"""

import gc
import importlib
import io
import json
import os
import random
import resource
import runpy
import selectors
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Final, NoReturn

from tests.integration.command_end import run_to_the_end
from tests.integration.imported import import_all

LENGTH: Final = struct.Struct("!I")
STREAMS: Final = 3
"""Standard input, output and error: the first descriptors of a request; then where to report."""
_MAINS: Final = {
    "ai-psychiatrist": ("ai_psychiatrist.cli", "main"),
    "tests.crash": ("tests.crash.__main__", "end_with_status"),
    "tests.jobs.worker_process": ("tests.jobs.worker_process", "main"),
    "tests.unit.store.key_process": ("tests.unit.store.key_process", "main"),
    "uvicorn": ("uvicorn", "main"),
}
"""What each command calls."""
_UMASK: Final = 0o022


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a child is to become."""

    command: list[str]
    """The path of the command, and its arguments."""
    folder: str
    environment: dict[str, str]
    is_afresh: bool
    """Whether a new program is executed rather than what is imported already."""
    is_on_terminal: bool
    """Whether standard input is a terminal that the child is to own."""
    limits: dict[str, int]
    """What it may use at most, by the names of `resource`, and `umask`: rights it gives nobody."""

    def sent(self) -> bytes:
        """Return it as it is sent, its length first."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        body = json.dumps(fields).encode()
        return LENGTH.pack(len(body)) + body


class CommandParent:
    """Forks a child for each request, and reports its process id and its end."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._reports: dict[int, int] = {}
        self._woken, self._waker = socket.socketpair()
        self._woken.setblocking(False)
        self._waker.setblocking(False)

    def serve(self) -> Request | None:
        """Return in a child with what it is to become, and in the parent when nobody asks more."""
        signal.set_wakeup_fd(self._waker.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        with selectors.DefaultSelector() as selector:
            selector.register(self._control, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while True:
                ready = {key.fileobj for key, _ in selector.select()}
                if self._woken in ready:
                    self._woken.recv(4096)
                    self._report_ended()
                if self._control in ready:
                    received = _receive(self._control)
                    if received is None:
                        break
                    request, streams = received
                    if self._fork(streams) == 0:
                        break
        if received is None:
            self._end_children()
            return None
        self._forget_parent()
        _connect(streams)
        return request

    def _fork(self, descriptors: list[int]) -> int:
        report = descriptors[STREAMS]
        child = os.fork()
        if child:
            self._reports[child] = report
            os.write(report, f"{child}\n".encode())
            for stream in descriptors[:STREAMS]:
                os.close(stream)
        return child

    def _report_ended(self) -> None:
        while self._reports:
            child, status = os.waitpid(-1, os.WNOHANG)
            if child == 0:
                return
            report = self._reports.pop(child)
            os.write(report, f"{os.waitstatus_to_exitcode(status)}\n".encode())
            os.close(report)

    def _end_children(self) -> None:
        for child in self._reports:
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)

    def _forget_parent(self) -> None:
        signal.set_wakeup_fd(-1)
        for report in self._reports.values():
            os.close(report)
        for own in (self._control, self._woken, self._waker):
            own.close()


def _receive(control: socket.socket) -> tuple[Request, list[int]] | None:
    head, descriptors, _, _ = socket.recv_fds(control, LENGTH.size, STREAMS + 1)
    if not head:
        return None
    (length,) = LENGTH.unpack(head)
    body = b""
    while len(body) < length:
        body += control.recv(length - len(body))
    return Request(**json.loads(body)), descriptors


def _connect(descriptors: list[int]) -> None:
    """Put the streams of the request in place of the parent's."""
    for number, descriptor in enumerate(descriptors[:STREAMS]):
        os.dup2(descriptor, number)
    for descriptor in descriptors:
        os.close(descriptor)


def become(request: Request) -> Callable[[], None]:
    """Take on what a process is given when it starts; returns what runs the command."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    os.chdir(request.folder)
    os.setsid()
    limits = dict(request.limits)
    os.umask(limits.pop("umask", _UMASK))
    for name, most in limits.items():
        kind = getattr(resource, name)
        resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))
    if request.is_on_terminal:
        _take_terminal()
    if request.is_afresh:
        _execute(request)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(request.environment)
    time.tzset()
    random.seed()
    sys.argv = list(request.command)
    sys.path[0] = os.fspath(Path(request.command[0]).parent)
    # A script is no part of a package; that shows in how it calls itself, and in what processes
    # import first that it starts.
    script = ModuleType("__main__")
    script.__file__ = request.command[0]
    sys.modules["__main__"] = script
    _open_streams()
    program = Path(request.command[0])
    if program.suffix == ".py":
        return partial(_run_program, program)
    module, name = _MAINS[program.name]
    main: Callable[[], None] = getattr(importlib.import_module(module), name)
    return main


def _run_program(program: Path) -> None:
    runpy.run_path(str(program), run_name="__main__")


def _take_terminal() -> None:
    """Make the terminal the one whose Ctrl-C reaches the command."""
    import fcntl  # noqa: PLC0415
    import termios  # noqa: PLC0415

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _execute(request: Request) -> NoReturn:
    # Python ignores it for itself; a program that is executed must not inherit that.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execve(request.command[0], request.command, request.environment)  # noqa: S606


def _open_streams() -> None:
    """Open the standard streams as the interpreter does when it starts."""
    reading, writing = sys.stdin, sys.stdout
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(  # type: ignore[misc]
        os.fdopen(0, "rb", closefd=False), encoding=reading.encoding, errors=reading.errors
    )
    sys.stdout = sys.__stdout__ = io.TextIOWrapper(  # type: ignore[misc]
        os.fdopen(1, "wb", closefd=False),
        encoding=writing.encoding,
        errors=writing.errors,
        newline="\n",
        line_buffering=os.isatty(1),
    )
    sys.stderr = sys.__stderr__ = io.TextIOWrapper(  # type: ignore[misc]
        os.fdopen(2, "wb", closefd=False),
        encoding=writing.encoding,
        errors="backslashreplace",
        newline="\n",
        line_buffering=True,
    )


def main() -> Callable[[], None] | None:
    """Serve until nobody asks more; returns in each child what it is to run."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    control = socket.socket(fileno=os.dup(0))
    import_all()
    assert threading.active_count() == 1
    # What is there now stays: no collection of a child need look at it.
    gc.collect()
    gc.freeze()
    request = CommandParent(control).serve()
    return None if request is None else become(request)


if __name__ == "__main__":
    run = main()
    if run is not None:
        run_to_the_end(run)
