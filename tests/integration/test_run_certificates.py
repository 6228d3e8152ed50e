"""Certificates of a run: one for each unit, which `verify` accepts, without a word of it."""

import json
from pathlib import Path

import pytest

from tests.fakes.model_server import ModelServerThread, Reply, Request, good_replies
from tests.integration.canary import CANARY, INTERVIEW, assert_files_silent, assert_silent
from tests.integration.command_here import run_here
from tests.integration.running_app import model_at

RUN = ("evaluate", "run", "talks", "--out", "run", "--certificates")
LEDGER = frozenset({"ledger.sqlite", "ledger.sqlite-wal"})


@pytest.fixture
def talks(tmp_path: Path) -> dict[str, Path]:
    """Three interviews, and one that cannot be read."""
    (tmp_path / "talks").mkdir()
    texts = {name: f"{INTERVIEW}Participant: I am {name}.\n" for name in ("anna", "ben", "cleo")}
    texts["nobody"] = f"Interviewer: {CANARY}-asked\n"
    paths = {name: tmp_path / "talks" / f"{name}.txt" for name in texts}
    for name, path in paths.items():
        path.write_text(texts[name], "utf-8")
    return paths


def certificates(folder: Path) -> dict[str, bytes]:
    """Return the content of each unit's certificate."""
    lines = (folder / "run/units.jsonl").read_text("utf-8").splitlines()
    names = {one["text_digest"]: one["unit_id"] for one in map(json.loads, lines)}
    files = (folder / "run/certificates").iterdir()
    return {names[path.stem]: path.read_bytes() for path in files}


def assert_accepted(folder: Path, talks: dict[str, Path]) -> None:
    for path in (folder / "run/certificates").iterdir():
        assert path.stat().st_mode & 0o077 == 0
    for name, content in certificates(folder).items():
        (folder / "one.json").write_bytes(content)
        for other, path in talks.items():
            done = run_here(["verify", str(path), "one.json"], folder)
            assert (done.code == 0) == (other == name), (other, name)
            assert_silent(done.out, done.err)


def test_each_unit_has_a_certificate_that_verify_accepts(
    tmp_path: Path, talks: dict[str, Path]
) -> None:
    done = run_here(RUN, tmp_path)
    assert done.code == 1, done.err
    assert set(certificates(tmp_path)) == set(talks) - {"nobody"}
    assert_accepted(tmp_path, talks)
    assert (tmp_path / "run/certificates").stat().st_mode & 0o077 == 0
    for path in talks.values():
        path.unlink()
    assert_files_silent(tmp_path, sinks=LEDGER)


def test_a_stopped_run_goes_on_and_leaves_the_same_certificates(
    tmp_path: Path, talks: dict[str, Path]
) -> None:
    """Of a unit that has none yet, of one that has one and is done anew, and of finished ones."""
    good = good_replies()

    def down_for_ben(request: Request) -> Reply:
        is_down = "I am ben" in request.transcript and request.task == "scoring"
        return Reply(status=500) if is_down else good(request)

    one_at_a_time = (*RUN, "--concurrency", "1")
    with ModelServerThread(down_for_ben) as server:
        settings = model_at(server.url)
        begun = run_here([*one_at_a_time, "--max-failures", "0"], tmp_path, settings)
        kept = certificates(tmp_path)
        assert (begun.code, set(kept)) == (1, {"anna", "ben"})
        server.server.script = good
        without = run_here([*one_at_a_time[:-3], "--resume"], tmp_path, settings)
        assert (without.code, "begun with other certificates" in without.err) == (2, True)
        half_written = tmp_path / "run/certificates" / f".0a1b2c.json.{'0' * 16}"
        half_written.touch()
        ended = run_here([*one_at_a_time, "--resume", "--retry-failed"], tmp_path, settings)
    assert ended.code == 1, ended.err
    assert not half_written.exists()
    now = certificates(tmp_path)
    assert set(now) == {"anna", "ben", "cleo"}
    assert (now["anna"] == kept["anna"], now["ben"] == kept["ben"]) == (True, False)
    assert json.loads(now["ben"])["certificate"]["status"] == "complete"
    assert_accepted(tmp_path, talks)


def test_a_run_has_no_certificates_unless_they_are_wanted(
    tmp_path: Path, talks: dict[str, Path]
) -> None:
    del talks
    assert run_here(["evaluate", "run", "talks", "--out", "run"], tmp_path).code == 1
    assert not (tmp_path / "run/certificates").exists()
