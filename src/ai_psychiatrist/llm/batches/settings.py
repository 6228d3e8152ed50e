"""How calls are handed to the batch interfaces of providers."""

from pydantic import Field

from ai_psychiatrist.llm.settings import Options


class BatchSettings(Options):
    """How large batches are, and how they are waited for."""

    most_calls: int = Field(
        default=10_000, ge=1, description="Most calls of one batch; a provider may allow fewer."
    )
    most_bytes: int = Field(
        default=67_108_864,
        ge=1_048_576,
        description="Most bytes of one batch; they are held in memory while it is handed in.",
    )
    tries: int = Field(
        default=3,
        ge=1,
        le=10,
        description="How often a call is handed in that a batch leaves unanswered.",
    )
    poll_seconds: float = Field(
        default=60.0, gt=0, description="First wait of --wait; each next is half as long again."
    )
    most_poll_seconds: float = Field(
        default=900.0, gt=0, description="Longest wait of --wait before a batch is looked at."
    )
