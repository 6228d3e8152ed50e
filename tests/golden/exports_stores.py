"""Stored assessments after requests over HTTP: listed, erased, swept, sealed anew."""

import asyncio
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

import ai_psychiatrist
from tests.fakes.faults import FAULTS
from tests.fakes.replies import ITEMS
from tests.fakes.webhook_receiver import Reaction, receiving
from tests.golden.answer import Answer, Json, folder_masks
from tests.golden.exports_given import DANGER
from tests.golden.exports_served import (
    ends,
    served,
    shown_cells,
    until_job_is,
    webhook_settings,
)
from tests.golden.exports_trail import changed_trails
from tests.golden.ways import model_server, run, scratch

_CALM: Final = "Interviewer: How do you sleep?\nParticipant: I sleep well, about eight hours.\n"
_GERMAN: Final = "Therapeutin: Wie schlafen Sie?\nPatient: Schlecht, fast jede Nacht.\n"
_NOBODY: Final = "0000000a-0000-4000-8000-a00000000999"
_HEADERS: Final = {"Prefer": "respond-async"}


def answers() -> Iterator[Answer]:
    """Yield what the commands show and change of what was stored."""
    with scratch() as folder:
        yield from _before_anything(folder)
        masks = folder_masks(folder)
        asyncio.run(_fill(folder, masks))
        yield from _shown(folder, masks)
        yield from _webhooks(folder, masks)
        yield from _rotated(folder, masks)
        yield from _erased(folder, masks)
        yield from _swept(folder, masks)
        yield from changed_trails(folder, masks)


def _answer(name: str, value: Json, masks: Mapping[str, str]) -> Answer:
    return Answer(name=f"stores/{name}", value=value, masks=dict(masks))


def _before_anything(folder: Path) -> Iterator[Answer]:
    calls = {
        "list": ("records", "list"),
        "list_json": ("records", "list", "--json"),
        "erase": ("records", "erase", _NOBODY),
        "sweep": ("records", "sweep"),
        "rotate": ("records", "rotate-key"),
        "export": ("records", "export", "--out", "all.jsonl"),
        "webhooks": ("jobs", "webhooks"),
        "webhooks_again": ("jobs", "webhooks", "--again"),
        "trail": ("audit", "show"),
        "trail_verified": ("audit", "verify"),
        "trail_of_tenant": ("audit", "verify", "--tenant", "clinic"),
        "head": ("audit", "head"),
    }
    value = ends(folder, calls)
    value["files"] = sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )
    yield _answer("before_anything", value, folder_masks(folder))


async def _fill(folder: Path, masks: dict[str, str]) -> None:
    """Store seven assessments of several subjects, one of which fails; name them in the masks."""
    async with (
        receiving(lambda _: Reaction(status=410)) as receiver,
        served(folder, webhook_settings(receiver.place)) as client,
    ):
        for name, text, subject in (
            ("first", _CALM, "B-17"),
            ("second", DANGER, "B-17"),
            ("third", _GERMAN, "C-18"),
            ("fourth", _CALM, None),
        ):
            body: dict[str, Json] = {"transcript_text": text}
            body |= {} if subject is None else {"subject": subject}
            made = await client.post("/v1/assessments", json=body)
            masks[made.json()["assessment_id"]] = f"<{name}>"
        body = {"transcript_text": _CALM, "subject": "C-18", "callback_url": receiver.url}
        begun = await client.post("/v1/assessments", json=body, headers=_HEADERS)
        masks[begun.json()["job_id"]] = "<told>"
        await until_job_is(client, begun.headers["location"], state="finished", told="given_up")
        review = f"/v1/assessments/{made.json()['assessment_id']}/review"
        items = {key: {"cannot_tell": True} for key in ITEMS}
        await client.post(review)
        rated = await client.post(f"{review}/ratings", json={"items": items})
        assert rated.is_success, rated.text
        listed = (await client.get("/v1/assessments")).json()["assessments"]
    masks[receiver.place] = "<receiver>"
    async with served(folder, {"STORE_ASSESSMENTS": "true"}) as client:
        made = await client.post("/full_pipeline", json={"transcript_text": _CALM})
        masks[made.json()["assessment_id"]] = "<plain>"
    with model_server(FAULTS["status_500"]) as (_, named):
        async with served(folder, named) as client:
            body = {"transcript_text": DANGER, "subject": "D-19"}
            begun = await client.post("/v1/assessments", json=body, headers=_HEADERS)
            masks[begun.json()["job_id"]] = "<failed>"
            await until_job_is(client, begun.headers["location"], state="failed")
    for one in reversed(listed):
        masks.setdefault(one["subject_id"], f"<subject-of-{masks[one['assessment_id']][1:-1]}>")


def _shown(folder: Path, masks: Mapping[str, str]) -> Iterator[Answer]:
    calls = {
        "list": ("records", "list"),
        "list_json": ("records", "list", "--json"),
        "list_of_tenant": ("records", "list", "--tenant", "clinic"),
        "list_of_odd_tenant": ("records", "list", "--tenant", "../local"),
    }
    yield _answer("records_list", ends(folder, calls), masks)
    told = next(key for key, name in masks.items() if name == "<second>")
    trail = {
        "table": ("audit", "show", "--limit", "6"),
        "latest": ("audit", "show", "--json", "--limit", "3"),
        "of_record": ("audit", "show", "--json", "--record", told),
        "of_unknown_record": ("audit", "show", "--json", "--record", _NOBODY),
        "of_tenant": ("audit", "show", "--tenant", "clinic"),
        "head": ("audit", "head"),
        "head_of_tenant": ("audit", "head", "--tenant", "clinic"),
        "verified": ("audit", "verify"),
    }
    yield _answer("audit_show", ends(folder, trail), masks)


def _webhooks(folder: Path, masks: Mapping[str, str]) -> Iterator[Answer]:
    """Yield webhooks that were given up, and what becomes of them when they are tried again."""
    calls = {
        "given_up": ("jobs", "webhooks"),
        "as_json": ("jobs", "webhooks", "--json"),
        "again": ("jobs", "webhooks", "--again"),
        "after_that": ("jobs", "webhooks"),
        "again_with_none": ("jobs", "webhooks", "--again", "--json"),
    }
    yield _answer("jobs_webhooks", ends(folder, calls), masks)


def _rotated(folder: Path, masks: Mapping[str, str]) -> Iterator[Answer]:
    """Yield rotations to new keys, and under which keys the records open then."""
    kept = next((folder / "state").glob("records.key"))
    new, other = folder / "new.key", folder / "other.key"
    for path, text in {new: "5a" * 32, other: "6b" * 32, folder / "short.key": "5a5a"}.items():
        path.write_text(text, "utf-8")
        path.chmod(0o600)
    rotate = ("records", "rotate-key")
    refused = {
        "short": (*rotate, "--new-key-file", "short.key"),
        "not_there": (*rotate, "--new-key-file", "none.key"),
        "folder": (*rotate, "--new-key-file", "."),
    }
    value = ends(folder, refused)
    value["under_another_key_beside_its_own"] = ends(
        folder, {"rotate": rotate}, {"DATA_KEY_FILE": "other.key"}
    )
    first = next(key for key, name in masks.items() if name == "<second>")
    for name, options in {"same": (), "new": ("--new-key-file", "new.key")}.items():
        value[f"to_{name}"] = shown_cells(run([*rotate, *options], folder))
        value[f"opened_after_{name}"] = _opened(folder, first, kept, new, other)
    with_new = {"DATA_KEY_FILE": str(new)}
    value["to_new_alone"] = shown_cells(run(rotate, folder, with_new))
    value["under_the_old_key"] = ends(folder, {"rotate": rotate, "list": ("records", "list")})
    value["opened_after_new_alone"] = _opened(folder, first, kept, new, other)
    kept.write_text(new.read_text("utf-8"), "utf-8")
    yield _answer("records_rotate_key", value, masks)


def _opened(folder: Path, record: str, *keys: Path) -> Json:
    """Return what the result of a record is answered with under each key."""

    async def asked(key: Path) -> Json:
        async with served(folder, {"DATA_KEY_FILE": str(key)}) as client:
            answer = await client.get(f"/v1/assessments/{record}")
            body = answer.json()
            return [answer.status_code, body.get("code") or body.get("status")]

    found: dict[str, Json] = {}
    for key in keys:
        try:
            found[key.stem] = asyncio.run(asked(key))
        except ai_psychiatrist.ConfigurationError as error:
            found[key.stem] = [type(error).__name__, str(error)]
    return found


def _erased(folder: Path, masks: Mapping[str, str]) -> Iterator[Answer]:
    ids = {name: key for key, name in masks.items()}
    calls = {
        "nothing_named": ("records", "erase"),
        "both_named": ("records", "erase", ids["<first>"], "--subject", _NOBODY),
        "unknown": ("records", "erase", _NOBODY),
        "no_id": ("records", "erase", "first"),
        "unknown_subject": ("records", "erase", "--subject", _NOBODY),
        "of_another_tenant": ("records", "erase", ids["<first>"], "--tenant", "clinic"),
        "one": ("records", "erase", ids["<fourth>"]),
        "one_again": ("records", "erase", ids["<fourth>"]),
        "failed": ("records", "erase", ids["<failed>"]),
        "subject": ("records", "erase", "--subject", ids["<subject-of-first>"]),
        "subject_again": ("records", "erase", "--subject", ids["<subject-of-first>"]),
        "left": ("records", "list"),
        "trail": ("audit", "show", "--json", "--record", ids["<fourth>"]),
    }
    value = ends(folder, calls)

    async def asked() -> dict[str, Json]:
        async with served(folder) as client:
            return {
                name: (await client.get(f"/v1/assessments/{ids[name]}")).status_code
                for name in ("<first>", "<second>", "<third>", "<fourth>", "<failed>")
            }

    value["over_http"] = {name.strip("<>"): one for name, one in asyncio.run(asked()).items()}
    yield _answer("records_erase", value, masks)


def _swept(folder: Path, masks: Mapping[str, str]) -> Iterator[Answer]:
    """Yield what is hidden for its age: one record is made to look older."""
    ids = {name: key for key, name in masks.items()}
    file = folder / "state" / "store.sqlite"
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        database.execute(
            "UPDATE records SET kept_from = replace(kept_from, substr(kept_from, 1, 4), '2019')"
            " WHERE id = ?",
            (ids["<third>"],),
        )
    value = ends(folder, {"swept": ("records", "sweep"), "again": ("records", "sweep")})
    value["left"] = shown_cells(run(["records", "list"], folder))
    for name, days in {"no_days": "0", "words": "a week"}.items():
        value[name] = ends(folder, {"swept": ("records", "sweep")}, {"STORE_KEEP_DAYS": days})
    yield _answer("records_sweep", value, masks)
