"""What one store gives to another: rows in the open, as an export writes them."""

from collections.abc import Container, Iterator
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy.exc import CompileError, IntegrityError

from ai_psychiatrist.domain.errors import ArtifactMismatch, InputError
from ai_psychiatrist.store.database import Found, Value, written


def moment_in(given: Value) -> str:
    """Return a moment that another store gave, as all columns have it; raises `ValueError`."""
    return written(datetime.fromisoformat(str(given)))


def columns_in(row: Found, *, but: Container[str]) -> dict[str, Value]:
    """Return the columns of a row by their names, without some."""
    return {name: value for name, value in row._asdict().items() if name not in but}


@contextmanager
def refusing_foreign(what: str) -> Iterator[None]:
    """Raise `InputError` for what no store gave. `what`: a thing in a file of an export."""
    try:
        yield
    except (ArtifactMismatch, CompileError, IntegrityError, LookupError, ValueError):
        # Their texts hold what was given.
        msg = f"{what} in it is not as `records export` writes it"
        raise InputError(msg, field="FILE") from None
