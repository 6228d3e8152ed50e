"""How commands print and end: text that no terminal obeys, exit statuses, errors in a sentence."""

import errno
import json
import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from enum import IntEnum
from typing import TYPE_CHECKING, Final, NoReturn, TextIO

import typer
from pydantic_core import to_jsonable_python

from ai_psychiatrist.domain.errors import (
    ArtifactMismatch,
    ConfigurationError,
    InputError,
    ModelCallFailed,
    SpeakersUnknown,
    StoreUnusable,
    require,
)

__all__ = ["require"]

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

_OF_THE_DISK: Final = frozenset({errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC, errno.EROFS})
WIDE: Final = 160
"""Columns of a wide table where there is no terminal."""


class ExitCode(IntEnum):
    """What the exit status of a command means."""

    COMPLETE = 0
    PARTIAL = 1
    BAD_INPUT = 2
    NOTHING_FINISHED = 3
    WAITING = 4
    """For the results of a batch."""
    CEILING_REACHED = 5
    """Units are left because they could cost more than may be spent."""
    STOPPED = 130
    """By Ctrl-C."""
    BROKEN_PIPE = 141
    """Nobody reads the output any more; the number is the one that shells use."""


def plain(text: str) -> str:
    """Replace characters that a terminal would obey, direction marks included."""
    return "".join(
        character
        if character in "\n\t" or not unicodedata.category(character).startswith("C")
        else "\ufffd"
        for character in text
    )


def console_of(
    pipe_width: int, *, widest: int | None = None, is_error_stream: bool = False
) -> "Console":
    """Return a console that obeys nothing of what it prints.

    `pipe_width`: columns where there is no terminal; `widest`: the most that are used of one.
    """
    # A tenth of a second, which help does without.
    from rich.console import Console  # noqa: PLC0415

    class Output(Console):
        def on_broken_pipe(self) -> None:
            """Leave it to the command, which knows what its exit statuses mean."""
            raise BrokenPipeError

    console = Output(markup=False, highlight=False, emoji=False, stderr=is_error_stream)
    if not console.is_terminal:
        console.width = pipe_width
    elif widest is not None:
        console.width = min(console.width, widest)
    return console


def numbers(*names: str) -> list["Column"]:
    """Return columns of figures, none of which is broken."""
    from rich.table import Column  # noqa: PLC0415  as above

    return [Column(name, justify="right", no_wrap=True) for name in names]


def table_of(
    columns: "Iterable[str | Column]",
    rows: "Iterable[Sequence[str | Text]]",
    *,
    header_style: str | None = None,
) -> "Table":
    """Return a table without lines; an empty row parts what stands above and below it."""
    from rich.table import Table  # noqa: PLC0415  as above

    table = Table(*columns, box=None, pad_edge=False, header_style=header_style)
    for row in rows:
        table.add_row(*row)
    return table


def working(*, is_long: bool = True) -> AbstractContextManager[object]:
    """Show on a terminal that something is being worked on; `is_long`: a model may be asked."""
    console = console_of(0, is_error_stream=True)
    return console.status("one moment") if is_long and console.is_terminal else nullcontext()


def say(*lines: str) -> None:
    """Print lines for the person at the terminal, apart from the output."""
    for line in lines:
        typer.echo(line, err=True)


def announce(event: str, line: str, *, log_format: str) -> None:
    """Print a line of a server for its operator, in the form of its log where that is JSON."""
    if log_format == "json":
        now = datetime.now(UTC).isoformat()
        line = json.dumps({"event": event, "message": line, "level": "info", "timestamp": now})
    say(line)


def print_json(document: object, *, is_line: bool = False) -> None:
    """Print a document as JSON, or as a line of such: dataclasses, enums and moments as well.

    Escaped, so that nothing in it acts on a terminal and every encoding can carry it.
    """
    shown = to_jsonable_python(document, inf_nan_mode="null")
    typer.echo(json.dumps(shown, indent=None if is_line else 2))


def fail(message: str) -> NoReturn:
    """Say what is wrong with input or settings, and end the command."""
    say(f"error: {message}")
    raise typer.Exit(ExitCode.BAD_INPUT)


def status_of(done: int, wanted: int) -> ExitCode:
    """Return the exit status of work of which so much is done."""
    if done == 0:
        return ExitCode.NOTHING_FINISHED
    return ExitCode.COMPLETE if done == wanted else ExitCode.PARTIAL


@contextmanager
def ending_on_stop(*words: str, tell: Callable[[], str] | None = None) -> Iterator[None]:
    """End the command when it is stopped by Ctrl-C, and say what becomes of what was done.

    `tell`: says it where it depends on what was done.
    """
    try:
        yield
    except KeyboardInterrupt:
        say(*words, *([] if tell is None else [tell()]))
        raise typer.Exit(ExitCode.STOPPED) from None


@contextmanager
def telling_what_cannot_be_written() -> Iterator[None]:
    """End the program with a line where its output meets a full disk, silently without a reader."""
    stdout, stderr = sys.stdout, sys.stderr
    try:
        try:
            yield
        finally:
            stdout.flush()
    except (BrokenPipeError, SystemExit) as end:
        # Typer ends with 1 where nobody reads, and leaves another stream in this place.
        if isinstance(end, SystemExit) and sys.stdout is stdout:
            raise
        _drop_output(stdout, stderr)
        sys.exit(ExitCode.BROKEN_PIPE)
    except OSError as error:
        if error.errno not in _OF_THE_DISK:
            raise
        _drop_output(stdout)
        say(f"error: the output cannot be written: {error.strerror}")
        sys.exit(ExitCode.BAD_INPUT)


def _drop_output(*streams: TextIO) -> None:
    """Let what is left in the buffers go nowhere, or it is tried again when the process ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


@contextmanager
def telling_errors() -> Iterator[None]:
    """End the command with a sentence when input, settings or records cannot be used."""
    try:
        yield
    except (ArtifactMismatch, ConfigurationError, InputError, StoreUnusable) as error:
        if isinstance(error, SpeakersUnknown):
            say(*(f"  label: {plain(label)}" for label in error.labels))
        fail(str(error))
    except ModelCallFailed as failure:
        # Agents tell of theirs themselves.
        fail(f"the embedder gave no vectors: {failure.code.value}; is its server there?")
