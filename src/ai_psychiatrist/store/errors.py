"""What keeps the store, or the file of a run, from being used, in words for the operator."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from ai_psychiatrist.domain.errors import ArtifactMismatch, InputError, StoreUnusable

_FIELD = "RUN"
_FULL: Final = frozenset({"SQLITE_FULL", "SQLITE_IOERR_WRITE", "53100"})
"""What SQLite and PostgreSQL call it when the disk, or a quota of it, takes nothing more."""


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
    except (
        ArtifactMismatch,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ):
        what = "a row is damaged"
        raise LedgerUnusable(what) from None


def store_unusable() -> StoreUnusable:
    """Return the error of a database that cannot be read or written."""
    return StoreUnusable(
        "stored assessments: the database cannot be used; look at DATABASE_URL, or at the disk, "
        "the rights and the key in DATA_STATE_DIR",
        problem_code="assessments_unavailable",
    )


def store_full() -> StoreUnusable:
    """Return the error of a tenant that can store no further assessment."""
    return StoreUnusable(
        "as many assessments are stored as STORE_MAX_RECORDS allows: raise it, lower "
        "STORE_KEEP_DAYS or STORE_GRACE_DAYS, or delete some",
        problem_code="assessments_full",
    )


def out_of_bytes() -> StoreUnusable:
    """Return the error of a tenant that stores as many bytes as it may."""
    return StoreUnusable(
        "as many bytes are stored as STORE_MAX_BYTES allows: raise it, lower STORE_KEEP_DAYS, "
        "INTERVIEW_KEEP_DAYS or STORE_GRACE_DAYS, or delete some",
        problem_code="storage_full",
    )


def disk_full() -> StoreUnusable:
    """Return the error of a disk that takes nothing more."""
    return StoreUnusable(
        "nothing more can be stored: the disk of the state folder (DATA_STATE_DIR) or of the "
        "database is full; make room on it",
        problem_code="storage_full",
    )


@contextmanager
def translated() -> Iterator[None]:
    """Raise `StoreUnusable` for what a database raises: its texts hold values of rows."""
    try:
        yield
    except SQLAlchemyError as error:
        cause = error.orig if isinstance(error, DBAPIError) else None
        code = getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None)
        raise (disk_full() if code in _FULL else store_unusable()) from None


@contextmanager
def translated_of_run() -> Iterator[None]:
    """Raise `LedgerUnusable` for what the database of a run raises, by SQLite's name of it."""
    try:
        yield
    except SQLAlchemyError as error:
        cause = getattr(error, "orig", None) or error
        raise LedgerUnusable(getattr(cause, "sqlite_errorname", type(cause).__name__)) from None
