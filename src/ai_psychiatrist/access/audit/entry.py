"""What is written down of one thing that somebody did."""

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

BEGUN: Final = "begun"
"""Outcome of a change that is about to be made; a second row says how it ended."""


class Action(StrEnum):
    """What somebody did, or tried to do."""

    ASSESSMENT_MADE = "assessment_made"
    BATCH_BEGUN = "batch_begun"
    JOB_CANCELLED = "job_cancelled"
    ASSESSMENTS_LISTED = "assessments_listed"
    ASSESSMENT_SEEN = "assessment_seen"
    TRANSCRIPT_SEEN = "transcript_seen"
    TRANSCRIPT_READ = "transcript_read"
    EVIDENCE_SEEN = "evidence_seen"
    CERTIFICATE_SEEN = "certificate_seen"
    PAGE_SEEN = "page_seen"
    ASSESSMENT_ERASED = "assessment_erased"
    SUBJECT_SEEN = "subject_seen"
    SUBJECT_ERASED = "subject_erased"
    REVIEW_BEGUN = "review_begun"
    REVIEW_SEEN = "review_seen"
    RATINGS_COMMITTED = "ratings_committed"
    REVIEW_ROW_ADDED = "review_row_added"
    QUEUE_SEEN = "queue_seen"
    AGREEMENT_SEEN = "agreement_seen"
    EXPORTED = "exported"
    INTERVIEW_BEGUN = "interview_begun"
    INTERVIEW_SEEN = "interview_seen"
    INTERVIEW_ANSWERED = "interview_answered"
    INTERVIEW_RETRIED = "interview_retried"
    INTERVIEW_ERASED = "interview_erased"
    REPORT_MADE = "report_made"
    REPORT_SEEN = "report_seen"
    SESSION_BEGUN = "session_begun"
    SESSION_ENDED = "session_ended"
    LOGINS_REFUSED = "logins_refused"
    """Of strangers, logins and what would end a session; one row for all of a minute."""
    KEY_CREATED = "key_created"
    KEY_REVOKED = "key_revoked"
    RECORDS_SWEPT = "records_swept"
    RECORDS_UNDELETED = "records_undeleted"
    RECORDS_BACKED_UP = "records_backed_up"
    RECORDS_RESTORED = "records_restored"
    RECORDS_EXPORTED = "records_exported"
    RECORDS_IMPORTED = "records_imported"
    ENCRYPTION_KEY_ROTATED = "encryption_key_rotated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Who did what to which record, and how it ended."""

    at: str
    """UTC, ISO 8601."""
    actor: str
    """Id of the principal."""
    action: Action
    object: str = ""
    """Keyed digest of a record's id; empty where the action has no one record."""
    outcome: str
    """`begun`, the status of the answer, or how many logins were refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An entry in its place in the chain."""

    n: int
    """From 1."""
    previous: str
    """Digest of the row before; of the first row, a digest of the tenant."""
    at: str
    actor: str
    action: str
    object: str
    outcome: str
    digest: str
    seal: str
    """Digest of the digest that only this installation can make."""

    def own_digest(self) -> str:
        """Return the SHA-256 that the row has to have, over all that it says."""
        said = [self.n, self.previous, self.at, self.actor, self.action, self.object, self.outcome]
        return hashlib.sha256(json.dumps(said, separators=(",", ":")).encode()).hexdigest()


def first_previous(tenant: str) -> str:
    """Return what the first row of a tenant follows."""
    return hashlib.sha256(f"audit of {tenant}".encode()).hexdigest()
