"""The documentation names what is there: files, headings, commands and options."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from ai_psychiatrist.cli.app import app
from tests.integration.command import run

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").glob("*.md"))]
FIRST_EVALUATION = "A first evaluation in five commands"

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ (?:\w+=\S+ )*(?:\S*/)?ai-psychiatrist (.+)$", re.MULTILINE)
_TEST = re.compile(r"`(tests/\S+\.py)::(\w+)`")
_NEXT_COMMAND = re.compile(r"[|<>;&].*")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def anchors(page: Path) -> set[str]:
    """Return the anchors of headings as they are made of their words."""
    headings = _HEADING.findall(page.read_text("utf-8"))
    plain = (re.sub(r"[^\w\- ]", "", heading.casefold()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    broken = []
    for link in _LINK.findall(page.read_text("utf-8")):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_every_test_that_the_threat_model_names_is_there() -> None:
    named = _TEST.findall((ROOT / "docs" / "threat-model.md").read_text("utf-8"))
    assert named
    missing = [
        f"{path}::{name}"
        for path, name in named
        if not (ROOT / path).is_file() or f"def {name}(" not in (ROOT / path).read_text("utf-8")
    ]
    assert missing == []


def shown_commands(text: str) -> Iterator[list[str]]:
    """Yield the arguments of every call in blocks of a console that is shown in full."""
    for block in _CONSOLE.findall(text):
        for line in _COMMAND.findall(block.replace("\\\n", " ")):
            if "..." not in line:
                yield shlex.split(_NEXT_COMMAND.sub("", line), comments=True)


SHOWN = {
    f"{name_of(page)}: {' '.join(arguments)}": arguments
    for page in PAGES
    for arguments in shown_commands(page.read_text("utf-8"))
}


@pytest.mark.parametrize("shown", SHOWN)
def test_shown_commands_can_be_typed(shown: str) -> None:
    command, arguments = typer.main.get_command(app), list(SHOWN[shown])
    while arguments and arguments[0] in (inner := getattr(command, "commands", {})):
        command = inner[arguments.pop(0)]
    with command.make_context("shown", arguments):
        pass


def test_first_evaluation_can_be_typed_as_it_stands(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "evaluation.md").read_text("utf-8")
    (section,) = re.findall(rf"^## {FIRST_EVALUATION}\n(.*?)^## ", page, re.MULTILINE | re.DOTALL)
    (first, *_) = _CONSOLE.findall(section)
    commands = [shlex.split(line, comments=True) for line in _COMMAND.findall(first)]
    assert len(commands) == 5
    assert [run(command, tmp_path).code for command in commands] == [0, 1, 1, 0, 0]
    assert (tmp_path / "runs" / "first" / "report.html").is_file()
