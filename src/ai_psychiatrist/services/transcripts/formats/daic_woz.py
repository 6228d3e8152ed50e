"""Rows of a DAIC-WOZ transcript file: what is speech, what is left out, and what is odd."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from ai_psychiatrist.services.transcripts.file_lines import MOST_UTTERANCES, lines_of, on_one_line
from ai_psychiatrist.services.transcripts.formats.row_columns import (
    closing_quote,
    is_like_a_time,
    seconds,
    separator_of,
    unquoted,
)
from ai_psychiatrist.services.transcripts.utterances import (
    FileFault,
    FileReading,
    FileRefused,
    Form,
    Noted,
    ReadingNote,
    Utterance,
)

ELLIE: Final = "Ellie"
PARTICIPANT: Final = "Participant"
SCRUBBED_PLACEHOLDER: Final = "<scrubbed>"
"""Stands for removed words between others; in angle brackets, so that no quote rests on it."""

_HEADER: Final = ["start_time", "stop_time", "speaker", "value"]
_SPEAKERS: Final = {"ellie": ELLIE, "participant": PARTICIPANT}
_SYNC: Final = re.compile(r"\s*[<\[]sync(?:h)?(?:ing)?[>\]]\.?\s*", re.IGNORECASE)
_SCRUBBED: Final = re.compile(r"\bscrubbed_entry\b", re.IGNORECASE)
_UNRECOGNISED: Final = re.compile(r"\bxxx+\b", re.IGNORECASE)
_NONVERBAL: Final = re.compile(r"<[^<>]{1,60}>|\[[^\[\]]{1,60}\]")
_CODED: Final = re.compile(r"(?P<code>[A-Za-z]\w*)\s*\((?P<words>\s*\S.*)\)")
_CODE_MARK: Final = re.compile(r"\w*(?:_|\d|[a-z][A-Z])\w*")


class Interruption373(StrEnum):
    """Which rows of session 373 are no interview; the sources disagree on when somebody came in."""

    OFFICIAL = "official"
    """352–420 s, as the corpus' documentation says."""
    TOOL = "tool"
    """395–428 s, as the cleaning tool of Bailey and Plumbley removes."""
    TOOL_TEST = "tool-test"
    """395–481 s, as that tool's own test uses."""
    KEEP = "keep"
    """Nothing is left out."""


class CodedLines(StrEnum):
    """What is kept of a line of Ellie's such as `code (spoken words)`."""

    TEXT = "text"
    CODE = "code"
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPolicy:
    """What a user may choose about the reading of rows."""

    interruption_373: Interruption373 = Interruption373.OFFICIAL
    coded_lines: CodedLines = CodedLines.TEXT


DEFAULT_POLICY: Final = RowPolicy()


_Notes = list[Noted]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """One row of speech."""

    line: int
    """Its line in the file, from 1."""
    start_seconds: float | None
    stop_seconds: float | None
    label: str | None = field(repr=False)
    words: str = field(repr=False)


def is_daic_woz(text: str) -> bool:
    """Tell by the header whether a file has this form, whatever separates its columns."""
    return separator_of(text, (_HEADER,)) is not None


def read_daic_woz(
    text: str, *, session: int | None, policy: RowPolicy = DEFAULT_POLICY
) -> FileReading:
    """Read the rows of a transcript file, labelled with the speakers that it names.

    `session`: the number of the session, where it is known; two of them were interrupted.

    Tabs part the columns and the format has no quoting; in copies that commas or semicolons part,
    quotes around all of a value are taken off. Values are text whatever they look like: `None`,
    `null` and a lone quote mark are speech. Sync marks, rows without words, scrubbed rows,
    interruptions, and the talk before the interviewer's first line are left out and noted. Words
    without a speaker and those of other speakers are kept and noted. Raises `FileRefused` for a
    file of another form, and for one without any words.
    """
    separator = separator_of(text, (_HEADER,))
    if separator is None:
        raise FileRefused(FileFault.WRONG_HEADER, 1)
    notes: _Notes = []
    rows = list(_rows(lines_of(text), separator, notes))
    rows = list(_without_small_talk(rows, notes))
    rows = list(_without_interruption(rows, _window(session, policy), notes))
    spoken = [_with_plain_words(row, policy, notes) for row in rows]
    kept = tuple(_utterance(row) for row in spoken if row is not None)
    if not kept:
        raise FileRefused(FileFault.NO_WORDS)
    return FileReading(form=Form.DAIC_WOZ, utterances=kept, notes=tuple(notes))


def _utterance(row: _Row) -> Utterance:
    return Utterance(
        label=row.label,
        words=row.words,
        start_seconds=row.start_seconds,
        end_seconds=row.stop_seconds,
    )


def _rows(lines: Sequence[str], separator: str, notes: _Notes) -> Iterator[_Row]:
    if len(lines) > MOST_UTTERANCES:
        raise FileRefused(FileFault.TOO_LARGE)
    for number, line in enumerate(lines[1:], start=2):
        columns = line.split(separator, len(_HEADER) - 1)
        if not any(column.strip() for column in columns):
            continue
        if len(columns) < len(_HEADER):
            raise FileRefused(FileFault.BROKEN_ROW, number)
        if separator != "\t":
            columns = _of_loose_copy(columns, separator, number, notes)
        row = _row(columns, separator, number, notes)
        if row is not None:
            yield row


def _of_loose_copy(columns: Sequence[str], separator: str, number: int, notes: _Notes) -> list[str]:
    """Take the quotes off the columns; without times, the line is the rest of broken words."""
    if not all(is_like_a_time(column) for column in columns[:2]):
        raise FileRefused(FileFault.BROKEN_ROW, number)
    words = columns[3].strip()
    if words[:1] == '"' and closing_quote(words[1:]) == len(words) - 2:
        words = words[1:-1].replace('""', '"')
    elif separator in words:
        notes.append(Noted(note=ReadingNote.UNQUOTED_SEPARATOR, line=number))
    return [*columns[:2], unquoted(columns[2]), words]


def _row(columns: Sequence[str], separator: str, number: int, notes: _Notes) -> _Row | None:
    label, words = on_one_line(columns[2]), on_one_line(columns[3])
    if _SYNC.fullmatch(words):
        notes.append(Noted(note=ReadingNote.SYNC_MARK, line=number))
        return None
    if not words:
        notes.append(Noted(note=ReadingNote.BLANK_WORDS, line=number))
        return None
    speaker = _SPEAKERS.get(label.casefold(), label)
    start, stop = (seconds(column, separator) for column in columns[:2])
    odd = {
        ReadingNote.WORDS_WITHOUT_SPEAKER: not label,
        ReadingNote.SPEAKER_UNKNOWN: label and label.casefold() not in _SPEAKERS,
        ReadingNote.SPEAKER_SPELLING: label.casefold() in _SPEAKERS and columns[2] != speaker,
        ReadingNote.TIME_UNREADABLE: start is None or stop is None,
    }
    notes += (Noted(note=note, line=number) for note, is_so in odd.items() if is_so)
    return _Row(
        line=number, start_seconds=start, stop_seconds=stop, label=speaker or None, words=words
    )


def _without_small_talk(rows: Sequence[_Row], notes: _Notes) -> Iterator[_Row]:
    """Yield the rows from the interviewer's first on; all of them where she says nothing."""
    first = next((at for at, row in enumerate(rows) if row.label == ELLIE), None)
    if first is None and rows:
        notes.append(Noted(note=ReadingNote.NO_INTERVIEWER))
    before = rows[:first] if first else ()
    notes.extend(Noted(note=ReadingNote.SMALL_TALK, line=row.line) for row in before)
    yield from rows[first or 0 :]


_Window = tuple[float, float]
_WINDOWS_373: Final[dict[Interruption373, _Window]] = {
    Interruption373.OFFICIAL: (352, 420),
    Interruption373.TOOL: (395, 428),
    Interruption373.TOOL_TEST: (395, 481),
}
_WINDOW_444: Final[_Window] = (286, 387)


def _window(session: int | None, policy: RowPolicy) -> _Window | None:
    """Return from when to when somebody interrupts the interview, in seconds, end exclusive."""
    if session == 444:
        return _WINDOW_444
    return _WINDOWS_373.get(policy.interruption_373) if session == 373 else None


def _without_interruption(
    rows: Sequence[_Row], window: _Window | None, notes: _Notes
) -> Iterator[_Row]:
    for row in rows:
        if window is None or row.start_seconds is None:
            yield row
        elif window[0] <= row.start_seconds < window[1]:
            notes.append(Noted(note=ReadingNote.INTERRUPTION, line=row.line))
        else:
            yield row


def _with_plain_words(row: _Row, policy: RowPolicy, notes: _Notes) -> _Row | None:
    """Take out codes and removed personal details; `None` when no words are left."""
    words = row.words
    coded = _CODED.fullmatch(words) if row.label == ELLIE else None
    if coded and _is_code(coded):
        notes.append(Noted(note=ReadingNote.CODED_LINE, line=row.line))
        words = _of_coded(coded, policy.coded_lines)
    if _UNRECOGNISED.search(words):
        notes.append(Noted(note=ReadingNote.UNRECOGNISED_WORDS, line=row.line))
    if _NONVERBAL.search(_SCRUBBED.sub("", words)):
        notes.append(Noted(note=ReadingNote.NONVERBAL, line=row.line))
    scrubbed = without_personal_details(words)
    if scrubbed != words:
        notes.append(Noted(note=ReadingNote.SCRUBBED, line=row.line))
    return replace(row, words=scrubbed) if scrubbed else None


def without_personal_details(words: str) -> str:
    """Put a placeholder where personal details were removed; "" when nothing else was said."""
    others = _SCRUBBED.sub("", words)
    if others != words and not others.strip(" .,<>[]"):
        return ""
    return _SCRUBBED.sub(SCRUBBED_PLACEHOLDER, words)


def _is_code(coded: re.Match[str]) -> bool:
    """Tell a code from a word with an aside: it has a mark of one, or is what is said."""
    is_marked = _CODE_MARK.fullmatch(coded["code"]) is not None
    return is_marked or coded["code"].casefold() == coded["words"].strip().casefold()


def _of_coded(coded: re.Match[str], kept: CodedLines) -> str:
    if kept is CodedLines.TEXT:
        return coded["words"].strip()
    return coded["code"] if kept is CodedLines.CODE else coded[0]
