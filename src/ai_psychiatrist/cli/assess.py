"""The commands on one assessment: made of an interview, its certificate checked, its schema."""

import asyncio
from itertools import combinations
from pathlib import Path
from typing import Annotated, Final

import typer

from ai_psychiatrist.cli.command_app import CommandApp
from ai_psychiatrist.cli.console import ExitCode, require, say
from ai_psychiatrist.cli.files import (
    InterviewerOption,
    ParticipantOption,
    check_place,
    given_transcript,
    is_same_file,
    speaker_roles,
    write_file,
)
from ai_psychiatrist.cli.options import AblateOption, ModeOption
from ai_psychiatrist.cli.progress import part_progress
from ai_psychiatrist.cli.report import print_report, tell_causes
from ai_psychiatrist.cli.settings import ModelOption, quiet, read_settings
from ai_psychiatrist.domain.assessment import Assessment
from ai_psychiatrist.infrastructure.off_loop import work_inline
from ai_psychiatrist.interface.application import open_application
from ai_psychiatrist.interface.certifying import verify as check
from ai_psychiatrist.results.schema import kept_schema

_EXAMPLES: Final = """
Examples:

  ai-psychiatrist assess interview.txt

  ai-psychiatrist assess zoom.vtt --participant "Anna Schmidt"

  ai-psychiatrist assess interview.txt --json > assessment.json

  cat interview.txt | ai-psychiatrist assess -

  ai-psychiatrist assess interview.txt --model ollama:gemma3

  ai-psychiatrist assess interview.txt --certificate interview.certificate.json

  ai-psychiatrist assess interview.txt --html interview.html

  ai-psychiatrist assess interview.txt --model ollama:gemma3 --mode descriptions_only

  ai-psychiatrist assess interview.txt --ablate

Exit status: 0 complete, 1 partial, 2 bad input or settings, 3 nothing finished.
"""
_EXIT_CODES: Final = {
    "complete": ExitCode.COMPLETE,
    "partial": ExitCode.PARTIAL,
    "failed": ExitCode.NOTHING_FINISHED,
}


assess_app = CommandApp()


@assess_app.command(epilog=_EXAMPLES)
def assess(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="Text, subtitles, table, JSON or .docx; - reads stdin."
        ),
    ],
    *,
    participant: ParticipantOption = None,
    interviewer: InterviewerOption = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the whole result as JSON.")
    ] = False,
    mode: ModeOption = None,
    ablate: AblateOption = False,
    model: ModelOption = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write what supports each score, without words, for `verify`.",
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write a page with scores, transcript and evidence.",
        ),
    ] = None,
) -> None:
    """Assess one interview and print the result."""
    _check_places({"--certificate": certificate, "--html": html}, interview=Path(file))
    settings = quiet(read_settings(model))
    roles = speaker_roles(participant, interviewer)
    transcript = given_transcript(file, settings, roles, field="FILE")

    async def assessed() -> Assessment:
        work_inline()
        async with open_application(settings) as opened:
            with part_progress() as on_finished:
                made = await opened.assess(
                    transcript,
                    mode=mode,
                    ablate=ablate,
                    on_progress=on_finished,
                    certificate=certificate is not None,
                )
            tell_causes(made.status, opened.causes(made))
            return made

    result = asyncio.run(assessed())
    # Before the files, which may meet a full disk: that must not cost the result.
    if as_json:
        # Escaped, so that nothing in it acts on a terminal and every encoding can carry it.
        typer.echo(result.model_dump_json(indent=2, ensure_ascii=True))
    else:
        print_report(result)
    if certificate is not None and (certified := result.certificate) is not None:
        write_file(certificate, [certified.text.encode()], option="--certificate")
        say(f"certificate: sha256 {certified.sha256}")
        if certified.signed_by is not None:
            say(f"certificate: signed by {certified.signed_by}")
    if html is not None:
        from ai_psychiatrist.results.page.pages import sheet_html  # noqa: PLC0415 - slow to load
        from ai_psychiatrist.results.page.views import sheet_view  # noqa: PLC0415 - slow to load

        name = "" if file == "-" else Path(file).name
        page = sheet_html(sheet_view(result, transcript, name=name))
        write_file(html, [page.encode("utf-8", "replace")], option="--html")
    raise typer.Exit(_EXIT_CODES[result.status.value])


def _check_places(given: dict[str, Path | None], *, interview: Path) -> None:
    """Refuse, before a model is asked, places that files cannot have or must not take.

    `given`: option → what it names.
    """
    places = [(option, place) for option, place in given.items() if place is not None]
    for option, place in places:
        require(
            str(place) != "-",
            f"{option}: name a file; standard output has the result",
            field=option,
        )
        check_place(option, place, interview, source_is="the interview itself")
    for (_, one), (option, other) in combinations(places, 2):
        is_one = one.absolute() == other.absolute() or is_same_file(one, other)
        require(
            not is_one, f"{option}: another option names this file; name another one", field=option
        )


@assess_app.command(
    epilog="""
Examples:

  ai-psychiatrist assess interview.txt --certificate interview.certificate.json

  ai-psychiatrist verify interview.txt interview.certificate.json --digest 5f0c…

Exit status: 0 it holds, 1 it does not, 2 bad input.
"""
)
def verify(
    transcript: Annotated[
        Path, typer.Argument(metavar="TRANSCRIPT", help="The interview, in any supported format.")
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
        typer.Option(metavar="HEX", help="The Ed25519 key of the required signer."),
    ] = None,
    participant: ParticipantOption = None,
    interviewer: InterviewerOption = None,
) -> None:
    """Check the certificate of an assessment against its interview, without a model."""
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


@assess_app.command(
    epilog="""
Example:

  ai-psychiatrist schema > assessment.schema.json
"""
)
def schema() -> None:
    """Print the JSON Schema of results over HTTP and --json; each names its version."""
    typer.echo(kept_schema(), nl=False)
