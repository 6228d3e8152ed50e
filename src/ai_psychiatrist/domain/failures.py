"""Closed sets of what can fail, and the records of it: codes, counts and durations only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class RejectionCode(StrEnum):
    """Why a model's reply was not accepted."""

    EMPTY_REPLY = "empty_reply"
    ONLY_THINKING = "only_thinking"
    """The model thought, and wrote no answer."""
    REPLY_TOO_LARGE = "reply_too_large"
    TRUNCATED = "truncated"
    NO_JSON = "no_json"
    NOT_AN_OBJECT = "not_an_object"
    NOT_FINITE = "not_finite"
    TOO_DEEP = "too_deep"
    DUPLICATE_KEY = "duplicate_key"
    UNREPAIRABLE = "unrepairable"
    SEVERAL_ANSWERS = "several_answers"
    """Several answers stand in the reply, and which of them is meant is not clear."""
    MISSING_TAG = "missing_tag"
    EMPTY_FIELD = "empty_field"
    MISSING_ITEM = "missing_item"
    WRONG_TYPE = "wrong_type"
    SCORE_MISSING = "score_missing"
    SCORE_INVALID = "score_invalid"
    CONFIDENCE_INVALID = "confidence_invalid"
    TOO_MANY_QUOTES = "too_many_quotes"
    SCHEMA_BROKEN = "schema_broken"
    """The reply breaks the schema or the fields of a declared step."""
    RULE_BROKEN = "rule_broken"
    """A clinical rule, or one of a declared step, speaks against the reply."""
    UNEXPECTED_TOOL_CALL = "unexpected_tool_call"
    NO_TOOL_CALL = "no_tool_call"
    """The task asks for a tool call, and the reply has none."""
    UNKNOWN_FIELD = "unknown_field"
    WRONG_COUNT = "wrong_count"
    """A list holds too few or too many entries."""
    NOT_DISTINCT = "not_distinct"
    """A list holds the same entry twice."""
    OUT_OF_RANGE = "out_of_range"
    NOT_A_CHOICE = "not_a_choice"
    """A value is none of the words that the field may hold."""
    UNKNOWN_ID = "unknown_id"
    """An id names nothing that the task lists."""
    TOO_LONG = "too_long"
    NO_PROBABILITIES = "no_probabilities"
    """The backend tells no probabilities of tokens."""


class UnreadPart(StrEnum):
    """What of a reply could not be read, where the rest of it stands."""

    ITEM = "item_not_read"
    SCORE = "score_not_read"
    EVIDENCE = "evidence_not_read"
    CONFIDENCE = "confidence_not_read"
    REASON = "reason_not_read"
    SEVERITY = "severity_not_read"
    EXPLANATION = "explanation_not_read"
    QUOTE = "quote_not_read"
    KIND = "kind_not_read"
    POLARITY = "polarity_not_read"
    LEVEL = "level_not_read"


class FailureCode(StrEnum):
    """Why a model call, or a whole part of an assessment, has no output."""

    OUTPUT_REJECTED = "output_rejected"
    CONNECTION_FAILED = "connection_failed"
    TIMED_OUT = "timed_out"
    BACKEND_ERROR = "backend_error"
    BROKEN_OFF = "broken_off"
    """The response ended in its middle."""
    MODEL_TOO_LARGE = "model_too_large"
    """The server has not enough memory for the model."""
    RATE_LIMITED = "rate_limited"
    """Too many calls, or the account's quota is spent."""
    NOT_AUTHORISED = "not_authorised"
    MODEL_NOT_FOUND = "model_not_found"
    REQUEST_REFUSED = "request_refused"
    MALFORMED_RESPONSE = "malformed_response"
    CONTENT_FILTERED = "content_filtered"
    CONTEXT_TRUNCATED = "context_truncated"
    CALL_BUDGET_SPENT = "call_budget_spent"
    DEADLINE_EXCEEDED = "deadline_exceeded"
    UNGROUNDED_EVIDENCE = "ungrounded_evidence"
    MISSING_INPUT = "missing_input"
    INTERNAL_ERROR = "internal_error"


class FailureStage(StrEnum):
    """Where a unit failed."""

    PROVIDER = "provider"
    """The call failed: there is no answer."""
    PARSE = "parse"
    """The answer is no JSON object."""
    SCHEMA_VALIDATION = "schema_validation"
    """The answer breaks the schema, a required field, type, enum or range."""
    VALIDATION = "validation"
    """The answer breaks a rule."""
    PIPELINE_INTERNAL = "pipeline_internal"
    """The program failed, not the answer."""
    MISSING = "missing"
    """The unit was asked for and never answered."""
    DUPLICATE = "duplicate"
    """The unit was answered already; the first answer is kept."""

    @property
    def is_retryable(self) -> bool:
        """Whether another answer may pass."""
        return self not in {FailureStage.PIPELINE_INTERNAL, FailureStage.DUPLICATE}


_STAGE_OF_REJECTION: Final = {
    RejectionCode.EMPTY_REPLY: FailureStage.PARSE,
    RejectionCode.REPLY_TOO_LARGE: FailureStage.PARSE,
    RejectionCode.TRUNCATED: FailureStage.PARSE,
    RejectionCode.NO_JSON: FailureStage.PARSE,
    RejectionCode.NOT_AN_OBJECT: FailureStage.PARSE,
    RejectionCode.NOT_FINITE: FailureStage.PARSE,
    RejectionCode.TOO_DEEP: FailureStage.PARSE,
    RejectionCode.DUPLICATE_KEY: FailureStage.PARSE,
    RejectionCode.UNREPAIRABLE: FailureStage.PARSE,
    RejectionCode.SEVERAL_ANSWERS: FailureStage.PARSE,
    RejectionCode.UNEXPECTED_TOOL_CALL: FailureStage.PARSE,
    RejectionCode.NO_TOOL_CALL: FailureStage.PARSE,
    RejectionCode.RULE_BROKEN: FailureStage.VALIDATION,
    RejectionCode.UNKNOWN_ID: FailureStage.VALIDATION,
}
_INTERNAL: Final = frozenset(
    {
        FailureCode.INTERNAL_ERROR,
        FailureCode.CALL_BUDGET_SPENT,
        FailureCode.DEADLINE_EXCEEDED,
        FailureCode.MISSING_INPUT,
    }
)


def stage_of_code(code: RejectionCode | FailureCode | None) -> FailureStage | None:
    """Return the stage at which a model call failed; `None` for one that was accepted."""
    if code is None:
        return None
    if isinstance(code, RejectionCode):
        return _STAGE_OF_REJECTION.get(code, FailureStage.SCHEMA_VALIDATION)
    return FailureStage.PIPELINE_INTERNAL if code in _INTERNAL else FailureStage.PROVIDER


class FailureCategory(StrEnum):
    """What kind of thing went wrong in an assessment."""

    EVIDENCE_HALLUCINATION = "evidence_hallucination"
    EVIDENCE_SCHEMA = "evidence_schema"
    AGENT_FAILED = "agent_failed"
    PARTIAL_REPLY = "partial_reply"
    """No reply was accepted as a whole, and what is valid of a refused one stands."""
    REFERENCES_FAILED = "references_failed"
    """Those that scoring is to be shown could not be looked up."""
    STAGE_SKIPPED = "stage_skipped"
    TRANSCRIPT_UNREADABLE = "transcript_unreadable"


class FailureSeverity(StrEnum):
    """How much of the assessment a failure costs."""

    WARNING = "warning"
    ERROR = "error"


class CallPath(StrEnum):
    """Which way a model call took: as an agent, sent back where refused, or one plain chat call."""

    AGENT = "agent"
    PLAIN = "plain"


class AttemptOutcome(StrEnum):
    """How one model call ended."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """The account of one model call."""

    agent: str
    """The agent that asked."""
    model: str
    """Name of the model in the settings."""
    path: CallPath
    """Which way the call took."""
    outcome: AttemptOutcome
    """How it ended."""
    code: RejectionCode | FailureCode | None
    """Why the reply was rejected or the call failed; `None` when it was accepted."""
    prompt_digest: str = ""
    """Keyed digest of all that was sent, feedback on an earlier reply apart; 12 hex digits."""
    reply_characters: int = 0
    """Length of the reply text, 0 when none came."""
    repaired: bool = False
    """Whether the reply's JSON syntax was repaired before it was accepted."""
    coercions: int = 0
    """How many values were read from another type, such as the string "2" for the score 2."""
    input_tokens: int | None = None
    """What the backend counted; `None` where it counts nothing."""
    output_tokens: int | None = None
    """The same of the reply."""
    duration_ms: float = 0.0
    """How long the call took, in milliseconds."""
    http_status: int | None = None
    """What the backend answered with, where the call failed for it."""
    hosts: tuple[str, ...] = ()
    """Where the call's words were sent, as `host:port` of the address: the model's server, and a
    proxy that could read them; empty for a model of this process."""
    served_model: str | None = field(default=None, repr=False)
    """The model that the reply itself names; `None` where it names none."""
    system_fingerprint: str | None = field(default=None, repr=False)
    """What the reply says of the configuration that made it; `None` where it says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRecord:
    """One thing that went wrong in an assessment; holds no text of participant or model."""

    category: FailureCategory
    """What kind of thing went wrong."""
    severity: FailureSeverity
    """How much of the assessment it costs."""
    message: str
    """A fixed sentence for the operator."""
    stage: str
    """The agent or step that failed."""
    code: FailureCode | None
    """Why there is no output; `None` where no call failed for it."""
    context: Mapping[str, str | int]
    """Counts and names of modes."""
