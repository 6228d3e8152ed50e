"""Why a transcript cannot be used, worded for the sender."""

from typing import Final

from ai_psychiatrist.domain.errors import SpeakersUnknown, TranscriptTooLong, TranscriptUnreadable
from ai_psychiatrist.domain.transcript import MAX_TURNS
from ai_psychiatrist.services.transcripts.speaker_labels import EVERYBODY
from ai_psychiatrist.services.transcripts.utterances import FileFault, FileRefused

_REASONS: Final = {
    FileFault.NOT_TEXT: (
        "it is not text in UTF-8, UTF-16 or Windows-1252; save what is in it as text or Word"
    ),
    FileFault.UNKNOWN_FORM: "it is JSON or a table, but in no form of a transcript that is known",
    FileFault.SEVERAL_INTERVIEWS: (
        "it holds several interviews; assess them with `ai-psychiatrist evaluate run`"
    ),
    FileFault.WRONG_HEADER: "its header is not that of a transcript",
    FileFault.BROKEN_ROW: "a row or record is broken: cut off, or not as its form has it",
    FileFault.SUBTITLES_REFUSED: "it is a malformed subtitle file",
    FileFault.DOCUMENT_REFUSED: "it is a malformed or oversized document",
    FileFault.TOO_LARGE: "it is larger than a transcript can be",
    FileFault.NO_WORDS: "it has no spoken words",
    FileFault.NO_PARTICIPANT: "it holds no words of a participant",
    FileFault.SPEAKERS_UNKNOWN: "the participant is not named",
}


def refusal_of(error: FileRefused, *, field: str = "transcript_text") -> TranscriptUnreadable:
    """Return the error of the whole service for a file that a reader refused."""
    place = "" if error.line is None else f" (line {error.line})"
    return TranscriptUnreadable(
        f"the transcript cannot be read: {error.what or _REASONS[error.fault]}{place}",
        field=field,
        fault=error.fault,
        line=error.line,
    )


def several_unnamed(sign: str) -> SpeakersUnknown:
    """Return the error for unnamed speakers of whom a sign shows that they are several."""
    return SpeakersUnknown(
        f"the transcript names none of its speakers, and {sign}; name them in it, or say that all "
        f"words are the participant's: --participant '{EVERYBODY}' on the command line, "
        f"participant='{EVERYBODY}' in Python, "
        f'speakers {{"{EVERYBODY}": "participant"}} over HTTP'
    )


def too_long(most_characters: float, *, field: str) -> TranscriptTooLong:
    """Return the error for more characters than the settings allow."""
    return TranscriptTooLong(
        f"the transcript has more than {most_characters:,} characters, the limit set by "
        "API_MAX_TRANSCRIPT_CHARS",
        field=field,
        fault=FileFault.TOO_LARGE,
    )


def too_many_turns() -> TranscriptUnreadable:
    """Return the error for more turns than are read."""
    return TranscriptUnreadable(
        f"the transcript has more than {MAX_TURNS:,} turns; join the lines that one speaker says "
        "one after the other",
        fault=FileFault.TOO_LARGE,
    )
