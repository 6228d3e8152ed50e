"""The commands that show and check the trail of who did what."""

import json
from collections import deque
from contextlib import closing
from dataclasses import asdict
from typing import Annotated, Final, TypeAlias

import typer
from rich.table import Table

from ai_psychiatrist.access.audit.check import Checked
from ai_psychiatrist.access.audit.entry import Row
from ai_psychiatrist.access.audit.errors import AuditUnusable
from ai_psychiatrist.access.audit.head import Head
from ai_psychiatrist.access.audit.trails import Trails
from ai_psychiatrist.cli.command_app import CommandGroup
from ai_psychiatrist.cli.console import console_of
from ai_psychiatrist.cli.exits import ExitCode, fail, refusing_bad_input, writing_output
from ai_psychiatrist.cli.settings_source import quiet, read_settings
from ai_psychiatrist.domain.access import LOCAL

audit_app = CommandGroup(
    help="Show and check the trail of who saw, changed, exported and erased what.",
)

VERIFY_EXAMPLES: Final = """
Examples:

  ai-psychiatrist audit verify

  ai-psychiatrist audit verify --tenant clinic --head 128:5f0c…

Exit status: 0 every row is there as it was written, 1 something is wrong, or a file cannot be read,
2 bad input. Rows and head that were put back together are found only with a head kept elsewhere.
"""
SHOW_EXAMPLES: Final = """
Examples:

  ai-psychiatrist audit show

  ai-psychiatrist audit show --limit 5 --record 0d9f… --json
"""
HEAD_EXAMPLES: Final = """
Examples:

  ai-psychiatrist audit head >> heads-kept-elsewhere.txt

  ai-psychiatrist audit head --tenant clinic
"""
_PIPE_WIDTH: Final = 140
_COLUMNS: Final = ("n", "at", "actor", "action", "object", "outcome")

TenantOption: TypeAlias = Annotated[
    str | None, typer.Option("--tenant", metavar="NAME", help="Whose trail.")
]


@audit_app.command(epilog=VERIFY_EXAMPLES)
def verify(
    *,
    tenant: TenantOption = None,
    head: Annotated[
        str | None,
        typer.Option(metavar="N:DIGEST", help="A head that `audit head` printed earlier."),
    ] = None,
) -> None:
    """Check every row of a trail, or of all, and say which are not as they were written."""
    with refusing_bad_input():
        noted = () if head is None else (Head.parse(head),)
        trails = _trails()
        tenants = [tenant or LOCAL.tenant] if tenant or noted else trails.tenants()
        checked = {name: _checked(trails, name, noted) for name in tenants}
    with writing_output():
        against = "the head that is kept here" + (" and the head given" if noted else "")
        for name, one in checked.items():
            whole = f"holds, head {one.end or 'of no row yet'}; checked against {against}"
            lines = [str(finding) for finding in one.findings] or [whole]
            if one.unanswered:
                lines.append(f"{one.unanswered} at the end of requests that were never answered")
            typer.echo("\n".join(f"{name}: {line}" for line in lines))
        if not checked:
            typer.echo("There is no audit trail yet.")
    is_whole = all(one.holds for one in checked.values())
    raise typer.Exit(ExitCode.COMPLETE if is_whole else ExitCode.PARTIAL)


@audit_app.command(epilog=SHOW_EXAMPLES)
def show(
    *,
    tenant: TenantOption = None,
    limit: Annotated[int, typer.Option(min=1, help="How many rows, the latest ones.")] = 50,
    record: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Only rows of this assessment, subject or interview."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print each row as JSON.")] = False,
) -> None:
    """Print the latest rows of a trail."""
    with refusing_bad_input():
        rows = _rows(tenant or LOCAL.tenant, limit, record)
    with writing_output():
        _print_json(rows) if as_json else _print_table(rows)


@audit_app.command(epilog=HEAD_EXAMPLES)
def head(*, tenant: TenantOption = None) -> None:
    """Print number and digest of the last row, to be kept where nobody here can change it."""
    with refusing_bad_input():
        try:
            found = _trails().head(tenant or LOCAL.tenant)
        except AuditUnusable as error:
            fail(str(error))
    if found is None:
        fail("there is no audit trail of this tenant yet")
    with writing_output():
        typer.echo(str(found))


def _trails() -> Trails:
    return Trails(state_dir=quiet(read_settings()).data.state_folder)


def _checked(trails: Trails, tenant: str, noted: tuple[Head, ...]) -> Checked:
    try:
        return trails.check(tenant, noted=noted)
    except AuditUnusable as error:
        fail(str(error))


def _rows(tenant: str, limit: int, record: str | None) -> list[Row]:
    try:
        with closing(_trails().reading(tenant)) as trail:
            if record is None:
                return list(trail.rows(last=limit))
            name = trail.seals.name_of(record)
            return list(deque((row for row in trail.rows() if row.object == name), maxlen=limit))
    except AuditUnusable as error:
        fail(str(error))


def _print_json(rows: list[Row]) -> None:
    for row in rows:
        typer.echo(json.dumps(asdict(row)))


def _print_table(rows: list[Row]) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in _COLUMNS:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(str(getattr(row, name)) for name in _COLUMNS))
    console_of(_PIPE_WIDTH).print(table)
