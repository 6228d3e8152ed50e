"""What keeps a ledger from being used."""

from collections.abc import Iterator
from contextlib import contextmanager

from ai_psychiatrist.domain.errors import InputError

_FIELD = "RUN"


class RunBusy(InputError):
    """Another process works on the run."""

    def __init__(self) -> None:
        super().__init__(
            "the run is active: another process works on it; wait until it has ended", field=_FIELD
        )


class LedgerUnusable(InputError):
    """The ledger's file cannot be read or written, for instance because the disk is full."""

    def __init__(self, code: str) -> None:
        """`code`: the system's or SQLite's name of the error, which holds no value of a row."""
        super().__init__(
            f"the ledger cannot be used: {code}; look at the disk and at the file's rights",
            field=_FIELD,
        )


@contextmanager
def refusing_damage() -> Iterator[None]:
    """Raise `LedgerUnusable` for what this program cannot have written."""
    try:
        yield
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        what = "a row is damaged"
        raise LedgerUnusable(what) from None
