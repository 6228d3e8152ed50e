"""Options of the evidence check."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.infrastructure.options import Options
from ai_psychiatrist.services.evidence_validation.transcript_index import GroundingMode


class QuantitativeSettings(Options):
    """How extracted quotes are checked against the transcript."""

    model_config = SettingsConfigDict(env_prefix="QUANTITATIVE_")

    evidence_quote_validation_enabled: bool = Field(
        default=True,
        description="Check quotes against the transcript; without it no item has a score.",
    )
    evidence_quote_validation_mode: GroundingMode = Field(
        default="substring",
        description="`substring`: the same words; `fuzzy`: contractions may be written out.",
    )
    evidence_quote_fuzzy_threshold: float = Field(
        default=0.85,
        ge=0.5,
        le=1.0,
        description="Minimum similarity of a quote with such contractions, 0.5-1.0.",
    )
    evidence_quote_fail_on_all_rejected: bool = Field(
        default=False,
        description="Fail scoring if the model gave quotes and all of them are rejected.",
    )
    evidence_quote_log_rejections: bool = Field(
        default=True, description="Log rejected quotes, as lengths and keyed digests."
    )
