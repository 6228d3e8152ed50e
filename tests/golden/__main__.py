"""Freeze what the program answers, check that it still does, or compare two checkouts.

An area is a module of this package with a function `answers()`; all are made in two processes.
"""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from tests.golden.answer import Frozen
from tests.golden.areas import AREAS, made
from tests.golden.kept import KEPT, compared, read, write
from tests.golden.two_checkouts import compare_checkouts

_MOST_LINES: Final = 60
_PROCESSES: Final = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the first argument says; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, what in (
        ("write", "freeze what the program answers now"),
        ("check", "print every difference from what is frozen; exit status 1 where there is one"),
    ):
        one = commands.add_parser(name, help=what)
        one.add_argument("areas", nargs="*", metavar="AREA", help=f"of {', '.join(AREAS)}")
        one.add_argument("--all-lines", action="store_true", help="print every difference")
    compare = commands.add_parser(
        "compare", help="run two checkouts over a folder of transcripts and print the differences"
    )
    compare.add_argument("old", type=Path, metavar="OLD_CHECKOUT")
    compare.add_argument(
        "folder",
        type=Path,
        nargs="?",
        help="transcripts, or a .jsonl file of conversations; the public ones without it",
    )
    compare.add_argument(
        "--script",
        type=Path,
        metavar="FILE",
        help="replies of the model server (see two_checkouts.py); the baseline answers without it",
    )
    compare.add_argument("--all-lines", action="store_true", help="print every difference")
    options = parser.parse_args(arguments)
    most = sys.maxsize if options.all_lines else _MOST_LINES
    if options.command == "compare":
        return compare_checkouts(options.old, options.folder, options.script, most_lines=most)
    unknown = sorted(set(options.areas) - set(AREAS))
    if unknown:
        parser.error(f"unknown areas: {', '.join(unknown)}")
    if options.command == "write" and "TEST_DATA_DIR" not in os.environ:
        parser.error("set TEST_DATA_DIR: without the public data their answers would be lost")
    areas = options.areas or AREAS
    with ProcessPoolExecutor(_PROCESSES, mp_context=get_context("spawn")) as pool:
        found = dict(zip(areas, pool.map(made, areas), strict=True))
    if options.command == "write":
        for area, (answers, seconds) in found.items():
            write(KEPT, area, answers.values())
            _say(f"{area}: {len(answers)} cases in {seconds:.1f} s")
        return 0
    return _checked(found, most)


def _checked(found: dict[str, tuple[dict[str, Frozen], float]], most_lines: int) -> int:
    counts: Counter[str] = Counter()
    for area, (answers, seconds) in found.items():
        own: Counter[str] = Counter()
        for kind, case, line in compared(read(KEPT, area), answers):
            own[kind] += 1
            if own.total() <= most_lines:
                _say(f"{kind}  {area}/{case}  {line}")
        _say(
            f"{area}: {len(answers)} cases in {seconds:.1f} s, "
            f"{own['value']} values and {own['sentence']} sentences differ"
        )
        counts += own
    return 1 if counts else 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
