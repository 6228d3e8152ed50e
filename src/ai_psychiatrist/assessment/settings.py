"""Options of the feedback loop."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.infrastructure.options import Options


class FeedbackSettings(Options):
    """When the findings are refined and judged again."""

    model_config = SettingsConfigDict(env_prefix="FEEDBACK_")

    enabled: bool = Field(default=True, description="Refine findings that the judge finds weak.")
    max_iterations: int = Field(
        default=10, ge=0, le=50, description="How many refinements at most."
    )
    score_threshold: int = Field(
        default=3,
        ge=0,
        le=5,
        description="Refine while any metric is at or below this score, 1-5; 0 never refines.",
    )
