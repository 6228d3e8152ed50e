"""Private files are made anew, whole, and never through what somebody else has put there."""

import os
import stat
from contextlib import suppress
from pathlib import Path

import pytest

from ai_psychiatrist.infrastructure.private_files import (
    draft_of,
    make_folder,
    make_subfolder,
    open_own_file,
    write_whole,
)


def test_a_link_in_the_place_of_a_file_is_replaced_and_not_followed(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.write_bytes(b"theirs")
    (tmp_path / "mine").symlink_to(theirs)
    write_whole(tmp_path / "mine", [b"a", b"b"])
    assert (theirs.read_bytes(), (tmp_path / "mine").read_bytes()) == (b"theirs", b"ab")
    assert not (tmp_path / "mine").is_symlink()
    assert stat.S_IMODE((tmp_path / "mine").stat().st_mode) == 0o600


def test_a_file_that_is_not_finished_leaves_nothing_behind(tmp_path: Path) -> None:
    write_whole(tmp_path / "file", [b"before"])
    with suppress(RuntimeError), draft_of(tmp_path / "file") as file:
        file.write(b"half")
        raise RuntimeError
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"before"]


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_file_of_ours_is_no_link_and_no_pipe(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "file"
    if kind == "link":
        path.symlink_to(tmp_path / "theirs")
    else:
        os.mkfifo(path)
    with pytest.raises(OSError):  # noqa: PT011 the system's own numbers differ
        open_own_file(path)
    assert not (tmp_path / "theirs").exists()


def test_a_folder_that_everybody_can_write_into_is_refused_unless_it_is_empty(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    folder.chmod(0o777)
    make_folder(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (folder / "file").touch()
    folder.chmod(0o777)
    with pytest.raises(PermissionError):
        make_folder(folder)


def test_a_link_in_the_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "mine").symlink_to("theirs")
    with pytest.raises(OSError, match="a link"):
        make_subfolder(tmp_path / "mine")


def test_a_file_written_whole_is_on_the_disk_and_then_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[bool, list[str]]] = []

    def fsync(descriptor: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        synced.append((is_folder, [path.name for path in tmp_path.glob("file")]))

    monkeypatch.setattr(os, "fsync", fsync)
    write_whole(tmp_path / "file", [b"whole"])
    assert synced == [(False, []), (True, ["file"])]


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/null", "/dev/nonesuch"])
def test_no_file_takes_the_place_of_a_device(name: str) -> None:
    """Whoever may do everything would have replaced it for all programs of the machine."""
    before = Path(name).is_symlink(), Path(name).exists()
    with pytest.raises(OSError, match="device"):
        write_whole(Path(name), [b"words"])
    assert (Path(name).is_symlink(), Path(name).exists()) == before


def test_no_file_takes_the_place_of_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="pipe"):
        write_whole(pipe, [b"words"])
    assert pipe.is_fifo()
