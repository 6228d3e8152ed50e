"""Check the evidence that a model extracted: first its shape, then whether it was ever said.

Deterministic; puts no text of transcript or reply into logs, errors or statistics.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from ai_psychiatrist.domain.errors import (
    AssessmentServiceError,
    InputError,
    SpeakersUnknown,
    TranscriptUnreadable,
)
from ai_psychiatrist.domain.evidence import GroundingReport, Quote, QuoteRejection, UnverifiedQuote
from ai_psychiatrist.domain.phq8 import PHQ8_DOMAIN_KEYS
from ai_psychiatrist.infrastructure.digests import keyed_digest
from ai_psychiatrist.infrastructure.logging import get_logger
from ai_psychiatrist.services.evidence_validation.quote_search import similarity_package
from ai_psychiatrist.services.evidence_validation.transcript_index import (
    DEFAULT_FUZZY_THRESHOLD,
    GroundingMode,
    TranscriptIndex,
)
from ai_psychiatrist.services.transcripts.plain_text import parse_transcript

logger = get_logger(__name__)


class EvidenceSchemaError(AssessmentServiceError, ValueError):
    """The evidence does not have the shape that was asked for.

    `violations`: item key, or `__root__`, → what was expected and which type came; no values.
    """

    def __init__(self, message: str, violations: dict[str, str]) -> None:
        super().__init__(message)
        self.violations = violations


def validate_evidence_schema(obj: object) -> dict[str, list[str]]:
    """Return the quotes of each of the eight items, stripped, without blanks and repetitions.

    A missing or null key is an empty list; keys that name no item are ignored. Raises
    `EvidenceSchemaError` with every violation when the top level is no object or a value is not a
    list of strings.
    """
    if not isinstance(obj, dict):
        found = type(obj).__name__
        raise EvidenceSchemaError(
            f"Expected JSON object at top level, got {found}",
            violations={"__root__": f"Expected object, got {found}"},
        )
    violations = {
        key: violation
        for key in PHQ8_DOMAIN_KEYS
        if (violation := _violation(obj.get(key))) is not None
    }
    if violations:
        raise EvidenceSchemaError(
            f"Evidence schema violations in {len(violations)} fields", violations=violations
        )
    return {key: _clean(obj.get(key) or []) for key in PHQ8_DOMAIN_KEYS}


def _violation(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, list):
        return f"Expected list, got {type(value).__name__}"
    for index, element in enumerate(value):
        if not isinstance(element, str):
            return f"Expected list[str] but element {index} was {type(element).__name__}"
    return None


def _clean(quotes: list[str]) -> list[str]:
    return list(dict.fromkeys(stripped for quote in quotes if (stripped := quote.strip())))


class EvidenceGroundingError(AssessmentServiceError, ValueError):
    """The model gave quotes, and none of them is the participant's words."""


@dataclass(frozen=True, slots=True)
class EvidenceGroundingStats:
    """How many quotes came, how many were kept, and where the others were refused."""

    extracted_count: int
    validated_count: int
    rejected_count: int
    rejected_by_domain: dict[str, int]


def ground_evidence(
    evidence: Mapping[str, Sequence[str]],
    index: TranscriptIndex,
    *,
    mode: GroundingMode = "substring",
    fuzzy_threshold: float = DEFAULT_FUZZY_THRESHOLD,
) -> GroundingReport:
    """Check each quote against the participant's words and report on all of them.

    Pure: what follows from a refused quote is the caller's decision.
    """
    results = {
        domain: [
            index.ground(quote, mode=mode, fuzzy_threshold=fuzzy_threshold) for quote in quotes
        ]
        for domain, quotes in evidence.items()
    }
    return GroundingReport(
        accepted={
            domain: tuple(quote for quote in quotes if isinstance(quote, Quote))
            for domain, quotes in results.items()
        },
        rejected={
            domain: tuple(quote for quote in quotes if isinstance(quote, UnverifiedQuote))
            for domain, quotes in results.items()
        },
    )


def log_grounding(report: GroundingReport, transcript_text: str, *, mode: GroundingMode) -> None:
    """Log one line per refused quote and one for all, in lengths and keyed digests."""
    if not report.rejected_count:
        return
    transcript_hash = keyed_digest(transcript_text)
    for domain, quotes in report.rejected.items():
        for quote in quotes:
            logger.warning(
                "evidence_quote_rejected",
                domain=domain,
                quote_hash=keyed_digest(quote.text),
                quote_len=len(quote.text),
                reason=quote.reason,
                transcript_hash=transcript_hash,
                transcript_len=len(transcript_text),
                mode=mode,
            )
    logger.info(
        "evidence_grounding_complete",
        extracted_count=report.extracted_count,
        validated_count=report.validated_count,
        rejected_count=report.rejected_count,
        rejected_by_domain=_counts(report),
        transcript_hash=transcript_hash,
    )


def validate_evidence_grounding(
    evidence: dict[str, list[str]],
    transcript_text: str,
    *,
    mode: GroundingMode = "substring",
    fuzzy_threshold: float = DEFAULT_FUZZY_THRESHOLD,
    log_rejections: bool = True,
    index: TranscriptIndex | None = None,
) -> tuple[dict[str, list[str]], EvidenceGroundingStats]:
    """Return the quotes that the participant said, as the model gave them, and the statistics.

    `mode`: "substring": the same words, of which fillers, cut-off words and repeated starts may be
    left out; "fuzzy": contractions may be written out, too, where the similarity of the quote and
    the whole span is at least `fuzzy_threshold`, 0-1. A denied quote is kept: whether it says that
    a symptom is there is told by `ground_evidence`. `index`: of the transcript, where it has been
    read. A transcript that does not tell who the
    participant is grounds nothing, and a warning says so. Raises `ConfigurationError` for "fuzzy"
    without rapidfuzz.
    """
    if mode == "fuzzy":
        similarity_package()
    try:
        index = index or TranscriptIndex(parse_transcript(transcript_text))
    except InputError as error:
        # The code, how many labels there are and how many quotes: no words.
        logger.warning(
            "evidence_transcript_unreadable",
            code=error.fault if isinstance(error, TranscriptUnreadable) else error.field,
            count=len(error.labels) if isinstance(error, SpeakersUnknown) else 0,
            extracted_count=sum(map(len, evidence.values())),
            transcript_hash=keyed_digest(transcript_text),
            transcript_len=len(transcript_text),
        )
        report = nothing_grounded(evidence, reason=QuoteRejection.NOT_FOUND)
    else:
        report = ground_evidence(evidence, index, mode=mode, fuzzy_threshold=fuzzy_threshold)
    if log_rejections:
        log_grounding(report, transcript_text, mode=mode)
    refused = {
        domain: {quote.text for quote in quotes} for domain, quotes in report.rejected.items()
    }
    validated = {
        domain: [quote for quote in quotes if quote not in refused[domain]]
        for domain, quotes in evidence.items()
    }
    return validated, EvidenceGroundingStats(
        extracted_count=report.extracted_count,
        validated_count=report.validated_count,
        rejected_count=report.rejected_count,
        rejected_by_domain=_counts(report),
    )


def all_refused(report: GroundingReport) -> str:
    """Say that no quote was accepted, and how many for which reason."""
    reasons = Counter(quote.reason for quote in chain.from_iterable(report.rejected.values()))
    counted = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())
    return f"The model gave evidence quotes, but none was accepted: {counted}."


def nothing_grounded(
    evidence: Mapping[str, Sequence[str]], *, reason: QuoteRejection | None
) -> GroundingReport:
    """Return the report in which no quote is accepted; `reason` is `None` for unchecked quotes."""
    return GroundingReport(
        accepted=dict.fromkeys(evidence, ()),
        rejected={
            domain: tuple(UnverifiedQuote(text=quote, reason=reason) for quote in quotes)
            for domain, quotes in evidence.items()
        },
    )


def _counts(report: GroundingReport) -> dict[str, int]:
    return {domain: len(quotes) for domain, quotes in report.rejected.items()}
