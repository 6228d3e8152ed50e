"""Tables for people to read in a terminal."""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.table import Column, Table
from rich.text import Text

WIDE: Final = 160
"""Columns of a wide table where there is no terminal."""


def numbers(*names: str) -> list[Column]:
    """Return columns of figures, none of which is broken."""
    return [Column(name, justify="right", no_wrap=True) for name in names]


def table_of(
    columns: Iterable[str | Column],
    rows: Iterable[Sequence[str | Text]],
    *,
    header_style: str | None = None,
) -> Table:
    """Return a table without lines; an empty row parts what stands above and below it."""
    table = Table(*columns, box=None, pad_edge=False, header_style=header_style)
    for row in rows:
        table.add_row(*row)
    return table
