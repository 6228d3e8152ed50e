"""Check the evidence that a model extracted: first its shape, then whether it was ever said."""

from ai_psychiatrist.services.evidence_validation.grounding import (
    EvidenceGroundingError,
    EvidenceGroundingStats,
    EvidenceSchemaError,
    all_refused,
    ground_evidence,
    log_grounding,
    nothing_grounded,
    validate_evidence_grounding,
    validate_evidence_schema,
)
from ai_psychiatrist.services.evidence_validation.tokens import normalize_for_quote_match

__all__ = [
    "EvidenceGroundingError",
    "EvidenceGroundingStats",
    "EvidenceSchemaError",
    "all_refused",
    "ground_evidence",
    "log_grounding",
    "normalize_for_quote_match",
    "nothing_grounded",
    "validate_evidence_grounding",
    "validate_evidence_schema",
]
