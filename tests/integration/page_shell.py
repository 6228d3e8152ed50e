"""Runs the blocks of one page in order, in one folder, as a reader would."""

import ast
import asyncio
import json
import os
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from inspect import CO_COROUTINE
from pathlib import Path
from types import CodeType, TracebackType
from typing import Any, Final, Self

from ai_psychiatrist.config import variables
from tests.integration import page_command
from tests.integration.command import COMMAND, Serving
from tests.integration.pages import ROOT, Block, Command
from tests.integration.started import start

SECONDS: Final = 200.0
"""For one block; shorter than the time limit of a test."""
SERVED: Final = ("127.0.0.1:8000", "localhost:8000")
"""Where the server of the pages is reached."""
OF_MODELS: Final = re.compile(r"(?:127\.0\.0\.1|localhost):(?:11434|8080)\b")
"""Where the model servers of the pages are reached."""

_BACKGROUND_SERVER: Final = re.compile(r"(ai-psychiatrist serve\b[^&|;#]*?)\s*&\s*(?=#|$)")
_NOT_RUN: Final = ("git", "pip", "pipx", "uv", "uvx")
_FUNCTIONS: Final = """\
set -o pipefail
ended() {
  code=$?
  [ $code -eq "$1" ] && return
  echo "\\$ $2" >&2
  echo "exited $code, not $1" >&2
  exit 1
}
"""


class BlockFailed(AssertionError):
    """A block of a page does not do what the page says."""


class PageShell:
    """The folder, names, servers and Python names of one page, while the `with` block runs."""

    def __init__(self, folder: Path, model_url: str) -> None:
        self._folder = folder
        self._model = model_url.removeprefix("http://")
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._opened = ExitStack()
        self._server: Serving | None = None
        self.environment: dict[str, str] = {}
        """What the page's commands and its Python find in the environment."""

    def __enter__(self) -> Self:
        """Make the names that commands are found under, and listen for `ai-psychiatrist`."""
        self._own = Path(self._opened.enter_context(tempfile.TemporaryDirectory()))
        self._loop = self._opened.enter_context(asyncio.Runner())
        called = {
            "ai-psychiatrist": shlex.join([sys.executable, "-IS", page_command.__file__]),
            "python": shlex.quote(sys.executable),
            "make": shlex.join(["make", "--dry-run", "--directory", str(ROOT)]),
            **dict.fromkeys(_NOT_RUN, "true"),
        }
        path = os.environ["PATH"]
        self.environment = {
            "PATH": f"{self._own / 'bin'}:{path}",
            "PAGE_COMMANDS": str(self._own / "commands"),
            "CURL_HOME": str(self._own),
            "EDITOR": "true",
            "NO_COLOR": "1",
            "OLLAMA_HOST": f"http://{self._model}",
            "OPENAI_BASE_URL": f"http://{self._model}/v1",
        }
        for name, command in called.items():
            script = self._own / "bin" / name
            script.parent.mkdir(exist_ok=True)
            script.write_text(f'#!/bin/sh\nPATH="{path}"\nexec {command} "$@"\n', "utf-8")
            script.chmod(0o755)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(self._own / "commands"))
        listener.listen()
        self._opened.callback(listener.close)
        # Closing alone would not wake who waits for the next caller.
        self._opened.callback(listener.shutdown, socket.SHUT_RDWR)
        threading.Thread(target=self._listen, args=[listener], daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End what serves."""
        self._stop_server()
        self._opened.close()

    def run(self, block: Block) -> None:
        """Run a block that is to be run; raises `BlockFailed`, or what its Python raises."""
        if block.problem:
            raise BlockFailed(block.problem)
        if not block.is_run:
            return
        if self._server is None and any(address in block.text for address in SERVED):
            self._serve(["serve"], str(self._folder), os.environ | self.environment)
        if block.language == "python":
            self._run_python(block)
        else:
            self._run_console(block)

    def _run_console(self, block: Block) -> None:
        script = _FUNCTIONS + "".join(map(self._shown, block.commands))
        done = subprocess.run(
            ["/usr/bin/env", "bash", "-c", script],
            cwd=self._folder,
            env=os.environ | self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
        if done.returncode:
            raise BlockFailed(f"{done.stdout}\n{done.stderr}")

    def _shown(self, command: Command) -> str:
        # Served when the command returns, so that the next one need not wait.
        text = _BACKGROUND_SERVER.sub(r"\1", OF_MODELS.sub(self._model, command.text))
        if command.typed:
            text = f"{{ {text}\n}} <<'TYPED_ON_THE_PAGE'\n{command.typed}TYPED_ON_THE_PAGE"
        return f"{text}\nended {command.code} {shlex.quote(command.text)}\n"

    def _run_python(self, block: Block) -> None:
        text = OF_MODELS.sub(self._model, block.text)
        if self._server is not None:
            for address in SERVED:
                text = text.replace(f"http://{address}", self._server.url)
        # The lines of a traceback are those of the page.
        padded = "\n" * block.line + text
        code = compile(padded, "page", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        if code.co_flags & CO_COROUTINE:
            self._loop.run(_awaited(code, self._names))
        else:
            exec(code, self._names)  # noqa: S102

    def _listen(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                caller, _ = listener.accept()
                threading.Thread(target=self._answer, args=[caller], daemon=True).start()

    def _answer(self, caller: socket.socket) -> None:
        with caller:
            _, streams, _, _ = socket.recv_fds(caller, 1, 3)
            asked = json.loads(caller.makefile("rb").read())
            try:
                if asked["arguments"][:1] == ["serve"]:
                    code = self._serve(asked["arguments"], asked["folder"], asked["environment"])
                else:
                    code = _run(asked, streams)
            finally:
                for stream in streams:
                    os.close(stream)
            caller.sendall(str(code).encode())

    def _serve(self, arguments: list[str], folder: str, environment: Mapping[str, str]) -> int:
        self._stop_server()
        ours = {variable.name for variable in variables()}
        settings = {name: value for name, value in environment.items() if name in ours}
        settings["API_PORT"] = "0"
        serving = Serving(Path(folder), settings, command=(COMMAND, *arguments))
        self._server = serving.__enter__()
        reached = self._server.url.removeprefix("http://")
        (self._own / ".curlrc").write_text(
            "fail-with-body\nshow-error\n"
            + "".join(f'connect-to = "{address}:{reached}"\n' for address in SERVED),
            "utf-8",
        )
        return 0

    def _stop_server(self) -> None:
        if self._server is not None:
            self._server.__exit__(None, None, None)
            self._server = None


def _run(asked: Mapping[str, Any], streams: list[int]) -> int:
    command = [COMMAND, *asked["arguments"]]
    given = dict(enumerate(streams))
    folder, environment = Path(asked["folder"]), asked["environment"]
    with start(command, folder, environment, streams=given) as process:
        return process.wait(SECONDS)


async def _awaited(code: CodeType, names: dict[str, Any]) -> None:
    await eval(code, names)  # noqa: S307
