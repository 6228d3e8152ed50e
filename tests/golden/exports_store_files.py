"""Keys of callers, what they store, and stores whose files are not as they were written."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import ai_psychiatrist
from tests.fakes.webhook_receiver import Reaction, receiving
from tests.golden.answer import Answer, Json, folder_masks
from tests.golden.exports_runs import other_database, set_version
from tests.golden.exports_served import (
    another_state,
    served,
    shown_cells,
    until_job_is,
    webhook_settings,
)
from tests.golden.ways import run, scratch

_TEXT: Final = "Interviewer: How do you sleep?\nParticipant: Badly, most nights.\n"
_AUTH: Final = {"AUTH_REQUIRED": "true"}
_MOMENTS: Final = ("created_at", "expires_at")
_GOOD: Final[dict[str, Sequence[str]]] = {
    "ward": ("--name", "ward-3", "--scope", "assess", "--scope", "read", "--expires-in", "90d"),
    "rater": ("--name", "second rater", "--scope", "review", "--tenant", "clinic-1"),
    "admin": (
        *("--name", "head", "--tenant", "clinic-1", "--expires-in", "600m"),
        *(part for one in ("admin", "assess", "read", "admin") for part in ("--scope", one)),
    ),
    "meter": ("--name", "prometheus", "--scope", "metrics", "--expires-in", "999999h"),
}
_BAD: Final[dict[str, Sequence[str]]] = {
    "nothing": (),
    "no_name": ("--scope", "read"),
    "no_scope": ("--name", "ward"),
    "empty_name": ("--name", "", "--scope", "read"),
    "blank_name": ("--name", "  ", "--scope", "read"),
    "name_with_line_break": ("--name", "ward\nroom", "--scope", "read"),
    "long_name": ("--name", "w" * 201, "--scope", "read"),
    "unknown_scope": ("--name", "ward", "--scope", "write"),
    "odd_tenant": ("--name", "ward", "--scope", "read", "--tenant", "../clinic"),
    "tenant_in_capitals": ("--name", "ward", "--scope", "read", "--tenant", "Clinic"),
    "long_tenant": ("--name", "ward", "--scope", "read", "--tenant", "c" * 65),
    "no_life": ("--name", "ward", "--scope", "read", "--expires-in", "0d"),
    "life_in_words": ("--name", "ward", "--scope", "read", "--expires-in", "a week"),
    "life_in_weeks": ("--name", "ward", "--scope", "read", "--expires-in", "2w"),
    "life_below_zero": ("--name", "ward", "--scope", "read", "--expires-in", "-3d"),
    "endless_life": ("--name", "ward", "--scope", "read", "--expires-in", "9999999d"),
    "like_unknown": ("--like", "0123456789ab"),
}


def answers() -> Iterator[Answer]:
    """Yield what the commands for keys do, and what all say of files that are damaged."""
    with scratch() as folder:
        masks = folder_masks(folder)
        yield from _keys(folder, masks)
        yield from _tenants(folder, masks)
    with scratch() as folder:
        masks = folder_masks(folder)
        asyncio.run(_fill(folder, masks))
        yield from _damaged(folder, masks)


def _answer(name: str, value: Json, masks: Mapping[str, str]) -> Answer:
    return Answer(name=f"stores/{name}", value=value, masks=dict(masks))


def _keys(folder: Path, masks: dict[str, str]) -> Iterator[Answer]:
    value: dict[str, Json] = {"none": shown_cells(run(["keys", "list"], folder))}
    value["none_as_json"] = run(["keys", "list", "--json"], folder).value
    for name, options in _GOOD.items():
        value[name] = _made(folder, masks, name, [*options, "--json"])
    ward = next(key for key, shown in masks.items() if shown == "<id-of-ward>")
    value["like"] = _made(folder, masks, "like", ["--like", ward, "--expires-in", "3h", "--json"])
    plain = run(["keys", "create", "--name", "plain", "--scope", "read"], folder)
    masks[plain.out.strip()] = "<key-of-plain>"
    value["as_text"] = shown_cells(plain)
    value["like_a_third"] = run(["keys", "create", "--like", ward], folder).value
    value["like_with_name"] = run(["keys", "create", "--like", ward, "--name", "x"], folder).value
    yield _answer("keys_create", value, masks)
    refused = {name: run(["keys", "create", *bad], folder).value for name, bad in _BAD.items()}
    yield _answer("keys_create_refused", refused, masks)
    yield _answer("keys_list", _listed(folder), masks)


def _made(folder: Path, masks: dict[str, str], name: str, options: Sequence[str]) -> Json:
    """Make a key, mask its text and its id, and return what was shown."""
    ended = run(["keys", "create", *options], folder)
    with suppress(ValueError):
        shown = json.loads(ended.out)
        masks |= {shown["key"]: f"<key-of-{name}>", shown["id"]: f"<id-of-{name}>"}
    return ended.value


def _listed(folder: Path) -> Json:
    """Return all keys; those of one second come in the order of their ids, here of their names."""
    as_json: list[dict[str, Any]] = json.loads(run(["keys", "list", "--json"], folder).out)
    for one in as_json:
        made, ends = (one[name] and datetime.fromisoformat(one[name]) for name in _MOMENTS)
        one["lasts"] = ends and (ends - made).total_seconds()
    as_json.sort(key=lambda one: (str(one["name"]), str(one["expires_at"])))
    lines = [line.split() for line in run(["keys", "list"], folder).out.splitlines()]
    lines.sort(key=lambda line: (line[-1], line[5]))
    return {"as_json": as_json, "lines": lines}


def _tenants(folder: Path, masks: dict[str, str]) -> Iterator[Answer]:
    """Yield what callers with keys store, what keys open once revoked, and what trails tell."""
    texts = {name: key for key, name in masks.items()}

    async def stored(names: Sequence[str]) -> dict[str, Json]:
        found: dict[str, Json] = {}
        async with served(folder, _AUTH) as client:
            for name in names:
                head = {"Authorization": f"Bearer {texts[f'<key-of-{name}>']}"}
                body = {"transcript_text": _TEXT, "subject": "B-17"}
                made = await client.post("/v1/assessments", json=body, headers=head)
                if made.status_code == 201:
                    masks[made.json()["assessment_id"]] = f"<made-by-{name}>"
                listed = await client.get("/v1/assessments", headers=head)
                found[name] = [made.status_code, listed.status_code]
        return found

    value = asyncio.run(stored(("ward", "like", "rater", "admin", "meter")))
    ward = texts["<id-of-ward>"]
    for name, arguments in {
        "revoked": ("keys", "revoke", ward),
        "revoked_again": ("keys", "revoke", ward, "--json"),
        "revoked_unknown": ("keys", "revoke", "0123456789ab"),
        "revoked_odd": ("keys", "revoke", "no id"),
        "like_revoked": ("keys", "create", "--like", ward, "--json"),
    }.items():
        if name == "like_revoked":
            value[name] = _made(folder, masks, "like-revoked", arguments[2:])
        else:
            value[name] = shown_cells(run(arguments, folder))
    value["after_that"] = asyncio.run(stored(("ward", "like")))
    value["keys"] = _listed(folder)
    for name, options in {
        "local": (),
        "clinic": ("--tenant", "clinic-1"),
        "capitals": ("--tenant", "CLINIC-1"),
    }.items():
        value[f"list_{name}"] = shown_cells(run(["records", "list", *options], folder))
        value[f"trail_{name}"] = _trail(folder, options)
    value["trails"] = shown_cells(run(["audit", "verify"], folder))
    value["sweep"] = shown_cells(run(["records", "sweep"], folder))
    value["rotate"] = shown_cells(run(["records", "rotate-key"], folder))
    yield _answer("keys_of_tenants", value, masks)


def _trail(folder: Path, options: Sequence[str]) -> Json:
    ended = run(["audit", "show", "--json", *options], folder)
    rows = [json.loads(line) for line in ended.out.splitlines()]
    told = [[row["actor"], row["action"], row["outcome"]] for row in rows]
    return {"exit": ended.code, "rows": told, "err": ended.err.splitlines()}


async def _fill(folder: Path, masks: dict[str, str]) -> None:
    """Store two assessments, of which one was to be told to somebody who wants no word of it."""
    async with receiving(lambda _: Reaction(status=410)) as receiver:
        async with served(folder, webhook_settings(receiver.place)) as client:
            body: dict[str, Any] = {"transcript_text": _TEXT, "subject": "B-17"}
            made = await client.post("/v1/assessments", json=body)
            masks[made.json()["assessment_id"]] = "<first>"
            body["callback_url"] = receiver.url
            head = {"Prefer": "respond-async"}
            begun = await client.post("/v1/assessments", json=body, headers=head)
            masks[begun.json()["job_id"]] = "<told>"
            await until_job_is(client, begun.headers["location"], state="finished", told="given_up")
        masks[receiver.place] = "<receiver>"
    run(["keys", "create", "--name", "ward", "--scope", "read"], folder)


_Change = Callable[[Path], object]


def _damaged(folder: Path, masks: Mapping[str, str]) -> Iterator[Answer]:
    first = next(key for key, name in masks.items() if name == "<first>")
    calls = {
        "list": ("records", "list"),
        "erase": ("records", "erase", first),
        "sweep": ("records", "sweep"),
        "rotate": ("records", "rotate-key"),
        "webhooks": ("jobs", "webhooks"),
        "keys": ("keys", "list"),
    }
    other = other_database(folder)
    changes: dict[str, _Change] = {
        "nothing": lambda _: None,
        "overwritten": lambda path: path.write_bytes(b"no store at all" * 100),
        "cut_off": lambda path: path.write_bytes(path.read_bytes()[:4096]),
        "emptied": lambda path: path.write_bytes(b""),
        "gone": lambda path: path.unlink(),
        "of_another_program": lambda path: path.write_bytes(other),
        "of_a_later_version": lambda path: set_version(path, 999),
        "a_folder": _make_folder,
    }
    key_changes: dict[str, _Change] = {
        "gone": lambda path: path.unlink(),
        "of_another": lambda path: path.write_text("6b" * 32, "utf-8"),
        "of_words": lambda path: path.write_text("no digits at all", "utf-8"),
        "open_to_all": lambda path: path.chmod(0o644),
    }
    touched = {
        "store.sqlite": ("list", "sweep", "webhooks"),
        "keys.sqlite": ("list", "rotate", "keys"),
    }
    cases = [(file, name, change) for file in touched for name, change in changes.items()]
    cases += [("records.key", name, change) for name, change in key_changes.items()]
    for file, name, change in cases:
        state, settings = another_state(folder)
        change(state / file)
        chosen = touched.get(file, ("list", "rotate"))
        value: dict[str, Json] = {
            call: shown_cells(run(calls[call], folder, settings)) for call in chosen
        }
        value["result_over_http"] = asyncio.run(_asked(folder, first, settings))
        value["erase"] = shown_cells(run(calls["erase"], folder, settings))
        masks_here = {**masks, str(state): "<state>"}
        yield _answer(f"damaged/{Path(file).name}_{name}", value, masks_here)
    (folder / "file").write_text("no folder", "utf-8")
    settings = {"DATA_STATE_DIR": "file"}
    value = {call: shown_cells(run(given, folder, settings)) for call, given in calls.items()}
    yield _answer("damaged/state_is_a_file", value, masks)


def _make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


async def _asked(folder: Path, record: str, settings: Mapping[str, str]) -> Json:
    try:
        async with served(folder, settings) as client:
            answer = await client.get(f"/v1/assessments/{record}")
            body = answer.json()
            return [answer.status_code, body.get("code") or body.get("status")]
    except ai_psychiatrist.AssessmentServiceError as error:
        return [type(error).__name__, str(error)]
