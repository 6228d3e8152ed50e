"""Stored transcripts by participant: DAIC-WOZ files, rendered to text with speaker labels."""

from functools import partial
from pathlib import Path

from ai_psychiatrist.domain.errors import ParticipantNotFound, TranscriptUnreadable
from ai_psychiatrist.infrastructure.given_files import FileTooLarge, read_inside
from ai_psychiatrist.infrastructure.worker_processes import work_on_text
from ai_psychiatrist.infrastructure.worker_threads import WorkerThreads, WorkTimedOut
from ai_psychiatrist.services.daic_woz import RowNote, RowsUnreadable, read_session


class TranscriptStore:
    """Reads `{id}_P/{id}_TRANSCRIPT.csv`, tab-separated, below one folder."""

    def __init__(self, folder: Path | None, *, most_bytes: int = 6_400_000) -> None:
        """`folder`: the `DATA_TRANSCRIPTS_DIR` of the settings, `None` when it is not set.

        `most_bytes`: of a file that is read.
        """
        self._folder = folder
        self._most_bytes = most_bytes
        # Of its own: a folder on a server that hangs holds up nobody who sends a text.
        self._threads = WorkerThreads(count=4, seconds=10.0)

    async def read(self, participant_id: int) -> str:
        """Return the interview as lines `Speaker: words`.

        Raises `ParticipantNotFound` for an unknown participant and `TranscriptUnreadable` for a
        file that is no transcript, neither of which says where files are; `FileTooLarge`, and
        `WorkTimedOut` for a folder that does not answer.
        """
        if self._folder is None:
            msg = "no transcripts are stored here: set DATA_TRANSCRIPTS_DIR or send transcript_text"
            raise ParticipantNotFound(msg)
        path = self._folder / f"{participant_id}_P" / f"{participant_id}_TRANSCRIPT.csv"
        read = partial(read_inside, self._folder, path, most_bytes=self._most_bytes)
        try:
            content = (await self._threads.run(read)).decode("utf-8-sig")
        except (FileNotFoundError, NotADirectoryError):
            raise _unknown(participant_id) from None
        except (FileTooLarge, WorkTimedOut):
            raise
        except (OSError, UnicodeDecodeError):
            raise _unreadable(participant_id) from None
        return await work_on_text(content, render_daic_woz, content, participant_id)


def render_daic_woz(content: str, participant_id: int) -> str:
    """Render the rows of a transcript file as lines `Speaker: words`, as data sets are read.

    Raises `TranscriptUnreadable` for a file that is no transcript, and for words of no speaker:
    leaving them out would lose what was said.
    """
    try:
        session = read_session(content, participant_id=participant_id)
    except RowsUnreadable:
        raise _unreadable(participant_id) from None
    if any(noted.note is RowNote.WORDS_WITHOUT_SPEAKER for noted in session.notes):
        raise _unreadable(participant_id)
    return "\n".join(f"{row.speaker}: {row.words}" for row in session.rows)


def _unknown(participant_id: int) -> ParticipantNotFound:
    return ParticipantNotFound(f"no transcript is stored for participant {participant_id}")


def _unreadable(participant_id: int) -> TranscriptUnreadable:
    return TranscriptUnreadable(
        f"the stored transcript of participant {participant_id} cannot be read; it has to be a "
        "regular file in the folder, tab-separated UTF-8, with the columns start_time, stop_time, "
        "speaker and value",
        field="participant_id",
    )
