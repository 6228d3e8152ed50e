"""The real command, in a process of its own."""

import json
import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import typer
from typer.core import TyperGroup

from ai_psychiatrist.config import variables
from tests.integration.started import Started, start
from tests.patience import PATIENCE_SECONDS, wait_until

COMMAND = str(Path(sys.executable).parent / "ai-psychiatrist")
UVICORN = (
    *(str(Path(sys.executable).parent / "uvicorn"), "server:app"),
    *("--app-dir", str(Path(__file__).parents[2]), "--port", "0"),
)
"""The application under a server that is not ours."""
_SERVED = re.compile(r"https?://\S+?:\d+(?=\D)")


@dataclass(frozen=True, kw_only=True)
class Finished:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def served_lines(self) -> list[dict[str, Any]]:
        """The log of a server that writes JSON, without the line that tells its address."""
        told: list[dict[str, Any]] = [json.loads(line) for line in self.err.splitlines()]
        lines = [line for line in told if line["event"] != "serving"]
        assert len(lines) == len(told) - 1
        return lines


def commands_in(command: object) -> dict[str, Any]:
    """Return the commands of a group by name, imported; none where it is no group."""
    if not isinstance(command, TyperGroup):
        return {}
    context = typer.Context(command)
    return {name: command.get_command(context, name) for name in command.commands}


def environment_of(folder: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment with these settings and no others of ours."""
    ours = {variable.name for variable in variables()}
    inherited = {name: value for name, value in os.environ.items() if name not in ours}
    return inherited | {"DATA_STATE_DIR": str(folder / "state"), "NO_COLOR": "1"} | dict(settings)


def run(
    arguments: Sequence[str],
    folder: Path,
    settings: Mapping[str, str] | None = None,
    *,
    stdin: bytes = b"",
    is_afresh: bool = False,
    limits: Mapping[str, int] | None = None,
) -> Finished:
    """Run the command in a folder and wait for its end."""
    environment = environment_of(folder, settings or {})
    command = [COMMAND, *arguments]
    with start(command, folder, environment, is_afresh=is_afresh, limits=limits) as process:
        return finish(process, stdin=stdin)


def finish(process: Started, *, stdin: bytes = b"", seconds: float = PATIENCE_SECONDS) -> Finished:
    """Give a command its input, all at once, and wait for its end."""
    with ThreadPoolExecutor(2) as pool:
        out, err = pool.submit(process.stdout.read), pool.submit(process.stderr.read)
        try:
            with suppress(BrokenPipeError), process.stdin as stream:
                stream.write(stdin)
            code = process.wait(seconds)
        finally:
            process.send_signal(signal.SIGKILL)
    return Finished(code=code, out=out.result().decode(), err=err.result().decode())


class Serving:
    """`ai-psychiatrist serve`, or another server, on a free port while the `with` block runs.

    It writes into files: nobody reads a pipe while it serves, and a full one would stop it.
    """

    def __init__(
        self,
        folder: Path,
        settings: Mapping[str, str],
        *,
        command: Sequence[str] = (COMMAND, "serve"),
        is_afresh: bool = False,
        limits: Mapping[str, int] | None = None,
    ) -> None:
        self._folder = folder
        self._command = command
        self._is_afresh = is_afresh
        self._limits = limits
        self._environment = environment_of(folder, {"API_PORT": "0"} | dict(settings))
        self._ending = ExitStack()
        self.url = ""

    def __enter__(self) -> Self:
        """Start it and read from its first line where it serves."""
        with ExitStack() as opened:
            streams: dict[int, BinaryIO] = {
                number: opened.enter_context((self._folder / name).open("wb"))
                for number, name in ((1, "serve.out"), (2, "serve.err"))
            }
            self._process = self._ending.enter_context(
                start(
                    self._command,
                    self._folder,
                    self._environment,
                    streams=streams,
                    is_afresh=self._is_afresh,
                    limits=self._limits,
                )
            )
        with ExitStack() as failing:
            failing.push(self._ending)
            wait_until(
                lambda: (
                    _SERVED.search(self._written("serve.err")) or self._process.poll() is not None
                )
            )
            found = _SERVED.search(self._written("serve.err"))
            assert found is not None, self._written("serve.err")
            self.url = found[0].replace("0.0.0.0", "127.0.0.1")  # noqa: S104
            failing.pop_all()
        return self

    @property
    def pid(self) -> int:
        """The process that serves."""
        return self._process.pid

    def stop(self) -> Finished:
        """Ask it to end and return all that it wrote."""
        self.signal(signal.SIGTERM)
        return self.wait()

    def signal(self, number: int) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def wait(self) -> Finished:
        """Return all that it wrote when it has ended."""
        code = self._process.wait()
        return Finished(code=code, out=self._written("serve.out"), err=self._written("serve.err"))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it at once if it still runs."""
        self._ending.close()

    def _written(self, name: str) -> str:
        return (self._folder / name).read_text("utf-8", "replace")
