"""Gathers the utterances of a file one by one, within the bounds of a transcript."""

import re
from typing import Final

from ai_psychiatrist.services.transcripts.label_lines import opens_with_name
from ai_psychiatrist.services.transcripts.lines import (
    CLOCK,
    MOST_SECONDS,
    MOST_UTTERANCES,
    on_one_line,
    seconds_of,
)
from ai_psychiatrist.services.transcripts.own_words import end_of_own, is_set_off
from ai_psychiatrist.services.transcripts.persons import is_of_document, opens_as_person
from ai_psychiatrist.services.transcripts.several_voices import is_foreign
from ai_psychiatrist.services.transcripts.utterances import (
    FileFault,
    FileReading,
    FileRefused,
    Noted,
    ReadingNote,
    Roles,
    Utterance,
)

_SECONDS: Final = re.compile(r"\d{1,9}(?:[.,]\d{1,12})?s?")


def speaker_name(label: str | None) -> str | None:
    """Return a speaker's name on one line, `None` for a blank one."""
    return (on_one_line(label) or None) if label else None


def _is_anothers(line: str, *_: object) -> bool:
    return (
        is_foreign(line)
        or opens_with_name(line)
        or is_of_document(line)
        or opens_as_person(line, ())
        or is_set_off(line)
    )


class Gathering:
    """What has been read of a file so far."""

    def __init__(self) -> None:
        self._utterances: list[Utterance] = []
        self._unnamed: list[int] = []
        self._notes: list[Noted] = []

    def add(
        self,
        label: str | None,
        words: str,
        *,
        line: int,
        start: float | None = None,
        end: float | None = None,
    ) -> None:
        """Add what is said; raises `FileRefused` when there is more than a transcript holds.

        `label`: as `speaker_name` gives it. `line`: of the file, from 1, or the record's number.
        """
        words = words.strip()
        own_end = end_of_own(words, 0, len(words), _is_anothers)
        spoken = on_one_line(words[:own_end])
        if not spoken:
            self.note(ReadingNote.BLANK_WORDS, line)
        else:
            self._add(label, spoken, line, start, end)
        if own_end < len(words):
            self._add(None, on_one_line(words[own_end:]), line, start, end)

    def _add(
        self, speaker: str | None, spoken: str, line: int, start: float | None, end: float | None
    ) -> None:
        if len(self._utterances) == MOST_UTTERANCES:
            raise FileRefused(FileFault.TOO_LARGE, line)
        if speaker is None:
            self._unnamed.append(line)
        self._utterances.append(
            Utterance(label=speaker, words=spoken, start_seconds=start, end_seconds=end)
        )

    def note(self, note: ReadingNote, line: int) -> None:
        """Note what is odd, once a line."""
        if self._notes[-1:] != [Noted(note=note, line=line)]:
            self._notes.append(Noted(note=note, line=line))

    def seconds(self, value: float, line: int, *, per_second: int = 1) -> float | None:
        """Return a time in seconds; `None`, and noted, for one that no recording has."""
        if 0 <= value <= MOST_SECONDS * per_second:
            return value / per_second
        self.note(ReadingNote.TIME_UNREADABLE, line)
        return None

    def written_seconds(self, written: str, line: int, *, per_second: int = 1) -> float | None:
        """Return a time written as a number, `m:ss` or `h:mm:ss`; `None`, and noted, for another.

        `per_second`: how much of such a number a second is.
        """
        time = written.strip()
        if not time:
            return None
        if _SECONDS.fullmatch(time):
            return self.seconds(
                float(time.rstrip("s").replace(",", ".")), line, per_second=per_second
            )
        seconds = seconds_of(time) if CLOCK.fullmatch(time) else None
        if seconds is None:
            self.note(ReadingNote.TIME_UNREADABLE, line)
        return seconds

    def reading(self, form: str, speakers: Roles = ()) -> FileReading:
        """Return the whole; raises `FileRefused` where nothing is said.

        Words without a speaker are noted where others have one.
        """
        if not self._utterances:
            raise FileRefused(FileFault.NO_WORDS)
        if len(self._unnamed) < len(self._utterances):
            for line in self._unnamed:
                self.note(ReadingNote.WORDS_WITHOUT_SPEAKER, line)
        return FileReading(
            form=form,
            utterances=tuple(self._utterances),
            notes=tuple(self._notes),
            speakers=speakers,
        )
