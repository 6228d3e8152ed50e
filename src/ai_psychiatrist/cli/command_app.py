"""The apps that commands are declared on: help as plain text, and no completion to install."""

from functools import partial
from typing import Final

import typer

CommandApp: Final = partial(typer.Typer, add_completion=False, rich_markup_mode=None)
CommandGroup: Final = partial(CommandApp, no_args_is_help=True)
"""Of several commands, which are listed where none is named."""
