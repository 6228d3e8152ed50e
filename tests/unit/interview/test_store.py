"""The file of the interviews: private, complete, and gone when it is told to be."""

import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.domain.interview import (
    AssessedItem,
    AssessmentInput,
    EndReason,
    InterviewState,
)
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.interview.engine.record import Interview, ProtocolReference
from ai_psychiatrist.interview.engine.serial import from_bytes, state_hash, to_bytes
from ai_psychiatrist.interview.errors import (
    InterviewNotFound,
    InterviewUnreadable,
    StoreUnusable,
    VersionConflict,
)
from ai_psychiatrist.interview.ids import check_id, make_id
from ai_psychiatrist.interview.store.store import InterviewStore, TakenAnswer
from ai_psychiatrist.ledger.cipher import Cipher
from ai_psychiatrist.ledger.database import Database

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


def taken(key: str = "k1", turn: int = 1) -> TakenAnswer:
    """Return an answer."""
    return TakenAnswer(key=key, turn=turn, sent=SECRET.encode())


def following(before: Interview, **fields: object) -> Interview:
    """Return the next version of an interview."""
    return replace(before, version=before.version + 1, **fields)  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[InterviewStore]:
    opened = InterviewStore.open(tmp_path / "state" / "interviews.sqlite")
    yield opened
    opened.close()


def at_rest(folder: Path) -> bytes:
    """Return all bytes of the files of a folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


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
    danger=...,
    failure=...,
    failed_from=...,
    spent=...,
    analysis=...,
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_INTERVIEWS)
def test_an_interview_is_the_same_after_it_was_stored(before: Interview) -> None:
    after = from_bytes(to_bytes(before))
    assert after == before
    assert state_hash(after) == state_hash(before)


def test_the_file_is_its_owners_alone(store: InterviewStore, tmp_path: Path) -> None:
    store.add(interview())
    folder = tmp_path / "state"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_what_was_stored_is_there_after_the_file_was_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "interviews.sqlite"
    first = InterviewStore.open(path)
    kept = interview(end_reason=EndReason.STOPPED)
    first.add(kept)
    first.close()
    second = InterviewStore.open(path)
    assert second.load(kept.id) == kept
    second.close()


def test_of_two_steps_from_the_same_version_one_is_stored(store: InterviewStore) -> None:
    before = interview()
    store.add(before)
    store.save(following(before, turn=1), answer=taken("k1"), finished_key="k1")
    with pytest.raises(VersionConflict):
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
        with pytest.raises(InterviewNotFound):
            action()


def test_what_is_deleted_leaves_no_words_behind(store: InterviewStore, tmp_path: Path) -> None:
    kept, gone = interview(inputs={"summary": "kept"}), interview()
    store.add(kept)
    store.add(gone)
    store.save(following(gone), answer=taken("k1"), finished_key="k1")
    assert SECRET.encode() in at_rest(tmp_path)
    store.delete(gone.id)
    assert SECRET.encode() not in at_rest(tmp_path)
    assert gone.id.encode() not in at_rest(tmp_path)
    assert store.known(gone.id, "k1") is None
    assert [row.id for row in store.list()] == [kept.id]


def test_what_is_deleted_is_overwritten_in_the_file(store: InterviewStore) -> None:
    ((is_on,),) = store._database.fetch("PRAGMA secure_delete")
    assert is_on == 1


def test_answers_are_never_changed(store: InterviewStore, tmp_path: Path) -> None:
    before = interview()
    store.add(before)
    store.save(following(before), answer=taken("k1"), finished_key="k1")
    other = Database(tmp_path / "state" / "interviews.sqlite")
    for table in ("answers", "turns"):
        with pytest.raises(Exception, match="SQLITE_CONSTRAINT"):
            other.execute(f"UPDATE {table} SET body = x'00'")  # noqa: S608  fixed names
    other.close()


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
    other = Database(tmp_path / "state" / "interviews.sqlite")
    other.execute("UPDATE interviews SET body = ? WHERE id = ?", (body, broken.id))
    other.close()
    assert {row.id: row.is_readable for row in store.list()} == {whole.id: True, broken.id: False}
    with pytest.raises(InterviewUnreadable) as error:
        store.load(broken.id)
    assert SECRET not in str(error.value)
    assert error.value.__cause__ is None
    store.delete(broken.id)
    assert [row.id for row in store.list()] == [whole.id]


def test_an_encrypted_file_holds_no_words(tmp_path: Path) -> None:
    cipher = Cipher(b"k" * 32)
    encrypted = InterviewStore.open(tmp_path / "interviews.sqlite", cipher=cipher)
    kept = interview()
    encrypted.add(kept)
    encrypted.save(following(kept), answer=taken("k1"), finished_key="k1")
    assert encrypted.load(kept.id).inputs == {"summary": SECRET}
    assert encrypted.list()[0].is_readable
    encrypted.close()
    assert SECRET.encode() not in at_rest(tmp_path)


@pytest.mark.parametrize(
    ("written_with", "opened_with"),
    [
        pytest.param(b"k" * 32, b"j" * 32, id="another-key"),
        pytest.param(b"k" * 32, None, id="no-key"),
        pytest.param(None, b"k" * 32, id="a-key-for-a-plain-file"),
    ],
)
def test_another_key_is_refused(
    written_with: bytes | None, opened_with: bytes | None, tmp_path: Path
) -> None:
    path = tmp_path / "interviews.sqlite"
    first, second = (None if key is None else Cipher(key) for key in (written_with, opened_with))
    InterviewStore.open(path, cipher=first).close()
    with pytest.raises(ConfigurationError):
        InterviewStore.open(path, cipher=second)


def test_a_sealed_interview_cannot_be_put_in_the_place_of_another(tmp_path: Path) -> None:
    path = tmp_path / "interviews.sqlite"
    encrypted = InterviewStore.open(path, cipher=Cipher(b"k" * 32))
    mine, theirs = interview(), interview()
    encrypted.add(mine)
    encrypted.add(theirs)
    other = Database(path)
    other.execute(
        "UPDATE interviews SET body = (SELECT body FROM interviews WHERE id = ?) WHERE id = ?",
        (theirs.id, mine.id),
    )
    other.close()
    with pytest.raises(InterviewUnreadable):
        encrypted.load(mine.id)
    encrypted.close()


def test_a_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "interviews.sqlite"
    InterviewStore.open(path).close()
    other = Database(path)
    other.execute("UPDATE meta SET value = 99 WHERE key = 'schema_version'")
    other.close()
    with pytest.raises(ConfigurationError, match="99"):
        InterviewStore.open(path)


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "interviews.sqlite"
    path.write_text("this is not a database, however long it goes on " * 40, encoding="utf-8")
    with pytest.raises(StoreUnusable):
        InterviewStore.open(path)


@pytest.mark.parametrize(
    "written",
    ["", "../outside", "a" * 31, "a" * 33, "a" * 31 + "/", "ä" * 32, "a" * 32 + "\n", "%2e" * 11],
)
def test_an_id_that_is_none_is_never_looked_up(written: str) -> None:
    with pytest.raises(InterviewNotFound):
        check_id(written)


def test_ids_are_long_and_differ() -> None:
    ids = {make_id() for _ in range(200)}
    assert len(ids) == 200
    assert {len(check_id(one)) for one in ids} == {32}
