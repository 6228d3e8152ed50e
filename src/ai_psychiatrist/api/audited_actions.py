"""What each route does to what is stored, as the audit log has it."""

from typing import Final, NamedTuple

from ai_psychiatrist.api.paths import VERSION_PREFIX
from ai_psychiatrist.store.audit import Action


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

ACTIONS: Final[dict[RouteKey, Action]] = {
    RouteKey("POST", _ASSESSMENTS): "assessment_made",
    RouteKey("POST", "/v1/batches"): "batch_begun",
    RouteKey("GET", "/v1/jobs"): "assessments_listed",
    RouteKey("DELETE", _JOB): "job_cancelled",
    RouteKey("GET", _ASSESSMENTS): "assessments_listed",
    RouteKey("GET", _ASSESSMENT): "assessment_seen",
    RouteKey("DELETE", _ASSESSMENT): "assessment_erased",
    RouteKey("GET", f"{_ASSESSMENT}/transcript"): "transcript_seen",
    RouteKey("GET", f"{_ASSESSMENT}/evidence"): "evidence_seen",
    RouteKey("GET", f"{_ASSESSMENT}/certificate"): "certificate_seen",
    RouteKey("GET", f"{_ASSESSMENT}/html"): "page_seen",
    RouteKey("GET", "/v1/subjects/{subject_id}"): "subject_seen",
    RouteKey("DELETE", "/v1/subjects/{subject_id}"): "subject_erased",
    RouteKey("POST", _REVIEW): "review_begun",
    RouteKey("GET", _REVIEW): "review_seen",
    RouteKey("POST", f"{_REVIEW}/ratings"): "ratings_committed",
    RouteKey("POST", f"{_REVIEW}/rows"): "review_row_added",
    RouteKey("POST", f"{_REVIEW}/gold"): "adjudicated",
    RouteKey("GET", f"{_ASSESSMENT}/acknowledgements"): "acknowledgements_seen",
    RouteKey("POST", f"{_ASSESSMENT}/acknowledgements"): "danger_acknowledged",
    RouteKey("GET", "/v1/queue"): "queue_seen",
    RouteKey("GET", "/v1/agreement"): "agreement_seen",
    RouteKey("GET", "/v1/export"): "exported",
    RouteKey("POST", "/v1/session"): "session_begun",
    RouteKey("DELETE", "/v1/session"): "session_ended",
    RouteKey("POST", _INTERVIEWS): "interview_begun",
    RouteKey("GET", _INTERVIEW): "interview_seen",
    RouteKey("DELETE", _INTERVIEW): "interview_erased",
    RouteKey("POST", f"{_INTERVIEW}/answers"): "interview_answered",
    RouteKey("POST", f"{_INTERVIEW}/link"): "interview_link_made",
    RouteKey("DELETE", f"{_INTERVIEW}/link"): "interview_link_revoked",
    RouteKey("POST", f"{_INTERVIEW}/retry"): "interview_retried",
    RouteKey("GET", _INTERVIEWS): "interviews_listed",
    RouteKey("POST", f"{_INTERVIEW}/reopen"): "interview_reopened",
    RouteKey("GET", f"{_INTERVIEW}/acknowledgements"): "acknowledgements_seen",
    RouteKey("POST", f"{_INTERVIEW}/acknowledgements"): "danger_acknowledged",
    RouteKey("POST", f"{_INTERVIEW}/report"): "report_made",
    RouteKey("GET", f"{_INTERVIEW}/report"): "report_seen",
    RouteKey("POST", "/interview/session"): "interview_opened",
    RouteKey("GET", "/interview/state"): "interview_seen",
    RouteKey("POST", "/interview/answers"): "interview_answered",
    RouteKey("GET", "/"): "assessments_listed",
    RouteKey("POST", "/find"): "assessments_listed",
    RouteKey("POST", "/chosen/erase"): "assessment_erased",
    RouteKey("POST", "/chosen/rate"): "review_begun",
    RouteKey("POST", "/new"): "assessment_made",
    RouteKey("GET", "/assessments/{assessment_id}"): "page_seen",
    RouteKey("GET", "/assessments/{assessment_id}/rate"): "transcript_seen",
    RouteKey("GET", "/assessments/{assessment_id}/adjudicate"): "page_seen",
    RouteKey("GET", "/assessments/{assessment_id}/interview"): "interview_seen",
    RouteKey("POST", "/assessments/{assessment_id}/interview"): "interview_link_made",
    RouteKey("POST", "/assessments/{assessment_id}/interview/revoke"): "interview_link_revoked",
    RouteKey("POST", "/assessments/{assessment_id}/acknowledge"): "danger_acknowledged",
    RouteKey("GET", "/interviews/{interview_id}"): "interview_seen",
    RouteKey("POST", "/interviews/{interview_id}/reopen"): "interview_reopened",
    RouteKey("POST", "/interviews/{interview_id}/acknowledge"): "danger_acknowledged",
    RouteKey("GET", "/next"): "queue_seen",
    RouteKey("GET", "/agreement"): "agreement_seen",
    RouteKey("POST", "/logout"): "session_ended",
}
"""Every route that shows, changes, exports or erases what is stored, or lets somebody in or out."""

_ASSESSING: Final = ("/full_pipeline", "/assess/quantitative", "/assess/qualitative")
ACTIONS_WHERE_STORED: Final[dict[RouteKey, Action]] = {
    RouteKey("POST", prefix + path): "assessment_made"
    for prefix in ("", VERSION_PREFIX)
    for path in _ASSESSING
}
"""Routes that store what they make only where STORE_ASSESSMENTS says so, and else leave no row."""

ANSWERED_ANYWAY: Final[frozenset[Action]] = frozenset(
    {"session_begun", "session_ended", "interview_opened"}
)
"""Changes that nobody's record hangs on: one row is enough, after them."""
