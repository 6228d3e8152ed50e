"""Options of the agents; each is read from the environment by `config` alone."""

from typing import Final

from pydantic import Field

from ai_psychiatrist.llm.settings import Options

DANGER_OFF: Final = "off"


class DangerSettings(Options):
    """Which model reads for danger beside the fixed rules."""

    model: str | None = None
    """Model that reads for danger; empty means the default, `off` leaves it to the rules."""

    @property
    def is_off(self) -> bool:
        """Whether the rules are left alone with it."""
        return (self.model or "").casefold() == DANGER_OFF


class QualitativeSettings(Options):
    """What is done about quotes of the narrative that the participant did not say."""

    validate_quotes: bool = False
    """Drop unverified quotes, or ask again; false keeps them, marked as unverified."""
    max_unverified_quotes: int = Field(default=0, ge=0)
    """How many unverified quotes are dropped without asking the model again."""
    quote_retry_max_attempts: int = Field(default=1, ge=0, le=5)
    """How often the model is asked again for verbatim quotes, apart from other retries."""
    delimit_transcript: bool = False
    """Put a sentence before the transcript that says that it is data, for every agent."""
