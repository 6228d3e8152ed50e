"""The page and the picture of the architecture show the code as it is."""

import re
from pathlib import Path

from docs.images import house

PACKAGE = house.ROOT / "src" / house.PACKAGE
PAGE = house.ROOT / "docs" / "architecture.md"


def test_picture_is_drawn_from_the_imports_as_they_are() -> None:
    assert house.PICTURE.read_text("utf-8") == house.draw(), "make house"


def test_every_file_that_the_page_names_is_there() -> None:
    named = re.findall(r"`([\w/*]+(?:\.\w+|/))`", PAGE.read_text("utf-8"))
    patterns = [re.sub("KEY|NAME", "*", name) for name in named]
    assert len(patterns) > 20
    assert [
        pattern
        for pattern in patterns
        if not any(any(folder.glob(pattern)) for folder in _folders())
    ] == []


def _folders() -> list[Path]:
    inner = ("", "agents", "agents/contracts", "interview/protocols/phq8")
    return [house.ROOT, *(PACKAGE / folder for folder in inner)]
