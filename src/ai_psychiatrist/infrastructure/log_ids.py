"""The ids of a request and of its assessment, which every log line in between carries."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from structlog.contextvars import bind_contextvars, bound_contextvars


@contextmanager
def identified_request() -> Iterator[str]:
    """Yield a new request id; log lines inside the block and its tasks carry it."""
    request_id = str(uuid.uuid4())
    # Binding the other id too makes the end of the block forget whatever the request bound to it.
    with bound_contextvars(request_id=request_id, assessment_id=None):
        yield request_id


def begin_assessment() -> str:
    """Return a new assessment id; log lines of this task carry it from now on."""
    assessment_id = str(uuid.uuid4())
    bind_contextvars(assessment_id=assessment_id)
    return assessment_id


@contextmanager
def identified_assessment() -> Iterator[str]:
    """Yield a new assessment id; log lines inside the block and its tasks carry it."""
    assessment_id = str(uuid.uuid4())
    with bound_contextvars(assessment_id=assessment_id):
        yield assessment_id
