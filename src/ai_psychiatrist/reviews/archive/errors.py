"""What keeps a stored assessment, or a review of it, from being had."""

from ai_psychiatrist.domain.errors import (
    ArtifactMismatch,
    AssessmentServiceError,
    InputError,
    RequestConflict,
)


class RecordNotFound(InputError):
    """No assessment of this tenant has that id."""

    def __init__(self) -> None:
        super().__init__(
            "there is no stored assessment, and no job, with this id", field="assessment_id"
        )


class SubjectNotFound(InputError):
    """No subject of this tenant has that id, or it was erased."""

    def __init__(self) -> None:
        super().__init__("there is no subject with this id", field="subject_id")


class RecordUnreadable(ArtifactMismatch):
    """What is stored was changed, moved or sealed with a key that is gone."""

    def __init__(self) -> None:
        super().__init__("what is stored of this assessment cannot be read; it can be deleted")


class RecordRunning(RequestConflict):
    """The assessment has no result yet."""

    def __init__(self) -> None:
        super().__init__(
            "the assessment is not finished: ask for its job, /v1/jobs/{id}, or follow its events",
            field="assessment_id",
        )


class RecordFailed(RequestConflict):
    """The assessment ended without a result."""

    def __init__(self) -> None:
        super().__init__(
            "the assessment has no result: its job, /v1/jobs/{id}, says why; send the transcript "
            "again",
            field="assessment_id",
        )


class JobOver(RequestConflict):
    """The job has ended, and not because it was cancelled."""

    def __init__(self) -> None:
        super().__init__(
            "the job has ended, so it cannot be cancelled; what it made is erased by DELETE of "
            "/v1/assessments/{id}",
            field="job_id",
        )


class BatchNotFound(InputError):
    """No batch of this tenant has that id."""

    def __init__(self) -> None:
        super().__init__("there is no batch with this id", field="batch_id")


class KeyUnderWay(RequestConflict):
    """The first request with this key is not answered yet."""

    def __init__(self) -> None:
        super().__init__(
            "the first request with this Idempotency-Key is under way: send it again in a moment",
            field="idempotency-key",
        )


class KeyOfAnother(InputError):
    """The key came before, with another request."""

    def __init__(self) -> None:
        super().__init__(
            "this Idempotency-Key was sent with another request: take a new key for each",
            field="idempotency-key",
        )


class StillBlind(InputError):
    """The scores are asked for by somebody who may not have them yet."""

    def __init__(self) -> None:
        super().__init__(
            "scores and evidence are given after you have committed your own ratings: begin at "
            "/review and send them to /review/ratings",
            field="assessment_id",
        )


class ReviewNotBegun(RequestConflict):
    """Ratings come before the review was begun."""

    def __init__(self) -> None:
        super().__init__("begin the review first: POST to /review", field="assessment_id")


class NotCommitted(RequestConflict):
    """Something is said of the program's work before the own ratings are in."""

    def __init__(self) -> None:
        super().__init__(
            "commit your own ratings first: POST to /review/ratings", field="assessment_id"
        )


class AlreadyCommitted(RequestConflict):
    """The ratings of this rater are in; they are never changed."""

    def __init__(self) -> None:
        super().__init__(
            "your ratings are committed and stay as they are; a further score is a row of its own",
            field="items",
        )


class ArchiveUnusable(AssessmentServiceError):
    """The files of stored assessments cannot be read or written."""

    def __init__(self, reason: str = "the files cannot be used") -> None:
        super().__init__(f"stored assessments: {reason}; look at the disk, the rights and the key")


class ArchiveFull(AssessmentServiceError):
    """No further assessment can be stored."""

    def __init__(self) -> None:
        super().__init__(
            "as many assessments are stored as STORE_MAX_RECORDS allows: raise it, lower "
            "STORE_KEEP_DAYS, or delete some"
        )
