"""Write the file that an option names."""

from collections.abc import Iterable
from pathlib import Path

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.infrastructure.given_files import reason_of
from ai_psychiatrist.infrastructure.private_files import write_whole


def write_file(path: Path, chunks: Iterable[bytes], *, option: str) -> None:
    """Write a file that its owner alone can read; raises `InputError` naming the option."""
    try:
        write_whole(path, chunks)
    except OSError as error:
        msg = f"{option}: the file cannot be written: {reason_of(error)}"
        raise InputError(msg, field=option) from None
