"""What keeps a request to an interview from being done, in words for the operator."""

from collections.abc import Iterator
from contextlib import contextmanager

from ai_psychiatrist.domain.errors import ArtifactMismatch, StoreUnusable


def protocol_changed(protocol_id: str) -> ArtifactMismatch:
    """Return the error of a protocol that is not the one the interview began with."""
    return ArtifactMismatch(
        f"the interview began with another version of the protocol {protocol_id!r}, or the "
        "protocol is gone: put that version back to go on",
        problem_code="protocol_changed",
    )


def store_unusable() -> StoreUnusable:
    """Return the error of a file that cannot be read or written, for instance on a full disk."""
    return StoreUnusable(
        "the file of the interviews cannot be used; look at the disk and at the file's rights",
        problem_code="interviews_unavailable",
    )


def store_full() -> StoreUnusable:
    """Return the error of a store that can keep no further interview."""
    return StoreUnusable(
        "as many interviews are kept as INTERVIEW_MAX_STORED and INTERVIEW_MAX_STORED_BYTES "
        "allow: raise them, lower INTERVIEW_KEEP_DAYS or STORE_GRACE_DAYS, or delete interviews",
        problem_code="interviews_full",
    )


@contextmanager
def translated() -> Iterator[None]:
    """Say of interviews what the store says of all that it keeps."""
    try:
        yield
    except StoreUnusable as error:
        if error.problem_code == "assessments_unavailable":
            raise store_unusable() from None
        raise
    except ArtifactMismatch:
        raise ArtifactMismatch(problem_code="interview_unreadable") from None
