"""The option that says what scoring sees beside the transcript."""

from typing import Annotated, Final, TypeAlias

import typer

from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.errors import InputError

_NAMES: Final = "|".join(AssessmentMode)


def _mode_named(name: str) -> AssessmentMode:
    try:
        return AssessmentMode.named(name)
    except InputError as error:
        raise typer.BadParameter(str(error)) from None


ModeOption: TypeAlias = Annotated[
    AssessmentMode | None,
    typer.Option(
        "--mode",
        metavar=f"[{_NAMES}]",
        parser=_mode_named,
        show_default="as set, else zero_shot",
        help="Score with scored examples of others that are like the evidence, with such drawn by "
        "chance, with longer descriptions of the items, or with none of these.",
    ),
]
