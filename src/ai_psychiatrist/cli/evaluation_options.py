"""Options of the commands on runs, and how their figures are printed as JSON."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, TypeAlias

import orjson
import typer

RunFolderArgument: TypeAlias = Annotated[
    Path, typer.Argument(metavar="RUN", help="Folder of the run.")
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print all figures as JSON.")]


def print_json(document: Mapping[str, object]) -> None:
    """Print a document of figures."""
    typer.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())
