"""The command `settings`: what can be set, as a file that can be used."""

from typing import Annotated

import typer

from ai_psychiatrist.config import env_example, settings_tables


def settings(
    *,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print tables in Markdown instead.")
    ] = False,
) -> None:
    """Print every setting with its meaning and default, in the form of a .env file."""
    typer.echo(settings_tables() if as_markdown else env_example(), nl=False)
