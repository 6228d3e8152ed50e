"""Commands whose modules are imported when they are asked for, and listed without that."""

import gc
from collections import UserDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar, Final

import typer
from typer.core import TyperCommand, TyperGroup

from ai_psychiatrist.cli.command_app import CommandApp

if TYPE_CHECKING:
    from typer._click import Command, Context, HelpFormatter

_EPILOG: Final = "EXAMPLES"


@dataclass(frozen=True, slots=True, kw_only=True)
class Later:
    """Where a command is, and how it is listed."""

    place: str
    """`module:name` in this package, of a function or of an app that has the command."""
    help: str = ""
    """The first sentence of its help; another name of a command has none and is not listed."""

    def load(self, command: str) -> "Command":
        """Import the command of this name; a function's examples stand beside it."""
        module_name, _, name = self.place.partition(":")
        module = _imported(f"{__package__}.{module_name}")
        found = getattr(module, name)
        if isinstance(found, typer.Typer):
            whole = typer.main.get_command(found)
            return whole.commands.get(command, whole) if isinstance(whole, TyperGroup) else whole
        app = CommandApp()
        app.command(command, epilog=getattr(module, _EPILOG, None))(found)
        return typer.main.get_command(app)


def _imported(name: str) -> ModuleType:
    """Import a module. It lives to the end: the collector need not look at what it made."""
    gc.disable()
    try:
        return import_module(name)
    finally:
        gc.freeze()
        gc.enable()


class LoadedLater(TyperGroup):
    """A group of such commands."""

    later: ClassVar[Mapping[str, Later]]

    def __init__(self, **attributes: object) -> None:
        super().__init__(**attributes)  # type: ignore[arg-type]  # as they come from the app
        self.commands = _Commands(self.later)

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """List the commands in the form of the library, none of them imported."""
        listed = {
            name: TyperCommand(name, help=one.help) for name, one in self.later.items() if one.help
        }
        TyperGroup(commands={**listed}).format_commands(ctx, formatter)


def group_of(later: Mapping[str, Later]) -> type[LoadedLater]:
    """Return the class of a group of these commands, for the app that makes it."""
    return type("Group", (LoadedLater,), {"later": later})


class _Commands(UserDict[str, "Command"]):
    """The commands by name, each imported when it is first taken."""

    def __init__(self, later: Mapping[str, Later]) -> None:
        super().__init__()
        self._later = later

    def __getitem__(self, name: str) -> "Command":
        if name not in self.data:
            self.data[name] = self._later[name].load(name)
        return self.data[name]

    def __contains__(self, name: object) -> bool:
        return name in self._later

    def __iter__(self) -> Iterator[str]:
        return iter(self._later)

    def __len__(self) -> int:
        return len(self._later)
