"""Errors between processes."""

import pickle

import pytest

from ai_psychiatrist.domain.errors import (
    AgentFailed,
    AssessmentServiceError,
    InputError,
    ModelCallFailed,
    OutputRejected,
    SpeakersUnknown,
    TranscriptUnreadable,
)
from ai_psychiatrist.domain.failures import FailureCode, RejectionCode

ERRORS: list[AssessmentServiceError] = [
    InputError("say who", field="speakers"),
    TranscriptUnreadable("not text", fault="not_text", line=3),
    SpeakersUnknown("who is who", labels=["Anna"]),
    OutputRejected(next(iter(RejectionCode)), "one number", {"score": "a number"}),
    ModelCallFailed(next(iter(FailureCode)), http_status=503, retry_after_seconds=1.0),
    AgentFailed("judge", next(iter(FailureCode))),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_comes_whole_out_of_another_process(error: AssessmentServiceError) -> None:
    found = pickle.loads(pickle.dumps(error))  # noqa: S301  our own
    assert type(found) is type(error)
    assert (str(found), vars(found)) == (str(error), vars(error))
