"""The stored assessments of whoever calls, as the routes see them."""

from typing import Annotated, TypeAlias

from fastapi import Depends, Path, Request

from ai_psychiatrist.api.doors_of import PrincipalOf
from ai_psychiatrist.api.served import services_of
from ai_psychiatrist.domain.access import Principal
from ai_psychiatrist.reviews.archives import Records


def records_of(request: Request, principal: Principal) -> Records:
    """Return those of the caller's tenant, which the credential names and nothing else."""
    return services_of(request).archives.records(principal.tenant)


async def _records(request: Request, principal: PrincipalOf) -> Records:
    # A dependency that is no coroutine is called in a thread.
    return records_of(request, principal)


RecordsOf: TypeAlias = Annotated[Records, Depends(_records)]
RecordId: TypeAlias = Annotated[
    str, Path(description="The id of the stored assessment.", json_schema_extra={"format": "uuid"})
]
"""A form to be read: an id that is not written so is no assessment's, which is a 404."""
SubjectId: TypeAlias = Annotated[
    str, Path(description="The random id of the subject.", json_schema_extra={"format": "uuid"})
]
