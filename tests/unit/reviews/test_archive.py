"""Stored assessments: what is kept, found again, hidden and destroyed; on real files."""

import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from tests.fakes.refusals import refused
from tests.unit.reviews.stored import (
    RATINGS,
    RESULT,
    TRANSCRIPT,
    WORD,
    Clock,
    figures,
    new_record,
    open_archive,
)

from ai_psychiatrist.domain.errors import (
    ArtifactMismatch,
    ConfigurationError,
    InputError,
    RequestConflict,
)
from ai_psychiatrist.domain.phq8 import Item, Severity
from ai_psychiatrist.domain.record_state import RecordState
from ai_psychiatrist.domain.review import ChangedScore, ReviewPhase
from ai_psychiatrist.domain.risk import RiskLevel
from ai_psychiatrist.ledger.keys.cipher import Cipher
from ai_psychiatrist.reviews.archive.archive import Archive, ArchiveLimits
from ai_psychiatrist.reviews.archive.pages import PageWanted, Rated, Sort
from ai_psychiatrist.reviews.archive.records import NewRecord
from ai_psychiatrist.reviews.archive.tenant_keys import TenantKeys

BLIND = frozenset({ReviewPhase.BLIND})


def test_what_is_stored_comes_back_as_it_was(tmp_path: Path) -> None:
    new = new_record("Anna")
    with closing(open_archive(tmp_path)) as archive:
        archive.add(new)
    with closing(open_archive(tmp_path)) as archive:
        record = archive.get(new.id)
    assert (record.result, record.transcript) == (RESULT, TRANSCRIPT)
    assert record.summary.figures == new.figures
    assert record.summary.state is RecordState.FINISHED


def test_a_subject_is_met_again_under_its_name(tmp_path: Path) -> None:
    with closing(open_archive(tmp_path)) as archive:
        first, again, other, nameless = (
            archive.add(new_record(name)).subject_id for name in ("Anna", " Anna ", "Ben", None)
        )
        assert first == again
        assert len({first, other, nameless}) == 3
        assert archive.keys.name(first) == "Anna"
        assert archive.keys.name(nameless) is None


def test_no_word_and_no_name_stands_in_any_file(tmp_path: Path) -> None:
    with closing(open_archive(tmp_path)) as archive:
        new = new_record(f"{WORD} Smith")
        archive.add(new)
        archive.reviews.begin(new.id, "one")
        archive.reviews.append(new.id, "one", RATINGS)
        for path in tmp_path.rglob("*"):
            assert WORD not in path.name
            assert not path.is_file() or WORD.encode() not in path.read_bytes()
            assert path.stat().st_mode & 0o077 == 0


def test_a_copy_tells_nothing_of_a_subject_that_was_erased(tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    anna, ben = new_record("Anna"), new_record("Ben")
    with closing(open_archive(tmp_path)) as archive:
        subject_id = archive.add(anna).subject_id
        archive.add(ben)
        archive.keys.wipe()
        wrapped = _wrapped_key(tmp_path, subject_id)
    shutil.copy(tmp_path / "records/local/assessments.sqlite", copy)
    with closing(open_archive(tmp_path)) as archive:
        assert archive.erase_subject(subject_id) == 1
        assert archive.get(ben.id).result == RESULT
        for path in (tmp_path / "records/local").iterdir():
            assert wrapped not in path.read_bytes()
    shutil.copy(copy, tmp_path / "records/local/assessments.sqlite")
    with closing(open_archive(tmp_path)) as archive:
        assert archive.get(ben.id).result == RESULT
        with pytest.raises(ArtifactMismatch):
            archive.get(anna.id)
        archive.erase(anna.id)


@pytest.mark.parametrize("is_key_gone", [True, False])
def test_an_erasing_that_broke_off_is_gone_on_with(tmp_path: Path, is_key_gone: bool) -> None:
    with closing(open_archive(tmp_path)) as archive:
        anna = archive.add(new_record("Anna"))
        subject_id = anna.subject_id
        ben = archive.add(new_record("Ben"))
        if is_key_gone:
            archive.keys.forget(subject_id)
    with closing(sqlite3.connect(tmp_path / "records/local/assessments.sqlite")) as file, file:
        file.execute("INSERT INTO erased VALUES (?, '', 0)", (subject_id,))
    with closing(open_archive(tmp_path)) as archive:
        for read in (archive.summary, archive.get, archive.reviews.of, archive.calls.of):
            with refused("assessment_not_found"):
                read(anna.id)
        assert archive.get(ben.id).result == RESULT
        assert archive.sweep() == 1
        assert archive.keys.ids() == {ben.subject_id}
        assert archive.get(ben.id).result == RESULT


@pytest.mark.parametrize("is_whole", [True, False])
def test_what_is_erased_while_it_is_read_is_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_whole: bool
) -> None:
    with closing(open_archive(tmp_path)) as archive:
        anna = archive.add(new_record("Anna"))
        cipher = TenantKeys.cipher

        def erased_first(keys: TenantKeys, subject_id: str) -> Cipher:
            monkeypatch.undo()
            if is_whole:
                archive.erase_subject(subject_id)
            else:
                archive.erase(anna.id)
            return cipher(keys, subject_id)

        monkeypatch.setattr(TenantKeys, "cipher", erased_first)
        with refused("assessment_not_found"):
            archive.get(anna.id)


def test_nothing_is_begun_anew_or_swept_where_the_keys_are_gone(tmp_path: Path) -> None:
    new, place = new_record(), tmp_path / "records/local/keys.sqlite"
    with closing(open_archive(tmp_path)) as archive:
        archive.add(new)
    place.rename(tmp_path / "kept.sqlite")
    with pytest.raises(ConfigurationError, match="put it back"):
        open_archive(tmp_path)
    (tmp_path / "kept.sqlite").rename(place)
    with closing(open_archive(tmp_path)) as archive:
        assert archive.get(new.id).result == RESULT


def test_the_last_record_of_a_subject_takes_its_key_with_it(tmp_path: Path) -> None:
    with closing(open_archive(tmp_path)) as archive:
        one, two = new_record("Anna"), new_record("Anna")
        subject_id = archive.add(one).subject_id
        archive.add(two)
        archive.erase(one.id)
        assert archive.keys.ids() == {subject_id}
        archive.erase(two.id)
        assert archive.keys.ids() == set()
        with refused("subject_not_found"):
            archive.erase_subject(subject_id)


@pytest.mark.parametrize("part", ["transcript", "result"])
def test_a_flipped_bit_is_refused_as_damage(tmp_path: Path, part: str) -> None:
    new = new_record()
    with closing(open_archive(tmp_path)) as archive:
        archive.add(new)
    _flip(tmp_path, "bodies", f"part = '{part}'")
    with closing(open_archive(tmp_path)) as archive, pytest.raises(ArtifactMismatch):
        archive.get(new.id)


def test_a_part_moved_to_another_record_is_refused(tmp_path: Path) -> None:
    one, two = new_record("Anna"), new_record("Anna")
    with closing(open_archive(tmp_path)) as archive:
        archive.add(one)
        archive.add(two)
    with closing(sqlite3.connect(tmp_path / "records/local/assessments.sqlite")) as file, file:
        (body,) = file.execute("SELECT body FROM bodies WHERE record_id = ?", (one.id,)).fetchone()
        file.execute("UPDATE bodies SET body = ? WHERE record_id = ?", (body, two.id))
    with closing(open_archive(tmp_path)) as archive, pytest.raises(ArtifactMismatch):
        archive.get(two.id)


def test_another_key_opens_nothing(tmp_path: Path) -> None:
    open_archive(tmp_path).close()
    (tmp_path / "records.key").write_text("00" * 32)
    with pytest.raises(ConfigurationError, match="another key"):
        open_archive(tmp_path)


def test_ratings_are_committed_once_and_remarks_come_after_them(tmp_path: Path) -> None:
    new, changed = new_record(), ChangedScore(item=Item.SLEEP, score=None)
    with closing(open_archive(tmp_path)) as archive:
        archive.add(new)
        with refused("review_not_begun"):
            archive.reviews.append(new.id, "one", RATINGS)
        assert archive.reviews.begin(new.id, "one") is ReviewPhase.BLIND
        with refused("not_committed"):
            archive.reviews.append(new.id, "one", changed)
        row = archive.reviews.append(new.id, "one", RATINGS)
        assert archive.reviews.append(new.id, "one", changed).number > row.number
        with refused("already_committed"):
            archive.reviews.append(new.id, "one", RATINGS)
        assert [one.said for one in archive.reviews.of(new.id)] == [RATINGS, changed]
        assert archive.summary(new.id).raters == 1
        (all_of_it,) = archive.reviews.opened(archive.reviews.sealed())
        assert all_of_it.record_id == new.id


def test_of_ratings_committed_at_the_same_time_one_wins(tmp_path: Path) -> None:
    new = new_record()
    with closing(open_archive(tmp_path)) as one, closing(open_archive(tmp_path)) as two:
        one.add(new)
        one.reviews.begin(new.id, "one")

        def commit(archive: Archive) -> bool:
            try:
                archive.reviews.append(new.id, "one", RATINGS)
            except RequestConflict:
                return False
            return True

        with ThreadPoolExecutor() as pool:
            assert sum(pool.map(commit, [one, two] * 4)) == 1
        assert len(one.reviews.of(new.id)) == 1
        assert one.summary(new.id).raters == 1


def test_keys_are_not_asked_for_inside_a_transaction_of_the_records(tmp_path: Path) -> None:
    """Storing takes the keys first: whoever came the other way round would wait for ever."""
    with closing(open_archive(tmp_path)) as archive:
        stored = archive.add(new_record())
        with pytest.raises(RuntimeError), archive.at_once():
            archive.get(stored.id)
        with archive.keys.still(), archive.at_once():
            assert archive.get(stored.id).result == RESULT


@pytest.mark.parametrize("is_done", [True, False])
def test_what_is_erased_before_it_is_opened_is_left_out(tmp_path: Path, is_done: bool) -> None:
    with closing(open_archive(tmp_path)) as archive:
        anna, ben = archive.add(new_record("Anna")), archive.add(new_record("Ben"))
        for one in (anna, ben):
            archive.reviews.begin(one.id, "one")
            archive.reviews.append(one.id, "one", RATINGS)
        sealed = archive.reviews.sealed()
        archive.keys.forget(anna.subject_id)
        with pytest.raises(ArtifactMismatch):
            archive.reviews.opened(sealed)
        with closing(sqlite3.connect(tmp_path / "records/local/assessments.sqlite")) as file, file:
            file.execute("INSERT INTO erased VALUES (?, '', 0)", (anna.subject_id,))
        if is_done:
            archive.sweep()
        assert [one.record_id for one in archive.reviews.opened(sealed)] == [ben.id]


def test_scores_are_given_to_nobody_who_rates_blind(tmp_path: Path) -> None:
    new = new_record()
    with closing(open_archive(tmp_path)) as archive:
        archive.add(new)
        archive.reviews.begin(new.id, "blind")
        with refused("still_blind"):
            archive.reviews.give_scores(new.id, "blind", BLIND)
        archive.reviews.give_scores(new.id, "looker", BLIND)
        assert archive.reviews.begin(new.id, "looker") is ReviewPhase.SEEN
        archive.reviews.append(new.id, "looker", RATINGS)
        (row,) = archive.reviews.of(new.id)
        assert row.said.phase is ReviewPhase.SEEN  # type: ignore[union-attr]  # ratings


def test_pages_hold_each_record_once_in_every_order(tmp_path: Path) -> None:
    with closing(open_archive(tmp_path)) as archive:
        for number in range(23):
            archive.add(new_record(of=figures(number % 5, width=None if number % 3 else number)))
        for sort in Sort:
            seen = _all(archive, sort)
            assert len(seen) == len(set(seen)) == 23
        assert _all(archive, Sort.CREATED) == [
            line.summary.id for line in archive.lists.page(PageWanted(rater="a", limit=50)).records
        ]


def test_filters_keep_what_they_name(tmp_path: Path) -> None:
    with closing(open_archive(tmp_path)) as archive:
        mild = archive.add(new_record(of=figures(6)))
        wide = archive.add(
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
        running = archive.add(NewRecord(id="r", transcript=TRANSCRIPT))
        archive.reviews.begin(mild.id, "me")
        archive.reviews.append(mild.id, "me", RATINGS)

        def found(**wanted: object) -> set[str]:
            page = archive.lists.page(PageWanted(rater="me", **wanted))  # type: ignore[arg-type]
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
    with closing(open_archive(tmp_path)) as archive:
        ids = [archive.add(new_record(of=figures(total))).id for total in (20, 3, 12)]
        archive.reviews.begin(ids[0], "me")
        band = archive.lists.page(PageWanted(rater="me", band=Severity.SEVERE, hidden=BLIND))
        assert band.records == ()
        ordered = archive.lists.page(PageWanted(rater="me", sort=Sort.TOTAL, hidden=BLIND))
        assert [line.summary.id for line in ordered.records] == [ids[2], ids[1], ids[0]]
        assert [line.is_hidden for line in ordered.records] == [False, False, True]


@pytest.mark.parametrize("cursor", ["", "x", "W10", "WyJ3aWR0aCIsMSwyXQ", "é", "[" * 90])
def test_a_cursor_of_another_list_is_refused(tmp_path: Path, cursor: str) -> None:
    with closing(open_archive(tmp_path)) as archive, pytest.raises(InputError) as raised:
        archive.lists.page(PageWanted(rater="me", cursor=cursor))
    assert raised.value.field == "cursor"


def test_what_is_older_than_it_may_be_is_swept_with_its_keys(tmp_path: Path) -> None:
    clock, limits = Clock(), ArchiveLimits(keep=timedelta(days=30), max_records=2)
    with closing(open_archive(tmp_path, clock=clock, limits=limits)) as archive:
        old = archive.add(new_record("Anna"))
        clock.now += timedelta(days=29)
        new = archive.add(new_record("Ben"))
        with refused("assessments_full"):
            archive.add(new_record())
        clock.now += timedelta(days=2)
        assert archive.sweep() == 1
        assert archive.keys.ids() == {new.subject_id}
        with refused("assessment_not_found"):
            archive.summary(old.id)


def test_one_tenant_cannot_open_what_is_anothers(tmp_path: Path) -> None:
    """Not even where its file is put into the other's folder."""
    new = new_record()
    with closing(open_archive(tmp_path, tenant="a")) as archive:
        archive.add(new)
    open_archive(tmp_path, tenant="b").close()
    with closing(open_archive(tmp_path, tenant="b")) as archive, refused("assessment_not_found"):
        archive.get(new.id)
    for name in ("keys.sqlite", "assessments.sqlite"):
        shutil.copy(tmp_path / "records/a" / name, tmp_path / "records/b" / name)
    with pytest.raises(ConfigurationError):
        open_archive(tmp_path, tenant="b")


def _all(archive: Archive, sort: Sort) -> list[str]:
    seen: list[str] = []
    cursor = None
    while True:
        page = archive.lists.page(PageWanted(rater="a", limit=4, sort=sort, cursor=cursor))
        seen += [line.summary.id for line in page.records]
        cursor = page.next
        if cursor is None:
            return seen


def _wrapped_key(folder: Path, subject_id: str) -> bytes:
    with closing(sqlite3.connect(folder / "records/local/keys.sqlite")) as file:
        query = "SELECT wrapped FROM subjects WHERE id = ?"
        (wrapped,) = file.execute(query, (subject_id,)).fetchone()
    return bytes(wrapped)


def _flip(folder: Path, table: str, where: str) -> None:
    with closing(sqlite3.connect(folder / "records/local/assessments.sqlite")) as file, file:
        query = f"SELECT rowid, body FROM {table} WHERE {where}"  # noqa: S608  the test's own
        ((row, body),) = file.execute(query).fetchall()
        damaged = bytes([*body[:20], body[20] ^ 1, *body[21:]])
        file.execute(f"UPDATE {table} SET body = ? WHERE rowid = ?", (damaged, row))  # noqa: S608
