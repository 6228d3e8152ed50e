"""The jobs of the app, and ids of theirs in paths."""

from typing import Annotated, Final, TypeAlias

from fastapi import Depends, Path, Request

from ai_psychiatrist.wiring.jobs import Jobs

PREFIX: Final = "/v1/jobs"


def jobs_of(request: Request) -> Jobs:
    """Return what does the jobs of the app, or hands them to others."""
    jobs: Jobs = request.app.state.jobs
    return jobs


async def _jobs(request: Request) -> Jobs:
    # A dependency that is no coroutine is called in a thread.
    return jobs_of(request)


JobsOf: TypeAlias = Annotated[Jobs, Depends(_jobs)]
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
