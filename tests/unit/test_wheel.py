"""A wheel that lacks data, or ships what it should not, is found out."""

from pathlib import Path
from zipfile import ZipFile

import pytest
from tests.wheel import PACKAGE, SOURCE, main

FILES = [path for path in (SOURCE / PACKAGE).rglob("*.*") if "__pycache__" not in path.parts]
NAMES = {path.relative_to(SOURCE).as_posix() for path in FILES}
DATA = next(name for name in sorted(NAMES) if name.endswith(".toml"))


def check(folder: Path, names: set[str]) -> int:
    with ZipFile(folder / "any.whl", "w") as wheel:
        for name in (*names, "ai_psychiatrist-1.dist-info/METADATA"):
            wheel.writestr(name, b"")
    return main([str(folder)])


def test_a_wheel_of_the_source_has_no_fault(tmp_path: Path) -> None:
    assert check(tmp_path, NAMES) == 0


@pytest.mark.parametrize(
    ("names", "fault"),
    [
        pytest.param(NAMES - {DATA}, f"missing: {DATA}", id="without_data"),
        pytest.param(
            NAMES | {"tests/test_a.py"}, "not of the package: tests/test_a.py", id="tests"
        ),
        pytest.param(
            NAMES | {f"{PACKAGE}/old.py"}, f"not of the source: {PACKAGE}/old.py", id="left_over"
        ),
    ],
)
def test_what_is_wrong_with_a_wheel_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], names: set[str], fault: str
) -> None:
    assert check(tmp_path, names) == 1
    assert fault in capsys.readouterr().out.splitlines()
