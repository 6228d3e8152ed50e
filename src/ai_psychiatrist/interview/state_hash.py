"""Digests of an interview: of its whole state, and of what a report is made from."""

import hashlib
from dataclasses import replace
from typing import Final

from pydantic import TypeAdapter

from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.interview.record import Interview, Spent

INTERVIEW: Final = TypeAdapter(Interview)


def to_bytes(interview: Interview) -> bytes:
    """Return the JSON of an interview; the same interview always gives the same bytes."""
    return INTERVIEW.dump_json(interview)


def state_hash(interview: Interview) -> str:
    """Return the SHA-256 of the whole state in hexadecimal digits."""
    return hashlib.sha256(to_bytes(interview)).hexdigest()


def report_inputs_hash(interview: Interview) -> str:
    """Return the SHA-256 of all that a report is made from, in hexadecimal digits."""
    made_from = replace(
        interview,
        id="",
        callback=None,
        about=None,
        version=1,
        state=InterviewState.DONE,
        failure=None,
        spent=Spent(),
        analysis=None,
        analysis_inputs_hash=None,
    )
    return state_hash(made_from)
