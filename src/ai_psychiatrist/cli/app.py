"""The commands, in the order in which help lists them."""

import atexit
import gc
import io
import sys
from collections.abc import Sequence
from typing import Annotated, Final

import typer

from ai_psychiatrist import __version__
from ai_psychiatrist.cli.command_app import CommandGroup, LazyCommand, lazy_group
from ai_psychiatrist.cli.console import telling_what_cannot_be_written

COMMANDS: Final = {
    "serve": LazyCommand(place="serve:serve", help="Serve the HTTP API."),
    "worker": LazyCommand(
        place="worker:worker",
        help="Run the jobs that servers accept, and the units of `evaluate run --database`.",
    ),
    "doctor": LazyCommand(
        place="doctor:doctor",
        help="Check settings, disk and every model that the settings name, and say what to do.",
    ),
    "validate": LazyCommand(
        place="validate:validate_app",
        help="Check the answers of one step: coercion, schema, field checks and rules.",
    ),
    "lint-config": LazyCommand(
        place="validate:validate_app",
        help="Check pipelines or protocols with all their files and rules; nothing is run.",
    ),
    "validate-config": LazyCommand(place="validate:validate_app"),
    "revalidate": LazyCommand(
        place="revalidate:revalidate",
        help="Apply rules again to the stored answers of a run, without a model.",
    ),
    "export": LazyCommand(
        place="export:export_app",
        help="Write results as FHIR, CSV or JSON lines, or the stored steps of a run.",
    ),
    "import": LazyCommand(
        place="export:export_app",
        help="Import outcomes that were exported, or written by another program, into a run.",
    ),
    "assess": LazyCommand(
        place="assess:assess_app", help="Assess one interview and print the result."
    ),
    "pages": LazyCommand(
        place="pages:pages",
        help="Make a page of each result in a folder, and a table that leads to them.",
    ),
    "verify": LazyCommand(
        place="assess:assess_app",
        help="Check the certificate of an assessment against its interview, without a model.",
    ),
    "schema": LazyCommand(
        place="assess:assess_app",
        help="Print the JSON Schema of results over HTTP and --json; each names its version.",
    ),
    "keys": LazyCommand(place="keys:keys_app", help="Create, list and revoke the keys of callers."),
    "settings": LazyCommand(
        place="settings:settings",
        help="Print every setting with its meaning and default, in the form of a .env file.",
    ),
    "evaluate": LazyCommand(
        place="app:evaluate_app",
        help="Assess whole datasets, and measure the results.",
    ),
    "references": LazyCommand(
        place="references:references_app",
        help="Make, score and check the references of few-shot scoring.",
    ),
    "interview": LazyCommand(
        place="interview:interview_app", help="Ask a person what is still unknown."
    ),
    "pipeline": LazyCommand(place="pipeline:pipeline_app", help="Run declared pipelines."),
    "records": LazyCommand(
        place="records:records_app", help="List, show, export and erase stored assessments."
    ),
    "reviews": LazyCommand(
        place="reviews:reviews_app",
        help="Import ratings, measure agreement, decide gold scores, and export them as labels.",
    ),
    "jobs": LazyCommand(
        place="jobs:jobs_app", help="List the webhooks of jobs, and send them again."
    ),
    "audit": LazyCommand(
        place="audit:audit_app",
        help="Show and check the log of who saw, changed, exported and erased what.",
    ),
}

EVALUATE: Final = {
    "run": LazyCommand(
        place="evaluate_run:run_app",
        help="Assess every unit of a dataset; can be stopped at any time and resumed.",
    ),
    "status": LazyCommand(
        place="evaluate_runs:runs_app",
        help="Show the progress of a run, and update the files in its folder.",
    ),
    "stop": LazyCommand(
        place="evaluate_runs:runs_app",
        help="Withdraw the waiting units of a run in the database from the workers.",
    ),
    "erase": LazyCommand(
        place="evaluate_runs:runs_app",
        help="Erase a run in the database: its key is destroyed, so that copies are unreadable.",
    ),
    "merge": LazyCommand(
        place="evaluate_runs:runs_app",
        help="Make one run of the shards of `evaluate run --shard`: one ledger, one account.",
    ),
    "replicate": LazyCommand(
        place="evaluate_run:run_app",
        help="Assess 41 of the 142 participants with item labels; leaves FOLDER/aggregates to "
        "share.",
    ),
    "metrics": LazyCommand(
        place="evaluate_figures:figures_app",
        help="Compute the figures of a run, with intervals, and write RUN/metrics.json.",
    ),
    "ablate": LazyCommand(
        place="evaluate_figures:figures_app",
        help="Show how many scores of a run the evidence drives; the run was made with --ablate.",
    ),
    "compare": LazyCommand(
        place="evaluate_figures:figures_app",
        help="Show how runs over the same interviews differ from the first of them.",
    ),
    "belief": LazyCommand(
        place="evaluate_figures:figures_app",
        help="Calibrate the belief in scores on labelled interviews: a fit for BELIEF_FIT.",
    ),
    "runs": LazyCommand(
        place="evaluate_runs:runs_app",
        help="List the runs in a folder: what each was made with, and how its units ended.",
    ),
    "table": LazyCommand(
        place="evaluate_runs:runs_app",
        help="Write the results of a run, or of all in a folder, as a table: a row a unit, no "
        "words.",
    ),
    "unit": LazyCommand(
        place="evaluate_runs:runs_app",
        help="Write a unit's text, prompts, replies and quotes to a file; it contains what people "
        "said.",
    ),
    "report": LazyCommand(
        place="evaluate_figures:figures_app",
        help="Write one HTML file about a run that opens in any browser, without a network.",
    ),
    "datasets": LazyCommand(
        place="datasets:datasets_app",
        help="Check datasets of interviews, and make up a synthetic one.",
    ),
    "challenge": LazyCommand(
        place="challenge:challenge_app",
        help="Measure any system on interviews of difficult patients whose truth is known.",
    ),
}

app = CommandGroup(
    name="ai-psychiatrist",
    cls=lazy_group(COMMANDS),
    help="PHQ-8 assessments of interview transcripts, every score carried by the participant's "
    "own words. For research and engineering; not a medical device.",
    pretty_exceptions_enable=False,
)


_YOUNG_OBJECTS: Final = 100_000
"""How many new objects the collector waits for: its default takes a third of a short command."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, with these arguments instead of the process's own."""
    gc.set_threshold(_YOUNG_OBJECTS)
    # What is left at the end goes with the process: looking through it takes as long as a command.
    atexit.register(gc.freeze)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that knows no typographic quotes gets their codes instead of a traceback.
        sys.stdout.reconfigure(errors="backslashreplace")
    with telling_what_cannot_be_written():
        app(args=arguments, prog_name="ai-psychiatrist")


def _print_version(*, is_wanted: bool) -> None:
    if is_wanted:
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
            callback=lambda value: _print_version(is_wanted=value),
        ),
    ] = False,
) -> None:
    """Assess interviews."""


evaluate_app = CommandGroup(cls=lazy_group(EVALUATE))


@evaluate_app.callback()
def evaluate() -> None:
    """Assess whole datasets, and measure the results."""
