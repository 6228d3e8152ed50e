"""Stored assessments: what is kept, found again, hidden and destroyed; on real files."""

import asyncio
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from tests.fakes.captured_events import captured_events
from tests.fakes.refusals import refused
from tests.unit.store.stored import (
    RATINGS,
    RESULT,
    TRANSCRIPT,
    WORD,
    Clock,
    figures,
    keys_in,
    new_record,
    open_store,
)

from ai_psychiatrist.domain.errors import (
    ArtifactMismatch,
    ConfigurationError,
    InputError,
    RequestConflict,
    StoreUnusable,
)
from ai_psychiatrist.domain.phq8 import Item, Severity
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.review import ChangedScore, ReviewPhase
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.store.database import StoreLimits
from ai_psychiatrist.store.keys import Seal, TenantKeys
from ai_psychiatrist.store.listing import Rated, RecordListRequest, Sort
from ai_psychiatrist.store.records import NewRecord
from ai_psychiatrist.store.store import Store
from ai_psychiatrist.store.stores import StorePlace, Stores

BLIND = frozenset({ReviewPhase.BLIND})


def test_what_is_stored_comes_back_as_it_was(tmp_path: Path) -> None:
    new = new_record("Anna")
    with closing(open_store(tmp_path)) as store:
        store.add(new)
    with closing(open_store(tmp_path)) as store:
        record = store.get(new.id)
    assert (record.result, record.transcript) == (RESULT, TRANSCRIPT)
    assert record.summary.figures == new.figures
    assert record.summary.state is RecordState.FINISHED


def test_a_subject_is_met_again_under_its_name(tmp_path: Path) -> None:
    with closing(open_store(tmp_path)) as store:
        first, again, other, nameless = (
            store.add(new_record(name)).subject_id for name in ("Anna", " Anna ", "Ben", None)
        )
        assert first == again
        assert len({first, other, nameless}) == 3
        assert store.keys.name(first) == "Anna"
        assert store.keys.name(nameless) is None


def test_no_word_and_no_name_stands_in_any_file(tmp_path: Path) -> None:
    with closing(open_store(tmp_path)) as store:
        new = new_record(f"{WORD} Smith")
        store.add(new)
        store.reviews.begin(new.id, "one")
        store.reviews.append(new.id, "one", RATINGS)
        for path in tmp_path.rglob("*"):
            assert WORD not in path.name
            assert not path.is_file() or WORD.encode() not in path.read_bytes()
            assert path.stat().st_mode & 0o077 == 0


def test_a_copy_tells_nothing_of_a_subject_that_was_erased(tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    anna, ben = new_record("Anna"), new_record("Ben")
    with closing(open_store(tmp_path)) as store:
        subject_id = store.add(anna).subject_id
        store.add(ben)
        store.keys.wipe()
        wrapped = _wrapped_key(tmp_path, subject_id)
    shutil.copy(tmp_path / "store.sqlite", copy)
    with closing(open_store(tmp_path)) as store:
        assert store.removal.erase_subject(subject_id) == 1
        assert store.get(ben.id).result == RESULT
        for path in tmp_path.glob("*.sqlite*"):
            assert wrapped not in path.read_bytes()
    shutil.copy(copy, tmp_path / "store.sqlite")
    with closing(open_store(tmp_path)) as store:
        assert store.get(ben.id).result == RESULT
        with pytest.raises(ArtifactMismatch):
            store.get(anna.id)
        store.removal.erase(anna.id)


@pytest.mark.parametrize("is_key_gone", [True, False])
def test_an_erasing_that_broke_off_is_gone_on_with(tmp_path: Path, is_key_gone: bool) -> None:
    with closing(open_store(tmp_path)) as store:
        anna = store.add(new_record("Anna"))
        subject_id = anna.subject_id
        ben = store.add(new_record("Ben"))
        if is_key_gone:
            store.keys.forget(subject_id)
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as file, file:
        file.execute("INSERT INTO erased VALUES ('local', ?, '', 0)", (subject_id,))
    with closing(open_store(tmp_path)) as store:
        for read in (store.summary, store.get, store.reviews.of):
            with refused("assessment_not_found"):
                read(anna.id)
        assert store.get(ben.id).result == RESULT
        assert store.sweep().assessments == 1
        assert subjects_in(tmp_path) == {ben.subject_id}
        assert store.get(ben.id).result == RESULT


@pytest.mark.parametrize("is_whole", [True, False])
def test_what_is_erased_while_it_is_read_is_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_whole: bool
) -> None:
    with closing(open_store(tmp_path)) as store:
        anna = store.add(new_record("Anna"))
        seal = TenantKeys.seal

        def erased_first(keys: TenantKeys, subject_id: str) -> Seal:
            monkeypatch.undo()
            if is_whole:
                store.removal.erase_subject(subject_id)
            else:
                store.removal.erase(anna.id)
            return seal(keys, subject_id)

        monkeypatch.setattr(TenantKeys, "seal", erased_first)
        with refused("assessment_not_found"):
            store.get(anna.id)


def test_nothing_is_begun_anew_or_swept_where_the_keys_are_gone(tmp_path: Path) -> None:
    new, place = new_record(), tmp_path / "keys.sqlite"
    with closing(open_store(tmp_path)) as store:
        store.add(new)
    place.rename(tmp_path / "kept.sqlite")
    with pytest.raises(ConfigurationError, match="put it back"):
        open_store(tmp_path)
    (tmp_path / "kept.sqlite").rename(place)
    with closing(open_store(tmp_path)) as store:
        assert store.get(new.id).result == RESULT


def test_the_last_record_of_a_subject_takes_its_key_with_it(tmp_path: Path) -> None:
    with closing(open_store(tmp_path)) as store:
        one, two = new_record("Anna"), new_record("Anna")
        subject_id = store.add(one).subject_id
        store.add(two)
        store.removal.erase(one.id)
        assert subjects_in(tmp_path) == {subject_id}
        store.removal.erase(two.id)
        assert subjects_in(tmp_path) == set()
        with refused("subject_not_found"):
            store.removal.erase_subject(subject_id)


@pytest.mark.parametrize("part", ["transcript", "result"])
def test_a_flipped_bit_is_refused_as_damage(tmp_path: Path, part: str) -> None:
    new = new_record()
    with closing(open_store(tmp_path)) as store:
        store.add(new)
    _flip(tmp_path, "bodies", f"part = '{part}'")
    with closing(open_store(tmp_path)) as store, pytest.raises(ArtifactMismatch):
        store.get(new.id)


def test_a_part_moved_to_another_record_is_refused(tmp_path: Path) -> None:
    one, two = new_record("Anna"), new_record("Anna")
    with closing(open_store(tmp_path)) as store:
        store.add(one)
        store.add(two)
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as file, file:
        (body,) = file.execute("SELECT body FROM bodies WHERE record_id = ?", (one.id,)).fetchone()
        file.execute("UPDATE bodies SET body = ? WHERE record_id = ?", (body, two.id))
    with closing(open_store(tmp_path)) as store, pytest.raises(ArtifactMismatch):
        store.get(two.id)


def test_another_key_opens_nothing(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    (tmp_path / "records.key").write_text("00" * 32)
    with pytest.raises(ConfigurationError, match="another key"):
        open_store(tmp_path)


def test_ratings_are_committed_once_and_remarks_come_after_them(tmp_path: Path) -> None:
    new, changed = new_record(), ChangedScore(item=Item.SLEEP, score=None)
    with closing(open_store(tmp_path)) as store:
        store.add(new)
        with refused("review_not_begun"):
            store.reviews.append(new.id, "one", RATINGS)
        assert store.reviews.begin(new.id, "one") is ReviewPhase.BLIND
        with refused("not_committed"):
            store.reviews.append(new.id, "one", changed)
        row = store.reviews.append(new.id, "one", RATINGS)
        assert store.reviews.append(new.id, "one", changed).number > row.number
        with refused("already_committed"):
            store.reviews.append(new.id, "one", RATINGS)
        assert [one.said for one in store.reviews.of(new.id)] == [RATINGS, changed]
        assert store.summary(new.id).raters == 1
        assert list(store.reviews.opened(store.reviews.sealed())) == [new.id]


def test_of_ratings_committed_at_the_same_time_one_wins(tmp_path: Path) -> None:
    new = new_record()
    with closing(open_store(tmp_path)) as one, closing(open_store(tmp_path)) as two:
        one.add(new)
        one.reviews.begin(new.id, "one")

        def commit(store: Store) -> bool:
            try:
                store.reviews.append(new.id, "one", RATINGS)
            except RequestConflict:
                return False
            return True

        with ThreadPoolExecutor() as pool:
            assert sum(pool.map(commit, [one, two] * 4)) == 1
        assert len(one.reviews.of(new.id)) == 1
        assert one.summary(new.id).raters == 1


@pytest.mark.parametrize("is_done", [True, False])
def test_what_is_erased_before_it_is_opened_is_left_out(tmp_path: Path, is_done: bool) -> None:
    with closing(open_store(tmp_path)) as store:
        anna, ben = store.add(new_record("Anna")), store.add(new_record("Ben"))
        for one in (anna, ben):
            store.reviews.begin(one.id, "one")
            store.reviews.append(one.id, "one", RATINGS)
        sealed = store.reviews.sealed()
        store.keys.forget(anna.subject_id)
        with pytest.raises(ArtifactMismatch):
            store.reviews.opened(sealed)
        with closing(sqlite3.connect(tmp_path / "store.sqlite")) as file, file:
            file.execute("INSERT INTO erased VALUES ('local', ?, '', 0)", (anna.subject_id,))
        if is_done:
            store.sweep()
        assert list(store.reviews.opened(sealed)) == [ben.id]


def test_scores_are_given_to_nobody_who_rates_blind(tmp_path: Path) -> None:
    new = new_record()
    with closing(open_store(tmp_path)) as store:
        store.add(new)
        store.reviews.begin(new.id, "blind")
        with refused("still_blind"):
            store.reviews.give_scores(new.id, "blind", BLIND)
        store.reviews.give_scores(new.id, "looker", BLIND)
        assert store.reviews.begin(new.id, "looker") is ReviewPhase.SEEN
        store.reviews.append(new.id, "looker", RATINGS)
        (row,) = store.reviews.of(new.id)
        assert row.said.phase is ReviewPhase.SEEN  # type: ignore[union-attr]  # ratings


def test_pages_hold_each_record_once_in_every_order(tmp_path: Path) -> None:
    with closing(open_store(tmp_path)) as store:
        for number in range(23):
            store.add(new_record(of=figures(number % 5, width=None if number % 3 else number)))
        for sort in Sort:
            seen = _all(store, sort)
            assert len(seen) == len(set(seen)) == 23
        assert _all(store, Sort.CREATED) == [
            line.summary.id
            for line in store.lists.page(RecordListRequest(rater="a", limit=50)).records
        ]


def test_filters_keep_what_they_name(tmp_path: Path) -> None:
    with closing(open_store(tmp_path)) as store:
        mild = store.add(new_record(of=figures(6)))
        wide = store.add(
            new_record(
                of=figures(
                    6,
                    total_max=21,
                    severity_upper=Severity.SEVERE,
                    unknown_items=5,
                    danger=RiskLevel.HIGH,
                )
            )
        )
        running = store.add(NewRecord(id="r", transcript=TRANSCRIPT))
        store.reviews.begin(mild.id, "me")
        store.reviews.append(mild.id, "me", RATINGS)

        def found(**wanted: object) -> set[str]:
            page = store.lists.page(RecordListRequest(rater="me", **wanted))  # type: ignore[arg-type]
            assert page.total == len(page.records)
            return {line.summary.id for line in page.records}

        assert found(band=Severity.MILD) == {mild.id, wide.id}
        assert found(band=Severity.SEVERE) == {wide.id}
        assert found(unknown=1) == {wide.id}
        assert found(danger=RiskLevel.LOW) == {wide.id}
        assert found(state=RecordState.WAITING) == {running.id}
        assert found(rated=Rated.MINE) == found(rated=Rated.ANY) == {mild.id}
        assert found(rated=Rated.NONE) == found(rated=Rated.NOT_MINE) == {wide.id, running.id}


def test_hidden_scores_are_told_by_no_filter_and_no_order(tmp_path: Path) -> None:
    with closing(open_store(tmp_path)) as store:
        ids = [store.add(new_record(of=figures(total))).id for total in (20, 3, 12)]
        store.reviews.begin(ids[0], "me")
        band = store.lists.page(RecordListRequest(rater="me", band=Severity.SEVERE, hidden=BLIND))
        assert band.records == ()
        ordered = store.lists.page(RecordListRequest(rater="me", sort=Sort.TOTAL, hidden=BLIND))
        assert [line.summary.id for line in ordered.records] == [ids[2], ids[1], ids[0]]
        assert [line.is_hidden for line in ordered.records] == [False, False, True]


@pytest.mark.parametrize("cursor", ["", "x", "W10", "WyJ3aWR0aCIsMSwyXQ", "é", "[" * 90])
def test_a_cursor_of_another_list_is_refused(tmp_path: Path, cursor: str) -> None:
    with closing(open_store(tmp_path)) as store, pytest.raises(InputError) as raised:
        store.lists.page(RecordListRequest(rater="me", cursor=cursor))
    assert raised.value.field == "cursor"


def test_what_is_older_than_it_may_be_is_swept_with_its_keys(tmp_path: Path) -> None:
    clock = Clock()
    limits = StoreLimits(keep=timedelta(days=30), grace=timedelta(0), max_records=2)
    with closing(open_store(tmp_path, clock=clock, limits=limits)) as store:
        old = store.add(new_record("Anna"))
        clock.now += timedelta(days=29)
        new = store.add(new_record("Ben"))
        with refused("assessments_full"):
            store.add(new_record())
        clock.now += timedelta(days=2)
        assert store.sweep(after_jump=True).assessments == 1
        assert subjects_in(tmp_path) == {new.subject_id}
        with refused("assessment_not_found"):
            store.summary(old.id)


def test_one_tenant_cannot_open_what_is_anothers(tmp_path: Path) -> None:
    """Not even where its rows are given to the other."""
    new = new_record("Anna")
    with closing(open_store(tmp_path, tenant="a")) as store:
        store.add(new)
    with closing(open_store(tmp_path, tenant="b")) as store:
        with refused("assessment_not_found"):
            store.get(new.id)
        assert store.lists.page(RecordListRequest(rater="me")).total == 0
        assert store.add(new_record("Anna")).subject_id not in subjects_in(tmp_path, "a")
    moved = "UPDATE {} SET tenant = 'b' WHERE tenant = 'a'"
    with closing(sqlite3.connect(tmp_path / "keys.sqlite")) as file, file:
        file.execute("UPDATE subjects SET name_digest = NULL")
        file.execute(moved.format("subjects"))
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as file, file:
        file.execute("UPDATE records SET seq = 9 WHERE tenant = 'a'")
        file.execute(moved.format("records"))
        file.execute(moved.format("bodies"))
    with closing(open_store(tmp_path, tenant="b")) as store, pytest.raises(ArtifactMismatch):
        store.get(new.id)


@pytest.mark.parametrize("change", ["DELETE FROM tenants", "DELETE FROM wraps"])
def test_keys_that_were_lost_are_not_made_anew(tmp_path: Path, change: str) -> None:
    with closing(open_store(tmp_path)) as store:
        store.add(new_record())
    with closing(sqlite3.connect(tmp_path / "keys.sqlite")) as file, file:
        file.execute(change)
    with pytest.raises((ConfigurationError, ArtifactMismatch)):
        open_store(tmp_path)


def test_a_database_of_another_program_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("CREATE TABLE something (x)")
    with closing(sqlite3.connect(tmp_path / "keys.sqlite")) as file, file:
        file.execute("CREATE TABLE something (x)")
    path.chmod(0o600)
    (tmp_path / "keys.sqlite").chmod(0o600)
    with pytest.raises(ConfigurationError, match="another program"):
        open_store(tmp_path)


def test_another_version_is_refused_with_what_to_do(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as file, file:
        file.execute("UPDATE meta SET value = 999")
    with pytest.raises(ConfigurationError, match="records import"):
        open_store(tmp_path)


def test_what_cannot_be_used_is_logged_once_however_often_it_is_asked(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as file, file:
        file.execute("UPDATE meta SET value = 999")
    stores = Stores(StorePlace(folder=tmp_path), keys_in(tmp_path), StoreLimits())
    with captured_events() as events, closing(stores):
        for _ in range(5):
            with pytest.raises(StoreUnusable):
                asyncio.run(stores.claim(per_tenant=1))
    assert [event["event"] for event in events] == ["records_unavailable"]
    assert events[0]["reason"].endswith("`records import` of this one")


_LOOKS = """
import sqlite3, sys
for name in sys.argv[1:]:
    connection = sqlite3.connect(name)
    connection.execute("PRAGMA schema_version").fetchone()
    connection.execute("PRAGMA user_version").fetchone()
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    connection.close()
"""

_DAMAGES = "import sys; open(sys.argv[1], 'r+b').write(b'x' * 9_000)"


def test_another_process_takes_no_file_away_after_readiness_was_asked(tmp_path: Path) -> None:
    stores = Stores(StorePlace(folder=tmp_path), keys_in(tmp_path), StoreLimits())
    files = [tmp_path / name for name in ("store.sqlite", "keys.sqlite")]
    with closing(stores):
        stores.open("local").add(new_record("Anna"))
        stores.require_files()
        subprocess.run([sys.executable, "-c", _LOOKS, *map(str, files)], check=True)
        assert all(path.with_name(f"{path.name}-wal").exists() for path in files)
        after = new_record("Ben")
        stores.open("local").add(after)
    with closing(open_store(tmp_path)) as store:
        assert store.get(after.id).summary.subject_id


@pytest.mark.parametrize("name", ["store.sqlite", "keys.sqlite"])
def test_readiness_sees_files_that_are_no_database_any_more(tmp_path: Path, name: str) -> None:
    with closing(Stores(StorePlace(folder=tmp_path), keys_in(tmp_path), StoreLimits())) as stores:
        stores.open("local").add(new_record("Anna"))
        stores.require_files()
        damaging = [sys.executable, "-c", _DAMAGES, str(tmp_path / name)]
        subprocess.run(damaging, check=True)
        with pytest.raises(StoreUnusable):
            stores.require_files()


def test_files_of_an_earlier_version_are_not_passed_over(tmp_path: Path) -> None:
    earlier = tmp_path / "records" / "local" / "assessments.sqlite"
    earlier.parent.mkdir(parents=True)
    earlier.touch()
    with pytest.raises(ConfigurationError, match="records export"):
        open_store(tmp_path)


def test_a_key_that_opens_nothing_is_swept_in_time(tmp_path: Path) -> None:
    clock = Clock()
    with closing(open_store(tmp_path, clock=clock)) as store:
        store.add(new_record("Anna"))
        store.keys.subject("Ben")
        assert store.sweep().assessments == 0
        assert len(subjects_in(tmp_path)) == 2
        clock.now += timedelta(hours=2)
        assert store.sweep().assessments == 0
        assert len(subjects_in(tmp_path)) == 1


def _all(store: Store, sort: Sort) -> list[str]:
    seen: list[str] = []
    cursor = None
    while True:
        page = store.lists.page(RecordListRequest(rater="a", limit=4, sort=sort, cursor=cursor))
        seen += [line.summary.id for line in page.records]
        cursor = page.next
        if cursor is None:
            return seen


def subjects_in(folder: Path, tenant: str = "local") -> set[str]:
    with closing(sqlite3.connect(folder / "keys.sqlite")) as file:
        return {
            str(row[0])
            for row in file.execute("SELECT id FROM subjects WHERE tenant = ?", (tenant,))
        }


def _wrapped_key(folder: Path, subject_id: str) -> bytes:
    with closing(sqlite3.connect(folder / "keys.sqlite")) as file:
        query = "SELECT wrapped FROM subjects WHERE id = ?"
        (wrapped,) = file.execute(query, (subject_id,)).fetchone()
    return bytes(wrapped)


def _flip(folder: Path, table: str, where: str) -> None:
    with closing(sqlite3.connect(folder / "store.sqlite")) as file, file:
        query = f"SELECT rowid, body FROM {table} WHERE {where}"  # noqa: S608  the test's own
        ((row, body),) = file.execute(query).fetchall()
        damaged = bytes([*body[:20], body[20] ^ 1, *body[21:]])
        file.execute(f"UPDATE {table} SET body = ? WHERE rowid = ?", (damaged, row))  # noqa: S608
