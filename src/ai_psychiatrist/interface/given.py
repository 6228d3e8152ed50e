"""The transcript that a caller gives: text, the content of a file, or where the file is."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.domain.errors import AssessmentServiceError, InputError, require
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.infrastructure.given_files import (
    could_be_path,
    read_regular,
    reading_from,
)
from ai_psychiatrist.services.transcripts.speaker_labels import (
    DEFAULT_LABELS,
    Roles,
    given_roles,
)
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript

GivenTranscript: TypeAlias = str | bytes | Path | Transcript
"""The text itself, a file's content in any form that is known, its path, or one that is read."""
GivenLabels: TypeAlias = str | Sequence[str]
"""One label or several; `*` is everybody's."""
GivenMode: TypeAlias = AssessmentMode | str | None
"""A mode or its name; `None` is that of the settings."""

MOST_BYTES: Final = 1 << 25
"""Of a file: beside its words, a form may have a time and a measure of each."""
FIELD: Final = "transcript"
_FILE_NAME: Final = re.compile(
    r"\S(?:.*\S)?\.(?:txt|md|vtt|srt|sbv|json|jsonl|csv|tsv|docx|cha)", re.IGNORECASE
)


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


def wanted_mode(mode: GivenMode) -> AssessmentMode | None:
    """Return the mode; raises `InputError` for what is the name of none."""
    if mode is None:
        return None
    return AssessmentMode.named(mode if isinstance(mode, str) else "")


def refuse_no_flag(**flags: object) -> None:
    """Raise `InputError` for a keyword that is no flag: "no" would count as yes."""
    for name, value in flags.items():
        require(isinstance(value, bool), f"{name} has to be True or False", field=name)


def _several(labels: GivenLabels) -> Sequence[str]:
    several = (labels,) if isinstance(labels, str) else tuple(labels)
    are_texts = all(isinstance(label, str) for label in several)
    require(are_texts, "labels of speakers are texts", field="participant")
    return several


def named_path(given: str | Path, *, field: str) -> Path:
    """Return the path that the caller named.

    Raises `InputError`, which repeats nothing, for what is none: a text given in its place.
    """
    require(
        isinstance(given, str | Path) and could_be_path(str(given)),
        "the path of a file or folder is wanted here, and what was given cannot be one",
        field=field,
    )
    return Path(given)


def content_of(given: str | bytes | Path, *, field: str = FIELD) -> str | bytes:
    """Return the text, or the bytes of the file; raises `InputError` for one that is unreadable."""
    match given:
        case Path():
            path = named_path(given, field=field)
            with reading_from(f"the {field}", field=field):
                return read_regular(path, most_bytes=MOST_BYTES)
        case str() if _is_path(given):
            msg = "a string is the text of the interview itself; give a file as pathlib.Path(...)"
        case str() | bytes():
            return given
        case bytearray() | memoryview():
            return bytes(given)
        case _:
            msg = f"a text, bytes or a pathlib.Path is wanted, and not {type(given).__name__}"
    raise InputError(msg, field=field)


def _is_path(text: str) -> bool:
    """Return whether a text names a file, one that is there or one that is spelt wrongly."""
    if not could_be_path(text):
        return False
    return _FILE_NAME.fullmatch(text.strip()) is not None or Path(text).is_file()


@contextmanager
def forgetting_causes() -> Iterator[None]:
    """Let an error of ours go on without those that led to it: these hold what was given."""
    try:
        yield
    except AssessmentServiceError as error:
        error.__context__ = error.__cause__ = None
        raise


def read_given(
    given: GivenTranscript, participant: GivenLabels, interviewer: GivenLabels
) -> Transcript:
    """Read a transcript as HTTP and the command line do; raises `InputError` as they do."""
    if isinstance(given, Transcript):
        return given
    labels = replace(DEFAULT_LABELS, given=named_roles(participant, interviewer))
    return read_transcript(content_of(given), labels, name=name_of(given), field=FIELD)


def name_of(given: object) -> str:
    """Return the name of the file that was given; empty for what is none."""
    return given.name if isinstance(given, Path) else ""
