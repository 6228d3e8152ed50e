"""Read the settings for a command; what is logged about them goes to standard error."""

from typing import Annotated, TypeAlias

import typer

from ai_psychiatrist import config
from ai_psychiatrist.config import Settings, load_settings, with_model
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.logging import setup_logging

ModelOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="Ask this model, whatever the settings name."),
]


def read_settings(model: str | None = None) -> Settings:
    """Return the settings, with one model for every agent where it is named.

    Raises `ConfigurationError` for unusable ones.
    """
    setup_logging()
    settings = choose_model(load_settings(), model)
    setup_logging(settings.log.level, settings.log.format)
    return settings


def choose_model(settings: Settings, model: str | None) -> Settings:
    """Return the settings with this model for every agent, or as they are when it is `None`."""
    if model is None:
        return settings
    if not model.strip():
        msg = "--model names no model; write for example ollama:gemma3:27b, or baseline"
        raise ConfigurationError(msg)
    return with_model(settings, model)


def quiet(settings: Settings) -> Settings:
    """Log errors alone unless a level was asked for: a person reads what is printed."""
    quieted = config.quiet(settings)
    setup_logging(quieted.log.level, quieted.log.format)
    return quieted
