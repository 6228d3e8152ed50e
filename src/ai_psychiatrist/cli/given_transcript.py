"""The transcript that a command is given: any form, with the speakers known, named or asked for."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from ai_psychiatrist.cli.plain_text import plain
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.errors import InputError, SpeakersUnknown
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.infrastructure.given_files import read_at_most, reason_of
from ai_psychiatrist.interface.given import MOST_BYTES, named_roles
from ai_psychiatrist.services.transcripts.speaker_labels import Roles
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript

ParticipantOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--participant", metavar="LABEL", help="Whose label is the participant's; * is everybody's."
    ),
]
InterviewerOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--interviewer", metavar="LABEL", help="Whose label is the interviewer's."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSpeakers:
    """Who is who, as the command line says."""

    participant: Sequence[str] | None = None
    interviewer: Sequence[str] | None = None

    def roles(self) -> Roles:
        """Return each label with its role; raises `InputError` for one that can be none."""
        return named_roles(self.participant or (), self.interviewer or (), prefix="--")


def given_transcript(
    file: str, settings: Settings, speakers: NamedSpeakers, *, field: str
) -> Transcript:
    """Read a file, `-` for standard input; on a terminal a person is asked who is who.

    Raises `SpeakersUnknown` where nobody can be asked, and `InputError` for a file that cannot be
    read.
    """
    content = _content(file, field)
    read = partial(
        read_transcript,
        content,
        name="" if file == "-" else Path(file).name,
        field=field,
        most_characters=settings.api.max_transcript_chars,
    )
    labels = replace(settings.transcript.labels, given=speakers.roles())
    try:
        return read(labels)
    except SpeakersUnknown as unknown:
        can_ask = file != "-" and sys.stdin.isatty() and sys.stderr.isatty()
        if not (unknown.labels and can_ask):
            raise
        chosen = (unknown.labels[_asked(unknown.labels)], Speaker.PARTICIPANT)
    return read(replace(labels, given=(chosen,)))


def _asked(labels: Sequence[str]) -> int:
    typer.echo("Whose words are the participant's? The transcript has these labels:", err=True)
    for number, label in enumerate(labels, start=1):
        typer.echo(f"  {number}  {plain(label)}", err=True)
    while True:
        choice: int = typer.prompt("Number", type=int, err=True)
        if 1 <= choice <= len(labels):
            return choice - 1


def _content(file: str, field: str) -> bytes:
    try:
        if file == "-":
            return read_at_most(sys.stdin.buffer, MOST_BYTES)
        # A pipe is what `<(…)` gives, so it is waited for here as a person asked.
        with Path(file).open("rb") as stream:
            return read_at_most(stream, MOST_BYTES)
    except OSError as error:
        msg = f"the transcript cannot be read: {reason_of(error)}"
        raise InputError(msg, field=field) from None
