"""The option that has the scores asked for again with their evidence changed."""

from typing import Annotated, TypeAlias

import typer

AblateOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--ablate",
        help="Score again with the evidence changed, to tell whether it drives the scores; some "
        "ten calls more.",
    ),
]
