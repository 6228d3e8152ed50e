"""The words of a language, as files."""

import re
import tomllib
from importlib import resources
from pathlib import Path

import pytest

_FILES = sorted(
    Path(str(resources.files("ai_psychiatrist.services.language") / "vocabulary")).rglob("*.toml")
)


@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.stem)
def test_every_list_is_part_of_a_pattern(file: Path) -> None:
    text = file.read_text("utf-8")
    named = set(re.findall(r"\{(\w+)\}", "".join(one.read_text("utf-8") for one in _FILES)))
    assert set(tomllib.loads(text).get("lists", {})) <= named
