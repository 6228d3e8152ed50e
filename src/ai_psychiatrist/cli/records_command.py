"""The `records` commands: look after the assessments that are stored."""

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from ai_psychiatrist.cli.audited import audited, audited_if_possible, note_restored
from ai_psychiatrist.cli.checkup import CheckLevel
from ai_psychiatrist.cli.checkup_table import print_findings
from ai_psychiatrist.cli.command_app import CommandGroup
from ai_psychiatrist.cli.exits import ExitCode, fail, refusing_bad_input
from ai_psychiatrist.cli.settings_source import quiet, read_settings
from ai_psychiatrist.cli.store_checkup import check_files, check_words
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.domain.errors import StoreUnusable
from ai_psychiatrist.infrastructure.private_files import writing_to
from ai_psychiatrist.store.audit import Action
from ai_psychiatrist.store.cipher import load_cipher
from ai_psychiatrist.store.listing import PageWanted
from ai_psychiatrist.store.records import RecordSummary
from ai_psychiatrist.store.reserve import using_reserve
from ai_psychiatrist.store.store import Store
from ai_psychiatrist.store.stores import Stores
from ai_psychiatrist.wiring.backup import back_up, staged
from ai_psychiatrist.wiring.records import stores_of
from ai_psychiatrist.wiring.transfer import take_in, tenant_in, write_export

EXAMPLES: Final = """
Examples:

  ai-psychiatrist records list

  ai-psychiatrist records erase ASSESSMENT_ID

  ai-psychiatrist records erase --subject SUBJECT_ID

  ai-psychiatrist records sweep

  ai-psychiatrist records undelete --since 2026-01-31

  ai-psychiatrist records rotate-key --new-key-file new.key

  ai-psychiatrist records export --out everything.jsonl

  ai-psychiatrist records import everything.jsonl

  ai-psychiatrist records backup --out backups/monday --with-keys elsewhere/monday

  ai-psychiatrist records restore backups/monday --with-keys elsewhere/monday

A server may run meanwhile, but for restore. Exit status: 0 done, 1 something stored cannot be read,
nothing was swept because the clock jumped, or something was erased without a row in the audit
log, which takes none; 2 bad input or settings.
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
    with opened_stores(settings_of()) as stores:
        for summary in _all(known_store(stores, tenant)):
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

    Where the audit log takes no row it erases all the same, says so, and ends with status 1.
    """
    if (assessment_id is None) == (subject is None):
        fail("name either an assessment or, with --subject, a subject")
    settings = settings_of()
    with refusing_bad_input():
        folder = settings.data.state_folder
    with using_reserve(folder), opened_stores(settings) as stores:
        store = known_store(stores, tenant)
        if subject is not None:
            with audited_if_possible(stores, tenant, "subject_erased", subject):
                count = store.removal.erase_subject(subject)
                typer.echo(f"erased {count} assessments of the subject")
        if assessment_id is not None:
            with audited_if_possible(stores, tenant, "assessment_erased", assessment_id):
                store.removal.erase(assessment_id)
                typer.echo("erased 1 assessment")


@records_app.command()
def sweep(
    *,
    after_jump: Annotated[
        bool,
        typer.Option("--after-jump", help="The clock is right, although it jumped: sweep."),
    ] = False,
) -> None:
    """Hide what was stored for STORE_KEEP_DAYS, and remove what was hidden for STORE_GRACE_DAYS.

    Interviews go after INTERVIEW_KEEP_DAYS alike. It is done for all tenants, at most 1,000
    assessments and interviews of each at a time; a server does so each hour. Nothing is done, and
    the exit status is 1, where the clock does not fit what is stored.
    """
    settings = settings_of()
    has_jumped = False
    with opened_stores(settings) as stores:
        for tenant in stores.tenants():
            with audited(stores, tenant, "records_swept"):
                swept = stores.open(tenant).sweep(after_jump=after_jump)
            if swept.clock_fault is not None:
                has_jumped = True
                hint = "set it right, or where it is right sweep with --after-jump"
                typer.echo(f"{tenant}: {swept.clock_fault}: {hint}", err=True)
                continue
            typer.echo(f"{tenant}: removed {swept.assessments} assessments")
            if swept.interviews:
                typer.echo(f"{tenant}: removed {swept.interviews} interviews")
            if hidden := swept.hidden_assessments + swept.hidden_interviews:
                days = settings.store.grace_days
                typer.echo(f"{tenant}: hid {hidden}; `records undelete` works for {days} days")
    raise typer.Exit(ExitCode.PARTIAL if has_jumped else ExitCode.COMPLETE)


@records_app.command()
def undelete(
    given: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="An assessment, or an interview.")
    ] = None,
    *,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="MOMENT",
            help="All that was hidden since then, in UTC: 2026-01-31, or 2026-01-31T12:00.",
        ),
    ] = None,
    tenant: TenantOption = LOCAL.tenant,
) -> None:
    """Bring back what a sweep hid, as long as its key is there; it is kept from now on.

    What was erased because somebody asked for it is gone.
    """
    if (given is None) == (since is None):
        fail("name either what to bring back or, with --since, a moment")
    moment = None if since is None else _moment(since)
    settings = settings_of()
    with opened_stores(settings) as stores:
        removal = known_store(stores, tenant).removal
        with audited(stores, tenant, "records_undeleted") as changed:
            changed.record_id = given or ""
            if moment is None:
                count = removal.undelete(given or "")
            else:
                count = removal.undelete_since(moment)
    typer.echo(f"brought back {count}")


@records_app.command()
def backup(
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="For what is stored.")],
    keys_out: Annotated[
        Path | None,
        typer.Option(
            "--with-keys", metavar="FOLDER", help="Another folder, for the keys of subjects."
        ),
    ] = None,
) -> None:
    """Copy what is stored of all tenants, as it is at one moment, while servers go on.

    Keep copies of the keys apart, and for days alone: an old one opens what was erased since. Keys
    of the installation (DATA_KEY_FILE, or records.key; digest.key) are never copied.
    """
    settings = settings_of()
    with opened_stores(settings) as stores:
        tenants = stores.tenants()
        if not tenants:
            fail("nothing is stored yet")
        with _audited_all(stores, tenants, "records_backed_up"):
            back_up(stores.database(), settings.data.state_folder, out, keys_out=keys_out)
    typer.echo(f"copied {len(tenants)} tenants")


@records_app.command()
def restore(
    source: Annotated[Path, typer.Argument(metavar="FROM", help="A folder of `records backup`.")],
    *,
    keys_from: Annotated[
        Path | None,
        typer.Option(
            "--with-keys", metavar="FOLDER", help="Of the copied keys; else keys.sqlite is there."
        ),
    ] = None,
) -> None:
    """Put a backup into a state folder without a store, once it was checked and opened.

    It says what no key opens, such as what was erased since; then the exit status is 1.
    """
    settings = settings_of()
    with refusing_bad_input(), staged(settings, source, keys_from=keys_from) as copies:
        try:
            damage = check_files(copies.stores)
            findings = [damage, *check_words(copies.stores, opens_all=True)]
            tenants = copies.stores.tenants()
        except StoreUnusable as error:
            fail(str(error))
        print_findings(findings)
        if damage.level is CheckLevel.FAIL:
            fail("the backup is damaged; nothing was restored")
        copies.place()
    with opened_stores(settings) as stores:
        note_restored(stores)
    typer.echo(f"restored {len(tenants)} tenants")
    is_whole = all(one.level is not CheckLevel.FAIL for one in findings)
    raise typer.Exit(ExitCode.COMPLETE if is_whole else ExitCode.PARTIAL)


@records_app.command("rotate-key")
def rotate_key(
    *,
    new_key_file: Annotated[
        Path | None,
        typer.Option(
            "--new-key-file",
            metavar="FILE",
            help="A key, 32 bytes in hexadecimal, that DATA_KEY_FILE is to name from now on.",
        ),
    ] = None,
) -> None:
    """Give every tenant a new key, and wrap the keys of all subjects anew.

    The key file of now goes on opening them, and with --new-key-file the new one does as well. Once
    every server has the new DATA_KEY_FILE, rotate again: then the new one alone opens them.
    """
    settings = settings_of()
    with opened_stores(settings) as stores:
        further = None if new_key_file is None else load_cipher(new_key_file, name="--new-key-file")
        for tenant in stores.tenants():
            with audited(stores, tenant, "encryption_key_rotated"):
                count = stores.open(tenant).keys.rotate(further=further)
            typer.echo(f"{tenant}: wrapped the keys of {count} subjects anew")
        if stores.is_made():
            stores.rotate_secrets(further=further)


@records_app.command()
def export(
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A new file for all of it.")],
    tenant: TenantOption = LOCAL.tenant,
) -> None:
    """Write everything that is stored of a tenant, in the open, into a file for its owner alone.

    It holds all words of assessments, raters and interviews without encryption: for another store
    to take in, and to be deleted then. Keys of callers and the audit log stay where they are.
    """
    settings = settings_of()
    with opened_stores(settings) as stores:
        store = known_store(stores, tenant)
        with (
            audited(stores, tenant, "records_exported"),
            writing_to(out, field="--out"),
        ):
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
    settings = settings_of()
    with opened_stores(settings) as stores:
        named = tenant_in(file)
        owner = named if tenant is None else tenant
        store = stores.open(owner)
        with audited(stores, owner, "records_imported"):
            taken = take_in(file, store)
    typer.echo(f"assessments: {taken.assessments}, interviews: {taken.interviews}")
    if taken.were_there:
        typer.echo(f"there already, and left as they are: {taken.were_there}")


def _moment(given: str) -> datetime:
    try:
        moment = datetime.fromisoformat(given)
    except ValueError:
        fail("--since has to be a moment such as 2026-01-31, or 2026-01-31T12:00")
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


@contextmanager
def _audited_all(stores: Stores, tenants: Iterable[str], action: Action) -> Iterator[None]:
    with ExitStack() as rows:
        for tenant in tenants:
            rows.enter_context(audited(stores, tenant, action))
        yield


def settings_of() -> Settings:
    """Return the settings of a command, which ends with status 2 where they cannot be used."""
    with refusing_bad_input():
        return quiet(read_settings())


@contextmanager
def opened_stores(settings: Settings) -> Iterator[Stores]:
    """Open the stores for a command, which ends with status 2 where they cannot be used."""
    with refusing_bad_input():
        stores = stores_of(settings)
        try:
            yield stores
        finally:
            stores.close()


def known_store(stores: Stores, tenant: str) -> Store:
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
