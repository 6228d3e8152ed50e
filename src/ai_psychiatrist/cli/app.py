"""The commands. What they need is imported when they run, so that `--help` answers at once."""

import asyncio
import gc
import io
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ai_psychiatrist import __version__
from ai_psychiatrist.cli import (
    doctor_command,
    export_command,
    import_command,
    lint_config_command,
    revalidate_command,
    schema_command,
    serve_command,
    validate_command,
)
from ai_psychiatrist.cli.datasets_command import datasets_app
from ai_psychiatrist.cli.evaluate_command import evaluate_app
from ai_psychiatrist.cli.exits import (
    ExitCode,
    refusing_bad_input,
    telling_what_cannot_be_written,
    writing_output,
)
from ai_psychiatrist.cli.given_transcript import (
    InterviewerOption,
    NamedSpeakers,
    ParticipantOption,
    given_transcript,
)
from ai_psychiatrist.cli.interview_command import interview_app
from ai_psychiatrist.cli.pipeline_command import pipeline_app
from ai_psychiatrist.cli.settings_source import ModelOption, quiet, read_settings
from ai_psychiatrist.infrastructure.worker_processes import WORKS_IN_PLACE

if TYPE_CHECKING:
    from ai_psychiatrist.results.models import FullResult

app = typer.Typer(
    name="ai-psychiatrist",
    help="PHQ-8 assessments of interview transcripts, every score carried by the participant's "
    "own words. For research and engineering; not a medical device.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


evaluate_app.add_typer(datasets_app, name="datasets")
app.add_typer(evaluate_app, name="evaluate")
app.add_typer(interview_app, name="interview")
app.add_typer(pipeline_app, name="pipeline")
app.command(epilog=serve_command.EXAMPLES)(serve_command.serve)
app.command(epilog=doctor_command.EXAMPLES)(doctor_command.doctor)
app.command(epilog=validate_command.EXAMPLES)(validate_command.validate)
app.command(epilog=lint_config_command.EXAMPLES)(lint_config_command.lint_config)
app.command(epilog=revalidate_command.EXAMPLES)(revalidate_command.revalidate)
app.command(epilog=schema_command.EXAMPLES)(schema_command.schema)
app.command(epilog=export_command.EXAMPLES)(export_command.export)
app.command("import", epilog=import_command.EXAMPLES)(import_command.import_outcomes)

_ASSESS_EXAMPLES = """
Examples:

  ai-psychiatrist assess interview.txt

  ai-psychiatrist assess zoom.vtt --participant "Anna Schmidt"

  ai-psychiatrist assess interview.txt --json > assessment.json

  cat interview.txt | ai-psychiatrist assess -

  ai-psychiatrist assess interview.txt --model ollama:gemma3

Exit status: 0 complete, 1 partial, 2 bad input or settings, 3 nothing finished.
"""


_YOUNG_OBJECTS: Final = 100_000
"""How many new objects the collector waits for: its default takes a third of a short command."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, with these arguments instead of the process's own."""
    # Imports and word lists make hundreds of thousands of objects that live to the end.
    gc.set_threshold(_YOUNG_OBJECTS)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that knows no typographic quotes gets their codes instead of a traceback.
        sys.stdout.reconfigure(errors="backslashreplace")
    with telling_what_cannot_be_written():
        app(args=arguments, prog_name="ai-psychiatrist")


def _print_version(*, wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def root(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version.",
            callback=lambda value: _print_version(wanted=value),
        ),
    ] = False,
) -> None:
    """Assess interviews."""


@app.command(epilog=_ASSESS_EXAMPLES)
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
    model: ModelOption = None,
) -> None:
    """Assess one interview and print the result."""
    with refusing_bad_input():
        speakers = NamedSpeakers(participant=participant, interviewer=interviewer)
        result = asyncio.run(_assess(file, speakers, model))
    with writing_output():
        if as_json:
            # Escaped, so that nothing in it acts on a terminal and every encoding can carry it.
            typer.echo(result.model_dump_json(indent=2, ensure_ascii=True))
        else:
            from ai_psychiatrist.cli.report import print_report  # noqa: PLC0415

            print_report(result)
    raise typer.Exit(_EXIT_CODES[result.status.value])


_EXIT_CODES = {
    "complete": ExitCode.COMPLETE,
    "partial": ExitCode.PARTIAL,
    "failed": ExitCode.NOTHING_FINISHED,
}


@app.command()
def settings(
    *,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print tables in Markdown instead.")
    ] = False,
) -> None:
    """Print every setting with its meaning and default, in the form of a .env file."""
    from ai_psychiatrist.config import env_example, settings_tables  # noqa: PLC0415

    typer.echo(settings_tables() if as_markdown else env_example(), nl=False)


async def _assess(file: str, speakers: NamedSpeakers, model: str | None) -> "FullResult":
    WORKS_IN_PLACE.set(True)
    settings = quiet(read_settings(model))
    transcript = given_transcript(file, settings, speakers, field="FILE")

    # After the checks: these take a second, and an unusable transcript is told at once.
    from ai_psychiatrist.cli.failure_account import tell_causes  # noqa: PLC0415
    from ai_psychiatrist.cli.progress import part_progress  # noqa: PLC0415
    from ai_psychiatrist.interface.application import open_application  # noqa: PLC0415

    async with open_application(settings) as opened:
        with part_progress() as on_finished:
            result = await opened.assess(transcript, on_progress=on_finished)
        tell_causes(result.status, opened.causes(result))
        return result
