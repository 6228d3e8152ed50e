"""What keeps assessments from being stored or read, in words for the operator."""

from ai_psychiatrist.domain.errors import StoreUnusable


def archive_unusable() -> StoreUnusable:
    """Return the error of files of stored assessments that cannot be read or written."""
    return StoreUnusable(
        "stored assessments: the files cannot be used; look at the disk, the rights and the key",
        problem_code="assessments_unavailable",
    )


def archive_full() -> StoreUnusable:
    """Return the error of an archive that can store no further assessment."""
    return StoreUnusable(
        "as many assessments are stored as STORE_MAX_RECORDS allows: raise it, lower "
        "STORE_KEEP_DAYS, or delete some",
        problem_code="assessments_full",
    )
