"""The `records` commands: look after the assessments that are stored."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from ai_psychiatrist.access.audit.entry import Action
from ai_psychiatrist.cli.audited import audited, audited_if_possible
from ai_psychiatrist.cli.command_app import CommandGroup
from ai_psychiatrist.cli.exits import ExitCode, fail, refusing_bad_input
from ai_psychiatrist.cli.settings_source import quiet, read_settings
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.domain.errors import StoreUnusable
from ai_psychiatrist.infrastructure.private_files import writing_to
from ai_psychiatrist.store.cipher import load_cipher
from ai_psychiatrist.store.listing import PageWanted
from ai_psychiatrist.store.records import RecordSummary
from ai_psychiatrist.store.store import Store
from ai_psychiatrist.store.stores import Stores
from ai_psychiatrist.wiring.records import stores_of
from ai_psychiatrist.wiring.transfer import take_in, tenant_in, write_export

EXAMPLES: Final = """
Examples:

  ai-psychiatrist records list

  ai-psychiatrist records erase ASSESSMENT_ID

  ai-psychiatrist records erase --subject SUBJECT_ID

  ai-psychiatrist records sweep

  ai-psychiatrist records rotate-key --new-key-file new.key

  ai-psychiatrist records export --out everything.jsonl

  ai-psychiatrist records import everything.jsonl

A server may run meanwhile. Exit status: 0 done, 1 something stored cannot be read, or was erased
without a row in the audit trail, which takes none; 2 bad input or settings.
"""

_LINES: Final = 500

records_app = CommandGroup(
    help="Look after the assessments that are stored.",
    epilog=EXAMPLES,
)

TenantOption = Annotated[
    str, typer.Option("--tenant", metavar="NAME", help="Whose records; local without keys.")
]


@records_app.command("list")
def list_records(
    *,
    tenant: TenantOption = LOCAL.tenant,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
) -> None:
    """Print the assessments that are stored, the latest first, without words or scores."""
    with opened_stores(_settings()) as stores:
        for summary in _all(_known(stores, tenant)):
            typer.echo(json.dumps(_shown(summary)) if as_json else _line(summary))


@records_app.command()
def erase(
    assessment_id: Annotated[
        str | None, typer.Argument(metavar="[ASSESSMENT_ID]", help="One assessment.")
    ] = None,
    *,
    subject: Annotated[
        str | None,
        typer.Option("--subject", metavar="SUBJECT_ID", help="Everything of one subject."),
    ] = None,
    tenant: TenantOption = LOCAL.tenant,
) -> None:
    """Erase an assessment, or a subject: its key is destroyed, so that copies tell nothing.

    Where the audit trail takes no row it erases all the same, says so, and ends with status 1.
    """
    if (assessment_id is None) == (subject is None):
        fail("name either an assessment or, with --subject, a subject")
    settings = _settings()
    with opened_stores(settings) as stores:
        store = _known(stores, tenant)
        if subject is not None:
            with audited_if_possible(settings, tenant, Action.SUBJECT_ERASED, subject):
                count = store.erasing.erase_subject(subject)
                typer.echo(f"erased {count} assessments of the subject")
        if assessment_id is not None:
            with audited_if_possible(settings, tenant, Action.ASSESSMENT_ERASED, assessment_id):
                store.erasing.erase(assessment_id)
                typer.echo("erased 1 assessment")


@records_app.command()
def sweep() -> None:
    """Remove what was stored for STORE_KEEP_DAYS, of all tenants; a server does so each hour."""
    settings = _settings()
    with opened_stores(settings) as stores:
        for tenant in stores.tenants():
            with audited(settings, tenant, Action.RECORDS_SWEPT):
                removed = stores.open(tenant).sweep()
            typer.echo(f"{tenant}: removed {removed.assessments} assessments")
            if removed.interviews:
                typer.echo(f"{tenant}: removed {removed.interviews} interviews")


@records_app.command("rotate-key")
def rotate_key(
    *,
    new_key_file: Annotated[
        Path | None,
        typer.Option(
            "--new-key-file",
            metavar="FILE",
            help="A key, 32 bytes in hexadecimal, that LEDGER_KEY_FILE is to name from now on.",
        ),
    ] = None,
) -> None:
    """Give every tenant a new key, and wrap the keys of all subjects anew.

    The key file of now goes on opening them, and with --new-key-file the new one does as well. Once
    every server has the new LEDGER_KEY_FILE, rotate again: then the new one alone opens them.
    """
    settings = _settings()
    with opened_stores(settings) as stores:
        further = None if new_key_file is None else load_cipher(new_key_file, name="--new-key-file")
        for tenant in stores.tenants():
            with audited(settings, tenant, Action.ENCRYPTION_KEY_ROTATED):
                count = stores.open(tenant).keys.rotate(further=further)
            typer.echo(f"{tenant}: wrapped the keys of {count} subjects anew")


@records_app.command()
def export(
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A new file for all of it.")],
    tenant: TenantOption = LOCAL.tenant,
) -> None:
    """Write everything that is stored of a tenant, in the open, into a file for its owner alone.

    It holds all words of assessments, raters and interviews without encryption: for another store
    to take in, and to be deleted then. Keys of callers and the audit trail stay where they are.
    """
    settings = _settings()
    with opened_stores(settings) as stores:
        store = _known(stores, tenant)
        with audited(settings, tenant, Action.RECORDS_EXPORTED), writing_to(out, field="--out"):
            written = write_export(out, tenant, store)
    for record_id in written.unreadable:
        typer.echo(f"{record_id} cannot be read: its key is gone, or it is damaged", err=True)
    typer.echo(f"assessments: {written.assessments}, interviews: {written.interviews}")
    raise typer.Exit(ExitCode.PARTIAL if written.unreadable else ExitCode.COMPLETE)


@records_app.command("import")
def import_records(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `records export` wrote.")],
    *,
    tenant: Annotated[
        str | None,
        typer.Option("--tenant", metavar="NAME", help="Whose they are now; else as in the file."),
    ] = None,
) -> None:
    """Store what a file of an export holds, under this installation's keys.

    What is stored already is left as it is, so that an import which broke off can be begun again.
    """
    settings = _settings()
    with opened_stores(settings) as stores:
        named = tenant_in(file)
        owner = named if tenant is None else tenant
        store = stores.open(owner)
        with audited(settings, owner, Action.RECORDS_IMPORTED):
            taken = take_in(file, store)
    typer.echo(f"assessments: {taken.assessments}, interviews: {taken.interviews}")
    if taken.were_there:
        typer.echo(f"there already, and left as they are: {taken.were_there}")


def _settings() -> Settings:
    with refusing_bad_input():
        return quiet(read_settings())


@contextmanager
def opened_stores(settings: Settings) -> Iterator[Stores]:
    """Open the stores for a command, which ends with status 2 where they cannot be used."""
    with refusing_bad_input():
        stores = stores_of(settings)
        try:
            yield stores
        except StoreUnusable as error:
            fail(str(error))
        finally:
            stores.close()


def _known(stores: Stores, tenant: str) -> Store:
    """Return the store of a tenant that has one; a misspelt name makes none."""
    if tenant not in stores.tenants():
        fail("nothing is stored for this tenant; --tenant names another one")
    return stores.open(tenant)


def _all(store: Store) -> Iterator[RecordSummary]:
    cursor: str | None = None
    while True:
        page = store.lists.page(PageWanted(rater="", limit=_LINES, cursor=cursor))
        yield from (line.summary for line in page.records)
        cursor = page.next
        if cursor is None:
            return


def _line(summary: RecordSummary) -> str:
    danger = "" if summary.figures.danger is None else summary.figures.danger.value
    moment = summary.created_at.isoformat(timespec="seconds")
    return (
        f"{summary.id}  {summary.subject_id}  {moment}  {summary.state.value:<8}  "
        f"{danger:<12}  {summary.raters} raters"
    )


def _shown(summary: RecordSummary) -> dict[str, object]:
    return {
        "assessment_id": summary.id,
        "subject_id": summary.subject_id,
        "created_at": summary.created_at.isoformat(timespec="milliseconds"),
        "state": summary.state.value,
        "reason": summary.reason,
        "danger": summary.figures.danger,
        "raters": summary.raters,
    }
