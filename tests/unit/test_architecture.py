"""The page for developers and its picture show the code as it is."""

import re
import subprocess
import sys
from pathlib import Path

from docs.images import house, proof

PACKAGE = house.ROOT / "src" / house.PACKAGE
PAGE = house.ROOT / "CONTRIBUTING.md"


def test_picture_is_drawn_from_the_imports_as_they_are() -> None:
    assert house.PICTURE.read_text("utf-8") == house.draw(), "make house"


def test_the_picture_of_a_certificate_is_the_drawn_one() -> None:
    assert proof.PICTURE.read_text("utf-8") == proof.draw(), "make house"


def test_every_file_that_the_page_names_is_there() -> None:
    named = re.findall(r"`([\w/*]+(?:\.\w+|/))`", PAGE.read_text("utf-8"))
    patterns = [re.sub("KEY|NAME", "*", name) for name in named]
    assert len(patterns) > 20
    assert [
        pattern
        for pattern in patterns
        if not any(any(folder.glob(pattern)) for folder in _folders())
    ] == []


_TWO_OF_FIVE = """
from ai_psychiatrist.evaluation.metrics.metric import measured
items = AllItems.beside([[0, 3, -1], [2, 2, 2]], [[2, 2, 2], [0, 2, 2]])
print(*measured(items)["far_off"].statistics.sum(axis=0))
"""


def test_metric_of_the_page_is_one_as_it_stands() -> None:
    (metric,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    # In a process of its own, as it would stay among the metrics of this one.
    done = subprocess.run(
        [sys.executable, "-c", metric + _TWO_OF_FIVE], capture_output=True, check=True
    )
    assert [float(figure) for figure in done.stdout.split()] == [2, 5]


def _folders() -> list[Path]:
    inner = ("", "agents", "agents/contracts", "interview/protocols/phq8")
    return [house.ROOT, *(PACKAGE / folder for folder in inner)]
