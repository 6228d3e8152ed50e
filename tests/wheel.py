"""What a wheel holds: the package with all its data, and nothing else.

Run `python -m tests.wheel FOLDER` to check the wheel in a folder; `make wheel` does.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final
from zipfile import ZipFile

SOURCE: Final = Path(__file__).parents[1] / "src"
PACKAGE: Final = "ai_psychiatrist"


def faults(wheel: Path) -> Iterator[str]:
    """Yield what a wheel lacks, and what has no place in one."""
    with ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if not name.endswith("/")}
    shipped = {name for name in held if name.partition("/")[0] == PACKAGE}
    yield from (f"missing: {name}" for name in sorted(_of_source() - shipped))
    yield from (f"not of the source: {name}" for name in sorted(shipped - _of_source()))
    described = {name for name in held if name.partition("/")[0].endswith(".dist-info")}
    yield from (f"not of the package: {name}" for name in sorted(held - shipped - described))
    yield from (f"a test: {name}" for name in sorted(filter(_is_of_tests, shipped)))


def _of_source() -> set[str]:
    files = (path for path in (SOURCE / PACKAGE).rglob("*") if path.is_file())
    return {
        path.relative_to(SOURCE).as_posix() for path in files if "__pycache__" not in path.parts
    }


def _is_of_tests(name: str) -> bool:
    return any(
        part in {"tests", "conftest.py"} or part.startswith("test_") for part in Path(name).parts
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the one wheel of a folder; returns the exit status."""
    parser = argparse.ArgumentParser(prog="tests.wheel", description=__doc__)
    parser.add_argument("folder", type=Path)
    (wheel,) = parser.parse_args(arguments).folder.glob("*.whl")
    found = list(faults(wheel))
    sys.stdout.write("\n".join([*found, f"{wheel.name}: {len(found)} faults"]) + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
