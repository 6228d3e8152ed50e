"""How calls are handed to the batch interfaces of providers."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.infrastructure.options import Options


class BatchSettings(Options):
    """How large batches are, and how they are waited for."""

    model_config = SettingsConfigDict(env_prefix="BATCH_")

    most_calls: int = Field(
        default=10_000, ge=1, description="Most calls of one batch; a provider may allow fewer."
    )
    tries: int = Field(
        default=3,
        ge=1,
        le=10,
        description="How often a call is handed in that a batch leaves unanswered.",
    )
    poll_seconds: float = Field(
        default=60.0,
        gt=0,
        description="First wait of --wait; each next is half as long again, up to 15 minutes.",
    )
