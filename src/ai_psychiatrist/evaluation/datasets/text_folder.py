"""Opens a folder of text and subtitle files, with or without a `labels.csv`."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.dataset import Dataset, DatasetKind
from ai_psychiatrist.evaluation.datasets.label_files import LabelRow, read_label_file
from ai_psychiatrist.evaluation.datasets.oddities import Cost, Oddity, OddityCode, tallied
from ai_psychiatrist.evaluation.datasets.options import ReadingOptions
from ai_psychiatrist.evaluation.datasets.plain_text import plain_text_oddity, rendered_plain_text
from ai_psychiatrist.evaluation.datasets.sources import (
    DatasetDigest,
    TextSource,
    check_of,
    content_of,
    content_or_none,
    unreadable,
)
from ai_psychiatrist.evaluation.datasets.subtitles import (
    SUBTITLE_SUFFIXES,
    SubtitlesRefused,
    read_subtitles,
)
from ai_psychiatrist.evaluation.datasets.units import joined_units
from ai_psychiatrist.infrastructure.given_files import is_inside

TEXT_SUFFIXES: Final = frozenset({".txt", *SUBTITLE_SUFFIXES})
LABELS_FILE: Final = "labels.csv"


def open_text_folder(path: Path, options: ReadingOptions) -> Dataset:
    """Open the files of one folder; a unit's identifier is the file's name without its ending.

    Raises `InputError` for a path that is no folder and for labels that cannot be read.
    """
    if not path.is_dir():
        msg = f"{path.name!r} is no folder; a dataset of kind 'text' is a folder of files"
        raise InputError(msg, field="PATH")
    return _Opening(path, options).dataset()


class _Opening:
    """Goes through a folder once."""

    def __init__(self, path: Path, options: ReadingOptions) -> None:
        self._path = path
        self._options = options
        self._digest = DatasetDigest()
        self._oddities: list[Oddity] = []

    def dataset(self) -> Dataset:
        files = list(self._files())
        names = _unit_ids(files)
        rows = self._label_rows(names)
        sources = {
            names[file]: self._source(file, done, len(files))
            for done, file in enumerate(files, start=1)
        }
        joined = joined_units(rows, sources, order=str, are_participants=False)
        texts = dict.fromkeys((unit.unit_id for unit in joined.units), None) | sources
        return Dataset(
            kind=DatasetKind.TEXT,
            path=self._path,
            units=joined.units,
            oddities=(*self._oddities, *joined.oddities),
            digest=self._digest.hexdigest(self._options.digested(DatasetKind.TEXT)),
            speakers=self._options.speakers,
            unreadable=frozenset(at for at, source in texts.items() if source is None),
            read_text=_FolderTexts(texts, self._options),
        )

    def _files(self) -> Iterator[Path]:
        for path in sorted(self._path.iterdir()):
            if path.name.startswith("._"):
                self._note(path, OddityCode.APPLE_DOUBLE)
            elif path.is_dir():
                self._note(path, OddityCode.SUBFOLDER)
            elif not is_inside(self._path, path):
                self._note(path, OddityCode.LINK_LEADS_OUT)
            elif path.suffix.casefold() in TEXT_SUFFIXES:
                yield path
            elif path.name != LABELS_FILE:
                self._note(path, OddityCode.OTHER_FILE)

    def _label_rows(self, names: Mapping[Path, str]) -> Sequence[LabelRow]:
        path = self._path / LABELS_FILE
        if not path.is_file() or not is_inside(self._path, path):
            return ()
        by_file = {file.name: unit_id for file, unit_id in names.items()}
        content = content_of(path)
        self._digest.add(path.name, content)
        labels = read_label_file(
            content, where=path.name, unit_id=lambda written: by_file.get(written, written)
        )
        if any(oddity.code is OddityCode.NOT_A_LABEL_FILE for oddity in labels.oddities):
            msg = f"{LABELS_FILE} has no column 'unit_id' with the names of the files"
            raise InputError(msg, field=LABELS_FILE)
        self._oddities += labels.oddities
        return labels.rows

    def _source(self, path: Path, done: int, total: int) -> TextSource | None:
        content = content_or_none(path)
        self._digest.add(path.name, content)
        found = list(_found(path, content, self._options))
        noted = list(tallied(path.name, found))
        self._oddities += noted
        self._options.on_progress(done, total)
        if content is None or any(oddity.cost is Cost.UNIT for oddity in noted):
            return None
        return TextSource(path=path, check=check_of(content))

    def _note(self, path: Path, code: OddityCode) -> None:
        self._oddities.append(Oddity(where=path.name, code=code))


class _FolderTexts:
    """Reads the file of one unit again."""

    def __init__(self, sources: Mapping[str, TextSource | None], options: ReadingOptions) -> None:
        self._sources = sources
        self._options = options

    def __call__(self, unit_id: str) -> str:
        source = self._sources[unit_id]
        if source is None:
            raise unreadable(unit_id)
        text = source.content().decode("utf-8-sig")
        if source.path.suffix.casefold() in SUBTITLE_SUFFIXES:
            text = read_subtitles(text, source.path.suffix, self._options.labels).text
        return rendered_plain_text(text, self._options)


def _unit_ids(files: Sequence[Path]) -> dict[Path, str]:
    """Return file → identifier; files of one stem keep their endings."""
    stems = Counter(file.stem for file in files)
    return {file: file.stem if stems[file.stem] == 1 else file.name for file in files}


def _found(
    path: Path, content: bytes | None, options: ReadingOptions
) -> Iterator[tuple[OddityCode, int | None]]:
    try:
        text = None if content is None else content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = None
    if text is None:
        yield OddityCode.NOT_TEXT, None
        return
    if path.suffix.casefold() in SUBTITLE_SUFFIXES:
        try:
            subtitles = read_subtitles(text, path.suffix, options.labels)
        except SubtitlesRefused:
            yield OddityCode.SUBTITLES_REFUSED, None
            return
        yield from subtitles.found
        text = subtitles.text
    oddity = plain_text_oddity(text, options.labels)
    if oddity is not None:
        yield oddity, None
