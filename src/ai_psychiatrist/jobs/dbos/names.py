"""What the engine's tables know: these names, and ids."""

from typing import Final

from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.jobs.engine import JobRef

APPLICATION: Final = "ai-psychiatrist"
QUEUE: Final = "jobs"
WORKFLOW: Final = "job"
STEP: Final = "work"
VERSION: Final = "1"
"""Of what a workflow is given and does, raised by hand when that changes.

The library's own would change with each new version of this program, and leave behind what waits.
"""
SLOT_PREFIX: Final = "slot-"
MOST_SLOTS: Final = 1_000
_NAME_DIGITS: Final = 16


def workflow_id(job: JobRef) -> str:
    """Return under which id the engine has a job."""
    return f"{job.tenant}/{job.id}"


def job_of(workflow: str) -> JobRef:
    """Return the job that has this id in the engine."""
    tenant, _, job_id = workflow.partition("/")
    return JobRef(tenant=tenant, id=job_id)


def caller_name(job: JobRef) -> str:
    """Return under which name the engine knows who asked for a job, which tells nobody who it is.

    An identity provider may name somebody by a mail address.
    """
    return keyed_digest(f"caller {job.tenant}/{job.asked_by}", length=_NAME_DIGITS)


def slot_name(number: int) -> str:
    """Return how a slot is called, which is the id of the worker that holds it."""
    return f"{SLOT_PREFIX}{number}"


def slot_number(name: str) -> int | None:
    """Return the number of a slot, `None` for a name that no worker of ours has."""
    digits = name.removeprefix(SLOT_PREFIX)
    if digits == name or not (digits.isascii() and digits.isdigit()):
        return None
    return int(digits)
