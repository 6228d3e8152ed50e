"""The commands that make, list and revoke API keys."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated, Final

import typer

from ai_psychiatrist.access.keys import Key, KeyRequest, KeyStore
from ai_psychiatrist.cli.command_app import CommandGroup
from ai_psychiatrist.cli.console import print_json, require, say
from ai_psychiatrist.cli.options import JsonOption
from ai_psychiatrist.cli.settings import quiet, read_settings
from ai_psychiatrist.cli.stores import audited, opened_stores
from ai_psychiatrist.domain.access import LOCAL, Scope
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.store.reserve import using_reserve
from ai_psychiatrist.store.stores import Stores

keys_app = CommandGroup(
    name="keys",
    help="Create, list and revoke the keys of callers.",
)


_DURATION: Final = re.compile(r"([1-9]\d{0,5})([mhd])")
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days"}


@keys_app.command(
    "create",
    epilog="""
Examples:

  ai-psychiatrist keys create --name ward-3 --scope assess --scope read --expires-in 90d

  ai-psychiatrist keys create --name "second rater" --scope review --tenant clinic-1

  ai-psychiatrist keys create --like 4f0c9a1be27d

The key is shown once, on standard output. A server that runs takes it at once.

Exit status: 0 made, 2 bad input or settings.
""",
)
def create(
    *,
    name: Annotated[str | None, typer.Option("--name", help="Who or what has the key.")] = None,
    tenant: Annotated[
        str | None,
        typer.Option("--tenant", help="Whose records it works with, such as clinic-1.  [local]"),
    ] = None,
    scope: Annotated[
        list[Scope] | None,
        typer.Option("--scope", help="What its holder may do; may be repeated."),
    ] = None,
    expires_in: Annotated[
        str | None,
        typer.Option(
            "--expires-in",
            metavar="90d",
            help="Its lifetime in m, h or d; else it does not expire.",
        ),
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(
            "--like",
            metavar="ID",
            help="A second key of the same holder, to replace one: ratings stay one rater's.",
        ),
    ] = None,
    is_json: JsonOption = False,
) -> None:
    """Create a key and show it once."""
    with _stores() as (stores, keys):
        lasts = None if expires_in is None else _seconds(expires_in)
        if like is None:
            require(name is not None, "say who or what has the key: --name ward-3", field="name")
            wanted = KeyRequest(
                name=name or "",
                tenant=LOCAL.tenant if tenant is None else tenant,
                scopes=frozenset(scope or ()),
                lasts_seconds=lasts,
            )
            make, owner = partial(keys.create, wanted), wanted.tenant
        else:
            require(
                name is None and tenant is None and not scope,
                "a key --like another has its name, tenant and scopes: leave them out",
                field="like",
            )
            make = partial(keys.create_like, like, lasts_seconds=lasts)
            owner = keys.get(like).principal.tenant
        with audited(stores, owner, "key_created") as changed:
            made = make()
            changed.record_id = made.key.id
    if is_json:
        print_json({**_described(made.key), "key": made.text}, is_line=True)
        return
    typer.echo(made.text)
    say(
        f"Copy the key {made.key.id} now: it will not be shown again. Callers send it in the "
        "header Authorization: Bearer, or X-API-Key."
    )


@keys_app.command(
    "list",
    epilog="""
Examples:

  ai-psychiatrist keys list

  ai-psychiatrist keys list --json

Secrets are not stored and cannot be shown. Exit status: 0, or 2 for bad settings.
""",
)
def list_keys(*, is_json: JsonOption = False) -> None:
    """List all keys, without their secrets."""
    with _stores() as (_, keys):
        found = keys.all()
    if is_json:
        print_json(list(map(_described, found)))
    elif not found:
        say("no key yet: ai-psychiatrist keys create")
    for key in () if is_json else found:
        holder, (expires, used) = key.principal, map(_moment, (key.expires_at, key.used_at))
        typer.echo(
            f"{key.id}  {_state(key):<8} {holder.tenant}  {','.join(sorted(holder.scopes))}  "
            f"expires {expires or 'never'}  used {used or 'never'}  {holder.name}"
        )


@keys_app.command(
    "revoke",
    epilog="""
Examples:

  ai-psychiatrist keys revoke 4f0c9a1be27d

The key and all sessions that began with it end at once, also in running servers.

Exit status: 0 revoked, 1 revoked without a row in the audit log, which cannot be written, 2 no
such key.
""",
)
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="Its id, as `keys list` shows it.")],
    *,
    is_json: JsonOption = False,
) -> None:
    """Revoke a key."""
    with _stores() as (stores, keys):
        tenant = keys.get(key_id).principal.tenant
        with audited(stores, tenant, "key_revoked", key_id, is_required=False):
            key = keys.revoke(key_id)
            words = f"revoked {key.id}"
            print_json(_described(key), is_line=True) if is_json else typer.echo(words)


@contextmanager
def _stores() -> Iterator[tuple[Stores, KeyStore]]:
    settings = quiet(read_settings())
    with using_reserve(settings.data.state_folder), opened_stores(settings) as stores:
        # Files that cannot be used are named before anything is noted.
        stores.database()
        yield stores, KeyStore(database=stores.database)


def _described(key: Key) -> dict[str, object]:
    """Return a key as JSON shows it."""
    return {
        "id": key.id,
        "state": _state(key),
        "holder": key.principal.id,
        "name": key.principal.name,
        "tenant": key.principal.tenant,
        "scopes": sorted(key.principal.scopes),
        "created_at": _moment(key.created_at),
        "expires_at": _moment(key.expires_at),
        "used_at": _moment(key.used_at),
        "revoked_at": _moment(key.revoked_at),
    }


def _state(key: Key) -> str:
    if key.revoked_at is not None:
        return "revoked"
    return "live" if key.is_live(time.time()) else "expired"


def _moment(seconds: int | None) -> str | None:
    """Return a moment as text, such as `2026-11-23T16:00:00Z`."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _seconds(duration: str) -> int:
    found = _DURATION.fullmatch(duration.strip())
    if found is None:
        raise InputError(
            "--expires-in is a whole number with m, h or d, such as 90d", field="expires_in"
        )
    return int(timedelta(**{_UNITS[found[2]]: int(found[1])}).total_seconds())
