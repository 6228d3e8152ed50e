"""Settings of stored assessments."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.infrastructure.options import Options


class StoreSettings(Options):
    """Which assessments are stored, and for how long."""

    model_config = SettingsConfigDict(env_prefix="STORE_")

    assessments: bool = Field(
        default=False,
        description="Store what /full_pipeline and /assess/* make; /v1/assessments always does.",
    )
    keep_days: int = Field(
        default=365,
        ge=1,
        le=36_500,
        description="Days that a stored assessment is kept; then it is hidden.",
    )
    grace_days: int = Field(
        default=14,
        ge=0,
        le=36_500,
        description="Days that what was hidden can be brought back; then it is removed.",
    )
    sweep_after_jump: bool = Field(
        default=False,
        description="At the next start trust the clock, although it jumped; then unset it again.",
    )
    max_records: int = Field(
        default=100_000,
        ge=1,
        description="Most assessments that a tenant stores; no further one is begun.",
    )
    max_bytes: int = Field(
        default=10_737_418_240,
        ge=0,
        description="Most bytes of assessments and interviews that a tenant stores; 0: any number.",
    )
