"""Ids of interviews: an id gives access to its interview, so it is secret and cannot be guessed."""

import re
import secrets
from typing import Final

from ai_psychiatrist.domain.errors import NotFound

_RANDOM_BYTES: Final = 24
_ID: Final = re.compile(r"[A-Za-z0-9_-]{32}")


def make_id() -> str:
    """Return an id that cannot be guessed: 192 random bits in 32 characters."""
    return secrets.token_urlsafe(_RANDOM_BYTES)


def check_id(interview_id: str) -> str:
    """Return an id that is written like one; raises `NotFound` for anything else."""
    if not isinstance(interview_id, str) or not _ID.fullmatch(interview_id):
        raise NotFound("interview_not_found")
    return interview_id
