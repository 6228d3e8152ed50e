"""The command `verify`: whether a certificate holds for an interview."""

from pathlib import Path
from typing import Annotated, Final

import typer

from ai_psychiatrist.cli.console import ExitCode
from ai_psychiatrist.cli.files import (
    InterviewerOption,
    ParticipantOption,
    speaker_roles,
)
from ai_psychiatrist.interface.certifying import verify as check

EXAMPLES: Final = """
Examples:

  ai-psychiatrist assess interview.txt --certificate interview.certificate.json

  ai-psychiatrist verify interview.txt interview.certificate.json --digest 5f0c…

Exit status: 0 it holds, 1 it does not, 2 bad input.
"""


def verify(
    transcript: Annotated[
        Path, typer.Argument(metavar="TRANSCRIPT", help="The interview, in any form that is read.")
    ],
    certificate: Annotated[
        Path, typer.Argument(metavar="CERTIFICATE", help="What assess --certificate wrote.")
    ],
    *,
    digest: Annotated[
        str | None, typer.Option(metavar="HEX", help="The SHA-256 that the result names.")
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="HEX", help="The Ed25519 key of who has to have signed it."),
    ] = None,
    participant: ParticipantOption = None,
    interviewer: InterviewerOption = None,
) -> None:
    """Check the certificate of an assessment against its interview; no model is asked."""
    # Before the files are read.
    speaker_roles(participant, interviewer)
    found = check(
        transcript,
        certificate,
        digest=digest,
        key=key,
        participant=tuple(participant or ()),
        interviewer=tuple(interviewer or ()),
    )
    told = ["The certificate holds.", *found.notes]
    typer.echo("\n".join(told) if found.holds else f"REFUSED: {found.refusal}")
    raise typer.Exit(ExitCode.COMPLETE if found.holds else ExitCode.PARTIAL)
