"""Opens a folder of interviews in whatever forms, or one file, with the labels beside them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import Dataset, DatasetKind
from ai_psychiatrist.evaluation.datasets.file_names import (
    LABELS_FILE,
    WHAT_A_DATASET_IS,
    session_of_transcript,
)
from ai_psychiatrist.evaluation.datasets.folder_files import FolderFiles, find_files, oddity_at
from ai_psychiatrist.evaluation.datasets.label_files import LabelRow, read_label_file
from ai_psychiatrist.evaluation.datasets.oddities import Oddity, OddityCode
from ai_psychiatrist.evaluation.datasets.options import ReadingOptions
from ai_psychiatrist.evaluation.datasets.sources import (
    DatasetDigest,
    TextSource,
    check_of,
    content_of,
    content_or_none,
)
from ai_psychiatrist.evaluation.datasets.speakers_file import read_speakers
from ai_psychiatrist.evaluation.datasets.table_headers import with_tables_told
from ai_psychiatrist.evaluation.datasets.unit_names import UnitNames
from ai_psychiatrist.evaluation.datasets.unit_transcripts import (
    NO_ROLES,
    UnitRoles,
    UnitTranscripts,
    oddities_of,
    oddity_of_refusal,
    read_unit,
)
from ai_psychiatrist.evaluation.datasets.units import joined_units
from ai_psychiatrist.services.transcripts.utterances import Form

_SESSIONS: Final = range(300, 493)
_NO_SESSIONS: Final = frozenset({342, 394, 398, 460})
"""Numbers in the range of DAIC-WOZ that were never given to a session."""
_APPLE_DOUBLE: Final = b"\x00\x05\x16\x07"
_OF_CORPORA: Final = {
    DatasetKind.DAIC_WOZ: Form.DAIC_WOZ,
    DatasetKind.E_DAIC: Form.E_DAIC,
}


def open_folder(path: Path, options: ReadingOptions, *, kind: DatasetKind | None = None) -> Dataset:
    """Open a folder; `kind` says what is looked for in it, `None` whatever is there.

    Raises `InputError` for a folder without any interview and label, and for labels or a
    `speakers.csv` that cannot be read.
    """
    if not path.is_dir():
        msg = f"{path.name!r} is no folder; a dataset of this kind is a folder of files"
        raise InputError(msg, field="PATH")
    files = find_files(path, has_sessions=kind is not DatasetKind.TEXT)
    files = _of_kind(with_tables_told(files, path), path, kind)
    options = replace(options, form=None if kind is None else _OF_CORPORA.get(kind))
    return _Opening(path, files, options).dataset(path, kind)


def open_file(path: Path, options: ReadingOptions) -> Dataset:
    """Open a file that is one interview."""
    session = session_of_transcript(path.name)
    files = FolderFiles(sessions={session: (path,)}) if session is not None else None
    files = files or FolderFiles(transcripts=(path,))
    return _Opening(path.parent, files, options).dataset(path, None)


class _Opening:
    """Reads every file once and keeps what is needed to read it again."""

    def __init__(self, folder: Path, files: FolderFiles, options: ReadingOptions) -> None:
        self._folder = folder
        self._files = files
        self._options = options
        self._names = UnitNames(files)
        self._digest = DatasetDigest()
        self._oddities: list[Oddity] = list(files.oddities)
        self._forms: Counter[str] = Counter()

    def dataset(self, path: Path, kind: DatasetKind | None) -> Dataset:
        rows = list(self._label_rows())
        if not (rows or self._names.units or self._files.has_archives):
            msg = f"{path.name!r} holds no transcripts or labels; {WHAT_A_DATASET_IS}"
            raise InputError(msg, field="PATH")
        roles = self._roles()
        sources = dict(self._sources(roles))
        joined = joined_units(rows, sources, order=self._names.order, number=self._names.number)
        found = self._kind(kind)
        known: dict[str, TextSource | None] = dict.fromkeys(unit.unit_id for unit in joined.units)
        known |= sources
        return Dataset(
            kind=found,
            path=path,
            units=joined.units,
            oddities=(*self._oddities, *joined.oddities, *self._outside()),
            digest=self._digest.hexdigest(self._options.digested(found)),
            speakers=self._options.speakers,
            unreadable=frozenset(at for at, source in known.items() if source is None),
            read=UnitTranscripts(known, self._options, roles),
        )

    def _label_rows(self) -> Iterator[LabelRow]:
        for path in self._files.labels:
            name, content = self._name(path), content_of(path)
            self._digest.add(name, content)
            label_file = read_label_file(content, where=name, unit_id=self._names.of_label)
            is_unread = OddityCode.NOT_A_LABEL_FILE in [odd.code for odd in label_file.oddities]
            if is_unread and name == LABELS_FILE:
                msg = f"{LABELS_FILE} has no column 'unit_id' with the names of the files"
                raise InputError(msg, field=LABELS_FILE)
            self._oddities += label_file.oddities
            yield from label_file.rows

    def _roles(self) -> Mapping[str, UnitRoles]:
        path = self._files.speakers
        if path is None:
            return {}
        content = content_of(path)
        self._digest.add(self._name(path), content)
        return read_speakers(content, self._names.units, unit_of=self._names.of_file)

    def _sources(self, roles: Mapping[str, UnitRoles]) -> Iterator[tuple[str, TextSource | None]]:
        for done, (unit_id, paths) in enumerate(self._names.files.items(), start=1):
            source = self._source(paths, roles.get(unit_id, NO_ROLES))
            self._options.on_progress(done, len(self._names.files))
            yield unit_id, source

    def _source(self, paths: Sequence[Path], roles: UnitRoles) -> TextSource | None:
        """Read a unit; `None` when it cannot be used."""
        content = self._content(paths)
        if content is None:
            return None
        name = self._name(paths[0])
        try:
            transcript = read_unit(content, self._options, name=paths[0].name, roles=roles)
        except InputError as error:
            self._oddities.append(oddity_of_refusal(error, name))
            return None
        self._oddities += oddities_of(transcript, name)
        self._forms[transcript.source.form] += 1
        return TextSource(path=paths[0], check=check_of(content))

    def _content(self, paths: Sequence[Path]) -> bytes | None:
        """Read the one content of a unit's files."""
        contents = [content_or_none(path) for path in paths]
        for path, content in zip(paths, contents, strict=True):
            self._digest.add(self._name(path), content)
        name, content = self._name(paths[0]), contents[0]
        if any(other != content for other in contents):
            self._oddities.append(Oddity(where=name, code=OddityCode.TRANSCRIPTS_DIFFER))
            return None
        if len(paths) > 1:
            repeated = Oddity(where=name, code=OddityCode.TRANSCRIPT_REPEATED, count=len(paths))
            self._oddities.append(repeated)
        if content is None or content.startswith(_APPLE_DOUBLE):
            code = OddityCode.NOT_TEXT if content is None else OddityCode.APPLE_DOUBLE_AS_TRANSCRIPT
            self._oddities.append(Oddity(where=name, code=code))
            return None
        return content

    def _kind(self, wanted: DatasetKind | None) -> DatasetKind:
        has_others = bool(self._files.transcripts)
        if wanted in _OF_CORPORA or wanted is DatasetKind.TEXT:
            return DatasetKind(wanted)
        if has_others:
            has_sessions = self._files.sessions or self._files.has_archives
            return DatasetKind.MIXED if has_sessions else DatasetKind.TEXT
        return self._corpus()

    def _corpus(self) -> DatasetKind:
        is_e_daic = self._forms[Form.E_DAIC] > self._forms[Form.DAIC_WOZ]
        return DatasetKind.E_DAIC if is_e_daic else DatasetKind.DAIC_WOZ

    def _outside(self) -> Iterator[Oddity]:
        """Name sessions under numbers that the corpus does not have."""
        is_daic_woz = (self._options.form or self._corpus()) == Form.DAIC_WOZ
        for number in self._files.sessions if is_daic_woz else ():
            if number not in _SESSIONS or number in _NO_SESSIONS:
                yield Oddity(where=str(number), code=OddityCode.ID_OUTSIDE_CORPUS)

    def _name(self, path: Path) -> str:
        return path.relative_to(self._folder).as_posix()


def _of_kind(files: FolderFiles, folder: Path, kind: DatasetKind | None) -> FolderFiles:
    """Leave out what is none of a corpus that is asked for, and name it."""
    if kind not in _OF_CORPORA:
        return files
    others = (oddity_at(path, folder, OddityCode.NOT_OF_KIND) for path in files.transcripts)
    return replace(files, transcripts=(), oddities=(*files.oddities, *others))
