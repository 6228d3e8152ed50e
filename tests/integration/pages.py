"""The pages of the documentation, and the blocks of them that are run.

A comment on the line before a block marks an exception: `<!-- exits 1 -->` gives the code with
which its last command ends, `<!-- exits 0 1 1 -->` that of each of its commands, and
`<!-- not run: reason -->` says why a block cannot be run here.
"""

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]

_BLOCK: Final = re.compile(
    r"^(?:[ \t]*<!-- (?P<mark>(?:exit|not run)[^\n]*?) -->[ \t]*\n)?"
    r"(?P<indent>[ \t]*)```(?P<language>\S*)[^\n]*\n(?P<text>.*?)^(?P=indent)```[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
RUN: Final = ("console", "python")
_NEVER_RUN: Final = ("bash", "sh", "shell", "py", "pycon")
_NOT_RUN: Final = re.compile(r"not run: \S")
_CODES: Final = re.compile(r"exits (\d+(?: \d+)*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A line behind the prompt of a console, and what is typed while it runs."""

    text: str
    typed: str = ""
    """The lines behind the prompt `> ` of its output."""
    code: int = 0
    """The exit status that the page gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block."""

    line: int
    """Where its fence opens, counted from 1."""
    language: str
    text: str
    mark: str
    """What the comment before it says."""

    @property
    def is_run(self) -> bool:
        """Whether it is run; a block that is not says why."""
        return self.language in RUN and not _NOT_RUN.match(self.mark)

    @property
    def problem(self) -> str:
        """What keeps readers or the runner from it, empty when nothing does."""
        if self.language in _NEVER_RUN:
            return f"a block of {self.language} is never run: write console or python"
        if self.mark and not (_CODES.fullmatch(self.mark) or _NOT_RUN.match(self.mark)):
            return f"nobody reads the mark {self.mark!r}"
        return ""

    @property
    def commands(self) -> tuple[Command, ...]:
        """The commands of a console, in order."""
        found: list[Command] = []
        lines = iter(self.text.splitlines())
        for line in lines:
            if line.startswith("$ "):
                found.append(Command(text=_whole(line[2:], lines)))
            elif line.startswith("> ") and found:
                last = found[-1]
                found[-1] = Command(text=last.text, typed=f"{last.typed}{line[2:]}\n")
        return tuple(
            Command(text=command.text, typed=command.typed, code=code)
            for command, code in zip(found, self._codes(len(found)), strict=True)
        )

    def _codes(self, commands: int) -> Sequence[int]:
        given = _CODES.fullmatch(self.mark)
        codes = [int(code) for code in given[1].split()] if given else [0]
        return codes if len(codes) > 1 else [0] * (commands - 1) + codes


def blocks(text: str) -> Iterator[Block]:
    """Yield every fenced block of a page."""
    for found in _BLOCK.finditer(text):
        yield Block(
            line=text.count("\n", 0, found.start("indent")) + 1,
            language=found["language"],
            text=textwrap.dedent(found["text"]),
            mark=found["mark"] or "",
        )


def _whole(line: str, following: Iterator[str]) -> str:
    while line.endswith("\\"):
        line = f"{line}\n{next(following)}"
    return line
