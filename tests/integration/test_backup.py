"""Backups that are made while others write, restored, and looked at; what was erased stays gone."""

import json
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from ai_psychiatrist.store.database import utc_now
from ai_psychiatrist.store.removal import ClockFault
from tests.integration.canary import CANARY, INTERVIEW, assert_files_silent, assert_silent
from tests.integration.command import Finished, Serving
from tests.integration.command_here import run_here
from tests.integration.running_app import client_at
from tests.jobs.places import owned_database, server_address
from tests.patience import wait_until
from tests.unit.store.stored import new_record, open_store
from tests.unit.store.test_rotation import started

MODEL = {"MODEL_DEFAULT": "baseline"}
BODY = {"transcript_text": INTERVIEW, "subject": f"{CANARY} Smith"}


def done(arguments: str, folder: Path, code: int = 0) -> Finished:
    """Return a command that ended so, and showed no word."""
    ended = run_here(arguments.split(), folder, MODEL)
    assert ended.code == code, ended.out + ended.err
    assert "Traceback" not in ended.err
    assert_silent(ended.out, ended.err)
    return ended


def ids_in(folder: Path) -> list[str]:
    lines = done("records list --json", folder).out.splitlines()
    return [json.loads(line)["assessment_id"] for line in lines]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state of a server that stored eight assessments."""
    folder = tmp_path_factory.mktemp("served")
    with Serving(folder, MODEL) as serving, client_at(serving.url) as client:
        for number in range(8):
            body = BODY | {"subject": f"{CANARY} {number}"}
            assert client.post("/v1/assessments", json=body).status_code == 201
        serving.stop()
    return folder / "state"


def stored(folder: Path, served: Path) -> list[str]:
    """Store the assessments in a folder; returns their ids."""
    shutil.copytree(served, folder / "state", dirs_exist_ok=True)
    return ids_in(folder)


def emptied(folder: Path) -> Path:
    """Return a folder whose state has nothing but the key of the installation."""
    other = folder / "other"
    (other / "state").mkdir(parents=True, mode=0o700)
    shutil.copy(folder / "state" / "records.key", other / "state")
    return other


def test_a_backup_made_while_others_write_is_restored_whole(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with closing(open_store(state, clock=utc_now)) as store:
        before = [store.add(new_record(name)).id for name in ("Anna", "Ben", None)]
    with started("add_now", state, 100_000) as process:
        process.stdout.readline()
        copied = done("records backup --out data --with-keys keys", tmp_path)
        alive = process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert alive
    assert {path.name for path in (tmp_path / "data").iterdir()} == {"store.sqlite"}
    assert {path.name for path in (tmp_path / "keys").iterdir()} == {"keys.sqlite"}
    for path in (tmp_path / "data", tmp_path / "keys"):
        assert [one.stat().st_mode & 0o077 for one in (path, *path.iterdir())] == [0, 0]
    other = emptied(tmp_path)
    told = done(f"records restore {tmp_path}/data --with-keys {tmp_path}/keys", other)
    restored = ids_in(other)
    held = f"assessments: {len(restored)}, interviews: 0"
    assert f"restored 1 tenant; {held}" in told.out
    assert copied.out == f"tenants copied: 1, {held}\n"
    assert set(before) < set(restored) <= set(ids_in(tmp_path))
    done("doctor --store --all", other)
    assert sorted(path.name for path in (other / "state").glob("*.sqlite")) == [
        "keys.sqlite",
        "store.sqlite",
    ]
    assert not list((other / "state").glob(".restore*"))


def test_what_is_erased_after_a_backup_is_closed_in_it(tmp_path: Path, served: Path) -> None:
    first, *others = stored(tmp_path, served)
    done("records backup --out data", tmp_path)
    done(f"records erase {first}", tmp_path)
    done("records backup --out newer --with-keys keys", tmp_path)
    other = emptied(tmp_path)
    told = done(f"records restore {tmp_path}/data --with-keys {tmp_path}/keys", other, code=1)
    assert "of which 1 and 0 cannot be" in " ".join(told.out.split())
    findings = json.loads(done("doctor --store --all --json", other, code=1).out)["findings"]
    (words,) = [one for one in findings if one["check"] == "words of local"]
    assert words["facts"]["unreadable"] == [first]
    with Serving(other, MODEL) as serving, client_at(serving.url) as client:
        assert client.get(f"/v1/assessments/{first}/transcript").json()["code"] == (
            "assessment_unreadable"
        )
        for one in others:
            assert CANARY in client.get(f"/v1/assessments/{one}/transcript").text
        serving.stop()
    done(f"records erase {first}", other)
    done("doctor --store --all", other)
    assert_files_silent(tmp_path)


def test_the_state_folders_own_keys_open_a_backup(tmp_path: Path, served: Path) -> None:
    ids = stored(tmp_path, served)
    done("records backup --out data", tmp_path)
    state = tmp_path / "state"
    for path in state.glob("store.sqlite*"):
        path.unlink()
    (state / "store.sqlite-wal").write_bytes(b"of a file that is gone")
    assert "store.sqlite-wal is in" in done("records restore data", tmp_path, code=2).err
    (state / "store.sqlite-wal").unlink()
    (state / ".restore-killed").mkdir()
    done("records restore data", tmp_path)
    assert not (state / ".restore-killed").exists()
    assert ids_in(tmp_path) == ids
    done("doctor --store --all", tmp_path)


def test_a_backup_goes_nowhere_where_something_is(tmp_path: Path, served: Path) -> None:
    done("records backup --out data", tmp_path, code=2)
    stored(tmp_path, served)
    done("records backup --out data --with-keys data", tmp_path, code=2)
    assert not (tmp_path / "data").exists()
    done("records backup --out data --with-keys keys", tmp_path)
    told = done("records backup --out data", tmp_path, code=2)
    assert "store.sqlite is in the folder already" in told.err
    assert (
        "restore into a folder without a store"
        in done("records restore data --with-keys keys", tmp_path, code=2).err
    )
    other = emptied(tmp_path)
    place = f"{tmp_path}/data"
    assert "has no keys.sqlite" in done(f"records restore {place}", other, code=2).err
    done(f"records restore {tmp_path}/nowhere --with-keys {tmp_path}/keys", other, code=2)
    (other / "state" / "records.key").write_text("00" * 32)
    told = done(f"records restore {place} --with-keys {tmp_path}/keys", other, code=2)
    assert f"{other}/state/records.key" in "".join(told.err.split())
    assert [path.name for path in (other / "state").iterdir()] == ["records.key"]


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:8192])


def scribble(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096 * 20 : 4096 * 21] = b"\x17" * 4096
    path.write_bytes(content)


def age(path: Path) -> None:
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE meta SET value = 999")


def replace(path: Path) -> None:
    path.write_bytes(b"no database " * 1_000)


@pytest.mark.parametrize("spoil", [cut, scribble, age, replace])
def test_a_damaged_backup_is_not_restored(
    tmp_path: Path, served: Path, spoil: Callable[[Path], None]
) -> None:
    stored(tmp_path, served)
    done("records backup --out data --with-keys keys", tmp_path)
    spoil(tmp_path / "data" / "store.sqlite")
    other = emptied(tmp_path)
    done(f"records restore {tmp_path}/data --with-keys {tmp_path}/keys", other, code=2)
    assert [path.name for path in (other / "state").iterdir()] == ["records.key"]


def rights(state: Path) -> str:
    (state / "records.key").chmod(0o644)
    return "rights"


def damage(state: Path) -> str:
    scribble(state / "store.sqlite")
    return "store"


def version(state: Path) -> str:
    age(state / "store.sqlite")
    return "store"


def no_keys(state: Path) -> str:
    for path in state.glob("keys.sqlite*"):
        path.unlink()
    return "keys of local"


def one_key(state: Path) -> str:
    with closing(sqlite3.connect(state / "keys.sqlite")) as file, file:
        file.execute("DELETE FROM subjects WHERE id = (SELECT min(id) FROM subjects)")
    return "words of local"


def changed(state: Path) -> str:
    with closing(sqlite3.connect(state / "store.sqlite")) as file, file:
        file.execute("UPDATE bodies SET body = zeroblob(99) WHERE part = 'result'")
    return "words of local"


def clock(state: Path) -> str:
    with closing(sqlite3.connect(state / "store.sqlite")) as file, file:
        file.execute("UPDATE tenants SET last_sweep = '2990-01-01T00:00:00.000+00:00'")
    return "clock of local"


def no_audit_head(state: Path) -> str:
    with closing(sqlite3.connect(state / "keys.sqlite")) as file, file:
        file.execute("DELETE FROM audit_heads")
    return "audit log of local"


SPOILS = [rights, damage, version, no_keys, one_key, changed, clock, no_audit_head]


def test_a_store_that_is_well_has_no_finding(tmp_path: Path, served: Path) -> None:
    assert "nothing is stored yet" in done("doctor --store", tmp_path).out
    assert not list((tmp_path / "state").glob("*.sqlite"))
    stored(tmp_path, served)
    document = json.loads(done("doctor --store --json", tmp_path).out)
    assert document["is_fine"]
    assert {one["check"] for one in document["findings"]} == {
        "state folder",
        "store",
        "words of local",
        "clock of local",
        "audit log of local",
    }
    done("doctor --store --quality", tmp_path, code=2)
    done("doctor --all", tmp_path, code=2)


@pytest.mark.parametrize("spoil", SPOILS)
def test_what_is_wrong_with_a_store_is_found(
    tmp_path: Path, served: Path, spoil: Callable[[Path], str]
) -> None:
    stored(tmp_path, served)
    check = spoil(tmp_path / "state")
    findings = json.loads(done("doctor --store --all --json", tmp_path, code=1).out)["findings"]
    assert check in {one["check"] for one in findings if one["level"] == "fail"}


def test_what_is_wrong_with_a_store_in_postgresql_is_found(tmp_path: Path) -> None:
    server = server_address()
    (tmp_path / "data.key").write_text("5a" * 32)
    (tmp_path / "data.key").chmod(0o600)
    with owned_database(server) as url:
        address = url.set(drivername="postgresql").render_as_string(hide_password=False)
        settings = MODEL | {"DATABASE_URL": address, "DATA_KEY_FILE": str(tmp_path / "data.key")}
        with Serving(tmp_path, settings) as serving, client_at(serving.url) as client:
            assert client.post("/v1/assessments", json=BODY).status_code == 201
            serving.stop()

        def failed(*statements: str) -> set[str]:
            """Return what fails after a change of the database by its administrator."""
            with psycopg.connect(server, dbname=url.database, autocommit=True) as admin:
                for statement in statements:
                    admin.execute(statement.encode())
            ended = run_here(["doctor", "--store", "--all", "--json"], tmp_path, settings)
            assert_silent(ended.out, ended.err)
            findings = json.loads(ended.out)["findings"]
            fails = {one["check"] for one in findings if one["level"] == "fail"}
            assert ended.code == int(bool(fails))
            assert fails or {"walls", "audit log of local"} < {one["check"] for one in findings}
            return fails

        assert failed() == set()
        assert failed("ALTER TABLE bodies NO FORCE ROW LEVEL SECURITY") == {"walls"}
        mended = "ALTER TABLE bodies FORCE ROW LEVEL SECURITY"
        assert failed(mended, "CREATE POLICY more ON records USING (true)") == {"walls"}
        mended = "DROP POLICY more ON records"
        assert failed(mended, f"ALTER ROLE {url.username} BYPASSRLS") == {"walls"}
        mended = f"ALTER ROLE {url.username} NOBYPASSRLS"
        assert failed(mended, "DELETE FROM keys.audit_heads") == {"audit log of local"}
        assert failed("DELETE FROM keys.subjects") == {"audit log of local", "words of local"}
        assert failed("UPDATE meta SET value = 99") == {"store"}


def test_a_clock_that_jumped_removes_nothing_before_an_operator_says_so(
    tmp_path: Path, served: Path
) -> None:
    """All that is stored is made 400 days older: the clock is 400 days ahead of it."""
    ids = stored(tmp_path, served)
    with closing(sqlite3.connect(tmp_path / "state" / "store.sqlite")) as file, file:
        for table, column in (("records", "kept_from"), ("tenants", "last_sweep")):
            moved = f"strftime('%Y-%m-%dT%H:%M:%f+00:00', {column}, '-400 days')"
            file.execute(f"UPDATE {table} SET {column} = {moved}")  # noqa: S608  names of ours
    with Serving(tmp_path, MODEL | {"LOG_FORMAT": "json"}) as serving:
        with client_at(serving.url) as client:
            wait_until(lambda: "sweep_held" in (tmp_path / "serve.err").read_text())
            assert client.get("/readyz").status_code == 200
            assert client.post("/v1/assessments", json=BODY).status_code == 201
            assert client.get(f"/v1/assessments/{ids[0]}").status_code == 200
        told = serving.stop()
    (line,) = [one for one in told.served_lines if one["event"] == "sweep_held"]
    assert (line["level"], line["name"]) == ("warning", "STORE_SWEEP_AFTER_JUMP")
    assert line["reason"].startswith(ClockFault.AHEAD)
    assert "--after-jump" in done("records sweep", tmp_path, code=1).err
    assert len(ids_in(tmp_path)) == 9
    with Serving(tmp_path, MODEL | {"STORE_SWEEP_AFTER_JUMP": "true"}) as serving:
        with client_at(serving.url) as client:
            wait_until(lambda: len(client.get("/v1/assessments").json()["assessments"]) == 1)
            for part in ("", "/transcript", "/review"):
                assert client.get(f"/v1/assessments/{ids[0]}{part}").status_code == 404
        serving.stop()
    trail = done("audit show --json", tmp_path).out
    rows = [json.loads(line) for line in trail.splitlines()]
    swept = [one["outcome"] for one in rows if one["actor"] == "sweep"]
    assert sorted(swept) == ["begun", "records_hidden 8"]
    assert "brought back 1" in done(f"records undelete {ids[0]}", tmp_path).out
    assert "brought back 7" in done("records undelete --since 2020-01-01", tmp_path).out
    done(f"records undelete {ids[0]}", tmp_path, code=2)
    done("records undelete", tmp_path, code=2)
    assert set(ids) < set(ids_in(tmp_path))
    assert "removed 0" in done("records sweep", tmp_path).out
    assert len(ids_in(tmp_path)) == 9
