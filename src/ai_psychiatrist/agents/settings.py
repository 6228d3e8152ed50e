"""Options of the agents."""

from dataclasses import replace
from typing import Final, Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import SettingsConfigDict

from ai_psychiatrist.infrastructure.options import Options
from ai_psychiatrist.llm.endpoints import CallRetries, FallbackChain
from ai_psychiatrist.llm.settings import PydanticAISettings

DANGER_OFF: Final = "off"


class DangerSettings(Options):
    """Which model reads for danger in addition to the rules, and who reads its findings."""

    model_config = SettingsConfigDict(env_prefix="DANGER_")

    model: str | None = Field(
        default=None,
        description=(
            "Model that reads for danger; empty: the default model; `off` leaves danger to "
            "the rules."
        ),
    )
    notice: str = Field(
        default="",
        description=(
            "Who reads a held interview, and when; shown to the person. Empty: possibly no one."
        ),
    )
    callback_url: SecretStr = Field(
        default=SecretStr(""),
        description=(
            "Address that is notified of danger in every interview, and of unread danger in "
            "every assessment; its host stands in JOBS_WEBHOOK_HOSTS. Empty: none."
        ),
    )
    remind_minutes: int = Field(
        default=60,
        ge=0,
        le=10_080,
        description="Minutes after its end until the `callback_url` of a job and "
        "DANGER_CALLBACK_URL are called about statements of danger that were not confirmed as "
        "read; 0: never.",
    )

    @field_validator("notice")
    @classmethod
    def _is_one_paragraph(cls, notice: str) -> str:
        return " ".join(notice.split())

    @property
    def is_reported(self) -> bool:
        """Whether an address is notified of danger in every interview."""
        return bool(self.callback_url.get_secret_value())

    @property
    def is_off(self) -> bool:
        """Whether the rules are left alone with it."""
        return (self.model or "").casefold() == DANGER_OFF


class QualitativeSettings(Options):
    """What happens to quotes in the qualitative assessment that the participant did not say."""

    model_config = SettingsConfigDict(env_prefix="QUALITATIVE_")

    validate_quotes: bool = Field(
        default=False,
        description="Drop unverified quotes, or ask again; false keeps them, marked as unverified.",
    )
    max_unverified_quotes: int = Field(
        default=0,
        ge=0,
        description="How many unverified quotes to drop without asking the model again.",
    )
    quote_retry_max_attempts: int = Field(
        default=1,
        ge=0,
        le=5,
        description="Further calls for verbatim quotes, in addition to other retries.",
    )
    delimit_transcript: bool = Field(
        default=False,
        description="Say in every prompt that the transcript is data.",
    )


class LongInterviewSettings(Options):
    """How long interviews are read."""

    model_config = SettingsConfigDict(env_prefix="ASSESS_")

    long: Literal["whole", "parts"] = Field(
        default="whole",
        description=(
            "`parts`: read a long interview in overlapping parts; `whole`: always as a whole."
        ),
    )
    part_characters: int = Field(
        default=40_000,
        ge=4_000,
        description=(
            "Maximum length of a part, in characters; shorter interviews are read as a whole."
        ),
    )

    @property
    def most_characters(self) -> int | None:
        """From what length on an interview is read in parts; `None` for never."""
        return self.part_characters if self.long == "parts" else None


class JudgeSettings(Options):
    """How the judge is called."""

    model_config = SettingsConfigDict(env_prefix="JUDGE_")

    calls: Literal["four", "one"] = Field(
        default="four",
        description=(
            "`four`: one call for each metric, at the same time; `one`: all metrics in one call."
        ),
    )

    @property
    def is_together(self) -> bool:
        """Whether all metrics are asked for in one call."""
        return self.calls == "one"


class FeedbackSettings(Options):
    """When the qualitative assessment is refined and judged again."""

    model_config = SettingsConfigDict(env_prefix="FEEDBACK_")

    enabled: bool = Field(
        default=True, description="Refine a qualitative assessment that the judge finds weak."
    )
    max_iterations: int = Field(
        default=10, ge=0, le=50, description="Maximum number of refinements."
    )
    score_threshold: int = Field(
        default=3,
        ge=0,
        le=5,
        description="Refine while any metric is at or below this score, 1-5; 0: never.",
    )


# How long, and how often, models are asked for a person who waits

MOST_REPAIRS: Final = 1
"""How often each model is sent a rejected reply back, with what is wrong; then it has failed."""


def repairing_once(settings: PydanticAISettings) -> PydanticAISettings:
    """Return settings by which a rejected reply is sent back at most once."""
    return settings.model_copy(update={"retries": min(MOST_REPAIRS, settings.retries)})


def limited_chain(
    chain: FallbackChain, *, call_timeout_seconds: float, retries: CallRetries
) -> FallbackChain:
    """Return the models with calls as short, and tried as often, as a waiting person bears."""
    return tuple(
        replace(
            endpoint,
            timeout_seconds=min(endpoint.timeout_seconds, call_timeout_seconds),
            retries=retries,
        )
        for endpoint in chain
    )
