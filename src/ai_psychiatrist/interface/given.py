"""The transcript that a caller gives: text, the content of a file, or where the file is."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.infrastructure.given_files import read_regular, reason_of
from ai_psychiatrist.services.transcripts.speaker_labels import (
    DEFAULT_LABELS,
    Roles,
    SpeakerLabels,
    given_roles,
)
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript

GivenTranscript: TypeAlias = str | bytes | Path | Transcript
"""The text itself, a file's content in any form that is known, its path, or one that is read."""
GivenLabels: TypeAlias = str | Sequence[str]
"""One label or several; `*` is everybody's."""

MOST_BYTES: Final = 1 << 25
"""Of a file: beside its words, a form may have a time and a measure of each."""
_LONGEST_PATH: Final = 1_000
_FIELD: Final = "transcript"


def named_roles(participant: GivenLabels, interviewer: GivenLabels, *, prefix: str = "") -> Roles:
    """Return each label with its role.

    `prefix`: of the names under which the caller gave them. Raises `InputError` for what can be no
    label.
    """
    named = {Speaker.PARTICIPANT: participant, Speaker.INTERVIEWER: interviewer}
    return tuple(
        pair
        for role, labels in named.items()
        for pair in given_roles(dict.fromkeys(_several(labels), role.value), field=prefix + role)
    )


def _several(labels: GivenLabels) -> Sequence[str]:
    return (labels,) if isinstance(labels, str) else labels


def content_of(given: str | bytes | Path) -> str | bytes:
    """Return the text, or the bytes of the file; raises `InputError` for one that is unreadable."""
    if isinstance(given, Path):
        try:
            return read_regular(given, most_bytes=MOST_BYTES)
        except OSError as error:
            msg = f"the transcript cannot be read: {reason_of(error)}"
            raise InputError(msg, field=_FIELD) from None
    if isinstance(given, str) and _is_path(given):
        msg = "a string is the text of the interview itself; give a file as pathlib.Path(...)"
        raise InputError(msg, field=_FIELD)
    return given


def _is_path(text: str) -> bool:
    if len(text) > _LONGEST_PATH or "\n" in text:
        return False
    try:
        return Path(text).is_file()
    except ValueError:
        return False


def read_given(
    content: str | bytes,
    roles: Roles,
    *,
    labels: SpeakerLabels = DEFAULT_LABELS,
    name: str = "",
    most_characters: float = math.inf,
) -> Transcript:
    """Read a transcript as HTTP and the command line do; raises `InputError` as they do."""
    return read_transcript(
        content,
        replace(labels, given=roles),
        name=name,
        field=_FIELD,
        most_characters=most_characters,
    )
