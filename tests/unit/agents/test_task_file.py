"""Files that word agents' tasks otherwise."""

from pathlib import Path

import pytest

from ai_psychiatrist.agents.prompts.tasks import (
    TASKS,
    prompt_digests,
    read_tasks,
    task_lines,
)
from ai_psychiatrist.domain.errors import InputError


def written(folder: Path, content: str) -> Path:
    path = folder / "strict.toml"
    path.write_text(content, encoding="utf-8")
    return path


def test_file_of_the_tasks_as_they_are_changes_none(tmp_path: Path) -> None:
    assert read_tasks(written(tmp_path, "".join(task_lines(TASKS)))) == TASKS


def test_task_is_replaced_and_the_others_stay(tmp_path: Path) -> None:
    """Braces that hold no block are text, and the template keeps them so."""
    text = 'Task: judge_coherence\nIs it {findings}? Say {"a": {}}.'
    tasks = read_tasks(written(tmp_path, f"judge_coherence = '''\n{text}'''\n"))
    assert tasks["judge_coherence"].format(findings="so") == text.replace("{findings}", "so")
    digests, shipped = prompt_digests(tasks), prompt_digests(TASKS)
    assert {name for name in digests if digests[name] != shipped[name]} == {"judge_coherence"}
    again = written(tmp_path, "".join(task_lines(tasks)))
    assert read_tasks(again) == tasks


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "words no task"),
        ("evidence = ", "no TOML file"),
        ("judge_coherense = ''", "did you mean 'judge_coherence'"),
        ("evidence = 3", "'evidence' is no text"),
        ('evidence = "Task: evidence\\n\\u0007"', "control characters"),
        ('evidence = "List quotes."', "begin with the line 'Task: evidence'"),
        ('evidence = "Task: evidence"', "and then its text"),
        ('meta_review = "Task: meta_review\\n{findings}"', "lacks the block {scores}"),
        (
            'meta_review = "Task: meta_review\\n{findings} {scors}"',
            "no block {scors}; did you mean 'scores'",
        ),
    ],
    ids=["empty", "no TOML", "unknown", "number", "bell", "no head", "no text", "lacks", "typo"],
)
def test_unusable_file_is_refused_with_its_cure(tmp_path: Path, content: str, told: str) -> None:
    with pytest.raises(InputError, match=r"strict\.toml") as refused:
        read_tasks(written(tmp_path, content))
    assert told in str(refused.value)
    assert refused.value.field == "--prompts"


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_tasks(tmp_path / "none.toml")
