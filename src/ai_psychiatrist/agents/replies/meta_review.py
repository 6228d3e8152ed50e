"""The reply of the meta-review: a severity and its explanation, in tags or as JSON."""

from typing import Final

from ai_psychiatrist.agents.output_models import MetaReviewOutput, words_of
from ai_psychiatrist.agents.replies.parts import number_of_words, required_block
from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.validation.checks.coercion.text_values import WholeNumber, read_whole_number
from ai_psychiatrist.validation.reply.json_decoder import ParsedObject
from ai_psychiatrist.validation.reply.parse import parse_object
from ai_psychiatrist.validation.reply.thinking import without_thinking

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
    written = required_block(reply, "severity").strip("*_[]\"' ")
    return MetaReviewOutput(
        severity=_severity(written).value, explanation=required_block(reply, "explanation")
    )


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
