"""Opens a folder of interviews in whatever forms, or one file, with the labels next to them."""

import csv
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from pathlib import Path
from typing import Final, NoReturn

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.evaluation.datasets.dataset import (
    CORPORA,
    DataIssue,
    Dataset,
    DatasetKind,
    DatasetUnit,
    IssueCode,
)
from ai_psychiatrist.evaluation.datasets.label_files import LabelFiles
from ai_psychiatrist.evaluation.datasets.label_tables import (
    Header,
    LabelTable,
    headers_of,
    read_label_table,
)
from ai_psychiatrist.evaluation.datasets.names import (
    ARCHIVE,
    FOLDER,
    LABELS_FILE,
    MAYBE_TABLE_SUFFIXES,
    TRANSCRIPT,
    WHAT_A_DATASET_IS,
    Named,
    UnitNames,
    named,
    session_of,
)
from ai_psychiatrist.evaluation.datasets.options import ReadingOptions
from ai_psychiatrist.evaluation.datasets.texts import (
    Texts,
    TextSource,
    UnitRoles,
    check_of,
    content_of,
    read_speakers,
)
from ai_psychiatrist.infrastructure.given_files import is_inside, open_regular
from ai_psychiatrist.services.transcripts.encoding import decode_text
from ai_psychiatrist.services.transcripts.formats.tables import Meaning, meaning_of
from ai_psychiatrist.services.transcripts.utterances import FileRefused, Form

_DEEPEST: Final = 4
"""How many folders may lie between the dataset's and a transcript."""
_LABELS_FOLDER: Final = "labels"
_OF_ARCHIVES: Final = "__MACOSX"
_BEGINNING_BYTES: Final = 1 << 14
_OF_TALK: Final = frozenset({Meaning.SPEAKER, Meaning.START, Meaning.END})
_SENTENCE: Final = re.compile(r"[^\W\d_]+[^\S\r\n]+[^\W\d_]+[^\S\r\n]+[^\W\d_]+")


class TableContent(Enum):
    """What a table holds."""

    LABELS = auto()
    TRANSCRIPT = auto()
    """Or what cannot be read, and may be one."""
    OTHER = auto()
    """Neither, and no sentence at its beginning."""


class _Place(Enum):
    """What kind of folder a file lies in."""

    TOP = auto()
    LABELS = auto()
    SESSION = auto()
    APART = auto()
    """Hidden, or what a Mac's archives leave."""
    OTHER = auto()


@dataclass(slots=True, kw_only=True)
class FolderFiles:
    """The files of a folder, in a fixed order."""

    folder: Path
    kind: DatasetKind | None = None
    """What is looked for; `None` for whatever is there."""
    sessions: dict[int, list[Path]] = field(default_factory=dict)
    """The transcripts of each session of DAIC-WOZ or E-DAIC."""
    archives: dict[int, list[Path]] = field(default_factory=dict)
    transcripts: list[Path] = field(default_factory=list)
    """Other interviews, one a file, by their names."""
    labels: list[Path] = field(default_factory=list)
    speakers: Path | None = None
    odd: Counter[tuple[Path, IssueCode]] = field(default_factory=Counter)

    def find(self) -> None:
        """Look for transcripts of sessions up to four folders deep, for all else at the top.

        Links are followed, as corpora are often linked to. Raises `InputError` for a folder that
        cannot be looked into.
        """
        for where, folders, names in os.walk(self.folder, followlinks=True, onerror=_refuse):
            path = Path(where)
            place = self._place(path)
            if len(path.relative_to(self.folder).parts) == _DEEPEST:
                not_hidden = [name for name in sorted(folders) if not name.startswith(".")]
                for name in not_hidden if place is _Place.OTHER else ():
                    self.odd[path / name, IssueCode.SUBFOLDER] += 1
                folders.clear()
            folders.sort()
            for name in sorted(names):
                self._take(path / name, place)
        for number, paths in self.archives.items():
            if number not in self.sessions:
                self.odd.update((path, IssueCode.ARCHIVE) for path in paths)
        self.sessions = dict(sorted(self.sessions.items()))
        for number, paths in self.sessions.items():
            for path in paths:
                if session_of(FOLDER, path.parent.name) not in {None, number}:
                    self.odd[path, IssueCode.FOLDER_NAME_DIFFERS] += 1

    def name(self, path: Path) -> str:
        """Return the name of a file within the folder."""
        return path.relative_to(self.folder).as_posix()

    def issues(self) -> list[DataIssue]:
        """Return the issues of the files, folder by folder where they are not looked at."""
        return [
            DataIssue(where=self.name(path), code=code, count=count)
            for (path, code), count in self.odd.items()
        ]

    def _place(self, path: Path) -> _Place:
        parts = path.relative_to(self.folder).parts
        if not parts:
            return _Place.TOP
        if any(part.startswith(".") or part == _OF_ARCHIVES for part in parts):
            return _Place.APART
        has_sessions = self.kind is not DatasetKind.TEXT
        if has_sessions and any(session_of(FOLDER, part) is not None for part in parts):
            return _Place.SESSION
        is_for_labels = len(parts) == 1 and parts[0].casefold() == _LABELS_FOLDER
        return _Place.LABELS if is_for_labels else _Place.OTHER

    def _take(self, path: Path, place: _Place) -> None:
        kind = named(path.name)
        has_sessions = self.kind is not DatasetKind.TEXT
        if kind is Named.STUB:
            self.odd[path, IssueCode.APPLE_DOUBLE] += 1
        elif has_sessions and (at := session_of(TRANSCRIPT, path.name)) is not None:
            self.sessions.setdefault(at, []).append(path)
        elif has_sessions and (at := session_of(ARCHIVE, path.name)) is not None:
            self.archives.setdefault(at, []).append(path)
        elif place is _Place.TOP:
            self._take_at_top(path, kind)
        elif place is _Place.LABELS and kind is Named.TABLE:
            self._take_table(path)
        else:
            is_other = place in {_Place.LABELS, _Place.OTHER} and kind is not Named.NO_TRANSCRIPT
            self.odd[path.parent, IssueCode.SUBFOLDER if is_other else IssueCode.OTHER_FILE] += 1

    def _take_at_top(self, path: Path, kind: Named) -> None:
        if kind is Named.NO_TRANSCRIPT:
            self.odd[path, IssueCode.OTHER_FILE] += 1
        elif not is_inside(self.folder, path) and kind is not Named.UNKNOWN:
            self.odd[path, IssueCode.LINK_LEADS_OUT] += 1
        elif kind is Named.SPEAKERS:
            self.speakers = self.speakers or path
        elif kind is Named.TABLE:
            self._take_table(path)
        elif path.suffix.casefold() in MAYBE_TABLE_SUFFIXES and holds_labels(path):
            self.labels.append(path)
        elif kind is Named.UNKNOWN:
            self.odd[path, IssueCode.OTHER_FORM] += 1
        else:
            self._take_transcript(path)

    def _take_table(self, path: Path) -> None:
        if path == self.folder / LABELS_FILE:
            content = TableContent.LABELS if path.is_file() else TableContent.OTHER
        else:
            content = content_of_table(path)
        if content is TableContent.LABELS:
            self.labels.append(path)
        elif content is TableContent.OTHER:
            self.odd[path, IssueCode.NOT_A_LABEL_FILE] += 1
        else:
            self._take_transcript(path)

    def _take_transcript(self, path: Path) -> None:
        if path.parent != self.folder:
            self.odd[path, IssueCode.SUBFOLDER] += 1
        elif self.kind in CORPORA:
            self.odd[path, IssueCode.NOT_OF_KIND] += 1
        else:
            self.transcripts.append(path)


def _refuse(error: OSError) -> NoReturn:
    msg = f"the folder {Path(error.filename).name!r} cannot be read: {error.strerror}"
    raise InputError(msg, field="PATH") from None


def holds_labels(path: Path) -> bool:
    """Tell a table of identifiers and scores by its first bytes."""
    found = _headers(_beginning(path))
    return any(header.has_identifiers and header.has_scores for header in found)


def content_of_table(path: Path) -> TableContent:
    """Tell labels from a transcript by the first bytes of a table."""
    text = _beginning(path)
    for header in _headers(text):
        said = {meaning_of(name) for name in header.names}
        is_scored = header.has_scores and header.has_identifiers
        if Meaning.WORDS in said and not (is_scored and said.isdisjoint(_OF_TALK)):
            return TableContent.TRANSCRIPT
        if is_scored or (header.is_of_labels and said.isdisjoint(_OF_TALK)):
            return TableContent.LABELS
    if not text.strip() or _SENTENCE.search(text):
        return TableContent.TRANSCRIPT
    # Its scores may have names that are not known: to be said, and not passed over.
    is_of_units = any(header.has_identifiers for header in _headers(text))
    return TableContent.LABELS if is_of_units else TableContent.OTHER


def _headers(text: str) -> list[Header]:
    try:
        return list(headers_of(text))
    except csv.Error:
        return []


def _beginning(path: Path) -> str:
    """Decode the first lines of a file, enough for a header; "" when that cannot be done."""
    try:
        with open_regular(path) as file:
            head = file.read(_BEGINNING_BYTES)
        # The last line of them may end within a character.
        is_cut, is_wide = len(head) == _BEGINNING_BYTES, b"\x00" in head
        whole = head[: head.rfind(b"\n") + 1] if is_cut and not is_wide else head
        return decode_text(whole or head).text
    except (OSError, FileRefused):
        return ""


_SESSIONS: Final = frozenset(range(300, 493)) - {342, 394, 398, 460}
"""The numbers of DAIC-WOZ; four in its range were never given to a session."""
_APPLE_DOUBLE: Final = b"\x00\x05\x16\x07"


def open_folder(path: Path, options: ReadingOptions, *, kind: DatasetKind | None = None) -> Dataset:
    """Open a folder; `kind` says what is looked for in it, `None` whatever is there.

    Raises `InputError` for a folder without any interview and label, and for labels or a
    `speakers.csv` that cannot be read.
    """
    if not path.is_dir():
        msg = f"{path.name!r} is no folder; a dataset of this kind is a folder of files"
        raise InputError(msg, field="PATH")
    files = FolderFiles(folder=path, kind=kind)
    files.find()
    form = Form(kind) if kind in CORPORA else None
    return _dataset(path, files, replace(options, form=form))


def open_file(path: Path, options: ReadingOptions) -> Dataset:
    """Open a file that is one interview."""
    session = session_of(TRANSCRIPT, path.name)
    files = FolderFiles(folder=path.parent)
    if session is None:
        files.transcripts.append(path)
    else:
        files.sessions[session] = [path]
    return _dataset(path, files, options)


def _dataset(path: Path, files: FolderFiles, options: ReadingOptions) -> Dataset:
    """Read every file once."""
    names, texts = UnitNames(files.sessions, files.transcripts), Texts(options)
    texts.issues += files.issues()
    labels = _label_files(files, names, texts)
    if not (files.labels or names.files or files.archives):
        msg = f"{path.name!r} holds no transcripts or labels; {WHAT_A_DATASET_IS}"
        raise InputError(msg, field="PATH")
    roles = _roles(files, names, texts)
    forms: Counter[str] = Counter()
    for done, (unit_id, paths) in enumerate(names.files.items(), start=1):
        texts.sources[unit_id] = None
        content = _content(files, paths, texts)
        if content is not None:
            source = TextSource(
                path=paths[0], check=check_of(content), roles=roles.get(unit_id, UnitRoles())
            )
            reading = texts.reading(source, content)
            texts.add(unit_id, source, reading, where=files.name(paths[0]))
            forms[reading.source.form if isinstance(reading, Transcript) else ""] += 1
        options.on_progress(done, len(names.files))
    units = list(_units(labels, names, texts))
    is_e_daic = forms[Form.E_DAIC] > forms[Form.DAIC_WOZ]
    corpus = DatasetKind.E_DAIC if is_e_daic else DatasetKind.DAIC_WOZ
    if (options.form or corpus) == Form.DAIC_WOZ:
        for number in sorted(files.sessions.keys() - _SESSIONS):
            texts.note(str(number), IssueCode.ID_OUTSIDE_CORPUS)
    return texts.dataset(path, _kind(files, corpus), units)


def _label_files(files: FolderFiles, names: UnitNames, texts: Texts) -> LabelFiles:
    tables: list[LabelTable] = []
    for path in files.labels:
        where, content = files.name(path), content_of(path)
        texts.labels_digest.add(where, content)
        tables.append(
            read_label_table(content, where=where, unit_id=names.of_label, is_unit=names.is_unit)
        )
    labels = LabelFiles(tables, texts.options.scores, names.files)
    is_scored = any(table.header.has_scores and table.rows for table in tables)
    texts.issues += [
        # What lists participants next to files of scores need have none.
        replace(issue, code=IssueCode.NOT_A_LABEL_FILE, count=1)
        if issue.code is IssueCode.SCORES_UNKNOWN and is_scored
        else issue
        for issue in labels.issues
    ]
    return labels


def _roles(files: FolderFiles, names: UnitNames, texts: Texts) -> Mapping[str, UnitRoles]:
    if files.speakers is None:
        return {}
    content = content_of(files.speakers)
    texts.digest.add(files.name(files.speakers), content)
    return read_speakers(content, names)


def _content(files: FolderFiles, paths: Sequence[Path], texts: Texts) -> bytes | None:
    """Read the one content of a unit's files; `None` when there is none that can be used."""
    contents = list(map(_content_or_none, paths))
    for path, content in zip(paths, contents, strict=True):
        texts.digest.add(files.name(path), content)
    name, content = files.name(paths[0]), contents[0]
    if any(other != content for other in contents):
        texts.note(name, IssueCode.TRANSCRIPTS_DIFFER)
        return None
    if len(paths) > 1:
        texts.note(name, IssueCode.TRANSCRIPT_REPEATED, count=len(paths))
    if content is None:
        texts.note(name, IssueCode.NOT_TEXT)
    elif content.startswith(_APPLE_DOUBLE):
        texts.note(name, IssueCode.APPLE_DOUBLE_AS_TRANSCRIPT)
        return None
    return content


def _content_or_none(path: Path) -> bytes | None:
    try:
        return content_of(path)
    except InputError:
        return None


def _units(labels: LabelFiles, names: UnitNames, texts: Texts) -> Iterator[DatasetUnit]:
    """Join texts and labels; neither is dropped for lack of the other."""
    transcripts = set(texts.sources)
    if not labels.rows:
        texts.note(".", IssueCode.NO_LABELS, count=len(transcripts))
    for unit_id in sorted(transcripts | set(labels.rows), key=names.order):
        rows = labels.rows.get(unit_id, ())
        splits = {row.split for row in rows if row.split is not None}
        participants = {row.participant for row in rows if row.participant is not None}
        found, codes = labels.labels_of(unit_id) if rows else (None, [])
        if len(splits) > 1:
            codes = [IssueCode.IN_TWO_SPLITS, *codes]
        if labels.rows and not rows:
            codes.append(IssueCode.LABEL_MISSING)
        if unit_id not in transcripts:
            codes.append(IssueCode.TRANSCRIPT_MISSING)
            texts.sources[unit_id] = None
        for code in codes:
            hint = labels.missing_hint if code is IssueCode.VALUE_OUT_OF_RANGE else None
            texts.issues.append(DataIssue(where=unit_id, code=code, hint=hint))
        named = participants.pop() if len(participants) == 1 else None
        yield DatasetUnit(
            unit_id=unit_id,
            labels=found,
            participant_id=named or names.number(unit_id),
            split=splits.pop() if len(splits) == 1 else None,
        )


def _kind(files: FolderFiles, corpus: DatasetKind) -> DatasetKind:
    if files.kind is not None and files.kind is not DatasetKind.MIXED:
        return files.kind
    if files.transcripts:
        return DatasetKind.MIXED if files.sessions or files.archives else DatasetKind.TEXT
    return corpus
