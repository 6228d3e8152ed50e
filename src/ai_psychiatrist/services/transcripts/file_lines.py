"""The lines of a file, and how many of them a transcript has at most."""

import re
from typing import Final

from ai_psychiatrist.domain.transcript import MAX_TURNS
from ai_psychiatrist.services.transcripts.utterances import FileFault, FileRefused

MOST_UTTERANCES: Final = 10 * MAX_TURNS
"""How many utterances a file has at most, before those of one speaker are joined."""

_MOST_LINES: Final = 5 * MOST_UTTERANCES
_LINE_END: Final = re.compile(r"\r\n|\n|\r")


def lines_of(text: str) -> list[str]:
    """Cut a text at its line ends, without a byte order mark.

    Raises `FileRefused` for more lines than the longest transcript has.
    """
    if text.count("\n") + text.count("\r") > 2 * _MOST_LINES:
        raise FileRefused(FileFault.TOO_LARGE)
    lines = _LINE_END.split(text.removeprefix("\ufeff"))
    if len(lines) > _MOST_LINES:
        raise FileRefused(FileFault.TOO_LARGE)
    return lines


def on_one_line(words: str) -> str:
    """Put a space in the place of each run of white space, line breaks as well."""
    return " ".join(words.split())
