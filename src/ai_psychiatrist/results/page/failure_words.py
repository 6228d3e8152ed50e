"""Why a call or a reply was no use, in words for whoever reads the page."""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from ai_psychiatrist.domain.failures import FailureCode, RejectionCode, UnreadPart

FAILURE_CODES: Final[Mapping[Enum, str]] = {
    FailureCode.OUTPUT_REJECTED: "every reply was refused",
    FailureCode.CONNECTION_FAILED: "the model's server could not be reached",
    FailureCode.TIMED_OUT: "the model took too long",
    FailureCode.BACKEND_ERROR: "the model's server had an error",
    FailureCode.BROKEN_OFF: "the model's server broke its response off",
    FailureCode.MODEL_TOO_LARGE: "the model's server has not enough memory for the model",
    FailureCode.RATE_LIMITED: "too many calls, or the quota is spent",
    FailureCode.NOT_AUTHORISED: "the model's server refused the key",
    FailureCode.MODEL_NOT_FOUND: "the model's server does not know the model",
    FailureCode.REQUEST_REFUSED: "the model's server refused the request",
    FailureCode.MALFORMED_RESPONSE: "the answer of the model's server could not be read",
    FailureCode.CONTENT_FILTERED: "the model's server filtered the content",
    FailureCode.CONTEXT_TRUNCATED: "the transcript is too long for the model",
    FailureCode.CALL_BUDGET_SPENT: "all calls that were allowed were made",
    FailureCode.DEADLINE_EXCEEDED: "the time was up",
    FailureCode.UNGROUNDED_EVIDENCE: "no quote is in the transcript",
    FailureCode.MISSING_INPUT: "what it needs is missing",
    FailureCode.INTERNAL_ERROR: "this program had an error",
}
REJECTION_CODES: Final[Mapping[Enum, str]] = {
    RejectionCode.EMPTY_REPLY: "the reply was empty",
    RejectionCode.ONLY_THINKING: "the model thought, and wrote no answer",
    RejectionCode.REPLY_TOO_LARGE: "the reply was too large",
    RejectionCode.TRUNCATED: "the reply was cut off",
    RejectionCode.NO_JSON: "there was no JSON in the reply",
    RejectionCode.NOT_AN_OBJECT: "the reply was no JSON object",
    RejectionCode.NOT_FINITE: "a number was not finite",
    RejectionCode.TOO_DEEP: "the reply was nested too deep",
    RejectionCode.DUPLICATE_KEY: "a key stood there twice",
    RejectionCode.UNREPAIRABLE: "the JSON was broken beyond repair",
    RejectionCode.SEVERAL_ANSWERS: "several answers in one reply",
    RejectionCode.MISSING_TAG: "a section was missing",
    RejectionCode.EMPTY_FIELD: "a field was empty",
    RejectionCode.MISSING_ITEM: "an item was missing",
    RejectionCode.WRONG_TYPE: "a value had the wrong type",
    RejectionCode.SCORE_MISSING: "a score was missing",
    RejectionCode.SCORE_INVALID: "a score was out of range",
    RejectionCode.CONFIDENCE_INVALID: "a confidence was out of range",
    RejectionCode.TOO_MANY_QUOTES: "too many quotes",
    RejectionCode.SCHEMA_BROKEN: "the reply broke the schema",
    RejectionCode.RULE_BROKEN: "a rule speaks against the reply",
    RejectionCode.UNEXPECTED_TOOL_CALL: "a tool call that was not asked for",
    RejectionCode.NO_TOOL_CALL: "the tool call was missing",
    RejectionCode.UNKNOWN_FIELD: "a field that is not known",
    RejectionCode.WRONG_COUNT: "too few or too many entries",
    RejectionCode.NOT_DISTINCT: "the same entry twice",
    RejectionCode.OUT_OF_RANGE: "a value was out of range",
    RejectionCode.NOT_A_CHOICE: "a word that is no choice",
    RejectionCode.UNKNOWN_ID: "an id that names nothing",
    RejectionCode.TOO_LONG: "a text was too long",
    RejectionCode.NO_PROBABILITIES: "the model's server tells no probabilities",
}
UNREAD_PARTS: Final[Mapping[Enum, str]] = {
    UnreadPart.ITEM: "the answer could not be read",
    UnreadPart.SCORE: "the score could not be read",
    UnreadPart.EVIDENCE: "the quotes of the answer could not be read",
    UnreadPart.CONFIDENCE: "the confidence could not be read",
    UnreadPart.REASON: "the reason could not be read",
    UnreadPart.SEVERITY: "the severity could not be read",
    UnreadPart.EXPLANATION: "the explanation could not be read",
    UnreadPart.QUOTE: "the quote could not be read",
    UnreadPart.KIND: "the kind could not be read",
    UnreadPart.POLARITY: "the polarity could not be read",
    UnreadPart.LEVEL: "the level could not be read",
}
_ENDS: Final[Mapping[str, str]] = {
    "backend_failed": "No part of it was finished, because no model gave an answer that can be "
    "used.",
    "deadline_exceeded": "No part of it was finished in the time that JOBS_TIMEOUT_SECONDS gives.",
    "internal_error": "This program had an error; the log of the server says more.",
    "given_up": "The process that worked on it ended each time; the log of the server says why.",
    "not_available": "It cannot be made in the mode that was asked for: the settings have changed.",
    "assessment_unreadable": "What was stored of it cannot be read.",
}
"""Why a job has no result, by the code that is stored of it."""


def end_words(reason: str) -> str:
    """Return why a job has no result."""
    return _ENDS.get(reason, reason.replace("_", " "))


RULES: Final[Mapping[str, str]] = {
    "eight_items": "an item is missing",
    "na_means_no_score": "a score is given where the model says that there is none",
    "na_needs_reason": "no reason is given for leaving it open",
    "score_needs_evidence": "a score without a quote",
    "quote_in_transcript": "a quote is not in the transcript",
    "not_about_item": "the quotes are not about this item",
    "zero_without_denial": "scored 0, and nobody says that it is not there",
    "contradicted_by_evidence": "the quotes say the opposite",
    "one_without_presence": "scored 1, and no quote says that it is there",
    "no_affirmed_evidence": "no quote says clearly that it is so",
    "quote_shared": "a quote is given for several items",
    "na_with_high_confidence": "left open, and sure of it",
    "reader_differs": "the learned reader does not take the quotes for this",
    **{str(part): words for part, words in UNREAD_PARTS.items()},
}
"""The rules over one item, by their names."""
