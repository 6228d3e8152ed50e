"""What is said where files of the service are damaged, gone, or of another key."""

import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import httpx

from tests.golden.answer import Answer, Json
from tests.golden.http_assessing import DANGER, TEXTS
from tests.golden.http_caller import Talk, calling, in_loop
from tests.golden.http_doors import bearer, brief, short
from tests.golden.http_interviews import HERE, begun
from tests.golden.http_records import PLACE

_BODY: Final = {"transcript_text": "Participant: I sleep badly, most nights."}
_SETTINGS: Final = {"STORE_ASSESSMENTS": "true"}
_FILES: Final = (
    "digest.key",
    "records.key",
    "store.sqlite",
    "keys.sqlite",
)
"""What a server keeps in `DATA_STATE_DIR`."""
_ASKED: Final[tuple[tuple[str, str, Any], ...]] = (
    ("GET", "/health", None),
    ("GET", "/readyz", None),
    ("GET", "/login", None),
    ("POST", "/full_pipeline", _BODY),
    ("POST", "/v1/transcripts/preview", _BODY),
    ("GET", PLACE, None),
    ("POST", PLACE, _BODY),
    ("GET", "/v1/jobs", None),
    ("GET", "/v1/export", None),
    ("POST", HERE, {"protocol": "phq8"}),
    ("GET", "/v1/session", None),
    ("POST", "/v1/session", {"rater": "A"}),
    ("GET", "/", None),
)
_TOLD: Final[Mapping[str, tuple[tuple[str, str, str, Any], ...]]] = {
    "keys.sqlite": (("entrance", "POST", "/v1/session", {"rater": "A"}),),
    "store.sqlite": (
        ("audit-shown", "GET", PLACE, None),
        ("audit-changed", "POST", "/full_pipeline", _BODY),
        ("interviews", "POST", HERE, {"protocol": "phq8"}),
    ),
    "records.key": (
        ("records-read", "GET", PLACE, None),
        ("records-made", "POST", "/full_pipeline", {"transcript_text": DANGER}),
    ),
}
"""Which problems are kept as a whole: damaged file, and what is then asked."""


@in_loop
async def broken(folder: Path) -> list[Answer]:
    """Return the cases."""
    cases: list[Answer] = []
    async with calling(folder / "whole", _SETTINGS) as client:
        talk = Talk(client=client, name="broken", cases=cases)
        record = (await client.post(PLACE, json=_BODY)).headers["location"]
        interview = await begun(talk)
    for name in _FILES:
        for how in ("damaged", "gone"):
            place = folder / f"{name.replace('/', '-')}-{how}"
            _spoil(folder / "whole", place, name, how)
            async with calling(place, _SETTINGS) as client:
                talk = Talk(client=client, name="broken/files", cases=cases)
                talk.add(f"{name}-{how}", await _answers(client, record, interview))
                told = Talk(client=client, name="broken/told", given=TEXTS, cases=cases)
                for case, method, path, body in _TOLD.get(name, ()) if how == "damaged" else ():
                    sent = {} if body is None else {"json": body}
                    await told.ask(case, method, path, **sent)
    await _altered(folder, record, interview, cases)
    await _doors(folder, cases)
    return cases


def _spoil(whole: Path, place: Path, name: str, how: str) -> None:
    """Copy a state folder, and damage or remove one of its files."""
    shutil.copytree(whole, place)
    path = place / "state" / name
    for one in path.parent.glob(f"{path.name}*"):
        one.unlink()
    if how == "damaged":
        path.write_bytes(b"nothing of use " * 400)
        if name == "digest.key":
            # No server starts with one that others can read.
            path.chmod(0o600)


async def _answers(client: httpx.AsyncClient, record: str, interview: Mapping[str, Any]) -> Json:
    found: dict[str, Json] = {}
    for method, path, body in _ASKED:
        sent = {} if body is None else {"json": body}
        found[f"{method} {path}"] = brief(await client.request(method, path, **sent))
        client.cookies.clear()
    found["the record"] = brief(await client.get(record))
    found["its transcript"] = brief(await client.get(f"{record}/transcript"))
    place = f"{HERE}/{interview['interview_id']}"
    found["the interview"] = brief(await client.get(place))
    return found


async def _altered(
    folder: Path, record: str, interview: Mapping[str, Any], cases: list[Answer]
) -> None:
    """Keep what is said of a record and an interview whose sealed bytes were changed."""
    place = folder / "altered"
    shutil.copytree(folder / "whole", place)
    state = place / "state"
    _change_blobs(state / "store.sqlite")
    async with calling(place, _SETTINGS) as client:
        talk = Talk(client=client, name="broken/altered", cases=cases)
        talk.masks[interview["interview_id"]] = "<interview>"
        for part in ("", "/transcript", "/evidence", "/certificate", "/html"):
            await talk.ask(f"record{part.replace('/', '-')}", "GET", f"{record}{part}", show=short)
        job = record.replace("assessments", "jobs")
        await talk.ask("job", "GET", job, show=short)
        await talk.ask("export", "GET", "/v1/export", show=short)
        await talk.ask("list", "GET", PLACE, show=short)
        await talk.ask("page", "GET", record.removeprefix("/v1"), show=short)
        await talk.ask("interview", "GET", f"{HERE}/{interview['interview_id']}")
        await talk.ask("interview-report", "GET", f"{HERE}/{interview['interview_id']}/report")
        await talk.ask("erase", "DELETE", record, show=short)
        await talk.ask("delete", "DELETE", f"{HERE}/{interview['interview_id']}", show=short)


def _change_blobs(path: Path) -> None:
    """Change the last byte of every long value of bytes in a database."""
    with closing(sqlite3.connect(path)) as database, database:
        named = database.execute("SELECT type, name FROM sqlite_master").fetchall()
        for kind, name in named:
            if kind == "trigger":
                database.execute(f'DROP TRIGGER "{name}"')
        for kind, name in named:
            if kind == "table":
                _change_table(database, name)


def _change_table(database: sqlite3.Connection, table: str) -> None:
    for _, column, *_ in database.execute(f'PRAGMA table_info("{table}")').fetchall():
        # The names are the database's own.
        query = f'SELECT DISTINCT "{column}" FROM "{table}" WHERE length("{column}") > 40'  # noqa: S608
        update = f'UPDATE "{table}" SET "{column}" = ? WHERE "{column}" = ?'  # noqa: S608
        for (value,) in database.execute(query).fetchall():
            if isinstance(value, bytes):
                database.execute(update, (value[:-1] + bytes([value[-1] ^ 1]), value))


async def _doors(folder: Path, cases: list[Answer]) -> None:
    """Keep what is said where keys are asked for and cannot be read."""
    place = folder / "doors"
    (place / "state").mkdir(parents=True)
    (place / "state" / "keys.sqlite").write_bytes(b"nothing of use " * 400)
    async with calling(place, {"AUTH_REQUIRED": "true"}) as client:
        talk = Talk(client=client, name="broken/doors", cases=cases)
        key = bearer("aip_0123456789ab_" + "A" * 43)
        await talk.ask("key", "GET", "/v1/session", headers=key)
        await talk.ask("login", "POST", "/v1/session", json={"key": key["Authorization"][7:]})
        cookie = {"Cookie": "aip_session=" + "A" * 43}
        await talk.ask("cookie", "GET", "/", headers=cookie)
        await talk.ask("none", "GET", "/v1/session")
        await talk.ask("open", "GET", "/healthz", show=short)
