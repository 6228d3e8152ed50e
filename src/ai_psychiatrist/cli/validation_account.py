"""Tell a person in a few lines what became of the units."""

from typing import Final

import typer

from ai_psychiatrist.validation.jsonl.summary import Summary


def print_account(found: Summary) -> None:
    """Print the account on standard error, which has to be free of failure records."""
    stages = ", ".join(f"{stage} {count:,}" for stage, count in found.by_stage.items())
    seconds = ", ".join(f"{phase} {spent:.1f} s" for phase, spent in found.seconds.items())
    typer.echo(
        f"{found.step}: {found.requested:,} requested = {found.valid:,} valid"
        f" + {found.failed:,} failed + {found.pending:,} pending",
        err=True,
    )
    typer.echo(
        f"lines: {found.lines:,} read = {found.blank_lines:,} blank + {found.objects:,} objects"
        f" + {found.unreadable_lines:,} that are no one object",
        err=True,
    )
    if stages:
        typer.echo(f"failures: {stages}", err=True)
    warnings = sum(found.warnings.values())
    typer.echo(
        f"coercions: {found.coercions:,}, repaired: {found.repaired:,}, warnings: {warnings:,}",
        err=True,
    )
    typer.echo(f"time: {seconds}", err=True)
    _print_table(found)
    if not found.is_balanced:
        typer.echo("error: accounting: the lines and units do not add up", err=True)
    if found.is_nothing_valid:
        typer.echo("no unit is valid: stop here", err=True)


_COLUMNS: Final = ("category", "field", "rule", "count", "first line")
_MOST_ROWS: Final = 40


def _print_table(found: Summary) -> None:
    """Print which kinds of error there were, the most frequent first."""
    if not found.by_field:
        return
    keys = ("stage", "field", "rule", "count", "first_line")
    shown = found.by_field[:_MOST_ROWS]
    rows = [["–" if row[key] is None else str(row[key]) for key in keys] for row in shown]
    widths = [max(map(len, column)) for column in zip(_COLUMNS, *rows, strict=True)]
    for row in (_COLUMNS, *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        typer.echo(f"  {'  '.join(cells)}".rstrip(), err=True)
    if len(found.by_field) > len(shown):
        typer.echo(f"  and {len(found.by_field) - len(shown)} kinds more: --summary", err=True)
