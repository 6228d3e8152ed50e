"""CHAT, the format of TalkBank: tiers of what is said, below headers that say who is who."""

import re
from collections.abc import Iterator
from typing import Final

from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.transcripts.formats.gathering import Gathering
from ai_psychiatrist.services.transcripts.lines import lines_of, on_one_line
from ai_psychiatrist.services.transcripts.speaker_labels import DEFAULT_LABELS, known_speaker
from ai_psychiatrist.services.transcripts.utterances import (
    FileFault,
    FileReading,
    FileRefused,
    Form,
    Roles,
)

_FIRST: Final = re.compile(r"@(?:UTF8|Begin|Languages:|Participants:)|\*[A-Z]{3}\d?:\t")
_TIER: Final = re.compile(r"([@*%])([^:\s]{1,30})(?::\s*(.*))?", re.DOTALL)
_TIMES: Final = re.compile(r"\x15[^\x15]{0,200}?(\d{1,10})_(\d{1,10})\x15")
"""The milliseconds in which a media file says the words, between two control characters."""
_MILLISECONDS: Final = 1_000
_PARTICIPANTS: Final = "Participants"


def is_chat(begun: str) -> bool:
    """Tell a file by how it begins."""
    return _FIRST.match(begun) is not None


def read_chat(text: str) -> FileReading:
    """Read the main tiers, each with the times of its words; what depends on them is left out.

    `@Participants` says who is who where one of those who speak is a participant. Raises
    `FileRefused` for a line that is of no tier, and where nothing is said.
    """
    gathering = Gathering()
    named: dict[str, str] = {}
    met: set[str] = set()
    for number, tier in _tiers(text):
        found = _TIER.fullmatch(tier)
        if found is None:
            raise FileRefused(FileFault.BROKEN_ROW, number)
        kind, code, words = found[1], found[2], found[3] or ""
        if kind == "@" and code == _PARTICIPANTS:
            named = dict(_roles(words))
        if kind == "*":
            met.add(code)
            times = _TIMES.findall(words)
            start, end = (times[0][0], times[-1][1]) if times else ("", "")
            gathering.add(
                code,
                on_one_line(_TIMES.sub(" ", words)),
                line=number,
                start=gathering.written_seconds(start, number, per_second=_MILLISECONDS),
                end=gathering.written_seconds(end, number, per_second=_MILLISECONDS),
            )
    spoken = tuple((code, role) for code, role in named.items() if code in met)
    is_known = Speaker.PARTICIPANT in dict(spoken).values()
    return gathering.reading(Form.CHAT, spoken if is_known else ())


def _tiers(text: str) -> Iterator[tuple[int, str]]:
    """Yield each tier with the number of its line; a line behind a tab continues the one before."""
    number, tier = 0, ""
    for at, line in enumerate(lines_of(text), start=1):
        if line[:1] in {"\t", " "} and tier:
            tier += f" {line.strip()}"
        elif line.strip():
            if tier:
                yield number, tier
            number, tier = at, line.strip()
    if tier:
        yield number, tier


def _roles(written: str) -> Roles:
    """Read `PAR Participant, INV Anna Investigator`: a code, perhaps a name, and a role."""
    parts = [part.split() for part in written.split(",")]
    roles = ((part[0], known_speaker(part[-1], DEFAULT_LABELS)) for part in parts if part)
    return tuple((code, role or Speaker.OTHER) for code, role in roles)
