"""The `evaluate` commands, in the order in which help lists them."""

from typing import Final

from ai_psychiatrist.cli.command_app import CommandGroup, LazyCommand, lazy_group

COMMANDS: Final = {
    "run": LazyCommand(
        place="evaluate_command:runs_app",
        help="Assess every unit of a dataset; can be stopped at any time and gone on with.",
    ),
    "status": LazyCommand(
        place="evaluation_shared:shared_app",
        help="Say how far a run is, and bring what lies in its folder up to date.",
    ),
    "stop": LazyCommand(
        place="evaluation_shared:shared_app",
        help="Take the units that wait of a run in the database from the workers.",
    ),
    "erase": LazyCommand(
        place="evaluation_shared:shared_app",
        help="Erase a run in the database: its key is destroyed, so that copies tell nothing.",
    ),
    "merge": LazyCommand(
        place="evaluation_merge:merge",
        help="Make one run of the shards of `evaluate run --shard`: one ledger, one account.",
    ),
    "replicate": LazyCommand(
        place="evaluate_command:runs_app",
        help="Assess 41 of the 142 participants with item labels; leaves FOLDER/aggregates to "
        "share.",
    ),
    "metrics": LazyCommand(
        place="evaluation_figures:figures_app",
        help="Compute the figures of a run, with intervals, and write RUN/metrics.json.",
    ),
    "ablate": LazyCommand(
        place="evaluation_drives:ablate",
        help="Show how many scores of a run the evidence drives; the run was made with --ablate.",
    ),
    "compare": LazyCommand(
        place="evaluation_figures:figures_app",
        help="Show how runs over the same interviews differ from the first of them.",
    ),
    "belief": LazyCommand(
        place="belief_command:belief",
        help="Learn from labelled interviews how sure scores are: a fit for BELIEF_FIT.",
    ),
    "runs": LazyCommand(
        place="evaluation_results:results_app",
        help="List the runs in a folder: what each was made with, and how its units ended.",
    ),
    "table": LazyCommand(
        place="evaluation_results:results_app",
        help="Write the results of a run, or of all in a folder, as a table: a row a unit, no "
        "words.",
    ),
    "unit": LazyCommand(
        place="evaluation_results:results_app",
        help="Write a unit's text, prompts, replies and quotes into a file; it holds what people "
        "said.",
    ),
    "report": LazyCommand(
        place="evaluation_figures:figures_app",
        help="Write one HTML file about a run that opens in any browser, without a network.",
    ),
    "datasets": LazyCommand(
        place="datasets_command:datasets_app",
        help="Check datasets of interviews, and make up a synthetic one.",
    ),
    "challenge": LazyCommand(
        place="challenge_command:challenge_app",
        help="Measure any system on interviews of difficult patients whose truth is known.",
    ),
}

evaluate_app = CommandGroup(
    cls=lazy_group(COMMANDS),
)


@evaluate_app.callback()
def evaluate() -> None:
    """Assess whole datasets, and measure what comes out."""
