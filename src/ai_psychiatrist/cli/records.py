"""The `records` commands: look after the assessments that are stored."""

from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from ai_psychiatrist.cli.checkup import (
    CheckLevel,
    check_files,
    check_words,
    has_failed,
    print_findings,
)
from ai_psychiatrist.cli.command_app import CommandGroup
from ai_psychiatrist.cli.console import ExitCode, fail, print_json, require, say
from ai_psychiatrist.cli.options import JsonLinesOption
from ai_psychiatrist.cli.settings import quiet, read_settings
from ai_psychiatrist.cli.stores import (
    TenantOption,
    audited,
    known_store,
    note_restored,
    opened_stores,
)
from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.infrastructure.private_files import writing_to
from ai_psychiatrist.store.cipher import load_cipher
from ai_psychiatrist.store.listing import RecordListRequest
from ai_psychiatrist.store.reserve import using_reserve
from ai_psychiatrist.wiring.backup import back_up, held_in, staged
from ai_psychiatrist.wiring.transfer import take_in, tenant_in, write_export

_LINES: Final = 500

records_app = CommandGroup(
    help="List, show, export and erase stored assessments.",
    epilog="""
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

A server may be running, but for restore. Exit status: 0 done, 1 something stored cannot be read,
nothing was swept because the clock jumped, or something was erased without a row in the audit
log, which takes none; 2 bad input or settings.
""",
)


@records_app.command("list")
def list_records(
    *,
    tenant: TenantOption = LOCAL.tenant,
    as_json: JsonLinesOption = False,
) -> None:
    """Print the stored assessments, the latest first, without words or scores."""
    with opened_stores() as stores:
        store, cursor, is_last = known_store(stores, tenant), None, False
        while not is_last:
            page = store.lists.page(RecordListRequest(rater="", limit=_LINES, cursor=cursor))
            cursor, is_last = page.next, page.next is None
            for line in page.records:
                one, danger = line.summary, line.danger
                shown = {
                    "assessment_id": one.id,
                    "subject_id": one.subject_id,
                    "created_at": one.created_at.isoformat(timespec="milliseconds"),
                    "state": one.state.value,
                    "reason": one.reason,
                    "danger": danger,
                    "raters": one.raters,
                }
                moment = one.created_at.isoformat(timespec="seconds")
                words = (
                    f"{one.id}  {one.subject_id}  {moment}  {one.state.value:<8}  "
                    f"{'' if danger is None else danger.value:<12}  {one.raters} raters"
                )
                print_json(shown, is_line=True) if as_json else typer.echo(words)


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
    """Erase an assessment or a subject: its key is destroyed, so copies are unreadable.

    If the audit log cannot be written, it erases anyway, says so, and exits with status 1.
    """
    require(
        (assessment_id is None) is not (subject is None),
        "name either an assessment or, with --subject, a subject",
        field="--subject",
    )
    settings = quiet(read_settings())
    with using_reserve(settings.data.state_folder), opened_stores(settings) as stores:
        removal = known_store(stores, tenant).removal
        if subject is not None:
            with audited(stores, tenant, "subject_erased", subject, is_required=False):
                count = removal.erase_subject(subject)
                typer.echo(f"erased {count} assessments of the subject")
        if assessment_id is not None:
            with audited(stores, tenant, "assessment_erased", assessment_id, is_required=False):
                removal.erase(assessment_id)
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
    settings, has_jumped = quiet(read_settings()), False
    with opened_stores(settings) as stores:
        for tenant in stores.tenants():
            with audited(stores, tenant, "records_swept"):
                swept = stores.open(tenant).sweep(after_jump=after_jump)
            if swept.clock_fault is not None:
                has_jumped = True
                hint = "set it right, or where it is right sweep with --after-jump"
                say(f"{tenant}: {swept.clock_fault}: {hint}")
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
    """Restore what a sweep hid, while its key exists; its storage time starts again.

    What was erased on request is gone.
    """
    require(
        (given is None) is not (since is None),
        "name either what to bring back or, with --since, a moment",
        field="--since",
    )
    moment = None if since is None else _moment(since)
    with opened_stores() as stores:
        removal = known_store(stores, tenant).removal
        with audited(stores, tenant, "records_undeleted", given or ""):
            count = removal.undelete_since(moment) if moment else removal.undelete(given or "")
    typer.echo(f"brought back {count}")


def _moment(given: str) -> datetime:
    try:
        moment = datetime.fromisoformat(given)
    except ValueError:
        fail("--since has to be a moment such as 2026-01-31, or 2026-01-31T12:00")
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


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
    """Copy the stored data of all tenants at one moment, while servers run.

    Store copies of keys elsewhere, and only for days: an old one opens what was erased since. Keys
    of the installation (DATA_KEY_FILE, or records.key; digest.key) are never copied.
    """
    settings = quiet(read_settings())
    with opened_stores(settings) as stores:
        tenants = stores.tenants()
        require(tenants, "nothing is stored yet", field="DATA_STATE_DIR")
        with ExitStack() as rows:
            for tenant in tenants:
                rows.enter_context(audited(stores, tenant, "records_backed_up"))
            held = back_up(stores.database(), settings.data.state_folder, out, keys_out=keys_out)
    typer.echo(f"tenants copied: {len(tenants)}, {held}")


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
    """Restore a checked backup into a state folder without a store.

    It says what no key opens, such as what was erased since; then the exit status is 1.
    """
    settings = quiet(read_settings())
    with staged(settings, source, keys_from=keys_from) as copies:
        damage = check_files(copies.stores)
        findings = [damage, *check_words(copies.stores, opens_all=True)]
        tenants = copies.stores.tenants()
        print_findings(findings)
        is_sound = damage.level is not CheckLevel.FAIL
        require(is_sound, "the backup is damaged; nothing was restored", field="FROM")
        copies.require_key()
        held = held_in(copies.folder)
        copies.place()
    with opened_stores(settings) as stores:
        note_restored(stores)
    typer.echo(f"restored {len(tenants)} {'tenant' if len(tenants) == 1 else 'tenants'}; {held}")
    raise typer.Exit(ExitCode.PARTIAL if has_failed(findings) else ExitCode.COMPLETE)


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
    """Give every tenant a new key, and wrap the keys of all subjects with it.

    The key file of now goes on opening them, and with --new-key-file the new one does as well. Once
    every server has the new DATA_KEY_FILE, rotate again: then the new one alone opens them.
    """
    with opened_stores() as stores:
        further = None if new_key_file is None else load_cipher(new_key_file, name="--new-key-file")
        for tenant in stores.tenants():
            with audited(stores, tenant, "encryption_key_rotated"):
                count = stores.open(tenant).keys.rotate(further=further)
            typer.echo(f"{tenant}: wrapped the keys of {count} subjects again")
        if stores.is_made():
            stores.rotate_secrets(further=further)


@records_app.command()
def export(
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A new file for all of it.")],
    tenant: TenantOption = LOCAL.tenant,
) -> None:
    """Write all stored data of a tenant, unencrypted, to a file that only its owner can read.

    It holds all words of assessments, raters and interviews without encryption: for another store
    to take in, and to be deleted then. Keys of callers and the audit log stay where they are.
    """
    with opened_stores() as stores:
        store = known_store(stores, tenant)
        with audited(stores, tenant, "records_exported"), writing_to(out, field="--out"):
            written = write_export(out, tenant, store)
    why = "cannot be read: its key is gone, or it is damaged"
    say(*(f"{record_id} {why}" for record_id in written.unreadable))
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
    """Store the data of an export under this installation's keys.

    Stored data is not changed, so that an interrupted import can be repeated.
    """
    with opened_stores() as stores:
        # Read although a tenant is named: a file that is no export is refused before all else.
        named = tenant_in(file)
        owner = named if tenant is None else tenant
        store = stores.open(owner)
        with audited(stores, owner, "records_imported"):
            taken = take_in(file, store)
    typer.echo(f"assessments: {taken.assessments}, interviews: {taken.interviews}")
    if taken.were_there:
        typer.echo(f"there already, and left as they are: {taken.were_there}")
