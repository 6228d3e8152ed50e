"""Settings of stored assessments."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.infrastructure.options import Options


class StoreSettings(Options):
    """Which assessments are stored, and for how long."""

    model_config = SettingsConfigDict(env_prefix="STORE_")

    assessments: bool = Field(
        default=False,
        description=(
            "Store the results of /full_pipeline and /assess/*; /v1/assessments always does."
        ),
    )
    unique_subjects: bool = Field(
        default=False,
        description="Refuse a second assessment of a study id (409) while one waits, runs or is "
        "finished.",
    )
    keep_days: int = Field(
        default=365,
        ge=1,
        le=36_500,
        description="Days until a stored assessment is hidden.",
    )
    grace_days: int = Field(
        default=14,
        ge=0,
        le=36_500,
        description="Days until hidden data is removed; until then it can be brought back.",
    )
    sweep_after_jump: bool = Field(
        default=False,
        description="Trust the clock at the next start although it jumped; then unset this again.",
    )
    max_records: int = Field(
        default=100_000,
        ge=1,
        description="Maximum assessments of a tenant.",
    )
    max_bytes: int = Field(
        default=10_737_418_240,
        ge=0,
        description="Maximum bytes of assessments and interviews of a tenant; 0: no limit.",
    )
