"""The real command, in a process of its own."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from ai_psychiatrist.config import variables
from tests.integration.running_app import wait_until

COMMAND = str(Path(sys.executable).parent / "ai-psychiatrist")
PATIENCE_SECONDS = 30.0


@dataclass(frozen=True, kw_only=True)
class Finished:
    """What a command left behind."""

    code: int
    out: str
    err: str


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
) -> Finished:
    """Run the command in a folder and wait for its end."""
    done = subprocess.run(
        [COMMAND, *arguments],
        cwd=folder,
        env=environment_of(folder, settings or {}),
        input=stdin,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    return Finished(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())


class Serving:
    """`ai-psychiatrist serve` on a free port while the `with` block runs.

    It writes into files: nobody reads a pipe while it serves, and a full one would stop it.
    """

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = environment_of(folder, {"API_PORT": "0"} | dict(settings))
        self.url = ""

    def __enter__(self) -> Self:
        """Start it and read from its first line where it serves."""
        with (
            (self._folder / "serve.out").open("wb") as out,
            (self._folder / "serve.err").open("wb") as err,
        ):
            self._process = subprocess.Popen(
                [COMMAND, "serve"], cwd=self._folder, env=self._environment, stdout=out, stderr=err
            )
        wait_until(lambda: "\n" in self._written("serve.err") or self._process.poll() is not None)
        found = re.search(r"http://\S+:\d+", self._written("serve.err"))
        assert found is not None, self._written("serve.err")
        self.url = found[0]
        return self

    def stop(self) -> Finished:
        """Ask it to end and return all that it wrote."""
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(timeout=PATIENCE_SECONDS)
        return Finished(code=code, out=self._written("serve.out"), err=self._written("serve.err"))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it at once if it still runs."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _written(self, name: str) -> str:
        return (self._folder / name).read_text("utf-8", "replace")
