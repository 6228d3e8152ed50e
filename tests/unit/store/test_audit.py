"""The chain of who did what: whatever is done to it behind its back is found."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from ai_psychiatrist.domain.errors import ConfigurationError, InputError, StoreUnusable
from ai_psychiatrist.store.audit import AuditHead, AuditLogs, Checked, Fault, noted_head
from ai_psychiatrist.store.opening import FILE_NAME, KEYS_NAME, open_sqlite

ROWS = 6
KEY = b"k" * 32


@contextmanager
def opened(folder: Path) -> Iterator[AuditLogs]:
    """Open the logs of a folder, as a process does."""
    with closing(open_sqlite(folder)) as database:
        yield AuditLogs(database=lambda: database, key=lambda: KEY)


@pytest.fixture
def logs(tmp_path: Path) -> Iterator[AuditLogs]:
    """Logs with a few rows of one tenant."""
    with opened(tmp_path) as made:
        for number in range(ROWS):
            see(made, f"record-{number}")
        yield made


def see(logs: AuditLogs, record_id: str = "", tenant: str = "local") -> None:
    """Add a row."""
    log = logs.of(tenant)
    log.append(actor="local", action="assessment_seen", outcome="200", record_id=record_id)


def edit(folder: Path, *statements: str) -> None:
    """Change the files as an attacker would who has them, and no key."""
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        connection.execute("ATTACH ? AS keys", (str(folder / KEYS_NAME),))
        connection.execute("DROP TRIGGER IF EXISTS audit_never_change")
        connection.execute("DROP TRIGGER IF EXISTS audit_is_never_deleted")
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def check(logs: AuditLogs, tenant: str = "local", *noted: AuditHead) -> Checked:
    return logs.of(tenant).check(*noted)


def found(logs: AuditLogs, tenant: str = "local") -> list[tuple[Fault, int, int]]:
    """Return what a check finds."""
    return [(one.fault, one.first, one.last) for one in check(logs, tenant).findings]


def test_a_log_that_is_as_it_was_written_holds(logs: AuditLogs) -> None:
    checked, head = check(logs), logs.of("local").head()
    assert checked.findings == ()
    assert head is not None
    assert (checked.end.n, str(checked.end)) == (ROWS, str(head))
    assert noted_head(f" {head}\n") == checked.end


@pytest.mark.parametrize(
    ("statements", "faults"),
    [
        (["UPDATE audit SET actor = 'x' WHERE n = 3"], [("edited", 3, 3)]),
        (["UPDATE audit SET at = '' WHERE n = 6"], [("edited", 6, 6)]),
        (["DELETE FROM audit WHERE n = 3"], [("missing", 3, 3)]),
        (["DELETE FROM audit WHERE n = 1"], [("missing", 1, 1)]),
        (["DELETE FROM audit WHERE n > 4"], [("missing", 5, 6)]),
        (["DELETE FROM audit"], [("missing", 1, 6)]),
        (
            ["UPDATE audit SET n = -4 WHERE n = 6"],
            [("edited", -4, -4), ("missing", -3, 0), ("missing", 6, 6)],
        ),
        (
            [
                "UPDATE audit SET n = 100 WHERE n = 2",
                "UPDATE audit SET n = 2 WHERE n = 3",
                "UPDATE audit SET n = 3 WHERE n = 100",
            ],
            [
                ("edited", 2, 2),
                ("out of order", 2, 2),
                ("edited", 3, 3),
                ("out of order", 3, 3),
                ("out of order", 4, 4),
            ],
        ),
        (
            [
                "DELETE FROM audit WHERE n = 3",
                "UPDATE audit SET n = 3 WHERE n = 4",
                "UPDATE audit SET n = 4 WHERE n = 5",
                "UPDATE audit SET n = 5 WHERE n = 6",
            ],
            [
                ("edited", 3, 3),
                ("out of order", 3, 3),
                ("edited", 4, 4),
                ("edited", 5, 5),
                ("missing", 6, 6),
            ],
        ),
    ],
    ids=[
        "edited",
        "edited last",
        "missing",
        "missing first",
        "truncated",
        "emptied",
        "below the first",
        "swapped",
        "closed up",
    ],
)
def test_whatever_is_done_to_the_rows_is_found_and_numbered(
    logs: AuditLogs, tmp_path: Path, statements: list[str], faults: list[tuple[Fault, int, int]]
) -> None:
    edit(tmp_path, *statements)
    assert found(logs) == faults


def test_a_row_that_was_made_to_fit_by_somebody_without_the_key_is_found(
    logs: AuditLogs, tmp_path: Path
) -> None:
    (last,) = logs.of("local").latest(1)
    forged = replace(last, n=ROWS + 1, previous=last.digest)
    said = [forged.n, forged.previous, forged.at, forged.actor, forged.action, forged.object]
    text = json.dumps([*said, forged.outcome], separators=(",", ":"))
    forged = replace(forged, digest=hashlib.sha256(text.encode()).hexdigest())
    shown = ", ".join(repr(value) for value in ("local", *asdict(forged).values()))
    edit(tmp_path, f"INSERT INTO audit VALUES ({shown})")  # noqa: S608  our own row
    assert found(logs) == [("foreign", ROWS + 1, ROWS + 1)]
    with pytest.raises(StoreUnusable, match="audit verify"):
        see(logs)


@pytest.mark.parametrize("change", ["UPDATE audit SET actor = ''", "DELETE FROM audit"])
@pytest.mark.usefixtures("logs")
def test_the_file_itself_refuses_changes(tmp_path: Path, change: str) -> None:
    with (
        closing(sqlite3.connect(tmp_path / FILE_NAME)) as connection,
        pytest.raises(sqlite3.IntegrityError, match="append-only"),
    ):
        connection.execute(change)


@pytest.mark.usefixtures("logs")
def test_the_file_itself_refuses_what_is_no_number(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="INTEGER"):
        edit(tmp_path, "UPDATE audit SET n = 'quillaya' WHERE n = 6")


def test_nothing_is_added_to_a_log_that_was_cut_off(logs: AuditLogs, tmp_path: Path) -> None:
    edit(tmp_path, "DELETE FROM audit WHERE n = 6")
    with pytest.raises(StoreUnusable, match="audit verify"):
        see(logs)
    with pytest.raises(StoreUnusable, match="audit verify"):
        logs.of("local").require_whole()


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        ("UPDATE keys.audit_heads SET n = 3", [("head forged", 0, 0)]),
        ("UPDATE keys.audit_heads SET seal = 'é'", [("head forged", 0, 0)]),
        ("DELETE FROM keys.audit_heads", [("head missing", 6, 6)]),
    ],
    ids=["forged", "no seal", "gone"],
)
def test_a_head_that_was_changed_or_removed_is_found(
    logs: AuditLogs, tmp_path: Path, change: str, faults: list[tuple[Fault, int, int]]
) -> None:
    edit(tmp_path, change)
    assert found(logs) == faults
    with pytest.raises(StoreUnusable, match="audit verify"):
        see(logs)


def test_a_log_whose_end_was_cut_off_with_its_head_takes_no_row(
    logs: AuditLogs, tmp_path: Path
) -> None:
    edit(tmp_path, "DELETE FROM audit WHERE n > 4", "DELETE FROM keys.audit_heads")
    for _ in "12":
        with pytest.raises(StoreUnusable, match=r"head is gone.*audit verify"):
            see(logs)
    assert logs.of("local").head() is None
    assert found(logs) == [("head missing", 4, 4)]


def test_rows_whose_process_was_killed_before_it_wrote_the_head_are_no_fault(
    tmp_path: Path,
) -> None:
    """SQLite commits the file of the rows before the file of the keys."""
    with opened(tmp_path) as logs:
        fail = "BEGIN SELECT RAISE(ABORT, 'killed'); END"
        with closing(sqlite3.connect(tmp_path / KEYS_NAME)) as keys, keys:
            keys.execute(f"CREATE TRIGGER killed BEFORE UPDATE ON audit_heads {fail}")
        with pytest.raises(StoreUnusable):
            see(logs)
        edit(tmp_path, "DROP TRIGGER keys.killed")
        assert (found(logs), check(logs).end.n) == ([], 0)
        for rows in (1, 2):
            before = logs.of("local").head()
            assert before is not None
            see(logs)
            edit(
                tmp_path,
                f"UPDATE keys.audit_heads SET n = {before.n}, "  # noqa: S608  our own values
                f"digest = '{before.digest}', seal = '{before.seal}'",
            )
            assert (found(logs), check(logs).end.n) == ([], rows)
            logs.of("local").require_whole()
        see(logs)
        assert (found(logs), check(logs).end.n) == ([], 3)


def test_rows_that_cannot_be_read_are_found_and_hide_no_other_log(tmp_path: Path) -> None:
    with opened(tmp_path) as logs:
        for tenant in ("local", "clinic"):
            see(logs, tenant=tenant)
        edit(tmp_path, "UPDATE audit SET actor = CAST(x'ff' AS TEXT) WHERE tenant = 'local'")
        assert found(logs) == [("unreadable", 0, 0)]
        assert found(logs, "clinic") == []
        assert [log.tenant for log in logs.all()] == ["clinic", "local"]


def test_a_log_that_is_gone_with_all_its_rows_is_found(logs: AuditLogs, tmp_path: Path) -> None:
    edit(tmp_path, "DELETE FROM audit")
    assert [log.tenant for log in logs.all()] == ["local"]
    assert found(logs) == [("missing", 1, ROWS)]


def test_a_log_and_head_put_back_from_yesterday_do_not_fit_a_head_that_was_noted(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as logs:
        see(logs)
    yesterday = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with opened(tmp_path) as logs:
        see(logs)
        noted = logs.of("local").head()
    assert noted is not None
    for path, content in yesterday.items():
        path.write_bytes(content)
    with opened(tmp_path) as logs:
        assert found(logs) == []
        (finding,) = check(logs, "local", noted).findings
    assert (finding.fault, finding.first) == ("missing", noted.n)


def test_another_noted_head_of_the_same_number_is_found(logs: AuditLogs) -> None:
    (finding,) = check(logs, "local", AuditHead(4, "0" * 64)).findings
    assert (finding.fault, finding.first) == ("head differs", 4)


def test_the_log_of_one_tenant_does_not_pass_for_that_of_another(
    logs: AuditLogs, tmp_path: Path
) -> None:
    see(logs, tenant="other")
    edit(
        tmp_path,
        *("DELETE FROM audit WHERE tenant = 'other'", "UPDATE audit SET tenant = 'other'"),
        "DELETE FROM keys.audit_heads WHERE tenant = 'other'",
        "UPDATE keys.audit_heads SET tenant = 'other'",
    )
    faults = {fault for fault, _, _ in found(logs, "other")}
    assert {"foreign", "out of order", "head forged"} <= faults


def test_many_at_once_make_one_chain(tmp_path: Path) -> None:
    with opened(tmp_path) as one, opened(tmp_path) as two, opened(tmp_path) as three:
        with ThreadPoolExecutor(9) as pool:
            list(pool.map(see, [one, two, three] * 20))
        assert (found(one), check(one).end.n) == ([], 60)


def test_nothing_that_could_be_words_gets_into_a_row(tmp_path: Path) -> None:
    with opened(tmp_path) as logs:
        actor = "a name with quillaya"
        log = logs.of("local")
        log.append(actor=actor, action="exported", outcome="200", record_id="quillaya")
        assert len(log.latest(5, record_id="quillaya")) == 1
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or b"quillaya" not in path.read_bytes()


def test_a_tenant_with_a_path_in_its_name_has_no_log(logs: AuditLogs) -> None:
    with pytest.raises(InputError, match="lower-case"):
        see(logs, tenant="../local")


@pytest.mark.parametrize("name", ["audit/local.sqlite", "audit-heads/local.head", "access.sqlite"])
def test_a_file_of_an_earlier_version_is_refused_by_name_with_what_to_do(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"")
    with pytest.raises(ConfigurationError, match=rf"{name}.*elsewhere"), opened(tmp_path):
        pass
