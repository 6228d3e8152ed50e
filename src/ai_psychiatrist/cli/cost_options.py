"""The options of what a run costs."""

from decimal import Decimal
from typing import Annotated, TypeAlias

import typer

PlanOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--plan", help="Only say what the run will take and cost; asks nothing, writes nothing."
    ),
]
MaxCostOption: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--max-cost",
        metavar="USD",
        min=0,
        help="Begin no unit that could take the run's cost, of all sessions, beyond this.",
    ),
]
PriceOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--price",
        metavar="MODEL=IN/OUT",
        help="What a model costs, in USD per million tokens in and out; can be repeated.",
    ),
]


def usd_of(amount: float | None) -> Decimal | None:
    """Return an amount of money as it was written."""
    return None if amount is None else Decimal(str(amount))
