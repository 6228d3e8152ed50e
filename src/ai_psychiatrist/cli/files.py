"""Files of a command line: a transcript in any form to read, and places for what is made."""

import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from ai_psychiatrist.cli.console import plain, require, say
from ai_psychiatrist.config import Settings
from ai_psychiatrist.domain.errors import SpeakersUnknown
from ai_psychiatrist.domain.transcript import Speaker, Transcript
from ai_psychiatrist.infrastructure.given_files import read_at_most, reading_from
from ai_psychiatrist.infrastructure.private_files import is_device, write_whole, writing_to
from ai_psychiatrist.interface.given import MOST_BYTES, named_roles
from ai_psychiatrist.services.transcripts.speaker_labels import Roles
from ai_psychiatrist.services.transcripts.transcript_reader import read_transcript

ParticipantOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--participant", metavar="LABEL", help="The participant's label; * for all speakers."
    ),
]
InterviewerOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--interviewer", metavar="LABEL", help="The interviewer's label."),
]


def speaker_roles(participant: Sequence[str] | None, interviewer: Sequence[str] | None) -> Roles:
    """Return each label of the options with its role; raises `InputError` for one that is none."""
    return named_roles(participant or (), interviewer or (), prefix="--")


def given_transcript(file: str, settings: Settings, roles: Roles, *, field: str) -> Transcript:
    """Read a file, `-` for standard input; on a terminal a person is asked who is who.

    Raises `SpeakersUnknown` where nobody can be asked, and `InputError` for a file that cannot be
    read.
    """
    read = partial(
        read_transcript,
        _content(file, field),
        name="" if file == "-" else Path(file).name,
        field=field,
        most_characters=settings.api.max_transcript_chars,
    )
    labels = replace(settings.transcript.labels, given=roles)
    try:
        return read(labels)
    except SpeakersUnknown as unknown:
        can_ask = file != "-" and sys.stdin.isatty() and sys.stderr.isatty()
        if not (unknown.labels and can_ask):
            raise
        chosen = (unknown.labels[_asked(unknown.labels)], Speaker.PARTICIPANT)
    return read(replace(labels, given=(chosen,)))


def _content(file: str, field: str) -> bytes:
    with reading_from("the transcript", field=field):
        if file == "-":
            return read_at_most(sys.stdin.buffer, MOST_BYTES)
        # A pipe is what `<(…)` gives, so it is waited for here as a person asked.
        with Path(file).open("rb") as stream:
            return read_at_most(stream, MOST_BYTES)


def _asked(labels: Sequence[str]) -> int:
    say("Whose words are the participant's? The transcript has these labels:")
    say(*(f"  {number}  {plain(label)}" for number, label in enumerate(labels, start=1)))
    while True:
        choice: int = typer.prompt("Number", type=int, err=True)
        if 1 <= choice <= len(labels):
            return choice - 1


def check_place(
    option: str, place: Path, source: Path, *, source_is: str, cure: str = "name a file"
) -> None:
    """Refuse, before any work, a place that no file can take, or that holds the `source`.

    `cure`: of a device or a pipe. Raises `InputError`.
    """
    require(not place.is_dir(), f"{option}: it is a folder; name a file", field=option)
    require(not is_device(place), f"{option}: it is a device or a pipe; {cure}", field=option)
    is_there = place.parent.is_dir()
    require(is_there, f"{option}: its folder is not there; make it first", field=option)
    require(
        not is_same_file(place, source),
        f"{option}: this is {source_is}; name another file",
        field=option,
    )


def is_same_file(one: Path, other: Path) -> bool:
    """Return whether two paths lead to one file that is there."""
    with suppress(OSError, ValueError):
        return one.samefile(other)
    return False


def write_file(place: Path, chunks: Iterable[bytes], *, option: str) -> None:
    """Write a file for its owner alone; raises `InputError` where its place cannot be written."""
    with writing_to(place, field=option):
        write_whole(place, chunks)
