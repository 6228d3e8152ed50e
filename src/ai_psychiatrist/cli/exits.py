"""How commands end: their exit status, and a sentence instead of a traceback for bad input."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import NoReturn

import typer


class ExitCode(IntEnum):
    """What the exit status of a command means."""

    COMPLETE = 0
    PARTIAL = 1
    BAD_INPUT = 2
    NOTHING_FINISHED = 3
    STOPPED = 130
    """By Ctrl-C."""


def fail(message: str) -> NoReturn:
    """Say what is wrong with input or settings, and end the command."""
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(ExitCode.BAD_INPUT)


@contextmanager
def refusing_bad_input() -> Iterator[None]:
    """End the command with a sentence when input, settings or records cannot be used."""
    from ai_psychiatrist.domain.errors import (  # noqa: PLC0415
        ArtifactMismatch,
        ConfigurationError,
        InputError,
    )

    try:
        yield
    except (ArtifactMismatch, ConfigurationError, InputError) as error:
        fail(str(error))
