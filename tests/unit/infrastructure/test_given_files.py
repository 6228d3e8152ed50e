"""Files that somebody named are read only where they are regular, and only up to a limit."""

import os
import socket
from pathlib import Path

import pytest

from ai_psychiatrist.infrastructure.given_files import (
    FileTooLarge,
    LinkLeadsOut,
    NotRegularFile,
    read_inside,
    read_regular,
)


def test_a_regular_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    """A file of exactly the limit is whole; one byte more is too large."""
    path = tmp_path / "given"
    path.write_bytes(b"x" * 100)
    assert read_regular(path, most_bytes=100) == b"x" * 100
    with pytest.raises(FileTooLarge):
        read_regular(path, most_bytes=99)


def test_no_more_than_the_limit_is_read_of_a_huge_file(tmp_path: Path) -> None:
    """A sparse file of a terabyte is refused from its first bytes."""
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(FileTooLarge):
        read_regular(path, most_bytes=1_000)


@pytest.mark.parametrize("kind", ["pipe", "folder", "socket", "device"])
def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "given"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(NotRegularFile):
        read_regular(path, most_bytes=10)


def test_a_link_is_followed_only_where_that_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"x")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    assert read_regular(link, most_bytes=1) == b"x"
    with pytest.raises(NotRegularFile):
        read_regular(link, most_bytes=1, follows_links=False)


def test_links_of_a_folder_are_followed_within_it_alone(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "target").write_bytes(b"inside")
    (tmp_path / "secret").write_bytes(b"outside")
    (folder / "within").symlink_to("deep/target")
    (folder / "out").symlink_to("../secret")
    (folder / "round").symlink_to("round")
    assert read_inside(folder, folder / "within", most_bytes=10) == b"inside"
    for name in ("out", "round", "../secret"):
        with pytest.raises(OSError, match=r"^$|Too many"):
            read_inside(folder, folder / name, most_bytes=10)
    with pytest.raises(LinkLeadsOut):
        read_inside(folder, folder / "out", most_bytes=10)


def test_no_error_names_the_path(tmp_path: Path) -> None:
    """A name can be the identifier of a participant."""
    for name in ("nobody", "nul\0byte", "n" * 5_000):
        with pytest.raises(OSError) as caught:  # noqa: PT011 the text is what is tested
            read_regular(tmp_path / name, most_bytes=10)
        assert name not in str(caught.value)
        assert caught.value.filename is None
