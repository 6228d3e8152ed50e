"""The reply of the meta-review: a severity and its explanation, in tags or as JSON."""

from typing import Final

from ai_psychiatrist.agents.output_models import MetaReviewOutput, PartialMetaReview, words_of
from ai_psychiatrist.agents.replies.parts import (
    is_unread_text,
    number_of_words,
    required_block,
    valid_part,
)
from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode, UnreadPart
from ai_psychiatrist.validation.checks.coercion.text_values import WholeNumber, read_whole_number
from ai_psychiatrist.validation.reply.json_decoder import ParsedObject
from ai_psychiatrist.validation.reply.limits import PARTS_LIMITS, marked_halves
from ai_psychiatrist.validation.reply.parse import parse_object
from ai_psychiatrist.validation.reply.thinking import without_thinking

_MARKS: Final = "*_[]\"' "
_SEVERITY_WORDS: Final = (
    ("minimal",),
    ("mild",),
    ("moderate",),
    ("moderately severe",),
    ("severe",),
)


def read_meta_review(text: str) -> MetaReviewOutput:
    """Read the severity 0-4 and its explanation; a severity outside is refused, never clamped."""
    reply = without_thinking(text)
    if "<severity>" not in reply.lower() and "{" in reply:
        return _meta_review_of(parse_object(text))
    written = required_block(reply, "severity").strip(_MARKS)
    return MetaReviewOutput(
        severity=_severity(written).value, explanation=required_block(reply, "explanation")
    )


@valid_part
def meta_review_in_part(text: str) -> PartialMetaReview | None:
    """Read what a refused reply says of severity or explanation; a reply that is cut off, nothing.

    What would come after the cut may be another severity.
    """
    reply = without_thinking(marked_halves(text, has_escapes=False))
    if "<severity>" not in reply.lower() and "{" in reply:
        parsed = parse_object(marked_halves(text, has_escapes=True), PARTS_LIMITS)
        severity, explanation = parsed.value.get("severity"), parsed.value.get("explanation")
    else:
        severity, explanation = _block(reply, "severity"), _block(reply, "explanation")
    unread: list[UnreadPart] = []
    number = None
    try:
        number = _severity(severity.strip(_MARKS) if isinstance(severity, str) else severity).value
    except OutputRejected:
        unread.append(UnreadPart.SEVERITY)
    if not isinstance(explanation, str) or is_unread_text(explanation) or not words_of(explanation):
        explanation = ""
        unread.append(UnreadPart.EXPLANATION)
    if number is None and not explanation:
        return None
    return PartialMetaReview(severity=number, explanation=explanation, unread=tuple(unread))


def _block(reply: str, tag: str) -> str | None:
    """Return the words between two tags, `None` where there are none; raises for a cut reply."""
    try:
        return required_block(reply, tag)
    except OutputRejected as rejection:
        if rejection.code is RejectionCode.TRUNCATED:
            raise
        return None


def _meta_review_of(parsed: ParsedObject) -> MetaReviewOutput:
    """Read a meta-review that is given as JSON in place of tags."""
    explanation = parsed.value.get("explanation")
    if "severity" not in parsed.value or not isinstance(explanation, str):
        raise OutputRejected(
            RejectionCode.MISSING_TAG,
            "The tags <severity> and <explanation> are missing. Reply with both.",
        )
    if not words_of(explanation):
        raise OutputRejected(
            RejectionCode.EMPTY_FIELD, "The explanation is empty. Explain the severity."
        )
    severity = _severity(parsed.value["severity"])
    return MetaReviewOutput(
        severity=severity.value,
        explanation=explanation,
        repaired=parsed.repaired,
        coercions=int(severity.coerced),
    )


def _severity(value: object) -> WholeNumber:
    severity = read_whole_number(number_of_words(value, _SEVERITY_WORDS), low=0, high=4)
    if severity is None:
        raise OutputRejected(
            RejectionCode.SCORE_INVALID,
            "<severity> has to hold one whole number from 0 to 4 and nothing else.",
        )
    return severity
