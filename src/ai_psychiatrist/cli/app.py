"""The commands, in the order in which help lists them."""

import atexit
import gc
import io
import sys
from collections.abc import Sequence
from typing import Annotated, Final

import typer

from ai_psychiatrist import __version__
from ai_psychiatrist.cli.command_app import CommandGroup
from ai_psychiatrist.cli.exits import telling_what_cannot_be_written
from ai_psychiatrist.cli.loaded_later import Later, group_of

COMMANDS: Final = {
    "serve": Later(place="serve_command:serve", help="Serve the HTTP API."),
    "worker": Later(
        place="worker_command:worker",
        help="Do the jobs that servers take in, and the units of `evaluate run --database`.",
    ),
    "doctor": Later(
        place="doctor_command:doctor",
        help="Check settings, disk and every model that the settings name, and say what to do.",
    ),
    "validate": Later(
        place="validate_command:validate",
        help="Check the answers of one step: coercion, schema, field checks and rules.",
    ),
    "lint-config": Later(
        place="lint_config_command:lint_config",
        help="Check pipelines or protocols with all their files and rules; nothing is run.",
    ),
    "validate-config": Later(place="lint_config_command:lint_config"),
    "revalidate": Later(
        place="revalidate:revalidate",
        help="Apply rules again to the answers that a run keeps; no model is asked.",
    ),
    "export": Later(
        place="export_command:export",
        help="Write results as FHIR, CSV or JSON lines, or what a run keeps of its steps.",
    ),
    "import": Later(
        place="import_command:import_outcomes",
        help="Take outcomes that were exported, or written by another program, into a run.",
    ),
    "assess": Later(
        place="assess_command:assess", help="Assess one interview and print the result."
    ),
    "pages": Later(
        place="pages_command:pages",
        help="Make a page of each result in a folder, and a table that leads to them.",
    ),
    "verify": Later(
        place="verify:verify",
        help="Check the certificate of an assessment against its interview; no model is asked.",
    ),
    "schema": Later(
        place="schema_command:schema",
        help="Print the JSON Schema of results, for HTTP and --json alike; its version is in each.",
    ),
    "keys": Later(place="keys_command:keys_app", help="Make, list and revoke the keys of callers."),
    "settings": Later(
        place="settings_command:settings",
        help="Print every setting with its meaning and default, in the form of a .env file.",
    ),
    "evaluate": Later(
        place="evaluate:evaluate_app",
        help="Assess whole datasets, and measure what comes out.",
    ),
    "references": Later(
        place="references:references_app",
        help="Make, score and check the references of few-shot scoring.",
    ),
    "interview": Later(
        place="interview_command:interview_app", help="Ask a person what is still unknown."
    ),
    "pipeline": Later(place="pipeline_command:pipeline_app", help="Run declared pipelines."),
    "records": Later(
        place="records_command:records_app", help="Look after the assessments that are stored."
    ),
    "reviews": Later(
        place="reviews_command:reviews_app",
        help="Take in ratings, decide gold scores, and make labels of them.",
    ),
    "jobs": Later(place="jobs_command:jobs_app", help="Look after what is told of jobs."),
    "audit": Later(
        place="audit_command:audit_app",
        help="Show and check the log of who saw, changed, exported and erased what.",
    ),
}

app = CommandGroup(
    name="ai-psychiatrist",
    cls=group_of(COMMANDS),
    help="PHQ-8 assessments of interview transcripts, every score carried by the participant's "
    "own words. For research and engineering; not a medical device.",
    pretty_exceptions_enable=False,
)

_YOUNG_OBJECTS: Final = 100_000
"""How many new objects the collector waits for: its default takes a third of a short command."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, with these arguments instead of the process's own."""
    # Imports and word lists make hundreds of thousands of objects that live to the end.
    gc.set_threshold(_YOUNG_OBJECTS)
    # What is left at the end goes with the process: looking through it takes half as long as a
    # short command.
    atexit.register(gc.freeze)
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
