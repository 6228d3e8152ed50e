"""Transcript files of DAIC-WOZ and E-DAIC: what is speech, what is left out, and what is odd."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from ai_psychiatrist.services.transcripts.lines import (
    MOST_SECONDS,
    MOST_UTTERANCES,
    lines_of,
    on_one_line,
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

_DAIC_WOZ: Final = ["start_time", "stop_time", "speaker", "value"]
_E_DAIC: Final = ["start_time", "end_time", "text"]
_E_DAIC_HEADERS: Final = (_E_DAIC, [*_E_DAIC, "confidence"])
_SPEAKERS: Final = {"ellie": ELLIE, "participant": PARTICIPANT}
_HEADER_END: Final = re.compile(r"[\r\n]")
_SEPARATOR: Final = re.compile(r"[,\t;]")
_MOST_HEADER: Final = 400
_MOST_TIME: Final = 40
_SECONDS: Final = re.compile(r"\+?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_LIKE_A_TIME: Final = re.compile(
    r"[-+]?[\d.,:]*(?:\d[eE][-+]?\d+)?|[-+]?inf(?:inity)?|nan|null|none|n/?a|-|\?",
    re.ASCII | re.IGNORECASE,
)
_SYNC: Final = re.compile(r"\s*[<\[]sync(?:h)?(?:ing)?[>\]]\.?\s*", re.IGNORECASE)
_SCRUBBED: Final = re.compile(r"\bscrubbed_entry\b", re.IGNORECASE)
_UNRECOGNISED: Final = re.compile(r"\bxxx+\b", re.IGNORECASE)
_NONVERBAL: Final = re.compile(r"<[^<>]{1,60}>|\[[^\[\]]{1,60}\]")
_CODED: Final = re.compile(r"(?P<code>[A-Za-z]\w*)\s*\((?P<words>\s*\S.*)\)")
_CODE_MARK: Final = re.compile(r"\w*(?:_|\d|[a-z][A-Z])\w*")


class Interruption373(StrEnum):
    """Which rows of session 373 are no interview; sources disagree on when it was interrupted."""

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
_Window = tuple[float, float]
_WINDOWS_373: Final[dict[Interruption373, _Window]] = {
    Interruption373.OFFICIAL: (352, 420),
    Interruption373.TOOL: (395, 428),
    Interruption373.TOOL_TEST: (395, 481),
}
_WINDOW_444: Final[_Window] = (286, 387)


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    """In the file, from 1."""
    said: Utterance = field(repr=False)


class _Notes(list[Noted]):
    """What is odd about a file."""

    def add(self, line: int | None, odd: Mapping[ReadingNote, object]) -> None:
        """Note of a line all that is so."""
        self.extend(Noted(note=note, line=line) for note, is_so in odd.items() if is_so)


def read_daic_woz(
    text: str, *, session: int | None, policy: RowPolicy = DEFAULT_POLICY
) -> FileReading | None:
    """Read the rows of a transcript file, labelled with the speakers that it names.

    `None` for a text with another header; whatever separates the columns counts.

    `session`: the number of the session, where it is known; two of them were interrupted.

    Tabs part the columns and the format has no quoting; in copies that commas or semicolons part,
    quotes around all of a value are taken off. Values are text whatever they look like: `None`,
    `null` and a lone quote mark are speech. Sync marks, rows without words, scrubbed rows,
    interruptions, and the talk before the interviewer's first line are left out and noted. Words
    without a speaker and those of other speakers are kept and noted. Raises `FileRefused` for a
    broken row, and for a file without any words.
    """
    header = _row_header(text)
    if header is None or header[1] != _DAIC_WOZ:
        return None
    notes = _Notes()
    rows = list(_rows(lines_of(text), header[0], notes))
    rows = _without_small_talk(rows, notes)
    rows = list(_without_interruption(rows, _window(session, policy), notes))
    spoken = [_with_plain_words(row, policy, notes) for row in rows]
    return _reading(Form.DAIC_WOZ, spoken, notes)


def _reading(form: Form, said: Sequence[Utterance | None], notes: Sequence[Noted]) -> FileReading:
    kept = tuple(one for one in said if one is not None and one.words)
    if not kept:
        raise FileRefused(FileFault.NO_WORDS)
    return FileReading(form=form, utterances=kept, notes=tuple(notes))


def _rows(lines: Sequence[str], separator: str, notes: _Notes) -> Iterator[_Row]:
    if len(lines) > MOST_UTTERANCES:
        raise FileRefused(FileFault.TOO_LARGE)
    for number, line in enumerate(lines[1:], start=2):
        columns = line.split(separator, len(_DAIC_WOZ) - 1)
        if not any(column.strip() for column in columns):
            continue
        if len(columns) < len(_DAIC_WOZ):
            raise FileRefused(FileFault.BROKEN_ROW, number)
        if separator != "\t":
            columns = _of_loose_copy(columns, separator, number, notes)
        label, words = on_one_line(columns[2]), on_one_line(columns[3])
        if _SYNC.fullmatch(words) or not words:
            notes.add(number, {ReadingNote.SYNC_MARK: words, ReadingNote.BLANK_WORDS: not words})
            continue
        speaker = _SPEAKERS.get(label.casefold(), label)
        start, stop = (_seconds(column, separator) for column in columns[:2])
        is_known = label.casefold() in _SPEAKERS
        notes.add(
            number,
            {
                ReadingNote.WORDS_WITHOUT_SPEAKER: not label,
                ReadingNote.SPEAKER_UNKNOWN: label and not is_known,
                ReadingNote.SPEAKER_SPELLING: is_known and columns[2] != speaker,
                ReadingNote.TIME_UNREADABLE: start is None or stop is None,
            },
        )
        yield _Row(
            number,
            Utterance(label=speaker or None, words=words, start_seconds=start, end_seconds=stop),
        )


def _of_loose_copy(columns: Sequence[str], separator: str, number: int, notes: _Notes) -> list[str]:
    """Take the quotes off the columns; without times, the line is the rest of broken words."""
    if not all(map(_is_like_a_time, columns[:2])):
        raise FileRefused(FileFault.BROKEN_ROW, number)
    words = columns[3].strip()
    is_quoted = words[:1] == '"' and _closing_quote(words[1:]) == len(words) - 2
    notes.add(number, {ReadingNote.UNQUOTED_SEPARATOR: not is_quoted and separator in words})
    if is_quoted:
        words = words[1:-1].replace('""', '"')
    return [*columns[:2], _unquoted(columns[2]), words]


def _without_small_talk(rows: Sequence[_Row], notes: _Notes) -> list[_Row]:
    """Return the rows from the interviewer's first on; all of them where she says nothing."""
    first = next((at for at, row in enumerate(rows) if row.said.label == ELLIE), None)
    notes.add(None, {ReadingNote.NO_INTERVIEWER: first is None and rows})
    for row in rows[: first or 0]:
        notes.add(row.line, {ReadingNote.SMALL_TALK: True})
    return list(rows[first or 0 :])


def _window(session: int | None, policy: RowPolicy) -> _Window | None:
    """Return from when to when an interview is interrupted, in seconds, end exclusive."""
    if session == 444:
        return _WINDOW_444
    return _WINDOWS_373.get(policy.interruption_373) if session == 373 else None


def _without_interruption(
    rows: Sequence[_Row], window: _Window | None, notes: _Notes
) -> Iterator[_Row]:
    for row in rows:
        start = row.said.start_seconds
        if window is not None and start is not None and window[0] <= start < window[1]:
            notes.add(row.line, {ReadingNote.INTERRUPTION: True})
        else:
            yield row


def _with_plain_words(row: _Row, policy: RowPolicy, notes: _Notes) -> Utterance:
    """Take out codes and removed personal details, after which no words may be left."""
    words = row.said.words
    coded = _CODED.fullmatch(words) if row.said.label == ELLIE else None
    is_coded = coded is not None and _is_code(coded)
    if coded is not None and is_coded:
        kept = {CodedLines.TEXT: coded["words"].strip(), CodedLines.CODE: coded["code"]}
        words = kept.get(policy.coded_lines, words)
    scrubbed = _without_personal_details(words)
    notes.add(
        row.line,
        {
            ReadingNote.CODED_LINE: is_coded,
            ReadingNote.UNRECOGNISED_WORDS: _UNRECOGNISED.search(words),
            ReadingNote.NONVERBAL: _NONVERBAL.search(_SCRUBBED.sub("", words)),
            ReadingNote.SCRUBBED: scrubbed != words,
        },
    )
    return replace(row.said, words=scrubbed)


def _without_personal_details(words: str) -> str:
    """Put a placeholder where personal details were removed; "" when nothing else was said."""
    others = _SCRUBBED.sub("", words)
    if others != words and not others.strip(" .,<>[]"):
        return ""
    return _SCRUBBED.sub(SCRUBBED_PLACEHOLDER, words)


def _is_code(coded: re.Match[str]) -> bool:
    """Tell a code from a word with an aside: it has a mark of one, or is what is said."""
    is_marked = _CODE_MARK.fullmatch(coded["code"]) is not None
    return is_marked or coded["code"].casefold() == coded["words"].strip().casefold()


def read_e_daic(text: str) -> FileReading | None:
    """Read the rows, `None` for a text with another header; the participant alone has words.

    A line begins a row when it has three columns or more and the first two hold a time, a blank,
    or what stands for a missing or unreadable number. Such a line never continues the row before.
    Any other line continues it only inside quotes which open the column of words, and which
    close, before the next row, at the end of that column. A quote mark that does not is speech.
    Raises `FileRefused` for a line that is neither, for a confidence that is
    no number from 0 to 1, and where nothing is said.
    """
    header = _row_header(text)
    if header is None or header[1] not in _E_DAIC_HEADERS:
        return None
    columns = _Columns(separator=header[0], has_confidence=header[1] != _E_DAIC)
    notes = _Notes()
    lines = lines_of(text)
    said: list[Utterance] = []
    at = 1
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        used, utterance = _e_daic_row(lines, at, columns, notes)
        said.append(utterance)
        at += used
        if len(said) > MOST_UTTERANCES:
            raise FileRefused(FileFault.TOO_LARGE, at)
    return _reading(Form.E_DAIC, said, notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    separator: str
    has_confidence: bool

    def begins_row(self, line: str) -> bool:
        parts = line.split(self.separator, 2)
        return len(parts) == 3 and all(map(_is_like_a_time, parts[:2]))

    def is_confidence(self, column: str) -> bool:
        """Tell a confidence, which may be blank, from words that end in a number."""
        value = _seconds(column, self.separator)
        return value <= 1 if value is not None else not _unquoted(column)

    def quoted(self, rest: str, lines: Sequence[str], following: int) -> list[str] | None:
        """Return the lines of a column in quotes, `None` where its quote mark is speech."""
        if not rest.lstrip(" ").startswith('"'):
            return None
        taken = [rest.lstrip(" ")[1:]]
        while (close := _closing_quote(taken[-1])) is None:
            if following == len(lines) or self.begins_row(lines[following]):
                return None
            taken.append(lines[following])
            following += 1
        ending, taken[-1] = taken[-1][close + 1 :], taken[-1][:close]
        if not self.has_confidence:
            return None if ending.strip() else taken
        blank, found, confidence = ending.partition(self.separator)
        is_end = not blank.strip() and bool(found) and self.is_confidence(confidence)
        return taken if is_end else None

    def loose(self, rest: str, number: int) -> str:
        """Return the words of a column without quotes; separators in it are words."""
        if not self.has_confidence:
            return rest
        words, found, confidence = rest.rpartition(self.separator)
        if not found or not self.is_confidence(confidence):
            raise FileRefused(FileFault.BROKEN_ROW, number)
        return words


def _e_daic_row(
    lines: Sequence[str], at: int, columns: _Columns, notes: _Notes
) -> tuple[int, Utterance]:
    """Read the row that begins at an index of the lines; return how many lines it has as well."""
    number = at + 1
    if not columns.begins_row(lines[at]):
        raise FileRefused(FileFault.BROKEN_ROW, number)
    start, end, rest = lines[at].split(columns.separator, 2)
    quoted = columns.quoted(rest, lines, at + 1)
    if quoted is None:
        written = columns.loose(rest, number)
    else:
        written = "\n".join(quoted).replace('""', '"')
    words = on_one_line(written)
    said = Utterance(
        label=PARTICIPANT,
        words=_without_personal_details(words),
        start_seconds=_seconds(start, columns.separator),
        end_seconds=_seconds(end, columns.separator),
    )
    notes.add(
        number,
        {
            ReadingNote.UNQUOTED_SEPARATOR: quoted is None and columns.separator in written,
            ReadingNote.BLANK_WORDS: not words,
            ReadingNote.SCRUBBED: said.words != words,
            ReadingNote.TIME_UNREADABLE: said.start_seconds is None or said.end_seconds is None,
        },
    )
    return len(quoted or [""]), said


def _row_header(text: str) -> tuple[str, list[str]] | None:
    """Return what separates the columns of the first line, and their names without case.

    `None` where the line is longer than any header, or has one column.
    """
    header = _HEADER_END.split(text[:_MOST_HEADER].removeprefix("\ufeff"), maxsplit=1)[0]
    separator = _SEPARATOR.search(header)
    if separator is None:
        return None
    return separator[0], [_unquoted(name).casefold() for name in header.split(separator[0])]


def _unquoted(column: str) -> str:
    """Strip a column, and the quotes around all of it."""
    plain = column.strip()
    is_quoted = len(plain) > 1 and plain[0] == plain[-1] == '"'
    return plain[1:-1].strip() if is_quoted else plain


def _seconds(written: str, separator: str) -> float | None:
    """Read a time from zero on; `None` for any other. A comma may mark the decimals of it."""
    plain = _unquoted(written)
    if separator != ",":
        plain = plain.replace(",", ".")
    if len(plain) > _MOST_TIME or not _SECONDS.fullmatch(plain):
        return None
    value = float(plain)
    return value if value <= MOST_SECONDS else None


def _is_like_a_time(written: str) -> bool:
    """Tell a column of times, blank and unreadable ones too, from words."""
    plain = _unquoted(written)
    return len(plain) <= _MOST_TIME and _LIKE_A_TIME.fullmatch(plain) is not None


def _closing_quote(quoted: str) -> int | None:
    """Return where the quote closes in which a text begins; two in a row are one in the words."""
    at = quoted.find('"')
    while at >= 0 and quoted[at + 1 : at + 2] == '"':
        at = quoted.find('"', at + 2)
    return at if at >= 0 else None
