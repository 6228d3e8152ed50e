"""The `evaluate` commands, in the order in which help lists them."""

from typing import Final

from ai_psychiatrist.cli.command_app import CommandGroup
from ai_psychiatrist.cli.loaded_later import Later, group_of

COMMANDS: Final = {
    "run": Later(
        place="evaluate_run:run_app",
        help="Assess every unit of a dataset; can be stopped at any time and gone on with.",
    ),
    "status": Later(
        place="evaluate_runs:runs_app",
        help="Say how far a run is, and bring what lies in its folder up to date.",
    ),
    "stop": Later(
        place="evaluate_runs:runs_app",
        help="Take the units that wait of a run in the database from the workers.",
    ),
    "erase": Later(
        place="evaluate_runs:runs_app",
        help="Erase a run in the database: its key is destroyed, so that copies tell nothing.",
    ),
    "merge": Later(
        place="evaluate_runs:runs_app",
        help="Make one run of the shards of `evaluate run --shard`: one ledger, one account.",
    ),
    "replicate": Later(
        place="evaluate_run:run_app",
        help="Assess 41 of the 142 participants with item labels; leaves FOLDER/aggregates to "
        "share.",
    ),
    "metrics": Later(
        place="evaluate_figures:figures_app",
        help="Compute the figures of a run, with intervals, and write RUN/metrics.json.",
    ),
    "ablate": Later(
        place="evaluate_figures:figures_app",
        help="Show how many scores of a run the evidence drives; the run was made with --ablate.",
    ),
    "compare": Later(
        place="evaluate_figures:figures_app",
        help="Show how runs over the same interviews differ from the first of them.",
    ),
    "belief": Later(
        place="evaluate_figures:figures_app",
        help="Learn from labelled interviews how sure scores are: a fit for BELIEF_FIT.",
    ),
    "runs": Later(
        place="evaluate_runs:runs_app",
        help="List the runs in a folder: what each was made with, and how its units ended.",
    ),
    "table": Later(
        place="evaluate_runs:runs_app",
        help="Write the results of a run, or of all in a folder, as a table: a row a unit, no "
        "words.",
    ),
    "unit": Later(
        place="evaluate_runs:runs_app",
        help="Write a unit's text, prompts, replies and quotes into a file; it holds what people "
        "said.",
    ),
    "report": Later(
        place="evaluate_figures:figures_app",
        help="Write one HTML file about a run that opens in any browser, without a network.",
    ),
    "datasets": Later(
        place="datasets:datasets_app",
        help="Check datasets of interviews, and make up a synthetic one.",
    ),
    "challenge": Later(
        place="challenge:challenge_app",
        help="Measure any system on interviews of difficult patients whose truth is known.",
    ),
}

evaluate_app = CommandGroup(cls=group_of(COMMANDS))


@evaluate_app.callback()
def evaluate() -> None:
    """Assess whole datasets, and measure what comes out."""
