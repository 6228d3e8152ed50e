"""Options that several commands take, each declared once."""

import inspect
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import typer

from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.errors import InputError

RunFolderArgument: TypeAlias = Annotated[
    Path, typer.Argument(metavar="RUN", help="Folder of the run.")
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]
JsonLinesOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON lines.")]
AblateOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--ablate",
        help="Score again with the evidence changed, to tell whether it drives the scores; some "
        "ten calls more.",
    ),
]


def _mode_named(name: str) -> AssessmentMode:
    try:
        return AssessmentMode.named(name)
    except InputError as error:
        raise typer.BadParameter(str(error)) from None


_MODES: Final = "|".join(AssessmentMode)
ModeOption: TypeAlias = Annotated[
    AssessmentMode | None,
    typer.Option(
        "--mode",
        metavar=f"[{_MODES}]",
        parser=_mode_named,
        show_default="as set, else zero_shot",
        help="Score with scored examples of others that are like the evidence, with such drawn by "
        "chance, with longer descriptions of the items, or with none of these.",
    ),
]


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that the dataclasses among its parameters declare."""
    groups: dict[str, type] = {}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        kind = parameter.annotation
        if isinstance(kind, type) and is_dataclass(kind):
            groups[name] = kind
            parameters += inspect.signature(kind).parameters.values()
        else:
            parameters.append(parameter)

    @wraps(command)
    def called(**given: object) -> None:
        for name, group in groups.items():
            given[name] = group(
                **{one: given.pop(one) for one in inspect.signature(group).parameters}
            )
        command(**given)

    vars(called)["__signature__"] = inspect.Signature(parameters)
    return called
