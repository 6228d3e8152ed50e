"""Settings of what one credential may use in a day."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.infrastructure.options import Options


class LimitSettings(Options):
    """What one credential may use in a day, which ends at midnight UTC."""

    model_config = SettingsConfigDict(env_prefix="LIMIT_")

    requests_per_day: int = Field(default=0, ge=0, description="Most requests; 0: any number.")
    calls_per_day: int = Field(
        default=0, ge=0, description="Most model calls; what is under way is finished. 0: any."
    )
    tokens_per_day: int = Field(
        default=0, ge=0, description="Most tokens of prompts and replies together; 0: any number."
    )
    characters_per_day: int = Field(
        default=0, ge=0, description="Most characters of transcripts; 0: any number."
    )
