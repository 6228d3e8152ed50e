"""Runs name the interviews that a person has to read for danger, and say what was not read."""

import json
from pathlib import Path

from tests.integration.command_here import run_here

NOTHING = "No interview has affirmed, hypothetical or unclear signs of danger"
FINE = "Interviewer: Any thoughts of suicide?\nParticipant: No, never.\n"
PAST = "Interviewer: And before?\nParticipant: Ten years ago I took an overdose.\n"
NOW = "Interviewer: What else?\nParticipant: I want to kill myself.\n"
SPANISH = (
    "Interviewer: ¿Cómo duerme usted por las noches?\n"
    "Participant: Duermo muy mal, me despierto todas las noches y no puedo volver a dormir.\n"
)


def shown_by_each(folder: Path, **texts: str) -> list[str]:
    """Return the line that a run, its metrics and its report close with."""
    interviews = folder / "interviews"
    interviews.mkdir()
    for name, text in texts.items():
        (interviews / f"{name}.txt").write_text(text, "utf-8")
    done = run_here(["evaluate", "run", "interviews", "--out", "run"], folder)
    metrics = run_here(["evaluate", "metrics", "run"], folder)
    report = run_here(["evaluate", "report", "run"], folder)
    page = (folder / "run" / "report.html").read_text("utf-8")
    told = [
        next(line for line in done.err.splitlines() if "signs of danger" in line),
        metrics.out.splitlines()[-1],
        report.err.splitlines()[-1],
    ]
    assert told[0] in page
    assert report.out.strip() == "run/report.html"
    return told


def test_run_metrics_and_report_name_the_units_in_one_closing_line(tmp_path: Path) -> None:
    told = shown_by_each(tmp_path, one=FINE, two=PAST, three=NOW, four=f"{FINE}{NOW}")
    assert {*told} == {told[0]}
    assert told[0].startswith("A person has to read 2 interviews with affirmed, hypothetical")
    assert told[0].endswith(": four, three.")
    assert "kill" not in told[0]
    found = run_here(["evaluate", "metrics", "run", "--json"], tmp_path)
    assert json.loads(found.out)["readings"]["to_read"] == ["four", "three"]
    assert found.err.splitlines()[-1] == told[0]


def test_run_without_any_says_so(tmp_path: Path) -> None:
    told = shown_by_each(tmp_path, one=FINE, two=PAST)
    assert all(line.startswith(NOTHING) for line in told)


def test_what_was_not_examined_is_not_told_as_nothing(tmp_path: Path) -> None:
    told = shown_by_each(tmp_path, one=FINE, two=SPANISH)
    assert {*told} == {told[0]}
    assert NOTHING not in told[0]
    assert "not all was read" in told[0]
    assert told[0].endswith(": two.")


def test_units_beyond_the_limit_are_none_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "interviews").mkdir()
    for name in ("one", "two"):
        (tmp_path / "interviews" / f"{name}.txt").write_text(FINE, "utf-8")
    done = run_here(["evaluate", "run", "interviews", "--out", "run", "--limit", "1"], tmp_path)
    assert NOTHING in done.err
