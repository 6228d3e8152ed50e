"""The end of a forked command: as that of an interpreter, but its memory is not given back.

Taking all modules apart would take ten times as long as the command.
"""

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Final, NoReturn

_COULD_NOT_FLUSH: Final = 120
"""The exit status of an interpreter whose last output nobody took."""


def run_to_the_end(command: Callable[[], None]) -> NoReturn:
    """Run a command and end the process with its status."""
    status = status_of(command)
    # In the order of the interpreter: threads, what was registered for the exit, the streams.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    if not _is_flushed():
        status = _COULD_NOT_FLUSH
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status & 0xFF)


def status_of(command: Callable[[], None]) -> int:
    """Run a command and return the exit status of its process, −n where signal n would end it."""
    try:
        command()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        sys.stderr.write(f"{end.code}\n")
        return 1
    except KeyboardInterrupt:
        sys.excepthook(*sys.exc_info())
        return -signal.SIGINT
    except BaseException:  # noqa: BLE001  whatever it is, the interpreter would print it
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def _is_flushed() -> bool:
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        return False
    return True
