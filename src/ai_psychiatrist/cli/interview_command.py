"""The `interview` commands: hold an interview in a terminal, and look after those that are kept."""

import json
from pathlib import Path
from typing import Annotated

import typer

from ai_psychiatrist.agents.interview.schemas import interview_schemas
from ai_psychiatrist.cli.command_app import CommandApp
from ai_psychiatrist.cli.exits import ending_on_stop, refusing_bad_input
from ai_psychiatrist.cli.given_transcript import NamedSpeakers, ParticipantOption
from ai_psychiatrist.cli.interview_session import (
    WantedSession,
    delete_interview,
    hold,
    kept_interviews,
)
from ai_psychiatrist.cli.settings_source import ModelOption, quiet, read_settings

EXAMPLES = """
Examples:

  ai-psychiatrist interview --protocol phq8

  ai-psychiatrist interview --protocol phq8 --transcript interview.txt

  ai-psychiatrist interview --protocol phq8 --from assessment.json --answers answers.txt --json

  ai-psychiatrist interview --resume ID

  ai-psychiatrist interview --protocol incident --input title=Lunch --input summary=@lunch.txt …

An answer is an option's number, its wording, or your own words; stop ends the interview. With
--answers it is a line of a file.

Exit status: 0 nothing is left unknown, 1 items are unknown, the interview is held for safety, or
the answers of --answers ran out, 2 bad input or settings, 3 a model failed (go on with --resume),
130 left by Ctrl-C or the end of the input (go on with --resume).
"""

interview_app = CommandApp(
    help="Ask a person what is still unknown.",
    invoke_without_command=True,
)

InterviewId = Annotated[str, typer.Argument(metavar="ID", help="The interview's id.")]


@interview_app.callback(epilog=EXAMPLES)
def interview(
    context: typer.Context,
    *,
    protocol: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="phq8, incident, or the folder of a protocol."),
    ] = None,
    assessment: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Ask what is unknown in this assessment."),
    ] = None,
    transcript: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Assess this transcript first; ask what is unknown."),
    ] = None,
    participant: ParticipantOption = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="NAME=TEXT", help="An input, or NAME=@FILE; repeatable."),
    ] = None,
    resume: Annotated[
        str | None, typer.Option(metavar="ID", help="Go on with an interview.")
    ] = None,
    answers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Take answers from a file, one a line.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the interview and its report as JSON.")
    ] = False,
    model: ModelOption = None,
) -> None:
    """Hold an interview; it can be left at any time and gone on with."""
    if context.invoked_subcommand is not None:
        return
    kept = "stopped; `ai-psychiatrist interview list` shows what is kept"
    with refusing_bad_input(), ending_on_stop(kept):
        wanted = WantedSession(
            protocol=protocol,
            assessment=assessment,
            transcript=transcript,
            speakers=NamedSpeakers(participant=participant),
            inputs=tuple(inputs or ()),
            resume=resume,
            answers=answers,
            is_json=as_json,
        )
        code = hold(quiet(read_settings(model)), wanted)
    raise typer.Exit(code)


@interview_app.command()
def schemas() -> None:
    """Print the schemas of the seven agents as they go out to models."""
    typer.echo(json.dumps(interview_schemas(), indent=2))


@interview_app.command("list")
def list_interviews() -> None:
    """Print the ids of the interviews that are kept: held ones first, then the latest."""
    with refusing_bad_input():
        kept = kept_interviews(quiet(read_settings()))
    for one in kept:
        state = one.state.value if one.is_readable else "unreadable"
        typer.echo(f"{one.id}  {one.protocol_id:<10}  {state:<12}  {one.updated_at}")


# An id may begin with a dash.
@interview_app.command(context_settings={"ignore_unknown_options": True})
def delete(interview_id: InterviewId) -> None:
    """Remove all that is kept of an interview."""
    with refusing_bad_input():
        delete_interview(quiet(read_settings()), interview_id)
