"""The public ways that cases take: the command and the scripted model server, in this process."""

import contextlib
import gc
import io
import json
import logging
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from unittest import mock

from tests.fakes.exchange import Script
from tests.fakes.model_server import ModelServerThread
from tests.golden.answer import Json, text_answer
from tests.integration.command_end import status_of

REPOSITORY = Path(__file__).parents[2]
EXAMPLES = REPOSITORY / "examples"
TRANSCRIPTS = REPOSITORY / "tests" / "data" / "transcripts"
_INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "PYTHONPATH", "TEST_DATA_DIR")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def value(self) -> Json:
        """The exit status, the standard output (as JSON where it is) and the standard error."""
        return {"exit": self.code, "out": parsed(self.out), "err": text_answer(self.err)}


def parsed(text: str) -> Json:
    """Return JSON, or a list of it for JSON lines; lines of text where it is neither."""
    with contextlib.suppress(ValueError):
        value: Json = json.loads(text)
        return value
    with contextlib.suppress(ValueError):
        return [json.loads(line) for line in text.splitlines()]
    return text_answer(text)


def environment(folder: Path, settings: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a case: these settings and the defaults, reader and log off."""
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    own = {
        "DATA_STATE_DIR": str(folder / "state"),
        "LOG_LEVEL": "CRITICAL",
        "READER_ENABLED": "false",
        "NO_COLOR": "1",
        "COLUMNS": "100",
    }
    return inherited | own | dict(settings or {})


def run(
    arguments: Sequence[str | Path],
    folder: Path,
    settings: Mapping[str, str] | None = None,
    *,
    stdin: bytes = b"",
) -> Ended:
    """Run `ai-psychiatrist` with these arguments in a folder, in this process."""
    from ai_psychiatrist.cli import main  # noqa: PLC0415  half a second that some areas save

    out, err = _stream("strict"), _stream("backslashreplace")
    given = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    root, thresholds = logging.getLogger(), gc.get_threshold()
    handlers, level = root.handlers, root.level
    with (
        contextlib.chdir(folder),
        mock.patch.dict(os.environ, environment(folder, settings), clear=True),
        mock.patch.multiple(sys, stdin=given, stdout=out, stderr=err),
    ):
        code = copy_context().run(status_of, partial(main, [str(one) for one in arguments]))
    root.handlers = handlers
    root.setLevel(level)
    gc.set_threshold(*thresholds)
    return Ended(code=code, out=_written(out), err=_written(err))


@contextlib.contextmanager
def model_server(
    script: Script, *, wire: str = "openai"
) -> Iterator[tuple[ModelServerThread, dict[str, str]]]:
    """Serve scripted replies; yields the server and the settings that name it for every agent."""
    with ModelServerThread(script) as server:
        waits = {"MODEL_BUSY_WAITS_SECONDS": "0,0.01,0.01"}
        if wire == "ollama":
            named = {"OLLAMA_HOST": server.url, "MODEL_DEFAULT": "ollama:fake-model"}
        else:
            named = {
                "OPENAI_BASE_URL": f"{server.url}/v1",
                "OPENAI_API_KEY": "a-key-of-nobody",
                "MODEL_DEFAULT": "openai-chat:fake-model",
            }
        yield server, waits | named


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Yield an empty folder that is gone afterwards; its name is short and has no digits."""
    memory = Path("/dev/shm")  # noqa: S108  a private folder is made there
    parent = memory if memory.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="golden-", dir=parent) as folder:
        yield Path(folder)


def _stream(errors: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), "utf-8", errors, newline="\n", write_through=True)


def _written(stream: io.TextIOWrapper) -> str:
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()
