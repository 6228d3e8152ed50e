"""The apps that commands are declared on, and groups that import a command when it is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Final

import typer
from typer.core import TyperCommand, TyperGroup

from ai_psychiatrist.cli.console import telling_errors

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter

# Help as plain text, and no completion to install.
CommandApp: Final = partial(typer.Typer, add_completion=False, rich_markup_mode=None)
CommandGroup: Final = partial(CommandApp, no_args_is_help=True)
"""Of several commands, which are listed where none is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LazyCommand:
    """Where a command is, and how it is listed."""

    place: str
    """`module:name` in this package, of a function or of an app that has the command."""
    help: str = ""
    """The first sentence of its help; another name of a command has none and is not listed."""

    def load(self, command: str) -> "Command":
        """Import the command of this name; a function's examples are its module's `EXAMPLES`."""
        module_name, _, name = self.place.partition(":")
        module = import_module(f"{__package__}.{module_name}")
        found = getattr(module, name)
        if isinstance(found, typer.Typer):
            whole = typer.main.get_command(found)
            return whole.commands.get(command, whole) if isinstance(whole, TyperGroup) else whole
        app = CommandApp()
        app.command(command, epilog=getattr(module, "EXAMPLES", None))(found)
        return typer.main.get_command(app)


def lazy_group(lazy: Mapping[str, LazyCommand]) -> type[TyperGroup]:
    """Return the class of a group that lists these commands without importing them."""

    class LazyGroup(TyperGroup):
        def __init__(self, **attributes: object) -> None:
            super().__init__(**attributes)  # type: ignore[arg-type]  # as they come from the app
            self.commands = {
                name: TyperCommand(name, help=one.help, hidden=not one.help)
                for name, one in lazy.items()
            }

        def get_command(self, ctx: "Context", cmd_name: str) -> "Command | None":
            """Import the command; `commands` holds what is listed of it."""
            return super().get_command(ctx, cmd_name) and lazy[cmd_name].load(cmd_name)

        def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
            """List the commands in the form of the library, none of them imported."""
            TyperGroup(commands={**self.commands}).format_commands(ctx, formatter)

        def invoke(self, ctx: "Context") -> object:
            """Run the command; what it cannot use ends it with a sentence."""
            with telling_errors():
                return super().invoke(ctx)

    return LazyGroup
