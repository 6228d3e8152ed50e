"""Tables (CSV, TSV) whose header names a column of words."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeAlias

from ai_psychiatrist.domain.normal_form import nfkc
from ai_psychiatrist.domain.transcript import Speaker
from ai_psychiatrist.services.transcripts.formats.gathering import Gathering, speaker_name
from ai_psychiatrist.services.transcripts.lines import FILE_LINE_END, MOST_UTTERANCES
from ai_psychiatrist.services.transcripts.speaker_labels import (
    DEFAULT_LABELS,
    known_speaker,
    with_pairs,
)
from ai_psychiatrist.services.transcripts.utterances import (
    FileFault,
    FileReading,
    FileRefused,
    Form,
)


class Meaning(StrEnum):
    """What a column holds."""

    WORDS = "words"
    SPEAKER = "speaker"
    START = "start"
    END = "end"
    INTERVIEW = "interview"
    """Which interview a row is of."""
    APART = "apart"
    """Nothing of who says what."""


_COLUMN_NAMES: Final = {
    Meaning.WORDS: (
        "text value utterance transcript transcription words content message sentence speech "
        "spokentext said dialogue dialog "
        "wortlaut äußerung aussage inhalt nachricht satz transkript gesprochenes "
        "texto frase mensaje contenido transcripción enunciado "
        "texte phrase contenu paroles énoncé propos "
        "mensagem conteúdo fala transcrição testo messaggio contenuto enunciato trascrizione "
        "tekst zin bericht inhoud uitspraak "
        "文本 内容 文字 话语 發言內容 发言内容 テキスト 発言内容 発話 発話内容 本文 "
        "النص نص الكلام المحتوى"
    ),
    Meaning.SPEAKER: (
        "speaker speakers speakername speakerlabel speakerid label role name participant person "
        "who sprecher sprecherin sprecherinnen rolle hablante orador rol nombre "
        "locuteur locutrice intervenant rôle nom falante papel nome "
        "parlante oratore ruolo spreker naam "
        "说话人 說話人 发言人 發言人 讲话者 角色 姓名 話者 発言者 役割 名前 "
        "المتحدث المتكلم الدور الاسم"
    ),
    Meaning.START: (
        "start starttime startseconds startsec starts begin begintime time timestamp timecode "
        "zeit zeitstempel beginn anfang inicio tiempo début temps início tempo inizio begintijd "
        "tijd 开始 开始时间 開始 開始時間 時間 时间 البداية الوقت"
    ),
    Meaning.END: (
        "end endtime endseconds endsec ends stop stoptime "
        "ende fin fim fine einde eindtijd 结束 结束时间 結束 終了 終了時間 النهاية"
    ),
    Meaning.INTERVIEW: (
        "interviewid sessionid session conversationid dialogueid dialogid transcriptid "
        "participantid file filename"
    ),
    Meaning.APART: (
        "confidence id index row line no nr number turn turnid segment segmentid utteranceid "
        "duration length language lang channel wordcount probability score"
    ),
}
_PARTING: Final = re.compile(r"[\s_\-.]+")
_UNIT: Final = re.compile(r"[(\[]?(?:s|sec|seconds)[)\]]?\Z")
_SCORES: Final = re.compile(r"phq")


def _key(name: str) -> str:
    plain = nfkc(name.strip().strip('"')).casefold()
    return _PARTING.sub("", plain)


_MEANINGS: Final = {
    _key(name): meaning for meaning, names in _COLUMN_NAMES.items() for name in names.split()
}

_PAIR: Final = (Speaker.INTERVIEWER, Speaker.PARTICIPANT)
_APART: Final = frozenset({Meaning.START, Meaning.END, Meaning.APART})
_MAY_TELL_SPEAKERS: Final = frozenset({"channel", "id", "segment", "turn"})
_SEPARATORS: Final = "\t;,"
_LONGEST_HEADER: Final = 4_000
_MOST_CELLS_OF_LINE: Final = 10_000
"""Separators within quoted words count as well."""
_FIRST_LINE: Final = re.compile(r"(?:[^\S\r\n]*+[\r\n])*+([^\r\n]*)")
_SECOND_LINE: Final = re.compile(r"(?:[^\S\r\n]*+[\r\n])*+[^\r\n]*[\r\n]++([^\r\n]*)")
_NAME: Final = re.compile(r"\s*(?:(?!\d)[^\s.!?:;,]{1,40}(?:[ .][^\s.!?:;,]{1,40}){0,3}\s*)?")
_MILLISECONDS: Final = 1_000
_LONGEST_RECORDING_SECONDS: Final = 36_000
_WHISPER_HEADERS: Final = (["start", "end", "text"], ["start", "end", "speaker", "text"])
_WHOLE: Final = re.compile(r"\d{1,12}")


Columns: TypeAlias = Mapping[Meaning, int]
"""Where in a row each meaning is, from 0; words always are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    line: int
    cells: Sequence[str] = field(repr=False)

    def cell(self, columns: Columns, meaning: Meaning) -> str:
        """Return what a column holds, "" where there is none of this meaning."""
        return self.cells[columns[meaning]] if meaning in columns else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Header:
    """The first line of a table."""

    names: Sequence[str]
    separator: str


def read_any_table(text: str) -> FileReading | None:
    """Read a table of words, or of a column for each speaker; `None` for a text that is neither.

    Quotation marks are read by the rules of CSV. Raises `FileRefused` for a table that is known to
    be no transcript, for a row of another width, for quotation marks that do not close or close
    over other rows, for a cell longer than the library's limit and for too many rows.
    """
    header = _header_of(text)
    if header is None:
        return None
    if _is_of_labels(header.names):
        raise FileRefused(FileFault.UNKNOWN_FORM, 1)
    meanings = {meaning_of(name) for name in header.names} - {None}
    second = _SECOND_LINE.match(text)
    is_as_wide = second is not None and second[1].count(header.separator) >= len(header.names) - 1
    are_names = all(map(_NAME.fullmatch, header.names))
    if are_names and Meaning.WORDS in meanings and (is_as_wide or len(meanings) > 1):
        return _read_table(text, header)
    said = _said(header)
    others = {meaning_of(name) for at, name in enumerate(header.names) if at not in said}
    if len(said) == len(_PAIR) and others <= _APART and is_as_wide:
        return _read_pairs(text, header, said)
    return None


def _read_table(text: str, header: _Header) -> FileReading:
    columns = _columns_of(header.names)
    rows = list(_rows(text, header))[1:]
    columns = _with_speakers(columns, header, rows)
    for row in rows:
        interviews = {one.cell(columns, Meaning.INTERVIEW).strip() for one in (rows[0], row)}
        if len(interviews) > 1:
            raise FileRefused(FileFault.SEVERAL_INTERVIEWS, row.line)
    _refuse_swallowed(rows, columns, header)
    gathering = Gathering()
    per_second = _MILLISECONDS if _is_in_milliseconds(rows, columns, header) else 1
    for row in rows:
        start, end = (
            gathering.written_seconds(row.cell(columns, time), row.line, per_second=per_second)
            for time in (Meaning.START, Meaning.END)
        )
        label = speaker_name(row.cell(columns, Meaning.SPEAKER))
        words = row.cell(columns, Meaning.WORDS)
        gathering.add(label, words, line=row.line, start=start, end=end)
    return gathering.reading(Form.TABLE)


def _read_pairs(text: str, header: _Header, said: Mapping[int, str]) -> FileReading:
    """Read each row as what the speakers of its columns say, one after the other."""
    gathering = Gathering()
    for row in list(_rows(text, header))[1:]:
        for at, label in said.items():
            gathering.add(label, row.cells[at], line=row.line)
    return gathering.reading(Form.TABLE)


def _header_of(text: str) -> _Header | None:
    """Return the first line in its columns, `None` for one that is not parted."""
    line = _FIRST_LINE.match(text)
    first = line[1] if line else ""
    if len(first) > _LONGEST_HEADER:
        return None
    for separator in _SEPARATORS:
        if separator in first:
            try:
                (names,) = csv.reader([first], delimiter=separator, strict=True)
            except (csv.Error, ValueError):
                return None
            return _Header(names=names, separator=separator)
    return None


def _columns_of(header: Sequence[str]) -> Columns:
    """Return where the columns are.

    Raises `FileRefused` where two columns have one meaning, and where none is known to name the
    speakers but some column might.
    """
    places: dict[Meaning, int] = {}
    for at, meaning in enumerate(map(meaning_of, header)):
        if meaning is None or meaning is Meaning.APART:
            continue
        if meaning in places:
            raise FileRefused(FileFault.WRONG_HEADER, 1)
        places[meaning] = at
    if Meaning.SPEAKER not in places and None in map(meaning_of, header):
        raise FileRefused(FileFault.WRONG_HEADER, 1)
    return places


def meaning_of(name: str) -> Meaning | None:
    """Return what a column of this name holds, `None` for a name that is not known."""
    key = _key(name)
    return _MEANINGS.get(key) or _MEANINGS.get(_UNIT.sub("", key))


def _is_of_labels(header: Iterable[str]) -> bool:
    """Tell the header of a data set's scores: participants and what they came to."""
    keys = [_key(name) for name in header]
    is_scored = any(map(_SCORES.match, keys))
    return "participantid" in keys and (is_scored or "gender" in keys)


def _said(header: _Header) -> dict[int, str]:
    """Return the columns that a known label names, of each speaker the first."""
    labels = with_pairs(DEFAULT_LABELS, header.names)
    first: dict[Speaker, tuple[int, str]] = {}
    for at, name in enumerate(header.names):
        speaker = known_speaker(name, labels)
        if speaker in _PAIR:
            first.setdefault(speaker, (at, name.strip()))
    return dict(sorted(first.values()))


def _rows(text: str, header: _Header) -> Iterator[_Row]:
    """Yield the rows behind the header, but for blank ones."""
    reader = csv.reader(_bounded(text, header.separator), delimiter=header.separator, strict=True)
    line = 1
    try:
        for count, cells in enumerate(reader):
            if count > MOST_UTTERANCES:
                raise FileRefused(FileFault.TOO_LARGE, line)
            if any(cell.strip() for cell in cells):
                if len(cells) != len(header.names):
                    raise FileRefused(FileFault.BROKEN_ROW, line)
                yield _Row(line=line, cells=cells)
            line = reader.line_num + 1
    except csv.Error:
        raise FileRefused(FileFault.BROKEN_ROW, line) from None


def _bounded(text: str, separator: str) -> Iterator[str]:
    """Yield the lines; raises `FileRefused` at one of more cells than any table has."""
    for number, line in enumerate(io.StringIO(text, newline=""), start=1):
        if line.count(separator) > _MOST_CELLS_OF_LINE:
            raise FileRefused(FileFault.BROKEN_ROW, number)
        yield line


def _with_speakers(columns: Columns, header: _Header, rows: Sequence[_Row]) -> Columns:
    """Take a column of names or channels that recur for that of the speakers, where none is."""
    if Meaning.SPEAKER in columns:
        return columns
    for at, name in enumerate(header.names):
        values = [row.cells[at].strip() for row in rows]
        is_of_few = 1 < len(set(values)) < len(values) and all(values)
        if name.strip().casefold() in _MAY_TELL_SPEAKERS and is_of_few:
            return {**columns, Meaning.SPEAKER: at}
    return columns


def _refuse_swallowed(rows: Sequence[_Row], columns: Columns, header: _Header) -> None:
    """Refuse words of several lines of which one is a row of a speaker in the table.

    A lone quotation mark before it would otherwise give one speaker's words to another.
    """
    at = columns.get(Meaning.SPEAKER)
    if at is None:
        return
    labels = {row.cells[at].strip() for row in rows}
    for row in rows:
        for line in FILE_LINE_END.split(row.cell(columns, Meaning.WORDS))[1:]:
            cells = line.split(header.separator, len(header.names) - 1)
            if len(cells) == len(header.names) and cells[at].strip().strip('"') in labels:
                raise FileRefused(FileFault.BROKEN_ROW, row.line)


def _is_in_milliseconds(rows: Sequence[_Row], columns: Columns, header: _Header) -> bool:
    """Tell the tables that Whisper writes: whole numbers, and with speakers such as no day has."""
    if [name.strip().casefold() for name in header.names] not in _WHISPER_HEADERS:
        return False
    times = [row.cell(columns, Meaning.END).strip() for row in rows]
    times += [row.cell(columns, Meaning.START).strip() for row in rows if columns[Meaning.START]]
    if not all(map(_WHOLE.fullmatch, times)):
        return False
    return Meaning.SPEAKER not in columns or max(map(int, times)) > _LONGEST_RECORDING_SECONDS
