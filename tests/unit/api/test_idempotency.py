"""Keys of requests whose callers leave."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.integration.running_app import settings_with

from ai_psychiatrist.api.submission import once
from ai_psychiatrist.store.idempotency import IdempotencyKey
from ai_psychiatrist.store.stores import Records
from ai_psychiatrist.wiring.records import stores_of

KEY = IdempotencyKey(asked_by="ann", digest="k", fingerprint="f")


class Nothing(Exception):
    """What comes of a request."""


def test_a_key_is_free_again_whose_caller_left_while_it_was_taken(tmp_path: Path) -> None:
    with closing(stores_of(settings_with(tmp_path))) as stores:
        stores.open("local")
        asyncio.run(
            leave_while_it_is_taken(stores.records("local"), next(tmp_path.rglob("*.sqlite")))
        )


async def leave_while_it_is_taken(records: Records, file: Path) -> None:
    with closing(sqlite3.connect(file)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        leaving = asyncio.create_task(come(records))
        await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await leaving
    with pytest.raises(Nothing):
        await come(records)


async def come(records: Records) -> None:
    async with once(KEY, records) as answered:
        assert answered is None
        raise Nothing
