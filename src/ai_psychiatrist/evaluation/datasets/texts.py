"""The texts of a dataset's units: read once for the digest, and again, unchanged, when needed."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from ai_psychiatrist.domain.errors import InputError, SpeakersUnknown, TranscriptUnreadable
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.evaluation.datasets.dataset import Dataset, DatasetKind, DatasetUnit
from ai_psychiatrist.evaluation.datasets.oddities import Oddity, OddityCode
from ai_psychiatrist.evaluation.datasets.options import ReadingOptions
from ai_psychiatrist.evaluation.datasets.speaker_filter import filtered
from ai_psychiatrist.infrastructure.given_files import (
    open_regular,
    read_at_most,
    read_regular,
    reason_of,
)
from ai_psychiatrist.services.transcripts.speaker_labels import EVERYBODY, Roles, label_key
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript
from ai_psychiatrist.services.transcripts.utterances import FileFault

MOST_BYTES: Final = 1 << 25
"""Bound on one file of a dataset that is read whole."""

_CHECK_BYTES: Final = 16
_BEGINNING_BYTES: Final = 1 << 14


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
    roles: UnitRoles = UnitRoles()

    def content(self) -> bytes:
        """Read the bytes again. Raises `TranscriptUnreadable` when they are not the same."""
        try:
            with open_regular(self.path) as file:
                file.seek(self.start)
                length = self.length
                content = read_at_most(file, MOST_BYTES) if length is None else file.read(length)
        except OSError:
            msg = "the transcript's file cannot be read any more"
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
        name = self.path.name if self.length is None else ""
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
        # The error tells the first labels alone.
        told = [turn.label for turn in transcript.turns if turn.label is not None]
        missed = _among(shared, told)
        return transcript if set(missed) <= set(there) else read(missed)


class Texts:
    """All units of a dataset and what is odd about them, gathered while its files are read."""

    def __init__(self, options: ReadingOptions) -> None:
        self.options = options
        self.oddities: list[Oddity] = []
        self.sources: dict[str, TextSource | None] = {}
        """`None` for a unit that cannot be read."""
        self._digest = hashlib.sha256()

    def digest(self, name: str, content: bytes | None) -> None:
        """Take in one file, `None` for an unreadable one; the order of the calls counts."""
        length = None if content is None else len(content)
        self._digest.update(json.dumps([name, length]).encode())
        self._digest.update(hashlib.sha256(content or b"").digest())

    def reading(self, source: TextSource, content: bytes) -> Transcript | InputError:
        """Read the whole transcript of a unit, or tell why it cannot be used."""
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
            self.oddities += _oddities_of(reading, where, line)
        else:
            self.sources[unit_id] = None
            self.oddities.append(_refusal(reading, where, line))

    def dataset(self, path: Path, kind: DatasetKind, units: Iterable[DatasetUnit]) -> Dataset:
        """Return the dataset of all that was added."""
        whole = self._digest.copy()
        whole.update(json.dumps(self.options.digested(kind), sort_keys=True).encode())
        return Dataset(
            kind=kind,
            path=path,
            units=tuple(units),
            oddities=tuple(self.oddities),
            digest=whole.hexdigest(),
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


def _oddities_of(transcript: Transcript, where: str, line: int | None) -> Iterator[Oddity]:
    notes = transcript.source.notes
    for note in notes:
        at = note.line if line is None else line
        yield Oddity(where=where, code=OddityCode(note.code), line=at, count=note.count)
    others = sum(turn.speaker is Speaker.OTHER for turn in transcript.turns)
    if others and OddityCode.SPEAKER_UNKNOWN not in [note.code for note in notes]:
        yield Oddity(where=where, code=OddityCode.SPEAKER_OTHER, line=line, count=others)


def _refusal(error: InputError, where: str, line: int | None) -> Oddity:
    """Return why a unit has no transcript, with the labels that were found in it."""
    if not isinstance(error, TranscriptUnreadable):
        return Oddity(where=where, code=OddityCode.SPEAKERS_MISNAMED, line=line)
    return Oddity(
        where=where,
        code=OddityCode(error.fault),
        line=error.line if line is None else line,
        labels=error.labels if isinstance(error, SpeakersUnknown) else (),
    )


def _among(roles: Roles, labels: Iterable[str]) -> Roles:
    there = {EVERYBODY, *map(label_key, labels)}
    return tuple(role for role in roles if label_key(role[0]) in there)


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


def beginning_of(path: Path) -> bytes:
    """Read the first bytes of a file, enough for a header; none when that cannot be done."""
    try:
        with open_regular(path) as file:
            return file.read(_BEGINNING_BYTES)
    except OSError:
        return b""
