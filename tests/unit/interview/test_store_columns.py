"""What can be asked of the file without its key, and a file of the version before there was any."""

import asyncio
import hashlib
import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from tests.unit.interview.built import PROTOCOLS, Desk, desk
from tests.unit.interview.scripted_agents import ScriptedAgents

from ai_psychiatrist.domain.interview import InterviewState
from ai_psychiatrist.interview.ids import id_hash
from ai_psychiatrist.interview.protocol import InterviewProtocol
from ai_psychiatrist.interview.service import AnswerSubmission, InterviewService
from ai_psychiatrist.interview.store.interview_store import InterviewStore
from ai_psychiatrist.interview.store.tables import MIGRATIONS

DATA: Final = Path(__file__).parents[2] / "data" / "interviews_version_2"
"""Nine interviews in all states, as the program of version 2 stored them."""
OLD: Final[dict[str, dict[str, Any]]] = json.loads((DATA / "interviews.json").read_text("utf-8"))
WRITTEN: Final = datetime(2026, 11, 23, tzinfo=UTC)
PINNED: Final = (
    "e9f8f3842871301e3f7f5181cc535e1302aefc8e3c9d9c3df1d96ba077ddf85c",
    "bbf59b12373fd3ec8be4b0d66746d0558497f832aea0d199ab5521ee3ce2279a",
    "f4ff073de43391e15492785d97c0b756f5c04aad879b967eaaaf73c8e7dee90e",
)
COLUMNS: Final = (
    "protocol, protocol_version, protocol_digest, state, version, turns, model_calls, end_reason,"
    " has_danger, created_at, updated_at, kept_from"
)


def test_no_migration_that_was_used_ever_changes() -> None:
    """A changed digest is a changed past: write a further version instead."""
    digests = [hashlib.sha256("\n".join(one).encode()).hexdigest() for one in MIGRATIONS]
    assert tuple(digests) == PINNED


@pytest.fixture
def store(tmp_path: Path) -> Iterator[InterviewStore]:
    """The old file, opened by this version."""
    for name in ("interviews.sqlite", "interviews.key"):
        shutil.copyfile(DATA / name, tmp_path / name)
        (tmp_path / name).chmod(0o600)
    with closing(
        InterviewStore.open(tmp_path / "interviews.sqlite", clock=lambda: WRITTEN)
    ) as store:
        yield store


def rows(folder: Path) -> dict[str, sqlite3.Row]:
    """Return what anybody can read of each interview, by the hash of its id."""
    with closing(sqlite3.connect(folder / "interviews.sqlite")) as file:
        file.row_factory = sqlite3.Row
        found = file.execute(f"SELECT id_hash, {COLUMNS} FROM interviews").fetchall()  # noqa: S608
    return {row["id_hash"]: row for row in found}


@pytest.mark.parametrize("name", OLD)
def test_an_old_interview_is_as_it_was_and_its_columns_are_filled(
    name: str, store: InterviewStore, tmp_path: Path
) -> None:
    old = OLD[name]
    interview = store.load(old["id"])
    assert len(interview.messages) == old["messages"]
    assert (interview.state.value, interview.version) == (old["state"], old["version"])
    row = rows(tmp_path)[id_hash(old["id"])]
    assert (row["state"], row["version"], row["turns"]) == (
        old["state"],
        old["version"],
        old["turn"],
    )
    assert (row["model_calls"], row["end_reason"]) == (old["model_calls"], old["end_reason"])
    assert row["has_danger"] == (name == "safety_hold")
    assert row["protocol_digest"] == interview.protocol.digest


def test_all_old_interviews_are_listed(store: InterviewStore) -> None:
    listed = {one.id: (one.state.value, one.is_readable) for one in store.list()}
    assert listed == {old["id"]: (old["state"], True) for old in OLD.values()}


def of_old(store: InterviewStore) -> dict[str, InterviewProtocol]:
    """Return the protocols, taken for those that the old interviews began with."""
    begun = {one.id: one for one in (store.load(old["id"]).protocol for old in OLD.values())}
    return {
        name: PROTOCOLS[name].model_copy().complete(one.digest, PROTOCOLS[name].guidelines)
        for name, one in begun.items()
    }


def test_every_old_interview_can_be_gone_on_with(store: InterviewStore) -> None:
    async def work() -> None:
        service = InterviewService(of_old(store), store, ScriptedAgents())
        for name in ("paused", "failed_preparing", "failed_digesting", "digesting"):
            went_on = await service.retry(OLD[name]["id"])
            assert (went_on.state, went_on.turn) == (InterviewState.AWAITING, OLD[name]["turn"])
        report = await service.make_report(OLD["reporting"]["id"])
        assert report.analysis is not None
        assert (await service.report(OLD["reported"]["id"])).analysis is not None
        old = OLD["awaiting"]
        sent = AnswerSubmission(
            question_id="q1", idempotency_key="first-key", version=1, text="nearly every day"
        )
        assert await service.answer(old["id"], sent) == await service.get(old["id"])

    asyncio.run(work())


def test_the_columns_follow_every_step(tmp_path: Path) -> None:
    async def work(at: Desk) -> None:
        await at.begin()
        await at.say("I want to kill myself.")

    with desk(tmp_path) as at:
        asyncio.run(work(at))
        (row,) = rows(tmp_path).values()
    assert (row["state"], row["turns"], row["version"]) == ("safety_hold", 1, 2)
    assert (row["end_reason"], row["has_danger"]) == ("safety", 1)
    assert (row["protocol"], row["protocol_digest"]) == ("phq8", PROTOCOLS["phq8"].digest)
    assert row["created_at"] <= row["updated_at"] == row["kept_from"]
