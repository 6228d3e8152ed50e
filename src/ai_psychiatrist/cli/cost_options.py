"""The options of what a run costs."""

from decimal import Decimal
from math import isfinite
from typing import Annotated, TypeAlias

import typer

from ai_psychiatrist.domain.errors import InputError

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
    """Return an amount of money as it was written; raises `InputError` for one without end."""
    if amount is None:
        return None
    if not isfinite(amount):
        msg = "--max-cost is an amount in USD, such as 25; leave it out where there is no bound"
        raise InputError(msg, field="--max-cost")
    return Decimal(str(amount))
