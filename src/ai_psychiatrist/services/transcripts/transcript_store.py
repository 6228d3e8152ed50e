"""Stored transcripts by participant, in the layout of DAIC-WOZ."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ai_psychiatrist.domain.errors import NotFound, TranscriptUnreadable
from ai_psychiatrist.infrastructure.given_files import FileTooLarge, read_inside
from ai_psychiatrist.infrastructure.off_loop import WorkerThreads, WorkTimedOut


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """What was found or sent, not read yet."""

    content: bytes | str = field(repr=False)
    name: str = ""
    """The file's, where it has one."""


class TranscriptStore:
    """Finds `{id}_P/{id}_TRANSCRIPT.csv` below one folder."""

    def __init__(self, folder: Path | None, *, most_bytes: int = 6_400_000) -> None:
        """`folder`: the `DATA_TRANSCRIPTS_DIR` of the settings, `None` when it is not set.

        `most_bytes`: of a file that is read.
        """
        self._folder = folder
        self._most_bytes = most_bytes
        # Of its own: a folder on a server that hangs holds up nobody who sends a text.
        self._threads = WorkerThreads(count=4, seconds=10.0)

    async def read(self, participant_id: int) -> StoredFile:
        """Return the file of a participant.

        Raises `NotFound` for an unknown one, `TranscriptUnreadable` where there is no
        regular file, neither of which says where files are; `FileTooLarge`, and `WorkTimedOut` for
        a folder that does not answer.
        """
        if self._folder is None:
            msg = "no transcripts are stored here: set DATA_TRANSCRIPTS_DIR or send transcript_text"
            raise NotFound("participant_not_found", msg)
        path = self._folder / f"{participant_id}_P" / f"{participant_id}_TRANSCRIPT.csv"
        read = partial(read_inside, self._folder, path, most_bytes=self._most_bytes)
        try:
            return StoredFile(name=path.name, content=await self._threads.run(read))
        except (FileNotFoundError, NotADirectoryError):
            msg = f"no transcript is stored for participant {participant_id}"
            raise NotFound("participant_not_found", msg) from None
        except (FileTooLarge, WorkTimedOut):
            raise
        except OSError:
            msg = (
                f"the stored transcript of participant {participant_id} cannot be read; it has to "
                "be a regular file in the folder"
            )
            raise TranscriptUnreadable(msg, field="participant_id") from None
