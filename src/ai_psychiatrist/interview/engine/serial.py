"""An interview as bytes and back."""

import hashlib
from typing import Final

from pydantic import TypeAdapter, ValidationError

from ai_psychiatrist.interview.engine.record import Interview
from ai_psychiatrist.interview.errors import InterviewUnreadable

_INTERVIEW: Final = TypeAdapter(Interview)


def to_bytes(interview: Interview) -> bytes:
    """Return the JSON of an interview; the same interview always gives the same bytes."""
    return _INTERVIEW.dump_json(interview)


def from_bytes(stored: bytes) -> Interview:
    """Return the interview that was stored; raises `InterviewUnreadable`."""
    try:
        return _INTERVIEW.validate_json(stored, strict=True)
    except ValidationError:
        # The cause quotes what is stored.
        raise InterviewUnreadable from None


def state_hash(interview: Interview) -> str:
    """Return the SHA-256 of the whole state in hexadecimal digits."""
    return hashlib.sha256(to_bytes(interview)).hexdigest()
