"""Files and folders that somebody named, to be written."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.infrastructure.given_files import reason_of


@contextmanager
def writing_to(place: Path, *, field: str) -> Iterator[None]:
    """Refuse a place that somebody named, where the block finds that it cannot be written.

    Raises `InputError` naming the place and the `field` that it was named by.
    """
    try:
        yield
    except OSError as error:
        msg = f"{place} cannot be written: {reason_of(error)}"
        raise InputError(msg, field=field) from None
