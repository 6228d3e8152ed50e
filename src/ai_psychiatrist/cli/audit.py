"""The commands that show and check the log of who did what."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Final, TypeAlias

import typer
from rich.table import Column

from ai_psychiatrist.cli.command_app import CommandGroup
from ai_psychiatrist.cli.console import ExitCode, console_of, fail, print_json, table_of
from ai_psychiatrist.cli.options import JsonLinesOption
from ai_psychiatrist.cli.stores import opened_stores
from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.store.audit import AuditLog, noted_head
from ai_psychiatrist.wiring.records import audit_logs_of

audit_app = CommandGroup(
    help="Show and check the log of who saw, changed, exported and erased what.",
)

_NONE: Final = "there is no audit log of this tenant yet"
_PIPE_WIDTH: Final = 140
_COLUMNS: Final = ("n", "at", "actor", "action", "object", "outcome")

TenantOption: TypeAlias = Annotated[
    str | None, typer.Option("--tenant", metavar="NAME", help="Whose log.")
]


@audit_app.command(
    epilog="""
Examples:

  ai-psychiatrist audit verify

  ai-psychiatrist audit verify --tenant clinic --head 128:5f0c…

Exit status: 0 every row is there as it was written, 1 something is wrong, or a file cannot be read,
2 bad input. Rows and head that were put back together are found only with a head kept elsewhere.
"""
)
def verify(
    *,
    tenant: TenantOption = None,
    head: Annotated[
        str | None,
        typer.Option(metavar="N:DIGEST", help="A head that `audit head` printed earlier."),
    ] = None,
) -> None:
    """Check every row of one log or all logs, and list changed rows."""
    noted = () if head is None else (noted_head(head),)
    with _logs([tenant or LOCAL.tenant] if tenant or noted else None) as logs:
        checked = {log.tenant: log.check(*noted) for log in logs}
    against = "the head that is kept here" + (" and the head given" if noted else "")
    for name, one in checked.items():
        end = one.end if one.end.n else "of no row yet"
        lines = [*map(str, one.findings)] or [f"holds, head {end}; checked against {against}"]
        typer.echo("\n".join(f"{name}: {line}" for line in lines))
    if not checked:
        typer.echo("There is no audit log yet.")
    is_whole = not any(one.findings for one in checked.values()) and bool(checked or not noted)
    raise typer.Exit(ExitCode.COMPLETE if is_whole else ExitCode.PARTIAL)


@audit_app.command(
    epilog="""
Examples:

  ai-psychiatrist audit show

  ai-psychiatrist audit show --limit 5 --record 0d9f… --json
"""
)
def show(
    *,
    tenant: TenantOption = None,
    limit: Annotated[int, typer.Option(min=1, help="How many rows, the latest ones.")] = 50,
    record: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Only rows of this assessment, subject or interview."),
    ] = None,
    as_json: JsonLinesOption = False,
) -> None:
    """Print the latest rows of a log."""
    with _log(tenant) as log:
        rows = log.latest(limit, record_id=record)
    if as_json:
        for row in rows:
            print_json(row, is_line=True)
        return
    columns = [Column(name, overflow="fold") for name in _COLUMNS]
    cells = ([str(getattr(row, name)) for name in _COLUMNS] for row in rows)
    console_of(_PIPE_WIDTH).print(table_of(columns, cells))


@audit_app.command(
    epilog="""
Examples:

  ai-psychiatrist audit head >> heads-kept-elsewhere.txt

  ai-psychiatrist audit head --tenant clinic
"""
)
def head(*, tenant: TenantOption = None) -> None:
    """Print number and digest of the last row, to store outside this machine."""
    with _log(tenant) as log:
        found = log.head()
    typer.echo(str(found or fail(_NONE)))


@contextmanager
def _logs(names: Sequence[str] | None) -> Iterator[list[AuditLog]]:
    """Open the logs of tenants, or of all; nothing is made where nothing is stored."""
    with opened_stores() as stores:
        logs = audit_logs_of(stores)
        if not stores.is_made():
            yield []
        else:
            yield logs.all() if names is None else [logs.of(name) for name in names]


@contextmanager
def _log(tenant: str | None) -> Iterator[AuditLog]:
    with _logs(None) as logs:
        of_tenant = (log for log in logs if log.tenant == (tenant or LOCAL.tenant))
        yield next(of_tenant, None) or fail(_NONE)
