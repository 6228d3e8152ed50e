"""Figures by groups, through the command, the report and Python."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

import ai_psychiatrist as ap
from tests.integration.command_here import run_here

_PEOPLE = 42
_ALIKE = {
    "text": "Participant: I hardly sleep at all.",
    "items": [1, 1, 1, 1, 1, 1, 2, 0],
    "total": 8,
    "binary": False,
}


@dataclass(frozen=True, kw_only=True)
class Made:
    """A run whose labels name a site, and what Python has of it."""

    folder: Path
    result: ap.DatasetRunResult


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A run over short talks of people at two sites."""
    folder = tmp_path_factory.mktemp("sites")
    lines = [
        json.dumps(_ALIKE | {"id": f"p{number:02}", "site": ("Bonn", "Ulm")[number % 2]})
        for number in range(_PEOPLE)
    ]
    (folder / "talks.jsonl").write_text("\n".join(lines), encoding="utf-8")

    async def evaluate() -> ap.DatasetRunResult:
        settings = ap.load_settings({"DATA_STATE_DIR": str(folder / "state")}, None)
        async with ap.open(settings) as app:
            return await app.evaluate(folder / "talks.jsonl", folder / "run")

    result = asyncio.run(evaluate())
    return Made(folder=folder, result=result)


def test_the_command_prints_groups_and_their_difference(made: Made) -> None:
    run = ["evaluate", "metrics", str(made.folder / "run"), "--by", "Site"]
    shown = run_here(run, made.folder)
    assert shown.code == 0, shown.err
    assert "Bonn: 21 units" in shown.out
    assert "First: Bonn. Second: Ulm" in shown.out
    printed = json.loads(run_here([*run, "--json"], made.folder).out)
    assert [one["units"] for one in printed["subgroups"]["groups"]] == [21, 21]
    assert printed == made.result.metrics(by="site")
    assert "subgroups" not in json.loads((made.folder / "run" / "metrics.json").read_bytes())


def test_the_report_shows_the_groups(made: Made) -> None:
    written = run_here(
        ["evaluate", "report", str(made.folder / "run"), "--by", "site"], made.folder
    )
    assert written.code == 0, written.err
    page = (made.folder / "run" / "report.html").read_text(encoding="utf-8")
    assert "<h2>Groups by site</h2>" in page
    assert "<h3>First: Bonn. Second: Ulm</h3>" in page


def test_a_column_that_is_not_there_is_refused(made: Made) -> None:
    refused = run_here(
        ["evaluate", "metrics", str(made.folder / "run"), "--by", "gender"], made.folder
    )
    assert refused.code == 2
    assert "no column is called 'gender': the columns are site" in refused.err
