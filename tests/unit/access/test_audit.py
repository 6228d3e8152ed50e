"""The chain of who did what: whatever is done to it behind its back is found."""

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from ai_psychiatrist.access.audit.check import Fault
from ai_psychiatrist.access.audit.entry import Action
from ai_psychiatrist.access.audit.errors import AuditUnusable
from ai_psychiatrist.access.audit.head import Head, HeadFile, first_head
from ai_psychiatrist.access.audit.trails import Trails

ROWS = 6


@pytest.fixture
def trails(tmp_path: Path) -> Trails:
    """Trails with a few rows of one tenant."""
    made = Trails(state_dir=tmp_path)
    for number in range(ROWS):
        see(made, f"record-{number}")
    return made


def see(trails: Trails, record_id: str = "", tenant: str = "local") -> Head:
    """Add a row."""
    return trails.record(
        tenant, actor="local", action=Action.ASSESSMENT_SEEN, outcome="200", record_id=record_id
    )


def edit(trails: Trails, *statements: str) -> None:
    """Change the file as somebody would who has it, and no key."""
    with closing(sqlite3.connect(trails.state_dir / "audit" / "local.sqlite")) as connection:
        connection.execute("DROP TRIGGER trail_refuses_update")
        connection.execute("DROP TRIGGER trail_refuses_delete")
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def found(trails: Trails) -> list[tuple[Fault, int, int]]:
    """Return what a check finds."""
    return [(one.fault, one.first, one.last) for one in trails.check("local").findings]


def test_a_trail_that_nobody_touched_holds(trails: Trails) -> None:
    checked = trails.check("local")
    assert checked.holds
    assert checked.end == trails.head("local")
    assert checked.end is not None
    assert checked.end.n == ROWS


@pytest.mark.parametrize(
    ("statements", "faults"),
    [
        (["UPDATE trail SET actor = 'x' WHERE n = 3"], [(Fault.EDITED, 3, 3)]),
        (["UPDATE trail SET at = '' WHERE n = 6"], [(Fault.EDITED, 6, 6)]),
        (["DELETE FROM trail WHERE n = 3"], [(Fault.MISSING, 3, 3)]),
        (["DELETE FROM trail WHERE n = 1"], [(Fault.MISSING, 1, 1)]),
        (["DELETE FROM trail WHERE n > 4"], [(Fault.MISSING, 5, 6)]),
        (["DELETE FROM trail"], [(Fault.MISSING, 1, 6)]),
        (
            [
                "UPDATE trail SET n = 100 WHERE n = 2",
                "UPDATE trail SET n = 2 WHERE n = 3",
                "UPDATE trail SET n = 3 WHERE n = 100",
            ],
            [
                (Fault.EDITED, 2, 2),
                (Fault.OUT_OF_ORDER, 2, 2),
                (Fault.EDITED, 3, 3),
                (Fault.OUT_OF_ORDER, 3, 3),
                (Fault.OUT_OF_ORDER, 4, 4),
            ],
        ),
        (
            [
                "DELETE FROM trail WHERE n = 3",
                "UPDATE trail SET n = 3 WHERE n = 4",
                "UPDATE trail SET n = 4 WHERE n = 5",
                "UPDATE trail SET n = 5 WHERE n = 6",
            ],
            [
                (Fault.EDITED, 3, 3),
                (Fault.OUT_OF_ORDER, 3, 3),
                (Fault.EDITED, 4, 4),
                (Fault.EDITED, 5, 5),
                (Fault.MISSING, 6, 6),
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
        "swapped",
        "closed up",
    ],
)
def test_whatever_is_done_to_the_rows_is_found_and_numbered(
    trails: Trails, statements: list[str], faults: list[tuple[Fault, int, int]]
) -> None:
    edit(trails, *statements)
    assert found(trails) == faults


def test_a_row_that_was_made_to_fit_by_somebody_without_the_key_is_found(trails: Trails) -> None:
    with closing(trails.reading("local")) as trail:
        rows = list(trail.rows())
    forged = rows[-1].__class__(
        **{
            **{name: getattr(rows[-1], name) for name in rows[-1].__slots__},
            "n": ROWS + 1,
            "previous": rows[-1].digest,
        }
    )
    values = (forged.n, forged.previous, forged.at, forged.actor, forged.action, forged.object)
    shown = ", ".join(map(repr, (*values, forged.outcome, forged.own_digest(), forged.seal)))
    edit(trails, f"INSERT INTO trail VALUES ({shown})")  # noqa: S608  our own row
    assert found(trails) == [(Fault.FOREIGN, ROWS + 1, ROWS + 1)]
    with pytest.raises(AuditUnusable, match="audit verify"):
        see(trails)


@pytest.mark.parametrize("change", ["UPDATE trail SET actor = ''", "DELETE FROM trail"])
def test_the_file_itself_refuses_changes(trails: Trails, change: str) -> None:
    with (
        closing(sqlite3.connect(trails.state_dir / "audit" / "local.sqlite")) as connection,
        pytest.raises(sqlite3.IntegrityError, match="append-only"),
    ):
        connection.execute(change)


def test_nothing_is_added_to_a_trail_that_was_cut_off(trails: Trails) -> None:
    edit(trails, "DELETE FROM trail WHERE n = 6")
    with pytest.raises(AuditUnusable, match="audit verify"):
        see(trails)


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        (lambda path: path.write_text(f"3:{'0' * 64} {'0' * 64}"), [(Fault.HEAD_FORGED, 0, 0)]),
        (
            lambda path: path.write_text("\udcff", errors="surrogateescape"),
            [(Fault.HEAD_FORGED, 0, 0)],
        ),
        (lambda path: path.unlink(), [(Fault.HEAD_MISSING, 6, 6)]),
    ],
    ids=["forged", "no text", "gone"],
)
def test_a_head_that_was_changed_or_removed_is_found(
    trails: Trails, change: Callable[[Path], object], faults: list[tuple[Fault, int, int]]
) -> None:
    change(trails.state_dir / "audit-heads" / "local.head")
    assert found(trails) == faults


def test_a_trail_whose_end_was_cut_off_with_its_head_takes_no_row(trails: Trails) -> None:
    head_file = trails.state_dir / "audit-heads" / "local.head"
    edit(trails, "DELETE FROM trail WHERE n > 4")
    head_file.unlink()
    for _ in "12":
        with pytest.raises(AuditUnusable, match=r"head is gone.*audit verify"):
            see(trails)
    assert not head_file.exists()
    assert found(trails) == [(Fault.HEAD_MISSING, 4, 4)]


def test_a_first_row_whose_process_was_killed_before_it_wrote_the_head_is_no_fault(
    tmp_path: Path,
) -> None:
    trails, head_file = Trails(state_dir=tmp_path), tmp_path / "audit-heads" / "local.head"
    see(trails)
    with closing(trails.reading("local")) as trail:
        HeadFile(path=head_file, seals=trail.seals).write(first_head("local"))
    checked = trails.check("local")
    assert (checked.holds, checked.unanswered) == (True, 1)
    see(trails)
    checked = trails.check("local")
    assert (checked.holds, checked.unanswered) == (True, 0)


def test_what_is_no_file_of_a_trail_is_found_and_hides_no_other(trails: Trails) -> None:
    trails.close()
    folder = trails.state_dir / "audit"
    (folder / "local.sqlite").write_bytes(b"")
    (folder / "clinic.sqlite").write_bytes(b"nothing of use " * 400)
    (trails.state_dir / "audit-heads" / "clinic.head").mkdir()
    assert found(trails) == [(Fault.UNREADABLE, 0, 0)]
    faults = [one.fault for one in trails.check("clinic").findings]
    assert faults == [Fault.UNREADABLE, Fault.HEAD_UNREADABLE]


def test_a_trail_that_is_gone_with_all_its_rows_is_found(trails: Trails) -> None:
    trails.close()
    (trails.state_dir / "audit" / "local.sqlite").unlink()
    assert trails.tenants() == ["local"]
    assert found(trails) == [(Fault.MISSING, 1, ROWS)]


def test_a_trail_and_head_put_back_from_yesterday_do_not_fit_a_head_that_was_noted(
    trails: Trails, tmp_path: Path
) -> None:
    trails.close()
    yesterday = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    later = Trails(state_dir=tmp_path)
    noted = see(later)
    later.close()
    for path, content in yesterday.items():
        path.write_bytes(content)
    assert trails.check("local").holds
    checked = trails.check("local", noted=(noted,))
    assert [(one.fault, one.first) for one in checked.findings] == [(Fault.MISSING, noted.n)]


def test_another_noted_head_of_the_same_number_is_found(trails: Trails) -> None:
    noted = Head(n=4, digest="0" * 64)
    (finding,) = trails.check("local", noted=(noted,)).findings
    assert (finding.fault, finding.first) == (Fault.HEAD_DIFFERS, 4)


def test_the_trail_of_one_tenant_does_not_pass_for_that_of_another(trails: Trails) -> None:
    see(trails, tenant="other")
    trails.close()
    folder = trails.state_dir / "audit"
    (folder / "local.sqlite").replace(folder / "other.sqlite")
    faults = {one.fault for one in trails.check("other").findings}
    assert {Fault.FOREIGN, Fault.OUT_OF_ORDER} <= faults


def test_a_row_behind_the_head_is_of_a_request_that_was_never_answered(trails: Trails) -> None:
    head_file = trails.state_dir / "audit-heads" / "local.head"
    before = head_file.read_bytes()
    see(trails)
    head_file.write_bytes(before)
    checked = trails.check("local")
    assert checked.holds
    assert checked.unanswered == 1
    see(trails)
    checked = trails.check("local")
    assert (checked.holds, checked.unanswered) == (True, 0)


def test_many_at_once_make_one_chain(tmp_path: Path) -> None:
    several = [Trails(state_dir=tmp_path) for _ in range(3)]
    with ThreadPoolExecutor(9) as pool:
        heads = list(pool.map(see, several * 20))
    assert sorted(head.n for head in heads) == list(range(1, 61))
    checked = several[0].check("local")
    assert checked.holds
    assert checked.end is not None
    assert (checked.end.n, checked.unanswered) == (60, 0)


def test_nothing_that_could_be_words_gets_into_a_row(tmp_path: Path) -> None:
    trails = Trails(state_dir=tmp_path)
    trails.record(
        "local",
        actor="a name with quillaya",
        action=Action.EXPORTED,
        outcome="200",
        record_id="quillaya",
    )
    trails.close()
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or b"quillaya" not in path.read_bytes()


def test_a_tenant_with_a_path_in_its_name_has_no_trail(tmp_path: Path) -> None:
    with pytest.raises(AuditUnusable, match="lower-case"):
        see(Trails(state_dir=tmp_path), tenant="../local")


def test_files_are_for_their_owner_alone(trails: Trails) -> None:
    for path in trails.state_dir.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0


def test_a_trail_that_others_can_read_is_not_used(trails: Trails) -> None:
    trails.close()
    (trails.state_dir / "audit" / "local.sqlite").chmod(0o644)
    with pytest.raises(AuditUnusable, match="chmod 600"):
        see(trails)
