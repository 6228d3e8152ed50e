"""Opens a DAIC-WOZ or E-DAIC folder: transcripts and label files joined by participant."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.evaluation.datasets.corpus_files import CorpusFiles, find_corpus_files
from ai_psychiatrist.evaluation.datasets.corpus_transcripts import (
    CorpusKind,
    read_corpus_transcript,
)
from ai_psychiatrist.evaluation.datasets.dataset import Dataset, DatasetKind
from ai_psychiatrist.evaluation.datasets.label_files import LabelRow, read_label_file
from ai_psychiatrist.evaluation.datasets.lines import render
from ai_psychiatrist.evaluation.datasets.oddities import Oddity, OddityCode, tallied
from ai_psychiatrist.evaluation.datasets.options import ReadingOptions
from ai_psychiatrist.evaluation.datasets.sources import (
    DatasetDigest,
    TextSource,
    check_of,
    content_of,
    content_or_none,
    unreadable,
)
from ai_psychiatrist.evaluation.datasets.units import joined_units

_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_SESSIONS: Final = range(300, 493)
_NO_SESSIONS: Final = frozenset({342, 394, 398, 460})
"""Numbers in the range of DAIC-WOZ that were never given to a session."""


def open_corpus(path: Path, options: ReadingOptions, *, kind: CorpusKind | None = None) -> Dataset:
    """Open a folder; without a `kind` it is that of most transcripts.

    Raises `InputError` for a folder without any file of a corpus, and for a label file that is no
    text or names one thing twice.
    """
    return _Opening(path, options, kind).dataset()


class _Opening:
    """Reads every file of a folder once and keeps what is needed to read it again."""

    def __init__(self, path: Path, options: ReadingOptions, kind: CorpusKind | None) -> None:
        self._path = path
        self._options = options
        self._kind = kind
        self._digest = DatasetDigest()
        self._oddities: list[Oddity] = []
        self._kinds: Counter[CorpusKind] = Counter()

    def dataset(self) -> Dataset:
        files = find_corpus_files(self._path)
        self._oddities += files.oddities
        rows = list(self._label_rows(files))
        if files.is_empty and not rows:
            msg = f"{self._path.name!r} holds no transcripts or labels of DAIC-WOZ or E-DAIC"
            raise InputError(msg, field="PATH")
        sources = dict(self._sources(files))
        joined = joined_units(
            rows, [str(at) for at in files.transcripts], order=int, are_participants=True
        )
        kind = self._kind or self._most_frequent_kind()
        texts = dict.fromkeys((unit.unit_id for unit in joined.units), None) | sources
        return Dataset(
            kind=DatasetKind(kind),
            path=self._path,
            units=joined.units,
            oddities=(*self._oddities, *joined.oddities, *_outside(kind, files.transcripts)),
            digest=self._digest.hexdigest(self._options.digested(kind)),
            speakers=self._options.speakers,
            unreadable=frozenset(at for at, source in texts.items() if source is None),
            read_text=_CorpusTexts(texts, self._options, self._kind),
        )

    def _label_rows(self, files: CorpusFiles) -> Iterator[LabelRow]:
        for path in files.label_files:
            name, content = self._name(path), content_of(path)
            self._digest.add(name, content)
            label_file = read_label_file(content, where=name, unit_id=_participant)
            self._oddities += label_file.oddities
            yield from label_file.rows

    def _sources(self, files: CorpusFiles) -> Iterator[tuple[str, TextSource]]:
        for done, (participant_id, paths) in enumerate(files.transcripts.items(), start=1):
            source = self._source(participant_id, paths)
            self._options.on_progress(done, len(files.transcripts))
            if source is not None:
                yield str(participant_id), source

    def _source(self, participant_id: int, paths: Sequence[Path]) -> TextSource | None:
        """Read the one content of a session's files; `None` when it cannot be used."""
        contents = [content_or_none(path) for path in paths]
        for path, content in zip(paths, contents, strict=True):
            self._digest.add(self._name(path), content)
        name = self._name(paths[0])
        if any(content != contents[0] for content in contents):
            self._oddities.append(Oddity(where=name, code=OddityCode.TRANSCRIPTS_DIFFER))
            return None
        if len(paths) > 1:
            repeated = Oddity(where=name, code=OddityCode.TRANSCRIPT_REPEATED, count=len(paths))
            self._oddities.append(repeated)
        content = contents[0]
        if content is None:
            self._oddities.append(Oddity(where=name, code=OddityCode.NOT_TEXT))
            return None
        transcript = read_corpus_transcript(
            content, participant_id, policy=self._options.rows, kind=self._kind
        )
        self._oddities += tallied(name, transcript.found)
        if transcript.kind is not None:
            self._kinds[transcript.kind] += 1
        if not transcript.lines:
            return None
        return TextSource(path=paths[0], check=check_of(content))

    def _most_frequent_kind(self) -> CorpusKind:
        return "e-daic" if self._kinds["e-daic"] > self._kinds["daic-woz"] else "daic-woz"

    def _name(self, path: Path) -> str:
        return path.relative_to(self._path).as_posix()


class _CorpusTexts:
    """Reads the transcript of one unit again."""

    def __init__(
        self,
        sources: Mapping[str, TextSource | None],
        options: ReadingOptions,
        kind: CorpusKind | None,
    ) -> None:
        self._sources = sources
        self._options = options
        self._kind = kind

    def __call__(self, unit_id: str) -> str:
        source = self._sources[unit_id]
        if source is None:
            raise unreadable(unit_id)
        transcript = read_corpus_transcript(
            source.content(), int(unit_id), policy=self._options.rows, kind=self._kind
        )
        return render(transcript.lines, self._options.speakers)


def _participant(written: str) -> str:
    """Return the number of a participant in its one spelling; "" for what is no number."""
    number = written.strip().removesuffix("_P").removesuffix(".0")
    return str(int(number)) if _NUMBER.fullmatch(number) else ""


def _outside(kind: CorpusKind, participant_ids: Mapping[int, object]) -> Iterator[Oddity]:
    """Name transcripts under numbers that the corpus does not have."""
    for number in participant_ids:
        is_known = number in _SESSIONS and number not in _NO_SESSIONS
        if kind == "daic-woz" and not is_known:
            yield Oddity(where=str(number), code=OddityCode.ID_OUTSIDE_CORPUS)
