"""The command `assess`: one interview, from the file to the result on the screen."""

import asyncio
import gc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from ai_psychiatrist.cli.exits import ExitCode, refusing_bad_input, writing_output
from ai_psychiatrist.cli.given_transcript import (
    InterviewerOption,
    NamedSpeakers,
    ParticipantOption,
    given_transcript,
)
from ai_psychiatrist.cli.options import AblateOption, ModeOption
from ai_psychiatrist.cli.progress import part_progress
from ai_psychiatrist.cli.report import print_report, tell_causes
from ai_psychiatrist.cli.settings_source import ModelOption, quiet, read_settings
from ai_psychiatrist.domain.assessment import Assessment, AssessmentMode, Certificate
from ai_psychiatrist.domain.errors import InputError
from ai_psychiatrist.domain.transcript import Transcript
from ai_psychiatrist.infrastructure.off_loop import work_inline
from ai_psychiatrist.infrastructure.private_files import is_device, write_whole, writing_to
from ai_psychiatrist.interface.application import open_application

EXAMPLES: Final = """
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
_YOUNG_OBJECTS: Final = 1_000_000
"""More than one assessment makes: what it reads of the vocabularies lives to its end."""
_EXIT_CODES: Final = {
    "complete": ExitCode.COMPLETE,
    "partial": ExitCode.PARTIAL,
    "failed": ExitCode.NOTHING_FINISHED,
}


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
            help="Write what each score stands on, without words, for `verify` to check.",
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write a page with scores, transcript and evidence; it holds what was said.",
        ),
    ] = None,
) -> None:
    """Assess one interview and print the result."""
    gc.set_threshold(_YOUNG_OBJECTS)
    with refusing_bad_input():
        _check_places(file, {"--certificate": certificate, "--html": html})
        speakers = NamedSpeakers(participant=participant, interviewer=interviewer)
        wants = _Wants(mode=mode, ablates=ablate, model=model, certificate=certificate is not None)
        result, transcript = asyncio.run(_assess(file, speakers, wants))
    with writing_output():
        if as_json:
            # Escaped, so that nothing in it acts on a terminal and every encoding can carry it.
            typer.echo(result.model_dump_json(indent=2, ensure_ascii=True))
        else:
            print_report(result)
    if certificate is not None and result.certificate is not None:
        # After the result, which a full disk must not cost.
        with refusing_bad_input():
            _write_certificate(result.certificate, certificate)
    if html is not None:
        with refusing_bad_input():
            _write_page(result, transcript, html, name="" if file == "-" else Path(file).name)
    raise typer.Exit(_EXIT_CODES[result.status.value])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wants:
    mode: AssessmentMode | None
    ablates: bool
    model: str | None
    certificate: bool


def _check_places(interview: str, places: Mapping[str, Path | None]) -> None:
    """Refuse, before a model is asked, places that files cannot have or must not take.

    `places`: option → what it names.
    """
    taken: list[Path] = []
    for option, place in places.items():
        if place is None:
            continue
        if problem := _problem_of(place, Path(interview), taken):
            msg = f"{option}: {problem}"
            raise InputError(msg, field=option)
        taken.append(place)


def _problem_of(place: Path, interview: Path, taken: Sequence[Path]) -> str | None:
    if str(place) == "-":
        return "name a file; standard output has the result"
    if place.is_dir() or is_device(place):
        kind = "folder" if place.is_dir() else "device or a pipe"
        return f"it is a {kind}; name a file"
    if not place.parent.is_dir():
        return "its folder is not there; make it first"
    if _is_same(place, interview):
        return "this is the interview itself; name another file"
    if any(place.absolute() == other.absolute() or _is_same(place, other) for other in taken):
        return "another option names this file; name another one"
    return None


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        # One of them is not there.
        return False


def _write_certificate(certificate: Certificate, path: Path) -> None:
    with writing_to(path, field="--certificate"):
        write_whole(path, [certificate.text.encode()])
    typer.echo(f"certificate: sha256 {certificate.sha256}", err=True)
    if certificate.signed_by is not None:
        typer.echo(f"certificate: signed by {certificate.signed_by}", err=True)


def _write_page(result: Assessment, transcript: Transcript, path: Path, *, name: str) -> None:
    from ai_psychiatrist.results.page.pages import sheet_html  # noqa: PLC0415 - slow to load
    from ai_psychiatrist.results.page.views import sheet_view  # noqa: PLC0415 - slow to load

    page = sheet_html(sheet_view(result, transcript, name=name))
    with writing_to(path, field="--html"):
        write_whole(path, [page.encode("utf-8", "replace")])


async def _assess(
    file: str, speakers: NamedSpeakers, wants: _Wants
) -> tuple[Assessment, Transcript]:
    work_inline()
    settings = quiet(read_settings(wants.model))
    transcript = given_transcript(file, settings, speakers, field="FILE")
    async with open_application(settings) as opened:
        with part_progress() as on_finished:
            result = await opened.assess(
                transcript,
                mode=wants.mode,
                ablate=wants.ablates,
                on_progress=on_finished,
                certificate=wants.certificate,
            )
        tell_causes(result.status, opened.causes(result))
        return result, transcript
