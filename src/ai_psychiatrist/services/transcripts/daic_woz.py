"""Rows of a DAIC-WOZ transcript file: what is speech, what is left out, and what is odd."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

ELLIE: Final = "Ellie"
PARTICIPANT: Final = "Participant"
SCRUBBED_PLACEHOLDER: Final = "<scrubbed>"
"""Stands for removed words between others; in angle brackets, so that no quote rests on it."""

_HEADER: Final = ["start_time", "stop_time", "speaker", "value"]
_SPEAKERS: Final = {"ellie": ELLIE, "participant": PARTICIPANT}
_LINE_END: Final = re.compile(r"\r\n|\n|\r")
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


class RowNote(StrEnum):
    """What is odd about a row, or about all of them."""

    SYNC_MARK = "sync_mark"
    SMALL_TALK = "small_talk"
    BLANK_WORDS = "blank_words"
    WORDS_WITHOUT_SPEAKER = "words_without_speaker"
    SPEAKER_SPELLING = "speaker_spelling"
    SCRUBBED = "scrubbed"
    UNRECOGNISED_WORDS = "unrecognised_words"
    NONVERBAL = "nonverbal"
    CODED_LINE = "coded_line"
    INTERRUPTION = "interruption"
    TIME_UNREADABLE = "time_unreadable"
    NO_INTERVIEWER = "no_interviewer"


class FileFault(StrEnum):
    """Why a file is no transcript."""

    WRONG_HEADER = "wrong_header"
    BROKEN_ROW = "broken_row"
    UNKNOWN_SPEAKER_ROW = "unknown_speaker_row"
    NO_WORDS = "no_words"


class RowsUnreadable(Exception):
    """A file cannot be read without losing what was said; carries no words of it."""

    def __init__(self, fault: FileFault, line: int | None = None) -> None:
        super().__init__(fault.value)
        self.fault = fault
        self.line = line


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenRow:
    """One row of speech."""

    line: int
    """Its line in the file, from 1."""
    start_seconds: float | None
    speaker: str
    words: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedRow:
    """Something odd, and the line where it is."""

    note: RowNote
    line: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The speech of one session in order, and all that was odd."""

    rows: tuple[SpokenRow, ...]
    notes: tuple[NotedRow, ...]


def read_session(
    content: str, *, participant_id: int, policy: RowPolicy = DEFAULT_POLICY
) -> Session:
    """Read the rows of a transcript file; the format has no quoting, tabs alone part the columns.

    Values are text whatever they look like: `None`, `null` and a lone quote mark are speech. Sync
    marks, rows without words or without a speaker, scrubbed rows, interruptions, and the talk
    before the interviewer's first line are left out and noted. Raises `RowsUnreadable` for a file
    of another form, for rows of speakers that the format does not know, and without any words.
    """
    notes: list[NotedRow] = []
    rows = list(_rows(content, notes))
    rows = list(_without_small_talk(rows, notes))
    rows = list(_without_interruption(rows, _window(participant_id, policy), notes))
    spoken = [_with_plain_words(row, policy, notes) for row in rows]
    kept = tuple(row for row in spoken if row is not None)
    if not kept:
        raise RowsUnreadable(FileFault.NO_WORDS)
    return Session(rows=kept, notes=tuple(notes))


def _rows(content: str, notes: list[NotedRow]) -> Iterator[SpokenRow]:
    header, *lines = _LINE_END.split(content)
    if [name.strip().casefold() for name in header.split("\t")] != _HEADER:
        raise RowsUnreadable(FileFault.WRONG_HEADER, 1)
    for number, line in enumerate(lines, start=2):
        columns = line.split("\t", len(_HEADER) - 1)
        if not any(column.strip() for column in columns):
            continue
        if len(columns) < len(_HEADER):
            raise RowsUnreadable(FileFault.BROKEN_ROW, number)
        row = _row(columns, number, notes)
        if row is not None:
            yield row


def _row(columns: Sequence[str], number: int, notes: list[NotedRow]) -> SpokenRow | None:
    label, words = columns[2].strip(), columns[3].strip()
    if _SYNC.fullmatch(words):
        notes.append(NotedRow(note=RowNote.SYNC_MARK, line=number))
        return None
    if not words and label.casefold() in {"", *_SPEAKERS}:
        notes.append(NotedRow(note=RowNote.BLANK_WORDS, line=number))
        return None
    if not label:
        notes.append(NotedRow(note=RowNote.WORDS_WITHOUT_SPEAKER, line=number))
        return None
    speaker = _SPEAKERS.get(label.casefold())
    if speaker is None:
        raise RowsUnreadable(FileFault.UNKNOWN_SPEAKER_ROW, number)
    if columns[2] != speaker:
        notes.append(NotedRow(note=RowNote.SPEAKER_SPELLING, line=number))
    return SpokenRow(line=number, start_seconds=_seconds(columns[0]), speaker=speaker, words=words)


def _seconds(written: str) -> float | None:
    try:
        return float(written)
    except ValueError:
        return None


def _without_small_talk(rows: Sequence[SpokenRow], notes: list[NotedRow]) -> Iterator[SpokenRow]:
    """Yield the rows from the interviewer's first on; all of them where she says nothing."""
    first = next((at for at, row in enumerate(rows) if row.speaker == ELLIE), None)
    if first is None and rows:
        notes.append(NotedRow(note=RowNote.NO_INTERVIEWER, line=None))
    before = rows[:first] if first else ()
    notes.extend(NotedRow(note=RowNote.SMALL_TALK, line=row.line) for row in before)
    yield from rows[first or 0 :]


_Window = tuple[float, float]
_WINDOWS_373: Final[dict[Interruption373, _Window]] = {
    Interruption373.OFFICIAL: (352, 420),
    Interruption373.TOOL: (395, 428),
    Interruption373.TOOL_TEST: (395, 481),
}
_WINDOW_444: Final[_Window] = (286, 387)


def _window(participant_id: int, policy: RowPolicy) -> _Window | None:
    """Return from when to when somebody interrupts the interview, in seconds, end exclusive."""
    if participant_id == 444:
        return _WINDOW_444
    return _WINDOWS_373.get(policy.interruption_373) if participant_id == 373 else None


def _without_interruption(
    rows: Sequence[SpokenRow], window: _Window | None, notes: list[NotedRow]
) -> Iterator[SpokenRow]:
    for row in rows:
        if window is None:
            yield row
        elif row.start_seconds is None:
            notes.append(NotedRow(note=RowNote.TIME_UNREADABLE, line=row.line))
            yield row
        elif window[0] <= row.start_seconds < window[1]:
            notes.append(NotedRow(note=RowNote.INTERRUPTION, line=row.line))
        else:
            yield row


def _with_plain_words(row: SpokenRow, policy: RowPolicy, notes: list[NotedRow]) -> SpokenRow | None:
    """Take out codes and removed personal details; `None` when no words are left."""
    words = row.words
    coded = _CODED.fullmatch(words) if row.speaker == ELLIE else None
    if coded and _is_code(coded):
        notes.append(NotedRow(note=RowNote.CODED_LINE, line=row.line))
        words = _of_coded(coded, policy.coded_lines)
    if _UNRECOGNISED.search(words):
        notes.append(NotedRow(note=RowNote.UNRECOGNISED_WORDS, line=row.line))
    if _NONVERBAL.search(_SCRUBBED.sub("", words)):
        notes.append(NotedRow(note=RowNote.NONVERBAL, line=row.line))
    scrubbed = without_personal_details(words)
    if scrubbed != words:
        notes.append(NotedRow(note=RowNote.SCRUBBED, line=row.line))
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
