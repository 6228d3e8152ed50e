"""Read the settings for a command; what is logged about them goes to standard error."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ai_psychiatrist.config import Settings


def read_settings() -> "Settings":
    """Return the settings; raises `ConfigurationError` for unusable ones."""
    from ai_psychiatrist.config import load_settings  # noqa: PLC0415
    from ai_psychiatrist.infrastructure.logging import setup_logging  # noqa: PLC0415

    setup_logging()
    return load_settings()


def quiet(settings: "Settings") -> "Settings":
    """Log errors alone unless a level was asked for: a person reads what is printed."""
    if "level" in settings.log.model_fields_set:
        return settings
    log = settings.log.model_copy(update={"level": "ERROR"})
    return settings.model_copy(update={"log": log})
