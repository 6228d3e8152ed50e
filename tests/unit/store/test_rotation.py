"""Keys that are wrapped anew while others work, and processes that are killed meanwhile."""

import os
import signal
import time
from contextlib import closing
from pathlib import Path

import pytest
from tests.integration.started import Started, start
from tests.unit.store.stored import RESULT, keys_in, new_record, open_store

from ai_psychiatrist.domain.errors import ConfigurationError
from ai_psychiatrist.store.cipher import load_cipher

ROOT = Path(__file__).parents[3]


def started(what: str, folder: Path, times: int) -> Started:
    return start(["tests.unit.store.key_process", what, str(folder), str(times)], ROOT, os.environ)


def test_another_process_reads_and_writes_while_keys_are_wrapped_anew(tmp_path: Path) -> None:
    with closing(open_store(tmp_path)) as store:
        ids = [store.add(new_record(name)).id for name in ("Anna", "Ben", None)]
        with started("rotate", tmp_path, 4) as process:
            assert process.stdout.readline() == b"begun\n"
            while process.poll() is None:
                ids.append(store.add(new_record("Anna")).id)
                assert all(store.get(one).result == RESULT for one in ids[-4:])
            assert process.wait() == 0
        subjects = {store.summary(one).subject_id for one in ids}
        assert len(subjects) == 3
    with closing(open_store(tmp_path)) as store:
        assert all(store.get(one).result == RESULT for one in ids)


@pytest.mark.parametrize("seconds", [0.0, 0.002, 0.01, 0.03])
def test_whoever_is_killed_while_wrapping_leaves_all_readable(
    tmp_path: Path, seconds: float
) -> None:
    with closing(open_store(tmp_path)) as store:
        ids = [store.add(new_record(f"subject {number}")).id for number in range(60)]
    with started("rotate", tmp_path, 10_000) as process:
        assert process.stdout.readline() == b"begun\n"
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
    with closing(open_store(tmp_path)) as store:
        assert all(store.get(one).result == RESULT for one in ids)
        again = store.add(new_record("subject 7"))
        assert again.subject_id == store.summary(ids[7]).subject_id


def test_whoever_is_killed_while_storing_leaves_sound_files(tmp_path: Path) -> None:
    with started("add", tmp_path, 10_000) as process:
        told = [process.stdout.readline().decode().strip() for _ in range(20)]
        process.send_signal(signal.SIGKILL)
        process.wait()
    with closing(open_store(tmp_path)) as store:
        assert all(store.get(one).result == RESULT for one in told)
        assert store.sweep().assessments == 0


def test_after_a_second_rotation_the_new_key_alone_opens(tmp_path: Path) -> None:
    first, second = tmp_path / "first.key", tmp_path / "second.key"
    first.write_text("11" * 32)
    second.write_text("22" * 32)
    new = new_record("Anna")
    with closing(open_store(tmp_path, named=first)) as serving:
        serving.add(new)
        with closing(open_store(tmp_path, named=first)) as rotating:
            assert rotating.keys.rotate(further=load_cipher(second)) == 1
        assert serving.get(new.id).result == RESULT
    for key in (first, second):
        with closing(open_store(tmp_path, named=key)) as store:
            assert store.get(new.id).result == RESULT
    with closing(open_store(tmp_path, named=second)) as store:
        store.keys.rotate()
    with closing(open_store(tmp_path, named=second)) as store:
        assert store.get(new.id).result == RESULT
    with pytest.raises(ConfigurationError, match="another key"):
        open_store(tmp_path, named=first)


def test_an_own_key_is_left_for_a_named_one(tmp_path: Path) -> None:
    named = tmp_path / "named.key"
    named.write_text("33" * 32)
    new = new_record()
    with closing(open_store(tmp_path)) as store:
        store.add(new)
        store.keys.rotate(further=load_cipher(named))
    with closing(open_store(tmp_path, named=named)) as store:
        store.keys.rotate()
    keys_in(tmp_path).own.unlink()
    with closing(open_store(tmp_path, named=named)) as store:
        assert store.get(new.id).result == RESULT
