"""End this process by SIGKILL at the n-th write boundary: a transaction's ends, or a renamed file.

What happens is watched through Python's audit events and SQLite's own trace: the program under test
is as it is.
"""

import os
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

_ENDS = ("BEGIN", "COMMIT", "ROLLBACK")


class Boundaries:
    """Counts the write boundaries of this process from `watch` on."""

    def __init__(self, kill_at: int | None) -> None:
        """`kill_at`: which boundary not to survive, from 1; `None` for none."""
        self.count = 0
        self._kill_at = kill_at

    def watch(self) -> None:
        """Begin to count; there is no way to stop."""
        sys.addaudithook(self._see)
        connect = sqlite3.connect

        def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
            connection: sqlite3.Connection = connect(*arguments, **options)
            connection.set_trace_callback(self._see_statement)
            return connection

        # SQLAlchemy calls it by the name of the module that holds it.
        sqlite3.connect = sqlite3.dbapi2.connect = traced  # type: ignore[assignment]

    def _see(self, event: str, _: tuple[object, ...]) -> None:
        if event == "os.rename":
            self._pass()

    def _see_statement(self, statement: str) -> None:
        if statement.lstrip().upper().startswith(_ENDS):
            self._pass()

    def _pass(self) -> None:
        self.count += 1
        if self.count == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)


def write_count(path: Path, boundaries: Boundaries) -> None:
    """Tell the parent how many boundaries there were."""
    path.write_text(str(boundaries.count), encoding="ascii")
