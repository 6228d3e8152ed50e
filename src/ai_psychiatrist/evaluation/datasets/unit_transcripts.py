"""Reads the transcript of a unit: at the opening for what is odd, and again when it is needed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from ai_psychiatrist.domain.errors import (
    InputError,
    SpeakersUnknown,
    TranscriptUnreadable,
)
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.evaluation.datasets.oddities import Oddity, OddityCode
from ai_psychiatrist.evaluation.datasets.options import ReadingOptions
from ai_psychiatrist.evaluation.datasets.sources import TextSource, unreadable
from ai_psychiatrist.evaluation.datasets.speaker_filter import filtered
from ai_psychiatrist.services.transcripts.labels import (
    EVERYBODY,
    Roles,
    SpeakerLabels,
    label_key,
)
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript
from ai_psychiatrist.services.transcripts.utterances import FileFault


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitRoles:
    """Who is who in one unit, as a `speakers.csv` says."""

    own: Roles = field(default=(), repr=False)
    """Said of this unit: labels that it has to have."""
    shared: Roles = field(default=(), repr=False)
    """Said of every unit: counts where the label is there."""


NO_ROLES: Final = UnitRoles()


class UnitTranscripts:
    """Reads the transcript of one unit again."""

    def __init__(
        self,
        sources: Mapping[str, TextSource | None],
        options: ReadingOptions,
        roles: Mapping[str, UnitRoles] | None = None,
    ) -> None:
        """`sources`: of every unit, `None` for one that cannot be read."""
        self._sources = sources
        self._options = options
        self._roles = roles or {}

    def __call__(self, unit_id: str) -> Transcript:
        if unit_id not in self._sources:
            msg = f"the dataset has no unit {unit_id!r}"
            raise InputError(msg, field="unit_id")
        source = self._sources[unit_id]
        if source is None:
            raise unreadable(unit_id)
        roles = self._roles.get(unit_id, NO_ROLES)
        transcript = read_unit(source.content(), self._options, name=source.name, roles=roles)
        return filtered(transcript, self._options.speakers)


def read_unit(
    content: bytes, options: ReadingOptions, *, name: str, roles: UnitRoles = NO_ROLES
) -> Transcript:
    """Read the whole transcript of a unit. Raises `InputError` for one that cannot be used."""
    transcript = _with_roles(content, options, name, roles)
    if options.form is not None and transcript.source.form != options.form:
        msg = f"the transcript is not in the form {options.form.value!r}"
        raise TranscriptUnreadable(msg, fault=FileFault.WRONG_HEADER, line=1)
    return transcript


def _with_roles(content: bytes, options: ReadingOptions, name: str, roles: UnitRoles) -> Transcript:
    def read(shared: Roles) -> Transcript:
        labels = _with_given(options.labels, (*shared, *roles.own))
        return read_transcript(content, labels, name=name, rows=options.rows)

    try:
        return read(roles.shared)
    except SpeakersUnknown as error:
        there = _among(roles.shared, error.labels)
        if there == roles.shared:
            raise
    transcript = read(there)
    # The error tells the first labels alone.
    told = [turn.label for turn in transcript.turns if turn.label is not None]
    missed = _among(roles.shared, told)
    return transcript if set(missed) <= set(there) else read(missed)


def _with_given(labels: SpeakerLabels, given: Roles) -> SpeakerLabels:
    return replace(labels, given=given) if given else labels


def _among(roles: Roles, labels: list[str] | tuple[str, ...]) -> Roles:
    there = {EVERYBODY, *map(label_key, labels)}
    return tuple(role for role in roles if label_key(role[0]) in there)


def oddities_of(transcript: Transcript, where: str, line: int | None = None) -> Iterator[Oddity]:
    """Yield what is odd about a transcript; `line`: of the unit, in a file of several."""
    notes = transcript.source.notes
    for note in notes:
        at = note.line if line is None else line
        yield Oddity(where=where, code=OddityCode(note.code), line=at, count=note.count)
    others = sum(turn.speaker is Speaker.OTHER for turn in transcript.turns)
    if others and OddityCode.SPEAKER_UNKNOWN not in [note.code for note in notes]:
        yield Oddity(where=where, code=OddityCode.SPEAKER_OTHER, line=line, count=others)


def oddity_of_refusal(error: InputError, where: str, line: int | None = None) -> Oddity:
    """Return why a unit has no transcript, with the labels that were found in it."""
    if not isinstance(error, TranscriptUnreadable):
        return Oddity(where=where, code=OddityCode.SPEAKERS_MISNAMED, line=line)
    return Oddity(
        where=where,
        code=OddityCode(error.fault),
        line=error.line if line is None else line,
        labels=error.labels if isinstance(error, SpeakersUnknown) else (),
    )
