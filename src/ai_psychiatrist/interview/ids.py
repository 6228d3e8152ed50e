"""Ids of interviews: whoever knows one may read the interview, so none can be guessed or found."""

import hashlib
import re
import secrets
from typing import Final

from ai_psychiatrist.domain.errors import NotFound

_RANDOM_BYTES: Final = 24
_ID: Final = re.compile(r"[A-Za-z0-9_-]{32}")


def make_id() -> str:
    """Return an id that nobody can guess: 192 random bits in 32 characters."""
    return secrets.token_urlsafe(_RANDOM_BYTES)


def check_id(interview_id: str) -> str:
    """Return an id that is written like one; raises `NotFound` for anything else."""
    if not isinstance(interview_id, str) or not _ID.fullmatch(interview_id):
        raise NotFound("interview_not_found")
    return interview_id


def id_hash(interview_id: str) -> str:
    """Return the SHA-256 by which an interview is stored, in hexadecimal digits.

    No key is needed: 192 random bits cannot be found by trying.
    """
    return hashlib.sha256(interview_id.encode()).hexdigest()


def key_hash(interview_id: str, idempotency_key: str) -> str:
    """Return the SHA-256 by which an answer is stored; its key, too, may hold words."""
    return hashlib.sha256(f"{interview_id}/{idempotency_key}".encode()).hexdigest()
