"""The settings as commands read them, and the command `settings`, which prints what can be set."""

from typing import Annotated, TypeAlias

import typer

from ai_psychiatrist import config
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.infrastructure.logging import setup_logging

ModelOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--model", metavar="NAME", help="Ask this model instead of the one in the settings."
    ),
]


def settings(
    *,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print tables in Markdown instead.")
    ] = False,
) -> None:
    """Print every setting with its meaning and default, in the form of a .env file."""
    typer.echo(config.settings_tables() if as_markdown else config.env_example(), nl=False)


def read_settings(model: str | None = None) -> Settings:
    """Return the settings, with one model for every agent where it is named.

    What is logged about them goes to standard error. Raises `ConfigurationError` for unusable ones.
    """
    setup_logging()
    read = choose_model(config.load_settings(), model)
    setup_logging(read.log.level, read.log.format)
    return read


def choose_model(settings: Settings, model: str | None) -> Settings:
    """Return the settings with this model for every agent, or as they are when it is `None`."""
    if model is None:
        return settings
    if not model.strip():
        raise ConfigurationError(
            "--model names no model; write for example ollama:gemma3:27b, or baseline"
        )
    return config.with_model(settings, model)


def overridden(settings: Settings, group: str, **values: object) -> Settings:
    """Return the settings with these of a group as an option names them; `None`: as they are."""
    named = {name: value for name, value in values.items() if value is not None}
    return settings.model_copy(update={group: getattr(settings, group).model_copy(update=named)})


def quiet(settings: Settings) -> Settings:
    """Log errors alone unless a level was asked for: a person reads what is printed."""
    quieted = config.quiet(settings)
    setup_logging(quieted.log.level, quieted.log.format)
    return quieted
