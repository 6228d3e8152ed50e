"""What every reader of a file gives: who said what and when, and what was odd about the file."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

Roles: TypeAlias = tuple[tuple[str, str], ...]
"""Label and role, where the file itself says who is who."""


class Form(StrEnum):
    """The forms of a transcript that are known by name elsewhere; a recogniser may have others."""

    TEXT = "text"
    """Lines of words, with or without labels, in whatever way the labels are written."""
    DAIC_WOZ = "daic-woz"
    E_DAIC = "e-daic"
    TABLE = "table"
    """Rows with a column of words, most often one of speakers, parted by commas or tabs."""
    JSONL = "jsonl"
    DIALOGUE_JSON = "dialogue-json"
    """Turns with a speaker and a text each, as this program writes them."""
    WHISPER = "whisper"
    WHISPERX = "whisperx"
    REV = "rev"
    ASSEMBLYAI = "assemblyai"
    DEEPGRAM = "deepgram"
    WEBVTT = "webvtt"
    SRT = "srt"
    SBV = "sbv"
    DOCX = "docx"
    CHAT = "chat"
    """Tiers of the CHAT format of TalkBank."""


class ReadingNote(StrEnum):
    """What is odd about a file, or about a line of it, and did not keep it from being read."""

    SYNC_MARK = "sync_mark"
    SMALL_TALK = "small_talk"
    BLANK_WORDS = "blank_words"
    WORDS_WITHOUT_SPEAKER = "words_without_speaker"
    SPEAKER_SPELLING = "speaker_spelling"
    SPEAKER_UNKNOWN = "speaker_unknown"
    SPEAKERS_ASSUMED = "speakers_assumed"
    POSSIBLE_DIALOGUE = "possible_dialogue"
    """Without labels, but in questions and answers: an interviewer's words may be among them."""
    ENCODING_ASSUMED = "encoding_assumed"
    SCRUBBED = "scrubbed"
    UNRECOGNISED_WORDS = "unrecognised_words"
    NONVERBAL = "nonverbal"
    CODED_LINE = "coded_line"
    INTERRUPTION = "interruption"
    TIME_UNREADABLE = "time_unreadable"
    NO_INTERVIEWER = "no_interviewer"
    UNQUOTED_SEPARATOR = "unquoted_separator"
    WORDS_WITHOUT_TIMES = "words_without_times"
    REPEATED_WORDS = "repeated_words"
    """A cue begins with the words that end the one before, as captions do that roll."""
    HEAD_SET_ASIDE = "head_set_aside"
    """Headings, names and the like before the first turn: nobody says them."""
    WORDS_SET_ASIDE = "words_set_aside"
    """Stretches within the participant's turns that look like somebody else's: nobody's words."""
    INTERVIEWER_ASSUMED = "interviewer_assumed"
    """The only other label is not known, and is taken for the interviewer's."""


class FileFault(StrEnum):
    """Why a file is no transcript that can be read without losing what was said."""

    NOT_TEXT = "not_text"
    UNKNOWN_FORM = "unknown_form"
    """JSON or a table in no form that is known."""
    SEVERAL_INTERVIEWS = "several_interviews"
    """A data set, where one interview is wanted."""
    WRONG_HEADER = "wrong_header"
    BROKEN_ROW = "broken_row"
    SUBTITLES_REFUSED = "subtitles_refused"
    DOCUMENT_REFUSED = "document_refused"
    TOO_LARGE = "too_large"
    """More rows or more unpacked bytes than a transcript has."""
    NO_WORDS = "no_words"
    NO_PARTICIPANT = "no_participant"
    SPEAKERS_UNKNOWN = "speakers_unknown"


class FileRefused(Exception):
    """A file cannot be read without losing what was said; carries no words of it."""

    def __init__(self, fault: FileFault, line: int | None = None, *, what: str = "") -> None:
        """`line`: where in the file, from 1; a row's or a record's number where it has no lines.

        `what`: what the file is and what to do with it, where that is known; none of its words.
        """
        super().__init__(fault.value)
        self.fault = fault
        self.line = line
        self.what = what


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """What one speaker said in one go."""

    label: str | None = field(repr=False)
    """The speaker's name in the file, stripped; `None` where the file names none, never empty."""
    words: str = field(repr=False)
    """On one line, stripped, never empty."""
    start_seconds: float | None = None
    end_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """Something odd, and the line where it is, from 1."""

    note: ReadingNote
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was read of a file, whatever its form."""

    form: str
    """A `Form`, or a recogniser's own name."""
    encoding: str = "utf-8"
    notes: tuple[Noted, ...] = ()
    """All that was odd."""
    speakers: Roles = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReading(Reading):
    """The utterances of a file in order."""

    utterances: tuple[Utterance, ...] = field(repr=False)
    is_recording: bool = False
    """Whether it is of a recording, in which everybody in the room speaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainText(Reading):
    """Lines of words whose labels, if they have any, are still to be found."""

    text: str = field(repr=False)
    """Without a byte order mark; else as it was, line ends included."""
    is_of_several: bool = False
    """Whether lines look as if several people said them."""
