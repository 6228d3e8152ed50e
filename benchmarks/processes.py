"""Servers and workers as processes of their own, for as long as a benchmark needs them."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_PATIENCE_SECONDS: Final = 60.0
_POLL_SECONDS: Final = 0.05
_NO_SETTINGS: Final[Mapping[str, str]] = {}
_SERVING: Final = re.compile(r"Serving on (http://\S+)")
_TAKES_JOBS: Final = re.compile(r"Worker (\w+) takes jobs")


@contextmanager
def served(state_dir: Path, settings: Mapping[str, str] = _NO_SETTINGS) -> Iterator[str]:
    """Serve what is stored in a folder while the block runs; yields the address."""
    with _started("serve", state_dir, {"API_PORT": "0", **settings}, _SERVING) as url:
        yield url


@contextmanager
def worked(state_dir: Path, settings: Mapping[str, str] = _NO_SETTINGS) -> Iterator[str]:
    """Do the jobs of a folder while the block runs; yields the name of the worker."""
    with _started("worker", state_dir, settings, _TAKES_JOBS) as name:
        yield name


@contextmanager
def _started(
    command: str, state_dir: Path, settings: Mapping[str, str], ready: re.Pattern[str]
) -> Iterator[str]:
    program = str(Path(sys.executable).with_name("ai-psychiatrist"))
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME"}}
    environment = {**kept, "DATA_STATE_DIR": str(state_dir), **settings}
    log = state_dir / f"{command}.log"
    with log.open("wb") as written:
        process = subprocess.Popen(
            [program, command], env=environment, cwd=state_dir, stdout=written, stderr=written
        )
    try:
        yield _said(log, ready)
    finally:
        process.terminate()
        process.wait()


def _said(log: Path, ready: re.Pattern[str]) -> str:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        found = ready.search(log.read_text("utf-8"))
        if found is not None:
            return found[1]
        time.sleep(_POLL_SECONDS)
    msg = f"a process is not ready: see {log}"
    raise RuntimeError(msg)
