"""How commands end: their exit status, and a sentence instead of a traceback for bad input."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Final, NoReturn, TextIO

import typer

from ai_psychiatrist.domain.errors import (
    ArtifactMismatch,
    ConfigurationError,
    InputError,
    SpeakersUnknown,
    StoreUnusable,
)

_OF_THE_DISK: Final = frozenset({errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC, errno.EROFS})


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


def fail(message: str) -> NoReturn:
    """Say what is wrong with input or settings, and end the command."""
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(ExitCode.BAD_INPUT)


def status_of(done: int, wanted: int) -> ExitCode:
    """Return the exit status of work of which so much is done."""
    if done == 0:
        return ExitCode.NOTHING_FINISHED
    return ExitCode.COMPLETE if done == wanted else ExitCode.PARTIAL


@contextmanager
def ending_on_stop(words: str) -> Iterator[None]:
    """End the command when it is stopped by Ctrl-C, and say what becomes of what was done."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(words, err=True)
        raise typer.Exit(ExitCode.STOPPED) from None


@contextmanager
def writing_output() -> Iterator[None]:
    """End the command when its output cannot be written, with a status that means nothing else."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        drop_output(sys.stdout)
        raise typer.Exit(ExitCode.BROKEN_PIPE) from None
    except OSError as error:
        drop_output(sys.stdout)
        fail(f"the output cannot be written: {error.strerror}")


@contextmanager
def telling_what_cannot_be_written() -> Iterator[None]:
    """End the program with one line when its last output, or any file, meets a full disk."""
    stdout = sys.stdout
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        drop_output(sys.stdout)
        sys.exit(ExitCode.BROKEN_PIPE)
    except SystemExit:
        # Typer ends with 1 where nobody reads, and leaves another stream in this place.
        if sys.stdout is stdout:
            raise
        drop_output(stdout)
        sys.exit(ExitCode.BROKEN_PIPE)
    except OSError as error:
        if error.errno not in _OF_THE_DISK:
            raise
        drop_output(sys.stdout)
        typer.echo(f"error: the output cannot be written: {error.strerror}", err=True)
        sys.exit(ExitCode.BAD_INPUT)


def drop_output(*streams: TextIO) -> None:
    """Let what is left in the buffers go nowhere, or it is tried again when the process ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


@contextmanager
def refusing_bad_input() -> Iterator[None]:
    """End the command with a sentence when input, settings, records or the disk cannot be used."""
    try:
        yield
    except SpeakersUnknown as error:
        for label in error.labels:
            shown = "".join(one if one.isprintable() else "\ufffd" for one in label)
            typer.echo(f"  label: {shown}", err=True)
        fail(str(error))
    except (ArtifactMismatch, ConfigurationError, InputError, StoreUnusable) as error:
        fail(str(error))
    except OSError as error:
        if error.errno not in _OF_THE_DISK:
            raise
        fail(f"a file cannot be written: {error.strerror}; what is written is kept")
