"""The programs in examples/, run in processes of their own; one as its readers run it."""

import sys
from pathlib import Path

import pytest

from tests.conftest import EXAMPLES
from tests.integration.command import environment_of, finish
from tests.integration.started import start

SERVED = {"mount_in_fastapi.py"}
"""Run under a server by the tests of mounted applications."""
TOLD = {
    "assess.py": ("Assessment(status='complete', ", "PHQ-8: 8 to 14 of 24", "Sleep 2"),
    "assess_many.py": ("interview.txt complete", "short_interview.txt complete"),
    "evaluate_dataset.py": ("1 of 1", "DatasetRunResult(requested=1, valid=1, "),
    "ground_quotes.py": ("i wake up at four - normalised", "I sleep well - not_found"),
    "validate_lines.py": ("valid: {'score': 2} {'score': 3}", "line 3 failed at schema_validation"),
}
"""Program → some of what it prints."""


def run_example(name: str, folder: Path, *arguments: str) -> str:
    command = [str(EXAMPLES / name), *arguments]
    with start(command, folder, environment_of(folder, {})) as process:
        done = finish(process)
    assert (done.code, done.err) == (0, "")
    return done.out


def test_an_example_needs_nothing_that_is_imported_already(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "assess.py")]
    with start(command, tmp_path, environment_of(tmp_path, {}), is_afresh=True) as process:
        done = finish(process)
    assert (done.code, done.err) == (0, "")
    assert TOLD["assess.py"][0] in done.out


def test_every_example_is_run() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == SERVED | set(TOLD)


@pytest.mark.parametrize("name", TOLD)
def test_an_example_prints_what_it_is_for(name: str, tmp_path: Path) -> None:
    printed = run_example(name, tmp_path)
    for words in TOLD[name]:
        assert words in printed


def test_the_example_of_a_run_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    first, second = (run_example("evaluate_dataset.py", tmp_path, "run") for _ in range(2))
    assert "model_calls=8" in first
    assert "model_calls=0" in second
