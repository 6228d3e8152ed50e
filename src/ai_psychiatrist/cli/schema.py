"""The command `schema`: what results look like."""

from typing import Final

import typer

from ai_psychiatrist.results.schema import kept_schema

EXAMPLES: Final = """
Example:

  ai-psychiatrist schema > assessment.schema.json
"""


def schema() -> None:
    """Print the JSON Schema of results, for HTTP and --json alike; its version is in each."""
    typer.echo(kept_schema(), nl=False)
