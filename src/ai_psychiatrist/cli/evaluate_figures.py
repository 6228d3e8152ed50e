"""The commands that compute figures of runs: shown, compared, in a report, learned from."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Column

from ai_psychiatrist.cli.command_app import CommandApp
from ai_psychiatrist.cli.console import (
    WIDE,
    console_of,
    numbers,
    plain,
    print_json,
    require,
    say,
    table_of,
)
from ai_psychiatrist.cli.dataset_options import LabelFlags, LabelledOption, SplitOption
from ai_psychiatrist.cli.options import (
    JsonOption,
    RunFolderArgument,
    with_option_groups,
)
from ai_psychiatrist.cli.run_source import brought_up_to_date
from ai_psychiatrist.distribution.fit import LEAST_PARTICIPANTS
from ai_psychiatrist.distribution.scores import least_people
from ai_psychiatrist.domain.drive import DriveVerdict
from ai_psychiatrist.evaluation.datasets.options import LabelOptions
from ai_psychiatrist.evaluation.datasets.selection import Selection
from ai_psychiatrist.evaluation.measuring import (
    FileOfLabels,
    compare_runs,
    measure_run,
    metrics_in_words,
    report_run,
    require_extra,
)
from ai_psychiatrist.evaluation.metrics.run_metrics import MOST_UNITS, Part, Scale
from ai_psychiatrist.evaluation.reading_list import to_read_in_words
from ai_psychiatrist.evaluation.repeats import RepeatedRun, Spread, repeated_runs
from ai_psychiatrist.evaluation.report.wording import amount, span
from ai_psychiatrist.evaluation.runs.run_folder import RunFolder

if TYPE_CHECKING:
    from ai_psychiatrist.evaluation.calibration_fit import CalibrationReport

figures_app = CommandApp()

METRICS_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate metrics runs/first

  ai-psychiatrist evaluate metrics runs/first --compare runs/gemma --compare runs/qwen

  ai-psychiatrist evaluate metrics runs/first --by gender

  ai-psychiatrist evaluate metrics runs/first --labels corrected.csv --missing=-99

  ai-psychiatrist evaluate metrics --list
"""
COMPARE_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate compare runs/first runs/gemma runs/qwen

  ai-psychiatrist evaluate compare runs/first runs/gemma --json > differences.json

  ai-psychiatrist evaluate compare wordings

Runs that read other texts or have other labels are refused, and it is said in what they differ.
"""
ABLATE_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate run interviews/ --out runs/driven --ablate

  ai-psychiatrist evaluate ablate runs/driven

  ai-psychiatrist evaluate ablate runs/driven --json > drives.json
"""
BELIEF_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate belief runs/first --out fit.json

  ai-psychiatrist evaluate belief runs/train runs/dev --out fit.json --level 0.8

  BELIEF_FIT=fit.json ai-psychiatrist assess interview.txt

Below 40 labelled participants there is no fit, and the beliefs are printed as they are.
"""
_PIPE_WIDTH = 120
_NOTE = (
    "A figure is the mean over the repeats ± their standard deviation; in brackets, the mean less "
    "that of group 1. The spread is that of the model, and says nothing of other participants: for "
    "intervals over these, compare two runs by name."
)
ByOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Show the figures of each group, such as by gender or site; a column of the labels.",
    ),
]
OtherRuns = Annotated[
    list[Path] | None,
    typer.Option(
        "--compare", metavar="RUN2", help="Show the differences of another run; can be repeated."
    ),
]
WorstOption = Annotated[
    int,
    typer.Option(
        "--worst",
        metavar="N",
        min=0,
        help="List the N units with the largest errors, or that changed most.",
    ),
]
LabelsOption = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="Measure with the labels of this file instead of the run's own.",
    ),
]


def _given(labels: Path | None, scores: LabelFlags) -> FileOfLabels | None:
    options = scores.options()
    require(
        labels is not None or options == LabelOptions(),
        "--missing, --label-codes, --label-row and --match-ids are for --labels FILE",
        field="--labels",
    )
    return None if labels is None else FileOfLabels(path=labels, options=options)


def _list_metrics(is_wanted: bool) -> None:  # noqa: FBT001  as a callback is called
    if is_wanted:
        typer.echo("\n".join(metrics_in_words()))
        raise typer.Exit


@figures_app.command(epilog=METRICS_EXAMPLES)
@with_option_groups
def metrics(
    run: RunFolderArgument,
    *,
    compare: OtherRuns = None,
    by: ByOption = None,
    split: SplitOption = None,
    labelled: LabelledOption = False,
    labels: LabelsOption = None,
    scores: LabelFlags,
    worst: WorstOption = MOST_UNITS,
    as_json: JsonOption = False,
    list_all: Annotated[  # noqa: ARG001  read before the others, by its callback
        bool,
        typer.Option(
            "--list",
            is_eager=True,
            callback=_list_metrics,
            help="Print what every metric is, with its source; needs no run.",
        ),
    ] = False,
) -> None:
    """Compute the figures of a run, with intervals, and write RUN/metrics.json.

    Figures of some of the units, or with other labels, are printed alone: the file is about all of
    them, and the labels that the run keeps.
    """
    brought_up_to_date(run, *(compare or ()))
    selection, given = Selection(split=split, has_items=labelled), _given(labels, scores)
    measured = measure_run(run, compare or (), selection, by=by, given=given, most_units=worst)
    if as_json:
        print_json(measured.as_json())
        say(plain(to_read_in_words(measured.provenance.readings)))
    else:
        # What it needs is an extra, whose absence the measuring names with its cure.
        from ai_psychiatrist.cli.metrics_table import print_metrics  # noqa: PLC0415

        print_metrics(measured)
    if measured.unfinished:
        say(plain(measured.unfinished))
    if measured.labels is not None:
        say(*map(plain, (str(measured.labels), *measured.labels.odd)))


@figures_app.command(epilog=COMPARE_EXAMPLES)
def compare(
    run: RunFolderArgument,
    others: Annotated[
        list[Path] | None, typer.Argument(metavar="[RUN2...]", help="The other runs.")
    ] = None,
    *,
    worst: WorstOption = MOST_UNITS,
    as_json: JsonOption = False,
) -> None:
    """Show how runs over the same interviews differ from the first of them.

    Folders of runs are shown by prompts and models: each figure's mean and spread over the repeats.
    """
    folders = [run, *(others or ())]
    brought_up_to_date(*folders)
    if not others or any(RunFolder(one).inside() for one in folders):
        groups = repeated_runs(folders)
        document = {"groups": [group.as_json() for group in groups]}
        print_json(document) if as_json else _print_repeats(groups)
        return
    comparisons = compare_runs(run, others, worst)
    if as_json:
        print_json({"comparisons": [compared.as_json() for compared in comparisons]})
    else:
        # As above: comparing names the extra that is missing.
        from ai_psychiatrist.cli.metrics_table import print_differences  # noqa: PLC0415

        print_differences(comparisons)


def _print_repeats(groups: Sequence[RepeatedRun]) -> None:
    """Print a row for each figure and a column for each group: mean and spread."""
    console = console_of(WIDE)
    for number, group in enumerate(groups, start=1):
        folders = ", ".join(run.folder for run in group.runs)
        console.print(plain(f"{number}: {group} ({folders})"))
    columns = numbers(*(str(number) for number, _ in enumerate(groups, start=1)))
    rows = (
        [first.title, _spread(first), *(_spread(one.figures[key], first) for one in groups[1:])]
        for key, first in groups[0].figures.items()
    )
    table = table_of(["Figure", *columns], rows, header_style="dim")
    for part in ("", table, "", _NOTE):
        console.print(part)


def _spread(spread: Spread, first: Spread | None = None) -> str:
    if spread.mean is None:
        return "–"
    deviation = "" if spread.deviation is None else f" ± {spread.deviation:.3f}"
    less = None if first is None else first.mean
    difference = "" if less is None else f" ({spread.mean - less:+.3f})"
    return f"{spread.mean:.3f}{deviation}{difference}"


@figures_app.command(epilog="Example:\n\n  ai-psychiatrist evaluate report runs/first")
@with_option_groups
def report(
    run: RunFolderArgument,
    *,
    compare: OtherRuns = None,
    by: ByOption = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to write; RUN/report.html otherwise.")
    ] = None,
    labels: LabelsOption = None,
    scores: LabelFlags,
    worst: WorstOption = MOST_UNITS,
    no_units: Annotated[
        bool, typer.Option("--no-units", help="List no unit: for a report that is shared.")
    ] = False,
) -> None:
    """Write one HTML file about a run that opens in any browser, without a network."""
    brought_up_to_date(run, *(compare or ()))
    given = _given(labels, scores)
    written = report_run(
        run,
        compare or (),
        out,
        by=by,
        given=given,
        most_units=worst,
        names_units=not no_units,
    )
    typer.echo(str(written.path))
    say(plain(to_read_in_words(written.readings)))


@figures_app.command(epilog=ABLATE_EXAMPLES)
def ablate(run: RunFolderArgument, *, as_json: JsonOption = False) -> None:
    """Show how many scores of a run the evidence drives; the run was made with --ablate."""
    brought_up_to_date(run)
    found = measure_run(run).metrics.part("drive")
    require(
        found.part("counts").total,
        f"{run} has no verdicts; make a run that has them: "
        "ai-psychiatrist evaluate run DATASET --out NEW --ablate",
        field="RUN",
    )
    if as_json:
        print_json(found.tree)
        return
    verdicts = (verdict.value.replace("_", " ") for verdict in DriveVerdict)
    headings = (*verdicts, "not driven, of those with a verdict")
    columns = (Column(heading, justify="right") for heading in headings)
    rows = [[one.text("label"), *_verdicts(one)] for one in found.parts("by_item")]
    rows += [[], ["All", *_verdicts(found)]]
    console_of(_PIPE_WIDTH).print(table_of(["Item", *columns], rows, header_style="dim"))


def _verdicts(figures: Part) -> Iterator[str]:
    yield from (str(figures.count("counts", verdict.value)) for verdict in DriveVerdict)
    figure = figures.figure("not_evidence_driven")
    if figure.value is None:
        yield "–"
        return
    interval = span(figure, Scale.SHARE)
    value = amount(figure.value, Scale.SHARE)
    yield value if interval is None else f"{value} (95 % interval {interval})"


@figures_app.command(epilog=BELIEF_EXAMPLES)
def belief(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Runs over labelled interviews.")
    ],
    *,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where the fit is written.")
    ] = None,
    level: Annotated[
        float,
        typer.Option(min=0.5, max=0.99, help="Share of true scores that sets have to contain."),
    ] = 0.9,
    as_json: JsonOption = False,
) -> None:
    """Calibrate the belief in scores on labelled interviews: a fit for BELIEF_FIT."""
    require_extra()
    from ai_psychiatrist.evaluation.calibration_fit import fit_distributions  # noqa: PLC0415

    found = fit_distributions(runs, level=level, out=out)
    words = "\n".join(_fit_lines(found, out))
    print_json(found.as_json()) if as_json else typer.echo(words)
    require(
        out is None or found.fit,
        f"{found.participants} labelled participants are fewer than the "
        f"{LEAST_PARTICIPANTS} that a fit needs; nothing was written",
        field="RUN",
    )


def _fit_lines(found: "CalibrationReport", out: Path | None) -> Iterator[str]:
    yield f"{found.items:,} labelled items of {found.participants:,} participants"
    yield f"Belief as it is, uncalibrated: {_named(found.raw)}"
    if found.fit is None:
        yield f"No fit: it needs {LEAST_PARTICIPANTS} labelled participants."
        return
    ending = "_after"
    after = {
        name.removesuffix(ending): value
        for name, value in found.fit.figures.items()
        if name.endswith(ending)
    }
    yield f"Recalibrated, on participants whom it had not seen: {_named(after)}"
    for name, one in found.fit.strata.items():
        yield (
            f"Sets at {found.fit.level:.0%}, {name}: {one.coverage:.1%} of truths held; a cohort "
            f"of {one.participants} lets that vary by ± {one.spread * 100:.1f} points "
            "(standard deviation)"
        )
        wanted = least_people(found.fit.level)
        if one.participants < wanted:
            yield f"  Sets of this level take {wanted} people; of fewer, all hold every score"
        held = enumerate(one.coverage_by_score)
        by_score = (f"{score} in {share:.0%}" for score, share in held if share is not None)
        yield f"  Of true scores apart they held {', '.join(by_score)}"
    yield "They hold only for interviews like these: other people, other sets."
    worse = [
        f"{name.replace('_', ' ')} ({found.raw[name]:.3f} without it, {value:.3f} with it)"
        for name, value in after.items()
        if value > found.raw[name]
    ]
    if worse:
        yield f"Warning: on these interviews the fit is worse than none: {', '.join(worse)}"
    if out is not None:
        yield f"{out}; {'not advised: ' if worse else 'use it with '}BELIEF_FIT={out}"


def _named(figures: Mapping[str, float]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in figures.items())
