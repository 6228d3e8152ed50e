"""Opens a folder of interviews in whatever forms, or one file, with the labels next to them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

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
from ai_psychiatrist.evaluation.datasets.folder_files import FolderFiles
from ai_psychiatrist.evaluation.datasets.label_columns import WANTED_COLUMNS
from ai_psychiatrist.evaluation.datasets.label_files import LabelFiles
from ai_psychiatrist.evaluation.datasets.label_tables import LabelTable, read_label_table
from ai_psychiatrist.evaluation.datasets.names import (
    TRANSCRIPT,
    WHAT_A_DATASET_IS,
    UnitNames,
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
from ai_psychiatrist.services.transcripts.utterances import Form

_SESSIONS: Final = frozenset(range(300, 493)) - {342, 394, 398, 460}
"""The numbers of DAIC-WOZ; four in its range were never given to a session."""
_NO_HEADER: Final = f"it names interviews, and has no header; wanted are {WANTED_COLUMNS}"
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
    labels = _label_files(files, names, texts)
    if not labels.rows:
        texts.issues += [
            DataIssue(where=files.name(one), code=IssueCode.SCORES_UNKNOWN, hint=_NO_HEADER)
            for one in files.take_unknown(names.files)
        ]
    texts.issues += files.issues()
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
    texts.label_files += [table.file for table in tables if table.rows]
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
            texts.issues.append(DataIssue(where=unit_id, code=code, hint=labels.hint(code)))
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
