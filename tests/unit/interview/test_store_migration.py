"""A file of the first version, in which ids and words can be read, is sealed by opening it."""

import os
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.crash.boundaries import Boundaries, write_count

from ai_psychiatrist.domain.errors import ArtifactMismatch, ConfigurationError
from ai_psychiatrist.domain.interview import InterviewState, Message, MessageSpeaker
from ai_psychiatrist.interview.ids import make_id
from ai_psychiatrist.interview.record import Interview, ProtocolReference
from ai_psychiatrist.interview.state_hash import to_bytes
from ai_psychiatrist.interview.store.interview_store import InterviewStore
from ai_psychiatrist.interview.store.tables import MIGRATIONS
from ai_psychiatrist.ledger.store.database import Database, create_file
from ai_psychiatrist.store.cipher import Cipher, load_cipher
from ai_psychiatrist.store.key_files import StoreKeys

SECRET = "SECRET-WORDS-OF-A-PERSON"
KEYS = ("SECRET-KEY-1", "SECRET-KEY-2")
LONG_AGO = "2020-01-01T00:00:00.000+00:00"


@dataclass(frozen=True, kw_only=True)
class Old:
    """What stands in a file of the first version."""

    after: tuple[Interview, ...]
    """One interview as it was created and after each turn."""
    broken_id: str
    """Another one, whose row is damaged."""

    @property
    def latest(self) -> Interview:
        """The interview as it stands."""
        return self.after[-1]


def write_old(path: Path, cipher: Cipher | None) -> Old:
    """Make the file as the first version of the program did."""
    begun = Interview(
        id=make_id(),
        protocol=ProtocolReference(id="phq8", version="1", digest="d" * 64),
        state=InterviewState.AWAITING,
        inputs={"summary": SECRET * 500},
    )
    after = [begun]
    for turn, _ in enumerate(KEYS, start=1):
        last = after[-1]
        said = Message(id=f"m{turn}", speaker=MessageSpeaker.PARTICIPANT, text=SECRET, turn=turn)
        messages = (*last.messages, said)
        after.append(replace(last, version=turn + 1, turn=turn, messages=messages))
    old = Old(after=tuple(after), broken_id=make_id())

    def sealed(content: bytes, *place: str) -> bytes:
        place_ = "/".join(("interviews", old.latest.id, *place))
        return content if cipher is None else cipher.seal(content, place=place_)

    create_file(path)
    with closing(Database(path)) as database, database.transaction():
        for statement in MIGRATIONS[0]:
            database.execute(statement)
        database.execute("INSERT INTO meta VALUES ('schema_version', 1)")
        if cipher is not None:
            check = cipher.seal(b"interviews", place="key_check")
            database.execute("INSERT INTO meta VALUES ('key_check', ?)", (check,))
        for interview_id, body in (
            (old.latest.id, sealed(to_bytes(old.latest))),
            (old.broken_id, f"no JSON {SECRET}".encode()),
        ):
            database.execute(
                "INSERT INTO interviews VALUES (?, 3, 'phq8', 'awaiting', ?, ?, ?)",
                (interview_id, body, LONG_AGO, LONG_AGO),
            )
        for turn, key in enumerate(KEYS, start=1):
            database.execute(
                "INSERT INTO answers VALUES (NULL, ?, ?, ?, ?, ?)",
                (old.latest.id, turn, key, sealed(SECRET.encode(), key, "answer"), LONG_AGO),
            )
            database.execute(
                "INSERT INTO turns VALUES (NULL, ?, ?, ?, ?, ?)",
                (old.latest.id, key, turn + 1, sealed(to_bytes(old.after[turn]), key), LONG_AGO),
            )
    return old


def keys_of(folder: Path, *, is_named: bool) -> StoreKeys:
    """Return the own key alone, or a named one as well."""
    if not is_named:
        return StoreKeys(own=folder / "own.key")
    (folder / "named.key").write_text("ab" * 32, encoding="ascii")
    return StoreKeys(own=folder / "own.key", named=folder / "named.key")


@contextmanager
def opened(folder: Path, keys: StoreKeys) -> Iterator[InterviewStore]:
    store = InterviewStore.open(folder / "interviews.sqlite", keys)
    try:
        yield store
    finally:
        store.close()


def assert_all_is_there(old: Old, store: InterviewStore) -> None:
    assert store.load(old.latest.id) == old.latest
    for turn, key in enumerate(KEYS, start=1):
        known = store.known(old.latest.id, key)
        assert known is not None
        assert (known.sent, known.after) == (SECRET.encode(), old.after[turn])
    with pytest.raises(ArtifactMismatch):
        store.load(old.broken_id)
    listed = {one.id: one for one in store.list()}
    assert {one.id: one.is_readable for one in listed.values()} == {
        old.latest.id: True,
        old.broken_id: False,
    }
    assert listed[old.latest.id].updated_at == LONG_AGO


def assert_sealed(old: Old, folder: Path) -> None:
    at_rest = b"".join(path.read_bytes() for path in folder.iterdir())
    for hidden in (SECRET, old.latest.id, old.broken_id, *KEYS):
        assert hidden.encode() not in at_rest


@pytest.mark.parametrize(
    ("was_sealed", "is_named"),
    [
        pytest.param(False, False, id="plain"),
        pytest.param(False, True, id="plain-with-a-named-key"),
        pytest.param(True, True, id="sealed"),
    ],
)
def test_everything_is_taken_over_and_nothing_can_be_read_in_the_file(
    was_sealed: bool, is_named: bool, tmp_path: Path
) -> None:
    keys = keys_of(tmp_path, is_named=is_named)
    cipher = load_cipher(keys.named) if was_sealed and keys.named else None
    old = write_old(tmp_path / "interviews.sqlite", cipher)
    for _ in range(2):
        with opened(tmp_path, keys) as store:
            assert_sealed(old, tmp_path)
            assert_all_is_there(old, store)
    with opened(tmp_path, keys) as store:
        store.save(replace(old.latest, version=4))
        assert store.load(old.latest.id).version == 4
        store.delete(old.latest.id)
        store.delete(old.broken_id)
        assert store.list() == ()


def test_days_of_keeping_count_from_the_sealing_on(tmp_path: Path) -> None:
    old = write_old(tmp_path / "interviews.sqlite", None)
    with opened(tmp_path, keys_of(tmp_path, is_named=False)) as store:
        assert store.remove_expired() == 0
        assert store.load(old.latest.id) == old.latest
    later = datetime.now(UTC) + timedelta(days=31)
    keys = keys_of(tmp_path, is_named=False)
    store = InterviewStore.open(tmp_path / "interviews.sqlite", keys, clock=lambda: later)
    with closing(store):
        assert store.remove_expired() == 2


def test_a_sealed_file_is_not_opened_with_another_key(tmp_path: Path) -> None:
    path = tmp_path / "interviews.sqlite"
    write_old(path, Cipher(b"k" * 32))
    before = path.read_bytes()
    for is_named in (False, True):
        with pytest.raises(ConfigurationError, match="another key"):
            InterviewStore.open(path, keys_of(tmp_path, is_named=is_named))
    assert path.read_bytes() == before


def killed_at(boundary: int | None, folder: Path, keys: StoreKeys) -> bool:
    """Open the file in a child that does not survive one boundary."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            boundaries = Boundaries(boundary)
            boundaries.watch()
            with opened(folder, keys):
                pass
            write_count(folder.with_suffix(".count"), boundaries)
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in {0, -signal.SIGKILL}
    return code != 0


def test_a_program_that_is_killed_while_it_seals_loses_nothing(tmp_path: Path) -> None:
    def made(name: str) -> tuple[Path, Old]:
        folder = tmp_path / name
        folder.mkdir(0o700)
        return folder, write_old(folder / "interviews.sqlite", None)

    folder, _ = made("whole")
    assert not killed_at(None, folder, keys_of(folder, is_named=False))
    count = int((tmp_path / "whole.count").read_text(encoding="ascii"))
    assert count >= 2
    for boundary in range(1, count + 1):
        folder, old = made(f"killed{boundary}")
        keys = keys_of(folder, is_named=False)
        assert killed_at(boundary, folder, keys)
        with opened(folder, keys) as store:
            assert_all_is_there(old, store)
            assert_sealed(old, folder)
