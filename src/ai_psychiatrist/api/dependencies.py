"""What routes depend on: services, stored assessments, jobs, and what their answers document."""

from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Final, TypeAlias

from fastapi import Path, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from ai_psychiatrist.api.authorization import found_by, principal_of, requires, requires_one_of
from ai_psychiatrist.domain.access import Scope
from ai_psychiatrist.domain.shape import Shape
from ai_psychiatrist.store.stores import Records
from ai_psychiatrist.wiring import Services
from ai_psychiatrist.wiring.jobs import Jobs


def services_of(request: Request) -> Services:
    """Return the services that the app was opened with."""
    services: Services = request.app.state.services
    return services


ServicesOf: TypeAlias = Annotated[Services, found_by(services_of)]


def json_of(
    result: BaseModel | Shape, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a result that is sound already, written without a second look."""
    return Response(result.model_dump_json(), status, headers, JSONResponse.media_type)


def records_of(request: Request) -> Records:
    """Return the stored assessments of the caller's tenant, which the credential alone names."""
    return services_of(request).stores.records(principal_of(request).tenant)


RecordsOf: TypeAlias = Annotated[Records, found_by(records_of)]
RecordId: TypeAlias = Annotated[
    str, Path(description="The id of the stored assessment.", json_schema_extra={"format": "uuid"})
]
"""A form to be read: an id that is not written so is no assessment's, which is a 404."""
SubjectId: TypeAlias = Annotated[
    str, Path(description="The random id of the subject.", json_schema_extra={"format": "uuid"})
]


JOBS_PATH: Final = "/v1/jobs"


def jobs_of(request: Request) -> Jobs:
    """Return what does the jobs of the app, or hands them to others."""
    jobs: Jobs = request.app.state.jobs
    return jobs


JobsOf: TypeAlias = Annotated[Jobs, found_by(jobs_of)]
JobId: TypeAlias = Annotated[
    str,
    Path(
        description="The id of the job, which is that of its assessment.",
        json_schema_extra={"format": "uuid"},
    ),
]
"""A form to be read: an id that is not written so is no job's, which is a 404."""
BatchId: TypeAlias = Annotated[
    str, Path(description="The id of the batch.", json_schema_extra={"format": "uuid"})
]


Responses: TypeAlias = dict[int | str, dict[str, object]]


def _header(name: str) -> dict[str, object]:
    return {name: {"$ref": f"#/components/headers/{name}"}}


ETAG: Final = _header("ETag")
LOCATION: Final = _header("Location")
RETRY_AFTER: Final = _header("Retry-After")
"""What the document says of the headers of an answer."""
ASSESSMENTS_PATH: Final = "/v1/assessments"
TAGS: Final[list[str | Enum]] = ["stored assessments"]
PROBLEMS: Final[Responses] = {
    404: {"description": "There is no stored assessment with this id."},
    409: {"description": "The assessment has no result, or what is stored cannot be read."},
    503: {"description": "Stored assessments cannot be read or written now."},
}
OF_SCORES: Final[Responses] = {
    403: {"description": "You rate this assessment blind, and have not committed your ratings."}
}
OF_MAKING: Final[Responses] = {
    400: {"description": "The body is no valid JSON."},
    404: {"description": "No transcript is stored for this participant."},
    409: {
        "description": "The service lacks what is asked for, such as references for the mode; or "
        "another assessment has the study id; or the first request with the Idempotency-Key is "
        "under way; or what is stored cannot be read."
    },
    413: {"description": "The body or the transcript is too large."},
    422: {"description": "The request names no usable transcript; the body says which field."},
    502: {"description": "No part finished, because the model backend failed."},
    503: {"description": "Too many assessments are under way, or none can be stored."},
    504: {"description": "No part finished before the deadline."},
    507: {"description": "As many assessments are stored as may be."},
}

SEEING: Final = [requires_one_of(Scope.READ, Scope.REVIEW)]
"""A rater sees transcripts, and scores once own ones are committed."""
FOLLOWING: Final = [requires_one_of(Scope.ASSESS, Scope.READ, Scope.REVIEW)]
"""Who began an assessment sees how far it is."""
RATING: Final = [requires(Scope.REVIEW)]
ERASING: Final = [requires(Scope.ADMIN)]
