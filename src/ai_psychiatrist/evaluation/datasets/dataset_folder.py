"""Opens a folder of interviews in whatever forms, or one file, with the labels beside them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.evaluation.datasets.dataset import CORPORA, Dataset, DatasetKind, DatasetUnit
from ai_psychiatrist.evaluation.datasets.file_names import TRANSCRIPT, WHAT_A_DATASET_IS, session_of
from ai_psychiatrist.evaluation.datasets.folder_files import FolderFiles
from ai_psychiatrist.evaluation.datasets.label_files import LabelRow, labels_of, read_label_file
from ai_psychiatrist.evaluation.datasets.oddities import Oddity, OddityCode
from ai_psychiatrist.evaluation.datasets.options import ReadingOptions
from ai_psychiatrist.evaluation.datasets.speakers_file import read_speakers
from ai_psychiatrist.evaluation.datasets.texts import (
    Texts,
    TextSource,
    UnitRoles,
    check_of,
    content_of,
)
from ai_psychiatrist.evaluation.datasets.unit_names import UnitNames
from ai_psychiatrist.services.transcripts.utterances import Form

_SESSIONS: Final = range(300, 493)
_NO_SESSIONS: Final = frozenset({342, 394, 398, 460})
"""Numbers in the range of DAIC-WOZ that were never given to a session."""
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
    return _Opening(files, replace(options, form=form)).dataset(path)


def open_file(path: Path, options: ReadingOptions) -> Dataset:
    """Open a file that is one interview."""
    session = session_of(TRANSCRIPT, path.name)
    files = FolderFiles(folder=path.parent)
    if session is None:
        files.transcripts.append(path)
    else:
        files.sessions[session] = [path]
    return _Opening(files, options).dataset(path)


class _Opening:
    """Reads every file once."""

    def __init__(self, files: FolderFiles, options: ReadingOptions) -> None:
        self._files = files
        self._names = UnitNames(files.sessions, files.transcripts)
        self._texts = Texts(options)
        self._texts.oddities += files.oddities()
        self._forms: Counter[str] = Counter()

    def dataset(self, path: Path) -> Dataset:
        labels = self._label_rows()
        if not (labels or self._names.files or self._files.archives):
            msg = f"{path.name!r} holds no transcripts or labels; {WHAT_A_DATASET_IS}"
            raise InputError(msg, field="PATH")
        self._read_texts(self._roles())
        units = list(self._units(labels))
        self._texts.oddities += self._outside()
        return self._texts.dataset(path, self._kind(), units)

    def _label_rows(self) -> dict[str, list[LabelRow]]:
        """Return unit → what label files say of it."""
        rows: dict[str, list[LabelRow]] = {}
        for path in self._files.labels:
            name, content = self._files.name(path), content_of(path)
            self._texts.digest(name, content)
            found, odd = read_label_file(content, where=name, unit_id=self._names.of_label)
            self._texts.oddities += odd
            for row in found:
                rows.setdefault(row.unit_id, []).append(row)
        return rows

    def _roles(self) -> Mapping[str, UnitRoles]:
        path = self._files.speakers
        if path is None:
            return {}
        content = content_of(path)
        self._texts.digest(self._files.name(path), content)
        return read_speakers(content, self._names)

    def _read_texts(self, roles: Mapping[str, UnitRoles]) -> None:
        for done, (unit_id, paths) in enumerate(self._names.files.items(), start=1):
            self._texts.sources[unit_id] = None
            content = self._content(paths)
            if content is not None:
                self._read(unit_id, paths[0], content, roles.get(unit_id, UnitRoles()))
            self._texts.options.on_progress(done, len(self._names.files))

    def _read(self, unit_id: str, path: Path, content: bytes, roles: UnitRoles) -> None:
        source = TextSource(path=path, check=check_of(content), roles=roles)
        reading = self._texts.reading(source, content)
        self._texts.add(unit_id, source, reading, where=self._files.name(path))
        if isinstance(reading, Transcript):
            self._forms[reading.source.form] += 1

    def _content(self, paths: Sequence[Path]) -> bytes | None:
        """Read the one content of a unit's files; `None` when there is none that can be used."""
        contents = list(map(_content_or_none, paths))
        for path, content in zip(paths, contents, strict=True):
            self._texts.digest(self._files.name(path), content)
        name, content = self._files.name(paths[0]), contents[0]
        if any(other != content for other in contents):
            self._note(name, OddityCode.TRANSCRIPTS_DIFFER)
            return None
        if len(paths) > 1:
            self._note(name, OddityCode.TRANSCRIPT_REPEATED, count=len(paths))
        if content is None:
            self._note(name, OddityCode.NOT_TEXT)
        elif content.startswith(_APPLE_DOUBLE):
            self._note(name, OddityCode.APPLE_DOUBLE_AS_TRANSCRIPT)
            return None
        return content

    def _units(self, labelled: Mapping[str, Sequence[LabelRow]]) -> Iterator[DatasetUnit]:
        """Join texts and labels; neither is dropped for lack of the other."""
        texts = set(self._texts.sources)
        if not labelled:
            self._note(".", OddityCode.NO_LABELS, count=len(texts))
        for unit_id in sorted(texts | set(labelled), key=self._names.order):
            rows = labelled.get(unit_id, ())
            splits = {row.split for row in rows if row.split is not None}
            participants = {row.participant for row in rows if row.participant is not None}
            labels, codes = labels_of(rows) if rows else (None, [])
            if len(splits) > 1:
                self._note(unit_id, OddityCode.IN_TWO_SPLITS)
            if labelled and not rows:
                codes.append(OddityCode.LABEL_MISSING)
            if unit_id not in texts:
                codes.append(OddityCode.TRANSCRIPT_MISSING)
                self._texts.sources[unit_id] = None
            for code in codes:
                self._note(unit_id, code)
            named = participants.pop() if len(participants) == 1 else None
            yield DatasetUnit(
                unit_id=unit_id,
                labels=labels,
                participant_id=named or self._names.number(unit_id),
                split=splits.pop() if len(splits) == 1 else None,
            )

    def _kind(self) -> DatasetKind:
        wanted, files = self._files.kind, self._files
        if wanted is not None and wanted is not DatasetKind.MIXED:
            return wanted
        if files.transcripts:
            return DatasetKind.MIXED if files.sessions or files.archives else DatasetKind.TEXT
        return self._corpus()

    def _corpus(self) -> DatasetKind:
        is_e_daic = self._forms[Form.E_DAIC] > self._forms[Form.DAIC_WOZ]
        return DatasetKind.E_DAIC if is_e_daic else DatasetKind.DAIC_WOZ

    def _outside(self) -> Iterator[Oddity]:
        """Name sessions under numbers that the corpus does not have."""
        is_daic_woz = (self._texts.options.form or self._corpus()) == Form.DAIC_WOZ
        for number in self._files.sessions if is_daic_woz else ():
            if number not in _SESSIONS or number in _NO_SESSIONS:
                yield Oddity(where=str(number), code=OddityCode.ID_OUTSIDE_CORPUS)

    def _note(self, where: str, code: OddityCode, *, count: int = 1) -> None:
        self._texts.oddities.append(Oddity(where=where, code=code, count=count))


def _content_or_none(path: Path) -> bytes | None:
    try:
        return content_of(path)
    except InputError:
        return None
