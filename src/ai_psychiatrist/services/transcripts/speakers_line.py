"""The line in which a file itself says who is who: `speakers: Anna = participant, Tom = other`."""

import re
from typing import Final

from ai_psychiatrist.services.transcripts.file_lines import on_one_line

_MARK: Final = re.compile(r"speakers\s*:", re.IGNORECASE)
_MOST_CHARACTERS: Final = 4_000


def speakers_named(line: str) -> tuple[tuple[str, str], ...]:
    """Return label and role of each speaker as written; nothing for any other line."""
    mark = _MARK.match(line.strip()) if len(line) <= _MOST_CHARACTERS else None
    if mark is None:
        return ()
    pairs = [part.rpartition("=") for part in line.strip()[mark.end() :].split(",")]
    named = tuple((on_one_line(label), role.strip()) for label, _, role in pairs)
    return named if all(label and role for label, role in named) else ()
