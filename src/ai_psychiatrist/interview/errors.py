"""What keeps a request to an interview from being done."""

from ai_psychiatrist.domain.errors import (
    ArtifactMismatch,
    AssessmentServiceError,
    InputError,
    RequestConflict,
)


class InterviewNotFound(InputError):
    """No interview has that id, or the id is none."""

    def __init__(self) -> None:
        super().__init__("there is no interview with this id", field="interview_id")


class VersionConflict(RequestConflict):
    """The interview has moved on since the caller last saw it."""

    def __init__(self, field: str = "version") -> None:
        super().__init__(
            "the interview has moved on: read it again and answer the question that it asks now",
            field=field,
        )


class InterviewOver(RequestConflict):
    """The interview takes no answers any more."""

    def __init__(self) -> None:
        super().__init__("the interview is over and takes no answers", field="interview_id")


class InterviewUnfinished(RequestConflict):
    """The report is asked for before the interview is over."""

    def __init__(self) -> None:
        super().__init__(
            "the interview is not over: answer its question, or stop it", field="interview_id"
        )


class ReportNotMade(RequestConflict):
    """The report is read before it was made."""

    def __init__(self) -> None:
        super().__init__(
            "the report is not made yet: POST to the interview's /report to have it made",
            field="interview_id",
        )


class KeyReused(RequestConflict):
    """An idempotency key comes again with another answer."""

    def __init__(self) -> None:
        super().__init__(
            "this key was used for another answer: send a new key with each answer",
            field="idempotency_key",
        )


class InterviewUnreadable(ArtifactMismatch):
    """What is stored of an interview cannot be read."""

    def __init__(self) -> None:
        super().__init__("what is stored of this interview cannot be read; it can be deleted")


class ProtocolChanged(ArtifactMismatch):
    """The protocol is not the one that the interview began with."""

    def __init__(self, protocol_id: str) -> None:
        super().__init__(
            f"the interview began with another version of the protocol {protocol_id!r}, or the "
            "protocol is gone: put that version back to go on"
        )


class StoreUnusable(AssessmentServiceError):
    """The file of the interviews cannot be read or written, for instance on a full disk."""

    def __init__(self) -> None:
        super().__init__(
            "the file of the interviews cannot be used; look at the disk and at the file's rights"
        )


class StoreFull(AssessmentServiceError):
    """No further interview can be kept."""

    def __init__(self) -> None:
        super().__init__(
            "as many interviews are kept as INTERVIEW_MAX_STORED and INTERVIEW_MAX_STORED_BYTES "
            "allow: raise them, lower INTERVIEW_KEEP_DAYS, or delete interviews"
        )
