"""Without the extra `evaluation` runs are made, and figures name what is missing."""

from pathlib import Path

import pytest

from tests.integration.command import run

_WITHOUT = {"PYTHONPATH": str(Path(__file__).parent / "without_numpy")}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one interview that was made without the extra."""
    folder = tmp_path_factory.mktemp("plain")
    (folder / "talks").mkdir()
    text = "Interviewer: How have you been?\nParticipant: I hardly sleep at all.\n"
    (folder / "talks" / "a.txt").write_text(text, encoding="utf-8")
    done = run(["evaluate", "run", "talks", "--out", "run"], folder, _WITHOUT, is_afresh=True)
    assert done.code == 0, done.err
    assert (folder / "run" / "predictions.jsonl").read_bytes().count(b"\n") == 1
    return folder


@pytest.mark.parametrize(
    "command",
    ["metrics run", "metrics run --by site", "metrics --list", "report run", "compare run run"],
)
def test_figures_name_the_extra_in_one_line(made: Path, command: str) -> None:
    done = run(["evaluate", *command.split()], made, _WITHOUT, is_afresh=True)
    assert done.code == 2
    assert done.out == ""
    cure = "error: this needs numpy, scipy: pip install 'ai-psychiatrist[evaluation]'"
    assert done.err.splitlines() == [cure]


def test_a_table_of_results_needs_no_extra(made: Path) -> None:
    done = run(["evaluate", "table", "run", "--out", "t.csv"], made, _WITHOUT, is_afresh=True)
    assert done.code == 0, done.err
