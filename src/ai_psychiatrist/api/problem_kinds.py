"""Every problem that the service can answer with: when it arises, and what to do about it."""

from dataclasses import dataclass
from typing import Final

PROBLEM_TYPE: Final = "urn:ai-psychiatrist:problem:"
"""Followed by a code it is the `type` of a problem."""


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """One code, at one status."""

    status: int
    code: str
    meaning: str
    cure: str


PROBLEM_KINDS: Final = (
    ProblemKind(
        400,
        "malformed_json",
        "The body is no JSON in UTF-8, or nested more than 64 deep.",
        "Send one JSON object in UTF-8.",
    ),
    ProblemKind(400, "duplicate_key", "A key comes twice in one object.", "Give each key once."),
    ProblemKind(
        400,
        "host_unclear",
        "There is no Host header, or no name in it, or more than one.",
        "Name one host, in the Host header alone.",
    ),
    ProblemKind(
        400,
        "credential_unclear",
        "More than one credential is shown, or one that cannot be read.",
        "Show one key, in one header.",
    ),
    ProblemKind(
        401,
        "unauthenticated",
        "The service needs a credential, and none that works is shown.",
        "Show a key that works, or log in by POST /v1/session.",
    ),
    ProblemKind(
        403,
        "forbidden",
        "The credential lacks a scope.",
        "Have a key made with the scopes that missing_scopes lists.",
    ),
    ProblemKind(
        403,
        "cross_site",
        "A page of another site sent the request.",
        "Have the page's origin added to API_CORS_ORIGINS.",
    ),
    ProblemKind(
        403,
        "csrf_token_wrong",
        "A session's request lacks the session's token.",
        "Send the token in X-CSRF-Token; GET /v1/session tells it.",
    ),
    ProblemKind(
        403,
        "still_blind",
        "You rate the assessment blind, and have not committed your ratings.",
        "Commit your ratings first.",
    ),
    ProblemKind(404, "not_found", "There is no such route.", "Take a path of this document."),
    ProblemKind(
        404,
        "participant_not_found",
        "No transcript is stored under this id.",
        "Look below DATA_TRANSCRIPTS_DIR, or send the transcript itself.",
    ),
    ProblemKind(
        404,
        "interview_not_found",
        "No interview has this id; it may have been removed.",
        "Take the interview_id of an answer, or begin an interview.",
    ),
    ProblemKind(
        404,
        "assessment_not_found",
        "No stored assessment has this id; it may have been removed.",
        "Take an id of the list.",
    ),
    ProblemKind(
        404,
        "subject_not_found",
        "No subject has this id; it may have been erased.",
        "Take a subject_id of the list.",
    ),
    ProblemKind(
        405,
        "method_not_allowed",
        "The route does not take this method.",
        "Take a method that the Allow header names.",
    ),
    ProblemKind(
        408,
        "slow_body",
        "The body did not come whole within API_BODY_TIMEOUT_SECONDS.",
        "Send it again, without a pause.",
    ),
    ProblemKind(
        409,
        "not_available",
        "The mode shows references, and the service has none.",
        "Choose another mode, or have references built.",
    ),
    ProblemKind(
        409,
        "version_conflict",
        "The interview has gone on since the version that was answered.",
        "Read the interview, and answer what it asks now.",
    ),
    ProblemKind(
        409,
        "interview_over",
        "The interview takes no answer any more.",
        "Read it, or have its report made.",
    ),
    ProblemKind(
        409,
        "interview_unfinished",
        "A report was asked for before the interview was over.",
        "Answer what is open, or end it with stop.",
    ),
    ProblemKind(
        409, "report_not_made", "The report was not made yet.", "POST to the interview's /report."
    ),
    ProblemKind(
        409,
        "key_reused",
        "An idempotency_key came with another answer before.",
        "Make up a new key for each answer.",
    ),
    ProblemKind(
        409,
        "interview_unreadable",
        "What is kept of the interview cannot be read.",
        "Begin another interview; the operator finds more in the log.",
    ),
    ProblemKind(
        409,
        "protocol_changed",
        "The protocol is another than the interview was begun with.",
        "Begin another interview, or have the former protocol back.",
    ),
    ProblemKind(409, "assessment_running", "The assessment is not finished.", "Ask again later."),
    ProblemKind(
        409,
        "assessment_failed",
        "The assessment failed, and has no result.",
        "Assess the transcript again.",
    ),
    ProblemKind(
        409,
        "assessment_unreadable",
        "What is stored of the assessment cannot be read.",
        "Assess the transcript again; the operator finds more in the log.",
    ),
    ProblemKind(
        409,
        "review_not_begun",
        "Ratings came before the review was begun.",
        "Begin the review first.",
    ),
    ProblemKind(
        409,
        "not_committed",
        "This comes after the ratings, and they are not committed.",
        "Commit your ratings first.",
    ),
    ProblemKind(
        409,
        "already_committed",
        "The ratings are committed, and cannot be changed.",
        "Read your rows; later views of yours are rows of their own.",
    ),
    ProblemKind(
        413,
        "too_large",
        "The body, the transcript or the number of values is above its limit.",
        "Send less; the detail names the limit.",
    ),
    ProblemKind(
        421,
        "host_not_served",
        "The service does not answer under this name.",
        "Have the name added to API_ALLOWED_HOSTS.",
    ),
    ProblemKind(
        422,
        "invalid_request",
        "A field is not as this document says.",
        "Mend the fields that errors lists.",
    ),
    ProblemKind(
        422,
        "speakers_unknown",
        "The transcript does not tell who the participant is.",
        "Say it in speakers, for one of the labels.",
    ),
    ProblemKind(
        422,
        "unusable_input",
        "A field is as it should be, and cannot be used.",
        "Mend the field; the detail says how.",
    ),
    ProblemKind(
        500,
        "internal_error",
        "A fault of the program.",
        "Tell the operator the X-Request-ID; the log has more under it.",
    ),
    ProblemKind(
        502,
        "backend_failed",
        "Nothing finished, because the models failed.",
        "Do what the causes say, and ask again.",
    ),
    ProblemKind(
        503,
        "busy",
        "As many requests are under way as API_MAX_CONCURRENCY allows.",
        "Wait as long as Retry-After says.",
    ),
    ProblemKind(
        503,
        "overloaded",
        "A part of the service did not answer in its time.",
        "Wait as long as Retry-After says.",
    ),
    ProblemKind(
        503, "stopping", "The service is being stopped.", "Wait as long as Retry-After says."
    ),
    ProblemKind(
        503,
        "backend_unreachable",
        "An agent has no model that would answer.",
        "Do what the causes say; only /readyz answers so.",
    ),
    ProblemKind(
        503,
        "interviews_unavailable",
        "Interviews cannot be kept now.",
        "The operator has to look after their file; the log says more.",
    ),
    ProblemKind(
        503,
        "not_opened",
        "The application is mounted, and nobody opened it.",
        "Enter its running() in the lifespan of the outer application.",
    ),
    ProblemKind(
        503,
        "assessments_unavailable",
        "Assessments cannot be stored or read now.",
        "The operator has to look after their files; the log says more.",
    ),
    ProblemKind(
        503,
        "audit_unavailable",
        "What is done cannot be put on record now, so that nothing is done.",
        "The operator has to look after the audit's files.",
    ),
    ProblemKind(
        503,
        "entrance_unusable",
        "Keys and sessions cannot be read now.",
        "The operator has to look after their file.",
    ),
    ProblemKind(
        503,
        "open_address",
        "Other machines can reach the server, and nobody is asked for a key.",
        "The operator has to set AUTH_REQUIRED=true, or API_ALLOW_UNAUTHENTICATED=true.",
    ),
    ProblemKind(
        504,
        "deadline_exceeded",
        "Nothing finished in time.",
        "Ask again, send less, or have API_REQUEST_TIMEOUT_SECONDS raised.",
    ),
    ProblemKind(
        507,
        "interviews_full",
        "As many interviews are kept as may be.",
        "Remove interviews, or have the limit raised.",
    ),
    ProblemKind(
        507,
        "assessments_full",
        "As many assessments are stored as may be.",
        "Remove assessments, or have the limit raised.",
    ),
    ProblemKind(
        406,
        "not_acceptable",
        "The answer does not come in the type that is wanted.",
        "Leave the Accept header out, or name a type of this document.",
    ),
    ProblemKind(
        429,
        "limit_reached",
        "A limit of the caller is reached.",
        "Wait as long as Retry-After says.",
    ),
    ProblemKind(
        429, "too_many_logins", "Logins failed too often.", "Wait as long as Retry-After says."
    ),
    ProblemKind(
        503,
        "limits_unavailable",
        "Limits cannot be counted now.",
        "The operator has to look after their file; the log says more.",
    ),
)


def kinds_of(status: str) -> tuple[ProblemKind, ...]:
    """Return the problems that come with a status."""
    return tuple(kind for kind in PROBLEM_KINDS if str(kind.status) == status)
