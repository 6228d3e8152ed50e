"""The real command in this process: for tests of what it reads, writes, says and returns.

It takes half the time of one in a process of its own (`tests/integration/command.py`), which tests
of signals, terminals, closed streams, kills and what a process keeps from one run to the next need.
"""

import contextlib
import gc
import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextvars import copy_context
from functools import partial
from pathlib import Path
from unittest import mock

from ai_psychiatrist.cli import main
from tests.integration.command import Finished, environment_of
from tests.integration.command_end import status_of
from tests.log_as_it_was import log_as_it_was


def run_here(
    arguments: Sequence[str],
    folder: Path,
    settings: Mapping[str, str] | None = None,
    *,
    stdin: bytes = b"",
) -> Finished:
    """Run the command in a folder, with these settings alone, and return when it has ended."""
    out, err = _stream("strict"), _stream("backslashreplace")
    given = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    with (
        _process(folder, environment_of(folder, settings or {})),
        log_as_it_was(),
        mock.patch.multiple(sys, stdin=given, stdout=out, stderr=err),
    ):
        code = copy_context().run(status_of, partial(main, list(arguments)))
    return Finished(code=code, out=_written(out), err=_written(err))


def move_records(first: Path, second: Path) -> None:
    """Take all of one state folder into another, as `records export` and `import` do."""
    file = first.parent / "moved.jsonl"
    for folder, command in (
        (first, ["records", "export", "--out", str(file)]),
        (second, ["records", "import", str(file)]),
    ):
        done = run_here(command, folder, {"DATA_STATE_DIR": str(folder)})
        assert done.code == 0, done.err


@contextlib.contextmanager
def _process(folder: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Give the block a folder and an environment, and take back what the command sets."""
    thresholds = gc.get_threshold()
    with contextlib.chdir(folder), mock.patch.dict(os.environ, environment, clear=True):
        yield
    gc.set_threshold(*thresholds)


def _stream(errors: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), "utf-8", errors, newline="\n", write_through=True)


def _written(stream: io.TextIOWrapper) -> str:
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()
