"""Turn a reply's text into an agent's output, or ask the model again.

Each extractor raises `ReplyRejected`, a `ModelRetry`, with feedback for the model that says what is
wrong and what is wanted and never repeats the reply.
"""

import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Final, TypeVar

from ai_psychiatrist.agents.output_models import (
    EvidenceOutput,
    ItemScoreOutput,
    JudgeMetricOutput,
    MetaReviewOutput,
    QualitativeOutput,
    QuantitativeOutput,
)
from ai_psychiatrist.domain.errors import OutputRejected
from ai_psychiatrist.domain.failures import RejectionCode
from ai_psychiatrist.domain.phq8 import PHQ8_DOMAIN_KEYS
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.llm.rejection import ReplyRejected
from ai_psychiatrist.services.evidence_validation import (
    EvidenceSchemaError,
    validate_evidence_schema,
)
from ai_psychiatrist.validation.coerce import whole_number
from ai_psychiatrist.validation.reply.parse import parse_object
from ai_psychiatrist.validation.reply.sanitise import refuse_broken_text
from ai_psychiatrist.validation.reply.tags import has_unclosed_tag, tagged_block
from ai_psychiatrist.validation.reply.thinking import without_thinking

logger = get_logger(__name__)

MAX_QUOTES: Final = 100
"""Most quotes in one list of a reply."""

R = TypeVar("R")


def asking_again(extract: Callable[[str], R]) -> Callable[[str], R]:
    """Translate rejections into Pydantic AI's retry; the only place that does."""

    @wraps(extract)
    def extractor(text: str) -> R:
        try:
            refuse_broken_text(text)
            return extract(text)
        except OutputRejected as rejection:
            # The cause would carry the reply into tracebacks.
            raise ReplyRejected(rejection.code, rejection.feedback, rejection.violations) from None

    return extractor


_QUALITATIVE_TAGS: Final = {
    "assessment": "assessment",
    "PHQ8_symptoms": "phq8_symptoms",
    "social_factors": "social_factors",
    "biological_factors": "biological_factors",
    "risk_factors": "risk_factors",
}
_BULLET: Final = re.compile(r"(?:[-*•–—]|\d{1,3}[.)])\s+")
_QUOTE_MARKS: Final = '"“”„«»'


@asking_again
def extract_qualitative(text: str) -> QualitativeOutput:
    """Read the tagged narrative; each tag has to be there and hold words."""
    reply = without_thinking(text)
    fields = {field: _required_block(reply, tag) for tag, field in _QUALITATIVE_TAGS.items()}
    quotes = tagged_block(reply, "exact_quotes")
    if quotes is None and has_unclosed_tag(reply, "exact_quotes"):
        raise _cut_off("exact_quotes")
    return QualitativeOutput(exact_quotes=tuple(_bulleted(quotes or "")), **fields)


def _required_block(reply: str, tag: str) -> str:
    block = tagged_block(reply, tag)
    if block is None:
        if has_unclosed_tag(reply, tag):
            raise _cut_off(tag)
        raise OutputRejected(
            RejectionCode.MISSING_TAG,
            f"The tag <{tag}>…</{tag}> is missing. Reply with all the tags of the task.",
        )
    if not block:
        raise OutputRejected(
            RejectionCode.EMPTY_FIELD,
            f"The tag <{tag}> is empty. Write its content, or: not assessed in interview.",
        )
    return block


def _cut_off(tag: str) -> OutputRejected:
    return OutputRejected(
        RejectionCode.TRUNCATED,
        f"The reply ends inside <{tag}>. Reply with all the tags of the task, briefer.",
    )


def _bulleted(block: str) -> list[str]:
    lines = (_BULLET.sub("", line.strip(), count=1).strip() for line in block.splitlines())
    quotes = (line.strip(_QUOTE_MARKS).strip() for line in lines)
    spoken = [quote for quote in quotes if quote and not _is_placeholder(quote)]
    _refuse_too_many(spoken, "<exact_quotes>")
    return list(dict.fromkeys(spoken))


def _refuse_too_many(quotes: Sequence[str], place: str) -> None:
    """Refuse lists that nobody reads: checking each quote takes time, and none may be dropped."""
    if len(quotes) > MAX_QUOTES:
        raise OutputRejected(
            RejectionCode.TOO_MANY_QUOTES,
            f"{place} lists far too many quotes. Give the most telling ones.",
        )


def _is_placeholder(quote: str) -> bool:
    return quote.casefold().rstrip(".") in {"not assessed in interview", "none", "n/a", "-"}


@asking_again
def extract_evidence(text: str) -> EvidenceOutput:
    """Read the quotes per item; a value that is not a list of texts is refused, never coerced."""
    parsed = parse_object(text)
    try:
        quotes = validate_evidence_schema(parsed.value)
    except EvidenceSchemaError as error:
        logger.error(
            "evidence_schema_validation_failed",
            violations=error.violations,
            response_hash=keyed_digest(text),
            response_len=len(text),
        )
        places = "; ".join(f"{key}: {what}" for key, what in error.violations.items())
        raise OutputRejected(
            RejectionCode.WRONG_TYPE,
            f"Each item key needs a list of strings. Wrong: {places}.",
            error.violations,
        ) from None
    for key, listed in quotes.items():
        _refuse_too_many(listed, key)
    unknown_keys = len(parsed.value.keys() - set(PHQ8_DOMAIN_KEYS))
    return EvidenceOutput(quotes=quotes, unknown_keys=unknown_keys, repaired=parsed.repaired)


@asking_again
def extract_quantitative(text: str) -> QuantitativeOutput:
    """Read the proposed score of each of the eight items."""
    parsed = parse_object(text)
    missing = [key for key in PHQ8_DOMAIN_KEYS if not isinstance(parsed.value.get(key), dict)]
    if missing:
        raise OutputRejected(
            RejectionCode.MISSING_ITEM,
            f"Each of the eight items needs an object. Missing or wrong: {', '.join(missing)}.",
        )
    readings = [_ItemReading(key, parsed.value[key]) for key in PHQ8_DOMAIN_KEYS]
    return QuantitativeOutput(
        items={reading.key: reading.output() for reading in readings},
        repaired=parsed.repaired,
        coercions=sum(reading.coercions for reading in readings),
    )


class _ItemReading:
    """Reads one item of a scoring reply and counts the values read from another type."""

    def __init__(self, key: str, value: object) -> None:
        self.key = key
        self.coercions = 0
        self._fields: dict[str, object] = value if isinstance(value, dict) else {}

    def output(self) -> ItemScoreOutput:
        reason = self._fields.get("reason")
        return ItemScoreOutput(
            score=self._score(),
            evidence=self._evidence(),
            reason=reason.strip() if isinstance(reason, str) else "",
            confidence=self._confidence(),
        )

    def _score(self) -> int | None:
        if "score" not in self._fields:
            raise OutputRejected(
                RejectionCode.SCORE_MISSING, f"{self.key} has no score. Give 0, 1, 2, 3 or N/A."
            )
        value = self._fields["score"]
        if value is None or (isinstance(value, str) and _NOT_AVAILABLE.fullmatch(value.strip())):
            return None
        return self._whole(value, 0, 3, RejectionCode.SCORE_INVALID, "score has to be 0-3 or N/A")

    def _confidence(self) -> int | None:
        value = self._fields.get("confidence")
        if value is None or (isinstance(value, str) and _NOT_AVAILABLE.fullmatch(value.strip())):
            return None
        return self._whole(
            value, 1, 5, RejectionCode.CONFIDENCE_INVALID, "confidence has to be 1-5"
        )

    def _whole(self, value: object, low: int, high: int, code: RejectionCode, rule: str) -> int:
        number = whole_number(value, low=low, high=high)
        if number is None:
            raise OutputRejected(code, f"{self.key}: {rule}, a whole number.")
        self.coercions += number.coerced
        return number.value

    def _evidence(self) -> tuple[str, ...]:
        value = self._fields.get("evidence")
        match value:
            case None:
                return ()
            case str():
                self.coercions += 1
                texts = [value]
            case list() if all(isinstance(text, str) for text in value):
                texts = value
            case _:
                raise OutputRejected(
                    RejectionCode.WRONG_TYPE, f"{self.key}: evidence has to be a list of strings."
                )
        _refuse_too_many(texts, self.key)
        return tuple(dict.fromkeys(stripped for text in texts if (stripped := text.strip())))


_NOT_AVAILABLE: Final = re.compile(r"n\s*/?\s*a", re.IGNORECASE)

_SCORE_VALUE: Final = (
    r"score[\"'*_\s]{0,8}[:=][\"'*_\[(\s]{0,8}"
    r"(-?\d{1,9}(?:[.,]\d{1,9}|[-–]\d{1,9})?)\s?(?:/\s?(\d{1,9}))?"
)
_SCORE_LINE: Final = re.compile(
    rf"^[\W_]{{0,16}}(?:\w{{1,20}} )?{_SCORE_VALUE}", re.IGNORECASE | re.MULTILINE
)
_SCORE_ANYWHERE: Final = re.compile(rf"\b{_SCORE_VALUE}", re.IGNORECASE)
_EXPLANATION: Final = re.compile(
    r"^[\W_]{0,16}explanation[\"'*_\s]{0,8}[:=]", re.IGNORECASE | re.MULTILINE
)


@asking_again
def extract_judge_metric(text: str) -> JudgeMetricOutput:
    """Read the last labelled score of a judge's reply and the explanation before it."""
    reply = without_thinking(text)
    found = _last(_SCORE_LINE, reply) or _last(_SCORE_ANYWHERE, reply)
    if found is None:
        raise OutputRejected(
            RejectionCode.SCORE_MISSING, "No score was found. End with a line such as: Score: 3"
        )
    number = whole_number(found[1], low=1, high=5)
    if number is None or found[2] not in {None, "5"}:
        raise OutputRejected(
            RejectionCode.SCORE_INVALID, "The score has to be a whole number from 1 to 5."
        )
    return JudgeMetricOutput(score=number.value, explanation=_explanation(reply, found))


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return max(pattern.finditer(text), key=lambda match: match.start(), default=None)


def _explanation(reply: str, score: re.Match[str]) -> str:
    label = _last(_EXPLANATION, reply)
    if label is not None and label.end() > score.start():
        words = reply[label.end() :]
    else:
        words = reply[label.end() if label else 0 : score.start()]
    words = words.strip(" \t\r\n*_\"'{},")
    if not words:
        raise OutputRejected(
            RejectionCode.EMPTY_FIELD, "The explanation is missing. Explain the score first."
        )
    return words


@asking_again
def extract_meta_review(text: str) -> MetaReviewOutput:
    """Read the severity 0-4 and its explanation; a severity outside is refused, never clamped."""
    reply = without_thinking(text)
    severity = whole_number(_required_block(reply, "severity").strip("*_[]()\"' "), low=0, high=4)
    if severity is None:
        raise OutputRejected(
            RejectionCode.SCORE_INVALID,
            "<severity> has to hold one whole number from 0 to 4 and nothing else.",
        )
    return MetaReviewOutput(
        severity=severity.value, explanation=_required_block(reply, "explanation")
    )
