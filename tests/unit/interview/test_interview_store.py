"""The file of the interviews: private, complete, and gone when it is told to be."""

import asyncio
import os
import secrets
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.interview_stores import OwnInterviewStore, open_interviews
from tests.fakes.refusals import refused
from tests.patience import PATIENCE_SECONDS
from tests.unit.interview.scripted_agents import ANALYSIS

from ai_psychiatrist.agents.interview.outputs import AnalysisReply
from ai_psychiatrist.domain.errors import (
    ArtifactMismatch,
    ConfigurationError,
    StoreUnusable,
)
from ai_psychiatrist.domain.interview import EndReason, InterviewState, Message, MessageSpeaker
from ai_psychiatrist.domain.interview_items import AssessedItem, AssessmentInput
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.ids import check_id, make_id
from ai_psychiatrist.interview.interview_store import InterviewStore
from ai_psychiatrist.interview.protocol import load_protocol
from ai_psychiatrist.interview.record import Interview, ProtocolReference
from ai_psychiatrist.interview.serialization import (
    after_turn,
    from_bytes,
    origin_bytes,
    state_bytes,
    state_hash,
    to_bytes,
    turn_bytes,
    whole,
)
from ai_psychiatrist.interview.service import InterviewService
from ai_psychiatrist.store.cipher import StoreKeys
from ai_psychiatrist.store.database import StoreLimits
from ai_psychiatrist.store.interviews import Keyed, id_hash

SECRET = "SECRET-WORDS-OF-A-PERSON"
PROTOCOL = ProtocolReference(id="phq8", version="1", digest="d" * 64)


def interview(**fields: object) -> Interview:
    """Return an interview that has only begun, but for the fields given."""
    plain: dict[str, object] = {
        "id": make_id(),
        "protocol": PROTOCOL,
        "state": InterviewState.AWAITING,
        "inputs": {"summary": SECRET},
    }
    return Interview(**{**plain, **fields})  # type: ignore[arg-type]


def taken(key: str = "k1", turn: int = 1) -> Keyed:
    """Return an answer."""
    return Keyed(key=key, number=turn, content=SECRET.encode())


def following(before: Interview, **fields: object) -> Interview:
    """Return the next version of an interview."""
    return replace(before, version=before.version + 1, **fields)  # type: ignore[arg-type]


@dataclass
class Clock:
    """Stands at a day until it is set on."""

    days: float = 0

    def __call__(self) -> datetime:
        """Return the moment."""
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=self.days)


@contextmanager
def opened(
    folder: Path, keys: StoreKeys | None = None, **options: Any
) -> Iterator[OwnInterviewStore]:
    """Open the store of a folder."""
    store = open_interviews(folder, keys=keys, **options)
    try:
        yield store
    finally:
        store.close()


def written_key(path: Path) -> Path:
    """Write a key as an operator does."""
    path.write_text("ab" * 32, encoding="ascii")
    path.chmod(0o600)
    return path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[InterviewStore]:
    opened = open_interviews(tmp_path / "state")
    yield opened
    opened.close()


def at_rest(folder: Path) -> bytes:
    """Return all bytes of the files of a folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def sealed_in(folder: Path, interview_id: str) -> list[bytes]:
    """Return all that the file holds of an interview, as it stands there."""
    hashed = (id_hash(interview_id),)
    tables = ("interviews", "origins", "answers", "turns")
    with closing(sqlite3.connect(folder / "state" / "store.sqlite")) as database:
        found = [
            database.execute(f"SELECT body FROM {table} WHERE id_hash = ?", hashed).fetchall()  # noqa: S608
            for table in tables
        ]
    return [bytes(body) for ((body,),) in found]


_INTERVIEWS = st.builds(
    Interview,
    inputs=st.dictionaries(st.text(), st.text() | st.integers(), max_size=3),
    assessment=st.none()
    | st.builds(
        AssessmentInput,
        items=st.dictionaries(st.sampled_from(Item), st.builds(AssessedItem, evidence=...)),
    ),
    goals=...,
    facts=...,
    messages=...,
    question=...,
    answer=...,
    readings=...,
    progress=...,
    drift=...,
    end_reason=...,
    behind=...,
    proposals=...,
    corrections=...,
    acts=...,
    asked_again=...,
    dangers=...,
    danger_readings=...,
    failure=...,
    spent=...,
    analysis=st.none() | st.just(AnalysisReply.model_validate(ANALYSIS)),
)


@given(_INTERVIEWS)
def test_an_interview_is_the_same_after_it_was_stored(before: Interview) -> None:
    after = from_bytes(to_bytes(before))
    parts = whole(before.id, origin=origin_bytes(before), state=state_bytes(before))
    again = after_turn(before, turn_bytes(before))
    assert after == parts == again == before
    assert state_hash(after) == state_hash(parts) == state_hash(again) == state_hash(before)


def test_the_file_is_its_owners_alone(store: InterviewStore, tmp_path: Path) -> None:
    store.add(interview())
    folder = tmp_path / "state"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert "own.key" in {path.name for path in folder.iterdir()}


def test_what_was_stored_is_there_after_the_file_was_opened_again(tmp_path: Path) -> None:
    first = open_interviews(tmp_path)
    kept = interview(end_reason=EndReason.STOPPED)
    first.add(kept)
    first.close()
    second = open_interviews(tmp_path)
    assert second.load(kept.id) == kept
    second.close()


def test_of_two_steps_from_the_same_version_one_is_stored(store: InterviewStore) -> None:
    before = interview()
    store.add(before)
    store.save(following(before, turn=1), answer=taken("k1"), finished_key="k1")
    with refused("version_conflict"):
        store.save(following(before, turn=9), answer=taken("k2"), finished_key="k2")
    assert store.load(before.id).turn == 1
    assert store.known(before.id, "k2") is None


def test_an_answer_is_known_by_its_key_and_by_what_came_of_it(store: InterviewStore) -> None:
    before = interview()
    store.add(before)
    stored = following(before, state=InterviewState.DIGESTING)
    store.save(stored, answer=taken("k1"))
    pending = store.known(before.id, "k1")
    assert pending is not None
    assert (pending.sent, pending.after) == (SECRET.encode(), None)
    done = following(stored, state=InterviewState.AWAITING)
    store.save(done, finished_key="k1")
    finished = store.known(before.id, "k1")
    assert finished is not None
    assert finished.after == done


def test_an_unknown_interview_is_not_found(store: InterviewStore) -> None:
    unknown = interview()
    for action in (
        lambda: store.load(unknown.id),
        lambda: store.delete(unknown.id),
        lambda: store.save(following(unknown)),
    ):
        with refused("interview_not_found"):
            action()


def test_what_is_deleted_leaves_nothing_behind(store: InterviewStore, tmp_path: Path) -> None:
    kept, gone = interview(inputs={"summary": "kept"}), interview()
    store.add(kept)
    store.add(gone)
    store.save(following(gone), answer=taken("k1"), finished_key="k1")
    written = sealed_in(tmp_path, gone.id)
    assert all(one in at_rest(tmp_path) for one in written)
    store.delete(gone.id)
    assert not any(one in at_rest(tmp_path) for one in written)
    assert id_hash(gone.id).encode() not in at_rest(tmp_path)
    assert store.known(gone.id, "k1") is None
    assert [row.interview_id for row in store.list()] == [kept.id]


def test_answers_are_never_changed(store: InterviewStore, tmp_path: Path) -> None:
    before = interview()
    store.add(before)
    store.save(following(before), answer=taken("k1"), finished_key="k1")
    with closing(sqlite3.connect(tmp_path / "state" / "store.sqlite")) as other:
        for table in ("origins", "answers", "turns"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                other.execute(f"UPDATE {table} SET body = x'00'")  # noqa: S608  fixed names


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"{}", id="wrong-shape"),
        pytest.param(b"not json " + SECRET.encode(), id="no-json"),
        pytest.param(b'{"id": "' + SECRET.encode() + b'"}', id="cut-off"),
        pytest.param(SECRET, id="no-bytes"),
    ],
)
def test_a_broken_row_hides_no_other(
    body: bytes | str, store: InterviewStore, tmp_path: Path
) -> None:
    whole, broken = interview(), interview()
    store.add(whole)
    store.add(broken)
    with closing(sqlite3.connect(tmp_path / "state" / "store.sqlite")) as other, other:
        change = "UPDATE interviews SET body = ? WHERE id_hash = ?"
        other.execute(change, (body, id_hash(broken.id)))
    assert {row.interview_id: row.is_readable for row in store.list()} == {
        whole.id: True,
        broken.id: False,
    }
    with pytest.raises(ArtifactMismatch) as error:
        store.load(broken.id)
    assert SECRET not in str(error.value)
    assert error.value.__cause__ is None
    store.delete(broken.id)
    assert [row.interview_id for row in store.list()] == [whole.id]


def test_the_file_holds_neither_words_nor_ids_nor_keys_of_answers(
    store: InterviewStore, tmp_path: Path
) -> None:
    kept = interview()
    store.add(kept)
    store.save(following(kept), answer=taken("SECRET-KEY"), finished_key="SECRET-KEY")
    assert store.load(kept.id).inputs == {"summary": SECRET}
    assert store.known(kept.id, "SECRET-KEY") is not None
    assert store.list()[0].interview_id == kept.id
    for hidden in (SECRET, kept.id, "SECRET-KEY"):
        assert hidden.encode() not in at_rest(tmp_path)


def test_a_named_key_wins_in_a_new_file(tmp_path: Path) -> None:
    keys = StoreKeys(own=tmp_path / "own.key", named=written_key(tmp_path / "named.key"))
    kept = interview()
    with opened(tmp_path, keys) as store:
        store.add(kept)
    assert not keys.own.exists()
    with opened(tmp_path, replace(keys, own=keys.named or keys.own, named=None)) as store:
        assert store.load(kept.id) == kept


def test_a_key_that_is_named_later_leaves_the_own_one_in_use(tmp_path: Path) -> None:
    own = tmp_path / "own.key"
    kept = interview()
    with opened(tmp_path, StoreKeys(own=own)) as store:
        store.add(kept)
    later = StoreKeys(own=own, named=written_key(tmp_path / "named.key"))
    with opened(tmp_path, later) as store:
        assert store.load(kept.id) == kept


def test_of_programs_that_start_at_once_all_use_one_key(tmp_path: Path) -> None:
    def load(_: int) -> None:
        with opened(tmp_path, StoreKeys(own=tmp_path / "own.key")) as store:
            store.add(interview())

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(load, range(8)))
    with opened(tmp_path, StoreKeys(own=tmp_path / "own.key")) as store:
        assert [one.is_readable for one in store.list()] == [True] * 8
    assert {path.name for path in tmp_path.iterdir()} == {"own.key", "store.sqlite", "keys.sqlite"}


def lose(path: Path) -> None:
    path.unlink()


def cut_off(path: Path) -> None:
    path.write_text("ab" * 16)


def open_to_others(path: Path) -> None:
    path.chmod(0o640)


def put_a_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def put_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


@pytest.mark.parametrize(
    ("spoil", "cure"),
    [
        (lose, "put it back"),
        (cut_off, "put it back"),
        (lambda path: path.write_text("ab" * 32), "another key"),
        (open_to_others, "chmod 600"),
        (put_a_link, "link"),
        (put_a_pipe, "regular file"),
    ],
    ids=["lost", "cut-off", "another", "open-to-others", "link", "pipe"],
)
def test_a_key_that_cannot_be_trusted_is_refused_and_never_replaced(
    spoil: Callable[[Path], object], cure: str, tmp_path: Path
) -> None:
    keys = StoreKeys(own=tmp_path / "own.key")
    with opened(tmp_path, keys):
        assert stat.S_IMODE(keys.own.stat().st_mode) == 0o600
    written = keys.own.read_bytes()
    spoil(keys.own)
    spoilt = keys.own.is_file() and keys.own.read_bytes()
    with pytest.raises(ConfigurationError, match=cure) as error:
        open_interviews(tmp_path, keys=keys)
    assert written.decode() not in str(error.value)
    assert (keys.own.is_file() and keys.own.read_bytes()) == spoilt


@pytest.mark.parametrize("name", ["store.sqlite", "keys.sqlite"])
@pytest.mark.parametrize("ending", ["", "-wal", "-shm"])
@pytest.mark.parametrize(
    ("spoil", "cure"),
    [(open_to_others, "chmod 600"), (put_a_link, "link"), (put_a_pipe, "device")],
    ids=["open-to-others", "link", "pipe"],
)
def test_a_file_that_others_could_read_or_swap_is_refused(
    spoil: Callable[[Path], object], cure: str, name: str, ending: str, tmp_path: Path
) -> None:
    with opened(tmp_path):
        pass
    path = tmp_path / f"{name}{ending}"
    path.touch(0o600)
    spoil(path)
    with pytest.raises(ConfigurationError, match=cure):
        open_interviews(tmp_path)


def test_a_link_where_the_file_would_be_made_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "store.sqlite").symlink_to(tmp_path / "planted")
    with pytest.raises(ConfigurationError, match="link"):
        open_interviews(tmp_path)
    assert not (tmp_path / "planted").exists()


def test_a_folder_that_everybody_can_write_to_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    (folder / "theirs").mkdir(parents=True)
    folder.chmod(0o777)
    with pytest.raises(ConfigurationError, match="a folder of your own"):
        open_interviews(folder)
    assert [path.name for path in folder.iterdir()] == ["theirs"]


def test_a_sealed_interview_cannot_be_put_in_the_place_of_another(
    store: InterviewStore, tmp_path: Path
) -> None:
    mine, theirs = interview(), interview()
    store.add(mine)
    store.add(theirs)
    with closing(sqlite3.connect(tmp_path / "state" / "store.sqlite")) as other, other:
        other.execute(
            "UPDATE interviews SET body = (SELECT body FROM interviews WHERE id_hash = ?)"
            " WHERE id_hash = ?",
            (id_hash(theirs.id), id_hash(mine.id)),
        )
    with pytest.raises(ArtifactMismatch):
        store.load(mine.id)


def test_a_large_beginning_is_stored_once(tmp_path: Path) -> None:
    evidence = secrets.token_urlsafe(1_500_000)
    items = {Item.SLEEP: AssessedItem(score=2, evidence=(evidence,))}
    said = secrets.token_urlsafe(2_900)
    kept = interview(assessment=AssessmentInput(items=items))
    with opened(tmp_path) as store:
        store.add(kept)
        for turn in range(1, 9):
            before = kept
            message = Message(
                id=f"m{turn}", speaker=MessageSpeaker.PARTICIPANT, text=said, turn=turn
            )
            kept = following(before, turn=turn, messages=(*before.messages, message))
            store.save(kept, answer=taken(f"k{turn}", turn), finished_key=f"k{turn}")
            after = store.known(kept.id, f"k{turn}")
            assert after is not None
            assert after.after == kept
        largest = sum(path.stat().st_size for path in tmp_path.iterdir())
        first = store.known(kept.id, "k1")
        assert first is not None
        assert first.after is not None
        assert (first.after.turn, len(first.after.messages)) == (1, 1)
    assert largest < 1.5 * len(evidence) + 8 * 4 * len(said)
    assert (tmp_path / "store.sqlite").stat().st_size < 1.2 * len(evidence)


def test_what_was_kept_long_enough_is_not_there_any_more(tmp_path: Path) -> None:
    clock = Clock()
    with opened(
        tmp_path, limits=StoreLimits(keep_interviews=timedelta(days=2)), clock=clock
    ) as store:
        old, used = interview(), interview()
        store.add(old)
        store.add(used)
        clock.days = 1.5
        used = following(used)
        store.save(used)
        clock.days = 2.1
        with refused("interview_not_found"):
            store.load(old.id)
        assert store.load(used.id) == used
        assert [one.interview_id for one in store.list()] == [used.id]
        assert store.store.sweep().counts == {"interviews_hidden": 1}
        clock.days = 8
        store.store.sweep()
        clock.days = 14
        store.store.sweep()
        clock.days = 17
        assert store.store.sweep().counts == {"interviews_expired": 1}
        assert id_hash(old.id).encode() not in at_rest(tmp_path)


def test_no_more_interviews_are_kept_than_may_be(tmp_path: Path) -> None:
    clock = Clock()
    limits = StoreLimits(max_interviews=2, keep_interviews=timedelta(days=2))
    with opened(tmp_path, limits=limits, clock=clock) as store:
        first, second, third = (interview() for _ in range(3))
        store.add(first)
        store.add(second)
        with pytest.raises(StoreUnusable, match="INTERVIEW_MAX_STORED"):
            store.add(third)
        store.save(following(first))
        store.delete(second.id)
        store.add(third)
        clock.days = 3
        with pytest.raises(StoreUnusable, match="INTERVIEW_MAX_STORED"):
            store.add(interview())
        store.store.sweep()
        for clock.days in (9, 15, 18):
            store.store.sweep()
        store.add(interview())
        assert len(store.list()) == 1


def test_no_more_bytes_are_kept_than_may_be(tmp_path: Path) -> None:
    large = {"summary": "x" * 200_000}
    with opened(tmp_path, limits=StoreLimits(max_interview_bytes=500_000)) as store:
        first = interview(inputs=large)
        store.add(first)
        store.add(interview(inputs=large))
        with pytest.raises(StoreUnusable, match="INTERVIEW_MAX_STORED"):
            store.add(interview(inputs=large))
        store.add(interview())
        store.delete(first.id)
        store.add(interview(inputs=large))


def test_a_store_that_another_program_holds_is_told_within_seconds(
    store: InterviewStore, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "state" / "store.sqlite")) as other:
        other.execute("BEGIN IMMEDIATE")
        begun = time.monotonic()
        service = InterviewService({"phq8": load_protocol("phq8")}, store)
        with refused("interviews_unavailable"):
            asyncio.run(service.create("phq8"))
        assert time.monotonic() - begun < PATIENCE_SECONDS
        other.rollback()
    store.add(interview())


@pytest.mark.parametrize("name", ["store.sqlite", "keys.sqlite"])
def test_a_file_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    open_interviews(tmp_path).close()
    path = tmp_path / name
    path.write_text("this is not a database, however long it goes on " * 40, encoding="utf-8")
    with pytest.raises(StoreUnusable):
        open_interviews(tmp_path)


@pytest.mark.parametrize(
    "written",
    ["", "../outside", "a" * 31, "a" * 33, "a" * 31 + "/", "ä" * 32, "a" * 32 + "\n", "%2e" * 11],
)
def test_an_id_that_is_none_is_never_looked_up(written: str) -> None:
    with refused("interview_not_found"):
        check_id(written)


def test_ids_are_long_and_differ() -> None:
    ids = {make_id() for _ in range(200)}
    assert len(ids) == 200
    assert {len(check_id(one)) for one in ids} == {32}
