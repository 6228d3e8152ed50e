"""The `evaluate` commands, in the order in which help lists them."""

from typing import Final

from ai_psychiatrist.cli.command_app import CommandGroup, LazyCommand, lazy_group

COMMANDS: Final = {
    "run": LazyCommand(
        place="evaluate_run:run_app",
        help="Assess every unit of a dataset; can be stopped at any time and gone on with.",
    ),
    "status": LazyCommand(
        place="evaluate_runs:runs_app",
        help="Say how far a run is, and bring what lies in its folder up to date.",
    ),
    "stop": LazyCommand(
        place="evaluate_runs:runs_app",
        help="Take the units that wait of a run in the database from the workers.",
    ),
    "erase": LazyCommand(
        place="evaluate_runs:runs_app",
        help="Erase a run in the database: its key is destroyed, so that copies tell nothing.",
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
        help="Learn from labelled interviews how sure scores are: a fit for BELIEF_FIT.",
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
        help="Write a unit's text, prompts, replies and quotes into a file; it holds what people "
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

evaluate_app = CommandGroup(cls=lazy_group(COMMANDS))


@evaluate_app.callback()
def evaluate() -> None:
    """Assess whole datasets, and measure what comes out."""
