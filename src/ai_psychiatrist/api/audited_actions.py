"""What each route does to what is stored, as the audit trail has it."""

from typing import Final, NamedTuple

from ai_psychiatrist.access.audit.entry import Action
from ai_psychiatrist.api.paths import VERSION_PREFIX


class RouteKey(NamedTuple):
    """A route by its method and its path with the names of its parameters; HEAD counts as GET."""

    method: str
    path: str


_ASSESSMENTS: Final = "/v1/assessments"
_ASSESSMENT: Final = "/v1/assessments/{assessment_id}"
_JOB: Final = "/v1/jobs/{job_id}"
_REVIEW: Final = f"{_ASSESSMENT}/review"
_INTERVIEWS: Final = "/v1/interviews"
_INTERVIEW: Final = "/v1/interviews/{interview_id}"

ACTIONS: Final = {
    RouteKey("POST", _ASSESSMENTS): Action.ASSESSMENT_MADE,
    RouteKey("POST", "/v1/batches"): Action.BATCH_BEGUN,
    RouteKey("GET", "/v1/jobs"): Action.ASSESSMENTS_LISTED,
    RouteKey("DELETE", _JOB): Action.JOB_CANCELLED,
    RouteKey("GET", _ASSESSMENTS): Action.ASSESSMENTS_LISTED,
    RouteKey("GET", _ASSESSMENT): Action.ASSESSMENT_SEEN,
    RouteKey("DELETE", _ASSESSMENT): Action.ASSESSMENT_ERASED,
    RouteKey("GET", f"{_ASSESSMENT}/transcript"): Action.TRANSCRIPT_SEEN,
    RouteKey("GET", f"{_ASSESSMENT}/evidence"): Action.EVIDENCE_SEEN,
    RouteKey("GET", f"{_ASSESSMENT}/certificate"): Action.CERTIFICATE_SEEN,
    RouteKey("GET", f"{_ASSESSMENT}/html"): Action.PAGE_SEEN,
    RouteKey("GET", "/v1/subjects/{subject_id}"): Action.SUBJECT_SEEN,
    RouteKey("DELETE", "/v1/subjects/{subject_id}"): Action.SUBJECT_ERASED,
    RouteKey("POST", _REVIEW): Action.REVIEW_BEGUN,
    RouteKey("GET", _REVIEW): Action.REVIEW_SEEN,
    RouteKey("POST", f"{_REVIEW}/ratings"): Action.RATINGS_COMMITTED,
    RouteKey("POST", f"{_REVIEW}/rows"): Action.REVIEW_ROW_ADDED,
    RouteKey("GET", "/v1/queue"): Action.QUEUE_SEEN,
    RouteKey("GET", "/v1/agreement"): Action.AGREEMENT_SEEN,
    RouteKey("GET", "/v1/export"): Action.EXPORTED,
    RouteKey("POST", "/v1/session"): Action.SESSION_BEGUN,
    RouteKey("DELETE", "/v1/session"): Action.SESSION_ENDED,
    RouteKey("POST", _INTERVIEWS): Action.INTERVIEW_BEGUN,
    RouteKey("GET", _INTERVIEW): Action.INTERVIEW_SEEN,
    RouteKey("DELETE", _INTERVIEW): Action.INTERVIEW_ERASED,
    RouteKey("POST", f"{_INTERVIEW}/answers"): Action.INTERVIEW_ANSWERED,
    RouteKey("POST", f"{_INTERVIEW}/retry"): Action.INTERVIEW_RETRIED,
    RouteKey("POST", f"{_INTERVIEW}/report"): Action.REPORT_MADE,
    RouteKey("GET", f"{_INTERVIEW}/report"): Action.REPORT_SEEN,
    RouteKey("GET", "/"): Action.ASSESSMENTS_LISTED,
    RouteKey("POST", "/new"): Action.ASSESSMENT_MADE,
    RouteKey("GET", "/assessments/{assessment_id}"): Action.PAGE_SEEN,
    RouteKey("GET", "/assessments/{assessment_id}/rate"): Action.TRANSCRIPT_SEEN,
    RouteKey("GET", "/next"): Action.QUEUE_SEEN,
    RouteKey("GET", "/agreement"): Action.AGREEMENT_SEEN,
    RouteKey("POST", "/logout"): Action.SESSION_ENDED,
}
"""Every route that shows, changes, exports or erases what is stored, or lets somebody in or out."""

_ASSESSING: Final = ("/full_pipeline", "/assess/quantitative", "/assess/qualitative")
ACTIONS_WHERE_STORED: Final = {
    RouteKey("POST", prefix + path): Action.ASSESSMENT_MADE
    for prefix in ("", VERSION_PREFIX)
    for path in _ASSESSING
}
"""Routes that store what they make only where STORE_ASSESSMENTS says so, and else leave no row."""

ANSWERED_ANYWAY: Final = frozenset({Action.SESSION_BEGUN, Action.SESSION_ENDED})
"""Changes that nobody's record hangs on: one row is enough, after them."""
