"""The texts of a dataset's units: read once for the digest, and again, unchanged, when needed."""

import csv
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import InputError, SpeakersUnknown, TranscriptUnreadable
from ai_psychiatrist.domain.transcript import Speaker, Transcript, Turn
from ai_psychiatrist.evaluation.datasets.dataset import (
    DataIssue,
    Dataset,
    DatasetKind,
    DatasetUnit,
    IssueCode,
    LabelFile,
    SpeakerFilter,
)
from ai_psychiatrist.evaluation.datasets.label_tables import headers_of
from ai_psychiatrist.evaluation.datasets.names import SPEAKERS_FILE, UnitNames
from ai_psychiatrist.evaluation.datasets.options import ReadingOptions
from ai_psychiatrist.infrastructure.given_files import (
    open_regular,
    read_at_most,
    read_regular,
    reason_of,
)
from ai_psychiatrist.services.transcripts.encoding import decode_text
from ai_psychiatrist.services.transcripts.lines import on_one_line
from ai_psychiatrist.services.transcripts.rendering import rendered
from ai_psychiatrist.services.transcripts.speaker_labels import (
    EVERYBODY,
    Roles,
    given_roles,
    label_key,
)
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript
from ai_psychiatrist.services.transcripts.utterances import FileFault, FileRefused, Utterance

MOST_BYTES: Final = 1 << 25
"""Bound on one file of a dataset that is read whole."""

_CHECK_BYTES: Final = 16
_OWN_LABEL: Final = "Participant"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitRoles:
    """Who is who in one unit, as a `speakers.csv` says."""

    own: Roles = field(default=(), repr=False)
    """Said of this unit: labels that it has to have."""
    shared: Roles = field(default=(), repr=False)
    """Said of every unit: counts where the label is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSource:
    """Where the bytes of one unit lie."""

    path: Path
    check: bytes
    """Of the content, to tell whether it is still the same."""
    start: int = 0
    """In bytes; `length` is `None` for the whole file."""
    length: int | None = None
    cell: bytes | None = field(default=None, repr=False)
    """The content itself, where it is a cell of a table."""
    roles: UnitRoles = UnitRoles()

    def content(self) -> bytes:
        """Read the bytes again. Raises `TranscriptUnreadable` when they are not the same."""
        if self.cell is not None:
            return self.cell
        try:
            with open_regular(self.path) as file:
                file.seek(self.start)
                length = self.length
                content = read_at_most(file, MOST_BYTES) if length is None else file.read(length)
        except OSError:
            msg = "the transcript's file can no longer be read"
            raise TranscriptUnreadable(msg) from None
        if check_of(content) != self.check:
            msg = "the transcript's file has changed since the dataset was opened; open it again"
            raise TranscriptUnreadable(msg)
        return content

    def transcript(self, content: bytes, options: ReadingOptions) -> Transcript:
        """Read the whole transcript of a unit. Raises `InputError` for one that cannot be used."""
        transcript = self._with_roles(content, options)
        if options.form is not None and transcript.source.form != options.form:
            msg = f"the transcript is not in the form {options.form.value!r}"
            raise TranscriptUnreadable(msg, fault=FileFault.WRONG_HEADER, line=1)
        return transcript

    def _with_roles(self, content: bytes, options: ReadingOptions) -> Transcript:
        # The name of a file that holds this unit alone is a hint at its form.
        name = self.path.name if self.length is None and self.cell is None else ""
        shared = self.roles.shared

        def read(roles: Roles) -> Transcript:
            given = (*roles, *self.roles.own)
            labels = replace(options.labels, given=given) if given else options.labels
            return read_transcript(content, labels, name=name, rows=options.rows)

        try:
            return read(shared)
        except SpeakersUnknown as error:
            there = _among(shared, error.labels)
            if there == shared:
                raise
        transcript = read(there)
        # The error names the first labels alone.
        found = [turn.label for turn in transcript.turns if turn.label is not None]
        missed = _among(shared, found)
        return transcript if set(missed) <= set(there) else read(missed)


def _among(roles: Roles, labels: Iterable[str]) -> Roles:
    there = {EVERYBODY, *map(label_key, labels)}
    return tuple(role for role in roles if label_key(role[0]) in there)


class FileDigest:
    """A digest over files in the order in which they are added."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self.is_empty = True

    def add(self, name: str, content: bytes | None) -> None:
        """Take in one file, `None` for an unreadable one."""
        length = None if content is None else len(content)
        self._digest.update(json.dumps([name, length]).encode())
        self._digest.update(hashlib.sha256(content or b"").digest())
        self.is_empty = False

    def whole(self, options: object) -> str:
        """Return the digest over the files and the options of their reading; hexadecimal."""
        digest = self._digest.copy()
        digest.update(json.dumps(options, sort_keys=True).encode())
        return digest.hexdigest()


class Texts:
    """All units of a dataset and their issues, gathered while its files are read."""

    def __init__(self, options: ReadingOptions) -> None:
        self.options = options
        self.issues: list[DataIssue] = []
        self.sources: dict[str, TextSource | None] = {}
        """`None` for a unit that cannot be read."""
        self.digest = FileDigest()
        self.labels_digest = FileDigest()
        self.label_files: list[LabelFile] = []

    def note(self, where: str, code: IssueCode, line: int | None = None, count: int = 1) -> None:
        """Add an issue."""
        self.issues.append(DataIssue(where=where, code=code, line=line, count=count))

    def reading(self, source: TextSource, content: bytes) -> Transcript | InputError:
        """Read the whole transcript of a unit, or return why it cannot be used."""
        try:
            return source.transcript(content, self.options)
        except InputError as error:
            return error

    def add(
        self,
        unit_id: str,
        source: TextSource,
        reading: Transcript | InputError,
        *,
        where: str,
        line: int | None = None,
    ) -> None:
        """Take in one unit; `line`: of the unit, in a file of several."""
        if isinstance(reading, Transcript):
            self.sources[unit_id] = source
            self.issues += _issues_of(reading, where, line)
        else:
            self.sources[unit_id] = None
            self.issues.append(_refusal(reading, where, line))

    def dataset(self, path: Path, kind: DatasetKind, units: Sequence[DatasetUnit]) -> Dataset:
        """Return the dataset of all that was added."""
        reading, labels = self.options.digested(kind), self.labels_digest
        return Dataset(
            kind=kind,
            path=path,
            units=tuple(units),
            issues=tuple(self.issues),
            digest=self.digest.whole(reading),
            labels_digest="" if labels.is_empty else labels.whole(self.options.scores.digested()),
            label_files=tuple(self.label_files),
            reading=FileDigest().whole(reading),
            speakers=self.options.speakers,
            unreadable=frozenset(at for at, source in self.sources.items() if source is None),
            transcript=self._transcript,
        )

    def _transcript(self, unit_id: str) -> Transcript:
        if unit_id not in self.sources:
            raise InputError(f"the dataset has no unit {unit_id!r}", field="unit_id")
        source = self.sources[unit_id]
        if source is None:
            msg = (
                f"unit {unit_id!r} has no transcript that can be read; "
                "`ai-psychiatrist evaluate datasets check` says why"
            )
            raise TranscriptUnreadable(msg)
        return filtered(source.transcript(source.content(), self.options), self.options.speakers)


def _issues_of(transcript: Transcript, where: str, line: int | None) -> Iterator[DataIssue]:
    notes = transcript.source.notes
    for note in notes:
        at = note.line if line is None else line
        yield DataIssue(where=where, code=IssueCode(note.code), line=at, count=note.count)
    others = sum(turn.speaker is Speaker.OTHER for turn in transcript.turns)
    if others and IssueCode.SPEAKER_UNKNOWN not in [note.code for note in notes]:
        yield DataIssue(where=where, code=IssueCode.SPEAKER_OTHER, line=line, count=others)


def _refusal(error: InputError, where: str, line: int | None) -> DataIssue:
    """Return why a unit has no transcript, with the labels that were found in it."""
    if not isinstance(error, TranscriptUnreadable):
        return DataIssue(where=where, code=IssueCode.SPEAKERS_MISNAMED, line=line)
    return DataIssue(
        where=where,
        code=IssueCode(error.fault),
        line=error.line if line is None else line,
        labels=error.labels if isinstance(error, SpeakersUnknown) else (),
    )


def filtered(transcript: Transcript, speakers: SpeakerFilter) -> Transcript:
    """Return a transcript of the turns that are kept; as it is where all words are one person's."""
    if speakers is SpeakerFilter.BOTH or transcript.speakers_assumed:
        return transcript
    spoken = [turn for turn in transcript.turns if transcript.words(turn).strip()]
    kept = list(_kept(spoken, speakers))
    return rendered(
        [_utterance(transcript, turn) for turn in kept],
        {label: turn.speaker for turn in kept if (label := _label(turn)) is not None},
        replace(transcript.source, is_rendered=True),
    )


def _kept(turns: Sequence[Turn], speakers: SpeakerFilter) -> Iterator[Turn]:
    for at, turn in enumerate(turns):
        is_next_to_answer = at + 1 < len(turns) and turns[at + 1].speaker is Speaker.PARTICIPANT
        if turn.speaker is Speaker.PARTICIPANT or (
            speakers is SpeakerFilter.QUESTION_CONTEXT and is_next_to_answer
        ):
            yield turn


def _utterance(transcript: Transcript, turn: Turn) -> Utterance:
    return Utterance(
        label=_label(turn),
        words=on_one_line(transcript.words(turn)),
        start_seconds=turn.start_seconds,
        end_seconds=turn.end_seconds,
    )


def _label(turn: Turn) -> str | None:
    """Return the turn's label; a participant who is given all words has none in the file."""
    return _OWN_LABEL if turn.label is None and turn.speaker is Speaker.PARTICIPANT else turn.label


def check_of(content: bytes) -> bytes:
    """Return a short digest that tells whether a file was changed."""
    return hashlib.blake2b(content, digest_size=_CHECK_BYTES).digest()


def content_of(path: Path) -> bytes:
    """Read a file of the dataset. Raises `InputError` when that cannot be done."""
    try:
        return read_regular(path, most_bytes=MOST_BYTES)
    except OSError as error:
        msg = f"{path.name!r} cannot be read: {reason_of(error)}"
        raise InputError(msg, field="PATH") from None


_COLUMNS: Final = ("file", "label", "role")
_EVERY_FILE: Final = frozenset({"", "*"})


def read_speakers(content: bytes, units: UnitNames) -> Mapping[str, UnitRoles]:
    """Return the roles of each unit.

    Raises `InputError`, naming the line, for a row that cannot be used.
    """
    roles: dict[str | None, dict[str, tuple[str, Speaker]]] = {}
    first_lines: dict[tuple[str | None, str], int] = {}
    for line, (file, label, role) in _rows(content):
        unit_id = None if file in _EVERY_FILE else units.of_file(file)
        if unit_id is None and file not in _EVERY_FILE:
            raise _broken(line, "no transcript of the folder has the name in its column file")
        (given,) = given_roles({label: role}, field=f"{SPEAKERS_FILE}, line {line}")
        key = label_key(label)
        first_line = first_lines.setdefault((unit_id, key), line)
        if roles.setdefault(unit_id, {}).setdefault(key, given)[1] is not given[1]:
            raise _broken(line, f"the label has another role in line {first_line}")
    shared = roles.get(None, {})
    found = {}
    for unit_id in units.files:
        own = roles.get(unit_id, {})
        others = tuple(role for key, role in shared.items() if key not in own)
        found[unit_id] = UnitRoles(own=tuple(own.values()), shared=others)
    return found


def _rows(content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield each row's line and its three columns."""
    try:
        lines = decode_text(content).text.splitlines()
    except FileRefused:
        msg = f"{SPEAKERS_FILE} is not text; save it as CSV in UTF-8"
        raise InputError(msg, field=SPEAKERS_FILE) from None
    separator, header = _header(lines[0] if lines else "")
    reader = csv.reader(lines, delimiter=separator, strict=True)
    try:
        width = len(next(reader))
        for cells in reader:
            if any(cell.strip() for cell in cells):
                if len(cells) != width:
                    raise _broken(reader.line_num, "it has other columns than the header")
                row = [cells[header.index(column)].strip() for column in _COLUMNS]
                yield reader.line_num, row
    except csv.Error:
        raise _broken(reader.line_num, "it is no row of separated values") from None


def _header(line: str) -> tuple[str, list[str]]:
    with suppress(csv.Error):
        for header in headers_of(line):
            names = [column.strip().strip('"').casefold() for column in header.names]
            if all(names.count(column) == 1 for column in _COLUMNS):
                return header.separator, names
    raise _broken(1, f"the header has to be {','.join(_COLUMNS)}")


def _broken(line: int, reason: str) -> InputError:
    return InputError(f"{SPEAKERS_FILE}, line {line}: {reason}", field=SPEAKERS_FILE)
