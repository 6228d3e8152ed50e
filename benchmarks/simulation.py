"""How much is simulated, and the command that prints the table of it."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import Final

COHORTS: Final = 2_000
RESAMPLES: Final = 1_000
QUICK: Final = 200
"""Cohorts and resamples of a run that only shows that it works."""


def print_table(
    rows: Callable[..., Iterator[str]],
    *,
    name: str,
    description: str | None,
    arguments: Sequence[str] | None,
) -> None:
    """Read the command's arguments and print the rows for that many cohorts and resamples."""
    parser = argparse.ArgumentParser(prog=name, description=description)
    parser.add_argument("--quick", action="store_true", help="fewer cohorts and resamples")
    is_quick = parser.parse_args(arguments).quick
    for line in rows(
        cohorts=QUICK if is_quick else COHORTS, resamples=QUICK if is_quick else RESAMPLES
    ):
        print(line, flush=True)
