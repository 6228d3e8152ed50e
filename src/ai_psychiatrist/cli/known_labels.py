"""Options that name labels of speakers for all files of a dataset."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, TypeAlias

import typer

from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.services.transcripts.labels import (
    EVERYBODY,
    SpeakerLabels,
    given_roles,
)

ParticipantLabels: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--participant",
        metavar="LABEL",
        help="A further label of participants, in any of the files; can be repeated.",
    ),
]
InterviewerLabels: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--interviewer",
        metavar="LABEL",
        help="A further label of interviewers, in any of the files; can be repeated.",
    ),
]


def with_labels(
    known: SpeakerLabels, participant: Sequence[str] | None, interviewer: Sequence[str] | None
) -> SpeakerLabels:
    """Add what the command line names. Raises `InputError` for what can be no label."""
    return replace(
        known,
        participant=(*known.participant, *_checked(participant or (), "--participant")),
        interviewer=(*known.interviewer, *_checked(interviewer or (), "--interviewer")),
    )


def _checked(labels: Sequence[str], option: str) -> Sequence[str]:
    if EVERYBODY in labels:
        msg = f"{option}: write a row file,*,participant in speakers.csv for one person's own words"
        raise InputError(msg, field=option)
    return [label for label, _ in given_roles(dict.fromkeys(labels, "other"), field=option)]
