"""Stored transcripts by participant: DAIC-WOZ files, rendered to text with speaker labels."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import ParticipantNotFound, TranscriptUnreadable

_SYNC: Final = re.compile(r"\s*[<\[]sync(?:h)?(?:ing)?[>\]]\.?\s*", re.IGNORECASE)
_SPEAKERS: Final = {"ellie": "Ellie", "participant": "Participant"}
_HEADER: Final = ["start_time", "stop_time", "speaker", "value"]
_LINE_END: Final = re.compile(r"\r\n|\n|\r")


class TranscriptStore:
    """Reads `{id}_P/{id}_TRANSCRIPT.csv`, tab-separated, below one folder."""

    def __init__(self, folder: Path | None) -> None:
        """`folder`: the `DATA_TRANSCRIPTS_DIR` of the settings, `None` when it is not set."""
        self._folder = folder

    def read(self, participant_id: int) -> str:
        """Return the interview as lines `Speaker: words`.

        Raises `ParticipantNotFound` for an unknown participant and `TranscriptUnreadable` for a
        file that is no transcript; neither says where files are.
        """
        path = self._path(participant_id)
        try:
            content = path.read_bytes().decode("utf-8-sig")
        except (FileNotFoundError, NotADirectoryError):
            raise _unknown(participant_id) from None
        except (OSError, UnicodeDecodeError):
            raise _unreadable(participant_id) from None
        return render_daic_woz(content, participant_id)

    def _path(self, participant_id: int) -> Path:
        if self._folder is None:
            msg = "no transcripts are stored here: set DATA_TRANSCRIPTS_DIR or send transcript_text"
            raise ParticipantNotFound(msg)
        return self._folder / f"{participant_id}_P" / f"{participant_id}_TRANSCRIPT.csv"


def render_daic_woz(content: str, participant_id: int) -> str:
    """Render the rows of a transcript file as lines `Speaker: words`.

    Values are text whatever they look like: `None`, `null` and a lone quote mark are speech. Sync
    marks, rows without words and the talk before the interviewer's first line are left out.
    """
    try:
        rows = list(_rows(content))
    except ValueError:
        raise _unreadable(participant_id) from None
    if not rows:
        raise _unreadable(participant_id)
    interviewer = next((at for at, (speaker, _) in enumerate(rows) if speaker == "Ellie"), 0)
    return "\n".join(f"{speaker}: {words}" for speaker, words in rows[interviewer:])


def _rows(content: str) -> Iterator[tuple[str, str]]:
    """Yield (speaker, words); the format has no quoting, so tabs alone part the columns.

    Raises `ValueError` for a row that is neither blank nor one of a known speaker: leaving it out
    would lose what was said.
    """
    header, *lines = _LINE_END.split(content)
    if [name.strip().casefold() for name in header.split("\t")] != _HEADER:
        msg = "not the header of a transcript"
        raise ValueError(msg)
    for line in lines:
        columns = [column.strip() for column in line.split("\t", len(_HEADER) - 1)]
        if not any(columns):
            continue
        speaker = _SPEAKERS.get(columns[2].casefold()) if len(columns) == len(_HEADER) else None
        if speaker is None and (len(columns) < len(_HEADER) or any(columns[2:])):
            msg = "not a row of a transcript"
            raise ValueError(msg)
        if speaker is not None and columns[3] and not _SYNC.fullmatch(columns[3]):
            yield speaker, columns[3]


def _unknown(participant_id: int) -> ParticipantNotFound:
    return ParticipantNotFound(f"no transcript is stored for participant {participant_id}")


def _unreadable(participant_id: int) -> TranscriptUnreadable:
    return TranscriptUnreadable(
        f"the stored transcript of participant {participant_id} cannot be read; it has to be a "
        "tab-separated UTF-8 file with the columns start_time, stop_time, speaker and value",
        field="participant_id",
    )
