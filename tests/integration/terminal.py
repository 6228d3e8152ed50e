"""A process on a terminal, as a person starts it."""

import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.integration.command import environment_of
from tests.patience import PATIENCE_SECONDS

SERVED: Final = re.compile(r"http://127\.0\.0\.1:\d+")
"""Where a server says that it can be reached."""


class TerminalProcess:
    """A process on a terminal of its own, in which no sign says that a machine looks on."""

    def __init__(self, command: Sequence[str], folder: Path, settings: Mapping[str, str]) -> None:
        environment = environment_of(folder, {"TERM": "xterm"} | dict(settings))
        for sign in ("CI", "PYTEST_VERSION", "PYTEST_CURRENT_TEST", "PYDANTIC_AI_NO_BANNER"):
            environment.pop(sign, None)
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self.shown = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it at once if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE_SECONDS)
        os.close(self._ours)

    def read_until(self, is_enough: Callable[[str], object]) -> str:
        """Return what is shown once it is enough, or all of it when the process ends before."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not is_enough(self.shown):
            assert time.monotonic() < end, self.shown
            if not select.select([self._ours], [], [], 0.1)[0]:
                continue
            try:
                piece = os.read(self._ours, 65_536)
            except OSError:
                break
            self.shown += piece.decode("utf-8", "replace")
        return self.shown

    def stop(self) -> str:
        """Ask it to end, and return everything that it showed."""
        self.process.send_signal(signal.SIGTERM)
        return self.rest()

    def rest(self) -> str:
        """Wait for its end and return everything that it showed."""
        shown = self.read_until(lambda _: False)
        self.process.wait(PATIENCE_SECONDS)
        return shown
