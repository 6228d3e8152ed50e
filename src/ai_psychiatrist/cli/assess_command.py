"""The command `assess`: one interview, from the file to the result on the screen."""

import asyncio
import gc
from typing import Annotated, Final

import typer

from ai_psychiatrist.cli.ablate_option import AblateOption
from ai_psychiatrist.cli.exits import ExitCode, refusing_bad_input, writing_output
from ai_psychiatrist.cli.failure_account import tell_causes
from ai_psychiatrist.cli.given_transcript import (
    InterviewerOption,
    NamedSpeakers,
    ParticipantOption,
    given_transcript,
)
from ai_psychiatrist.cli.mode_option import ModeOption
from ai_psychiatrist.cli.progress import part_progress
from ai_psychiatrist.cli.report import print_report
from ai_psychiatrist.cli.settings_source import ModelOption, quiet, read_settings
from ai_psychiatrist.domain.assessment import AssessmentMode
from ai_psychiatrist.infrastructure.worker_processes import WORKS_IN_PLACE
from ai_psychiatrist.interface.application import open_application
from ai_psychiatrist.results.full_result import FullResult

EXAMPLES: Final = """
Examples:

  ai-psychiatrist assess interview.txt

  ai-psychiatrist assess zoom.vtt --participant "Anna Schmidt"

  ai-psychiatrist assess interview.txt --json > assessment.json

  cat interview.txt | ai-psychiatrist assess -

  ai-psychiatrist assess interview.txt --model ollama:gemma3

  ai-psychiatrist assess interview.txt --ablate

  ai-psychiatrist assess interview.txt --model ollama:gemma3 --mode descriptions_only

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
) -> None:
    """Assess one interview and print the result."""
    gc.set_threshold(_YOUNG_OBJECTS)
    with refusing_bad_input():
        speakers = NamedSpeakers(participant=participant, interviewer=interviewer)
        result = asyncio.run(_assess(file, speakers, mode, model, ablate=ablate))
    with writing_output():
        if as_json:
            # Escaped, so that nothing in it acts on a terminal and every encoding can carry it.
            typer.echo(result.model_dump_json(indent=2, ensure_ascii=True))
        else:
            print_report(result)
    raise typer.Exit(_EXIT_CODES[result.status.value])


async def _assess(
    file: str,
    speakers: NamedSpeakers,
    mode: AssessmentMode | None,
    model: str | None,
    *,
    ablate: bool,
) -> FullResult:
    WORKS_IN_PLACE.set(True)
    settings = quiet(read_settings(model))
    transcript = given_transcript(file, settings, speakers, field="FILE")
    async with open_application(settings) as opened:
        with part_progress() as on_finished:
            result = await opened.assess(
                transcript, mode=mode, ablate=ablate, on_progress=on_finished
            )
        tell_causes(result.status, opened.causes(result))
        return result
