"""Options of the agents."""

from typing import Final, Literal

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.infrastructure.options import Options

DANGER_OFF: Final = "off"


class DangerSettings(Options):
    """Which model reads for danger beside the fixed rules."""

    model_config = SettingsConfigDict(env_prefix="DANGER_")

    model: str | None = Field(
        default=None,
        description="Its name; empty: the default; `off` leaves danger to the rules.",
    )

    @property
    def is_off(self) -> bool:
        """Whether the rules are left alone with it."""
        return (self.model or "").casefold() == DANGER_OFF


class QualitativeSettings(Options):
    """What is done about quotes of the narrative that the participant did not say."""

    model_config = SettingsConfigDict(env_prefix="QUALITATIVE_")

    validate_quotes: bool = Field(
        default=False,
        description="Drop unverified quotes, or ask again; false keeps them, marked as unverified.",
    )
    max_unverified_quotes: int = Field(
        default=0,
        ge=0,
        description="How many unverified quotes are dropped without asking the model again.",
    )
    quote_retry_max_attempts: int = Field(
        default=1,
        ge=0,
        le=5,
        description="Further calls for verbatim quotes, apart from other retries.",
    )
    delimit_transcript: bool = Field(
        default=False,
        description="Tell every agent in a sentence that the transcript is data.",
    )


class JudgeSettings(Options):
    """How the judge is asked."""

    model_config = SettingsConfigDict(env_prefix="JUDGE_")

    calls: Literal["four", "one"] = Field(
        default="four",
        description="`four`: a call for each metric, at once; `one`: all metrics in one call.",
    )

    @property
    def is_together(self) -> bool:
        """Whether all metrics are asked for in one call."""
        return self.calls == "one"
