"""The `evaluate datasets` commands: a dataset checked, made up, and split."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Column
from rich.text import Text

from ai_psychiatrist.cli.command_app import CommandGroup
from ai_psychiatrist.cli.console import ExitCode, console_of, print_json, require, table_of
from ai_psychiatrist.cli.dataset_options import (
    DatasetArgument,
    KindOption,
    LabelFlags,
    ReadingFlags,
)
from ai_psychiatrist.cli.options import JsonOption, with_option_groups
from ai_psychiatrist.cli.progress import step_progress
from ai_psychiatrist.cli.settings import quiet, read_settings
from ai_psychiatrist.domain.phq8 import Item
from ai_psychiatrist.evaluation.datasets.dataset import DataIssue, Dataset, IssueCode, LabelFile
from ai_psychiatrist.evaluation.datasets.names import split_name
from ai_psychiatrist.evaluation.datasets.selection import Selection
from ai_psychiatrist.evaluation.datasets.splits import drawn_splits, write_splits
from ai_psychiatrist.evaluation.datasets.synthetic.generator import DatasetRecipe, make_dataset

datasets_app = CommandGroup(
    name="datasets",
    help="Check datasets of interviews, and make up a synthetic one.",
)

CHECK_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate datasets check daic-woz/

  ai-psychiatrist evaluate datasets check interviews.jsonl --speakers participant-only

  ai-psychiatrist evaluate datasets check interviews/ --participant Anna --interviewer Tom

  ai-psychiatrist evaluate datasets check daic-woz/ --json > check.json

Exit status: 0 nothing lost, 1 a unit, a file or a label cannot be used, 2 no dataset.
"""
MAKE_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate datasets make synthetic/

  ai-psychiatrist evaluate datasets make synthetic/ --units 189 --seed 7 --form e-daic
"""
SPLIT_EXAMPLES = """
Examples:

  ai-psychiatrist evaluate datasets split daic-woz/ splits/ --part train=100 --part test=42

  ai-psychiatrist evaluate run daic-woz/ --out runs/test --split splits/test.csv
"""

_MOST_DIGITS = 9
_PLACES_SHOWN = 3
_LABELLED_SHOWN = 20
_LONGEST_NAME = 4
"""Words of a label that is shown."""
_PIPE_WIDTH = 140


@datasets_app.command(epilog=CHECK_EXAMPLES)
@with_option_groups
def check(
    dataset: DatasetArgument,
    *,
    reading: ReadingFlags,
    scores: LabelFlags,
    as_json: JsonOption = False,
) -> None:
    """Read a whole dataset and list its data issues and what was done about them."""
    known = quiet(read_settings()).transcript.labels
    with step_progress("reading") as on_progress:
        found = reading.opened(dataset, known, scores, Selection(), on_progress)
    print_json(_document(found)) if as_json else _print_table(found)
    raise typer.Exit(ExitCode.COMPLETE if found.is_whole else ExitCode.PARTIAL)


@datasets_app.command(epilog=MAKE_EXAMPLES)
def make(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A new folder.", show_default=False)],
    *,
    units: Annotated[int, typer.Option(help="How many participants.")] = 60,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 0,
    form: Annotated[Literal["daic-woz", "e-daic"], typer.Option(help="The layout.")] = "daic-woz",
) -> None:
    """Make up a dataset with every known quirk; for demos and tests, never for accuracy."""
    recipe = DatasetRecipe(units=units, seed=seed, form=form)
    with step_progress("writing") as on_progress:
        make_dataset(out, recipe, on_progress=on_progress)
    typer.echo(f"{units} participants written; README.md there says what is odd about which.")


@datasets_app.command(epilog=SPLIT_EXAMPLES)
def split(
    dataset: DatasetArgument,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A folder.", show_default=False)],
    *,
    part: Annotated[
        list[str],
        typer.Option(
            "--part", metavar="NAME=SIZE", help="A part and its participants; can be repeated."
        ),
    ],
    seed: Annotated[int, typer.Option(help="The same seed draws the same participants.")] = 0,
    kind: KindOption = None,
    of: Annotated[
        str | None,
        typer.Option("--of", metavar="SPLIT", help="Draw only from these; a name or a file."),
    ] = None,
) -> None:
    """Draw participants with all item labels into parts of like severities, a file for each."""
    known = quiet(read_settings()).transcript.labels
    reading, selection = ReadingFlags(kind=kind), Selection(split=of)
    with step_progress("reading") as on_progress:
        opened = reading.opened(dataset, known, LabelFlags(), selection, on_progress)
        splits = drawn_splits(opened, _sizes(part), seed=seed)
    write_splits(out, splits)
    for name, members in splits.parts.items():
        bands = ", ".join(str(count) for count in splits.severities[name].values())
        typer.echo(f"{name}: {len(members)} participants, by severity {bands}")
    typer.echo(f"in no part: {splits.left_over}")


def _sizes(parts: list[str]) -> dict[str, int]:
    """Read names and sizes. Raises `InputError` for what is none, and for a name given twice."""
    sizes: dict[str, int] = {}
    for part in parts:
        name, _, size = part.partition("=")
        is_number = size.isascii() and size.isdigit() and 0 < len(size) <= _MOST_DIGITS
        require(
            split_name(name) is not None and is_number and int(size) > 0 and name not in sizes,
            f"--part {part!r}: write each part once, as NAME=SIZE, such as train=58",
            field="--part",
        )
        sizes[name] = int(size)
    return sizes


def _document(dataset: Dataset) -> dict[str, object]:
    return {
        "kind": dataset.kind,
        "digest": dataset.digest,
        "labels_digest": dataset.labels_digest or None,
        "label_files": [
            {
                "file": one.name,
                "columns": {
                    meaning: _shown(column.strip()) for meaning, column in one.columns.items()
                },
                "kept": [_shown(column.strip()) for column in one.kept],
            }
            for one in dataset.label_files
        ],
        "speakers": dataset.speakers,
        "not_read": dataset.not_read,
        "units": len(dataset.units),
        "readable_units": len(dataset.units) - len(dataset.unreadable),
        "labelled_units": len(dataset.labelled),
        "units_with_items": sum(labels.has_all_items for labels in dataset.labelled),
        "splits": _splits_of(dataset),
        "is_whole": dataset.is_whole,
        "oddities": [
            {
                "code": code,
                "cost": code.cost,
                "action": code.action,
                "places": [
                    {
                        "where": place.where,
                        "line": place.line,
                        "rows": place.count,
                        **({"labels": list(map(_shown, place.labels))} if place.labels else {}),
                        **({"hint": place.hint} if place.hint else {}),
                    }
                    for place in places
                ],
            }
            for code, places in dataset.issues_by_code.items()
        ],
    }


def _splits_of(dataset: Dataset) -> dict[str, int]:
    """Return split → units; those without a split are not in it."""
    return dict(sorted(Counter(unit.split for unit in dataset.units if unit.split).items()))


def _print_table(dataset: Dataset) -> None:
    readable = len(dataset.units) - len(dataset.unreadable)
    with_items = sum(labels.has_all_items for labels in dataset.labelled)
    not_read = sum(dataset.not_read.values())
    lines = {
        "kind": dataset.kind,
        "units": f"{len(dataset.units)}, {readable} with a text (speakers: {dataset.speakers})",
        "labels": f"{len(dataset.labelled)}, {with_items} with all eight items",
        "splits": ", ".join(f"{name} {count}" for name, count in _splits_of(dataset).items())
        or "none",
        "unread": f"{not_read} files or lines that may be interviews" if not_read else "",
        "digest": dataset.digest,
    }
    for name, value in lines.items():
        if value:
            typer.echo(f"{name:<8}{_printable(value)}")
    for file in dataset.label_files:
        typer.echo(f"{'from':<8}{_printable(file.name)}: {_columns(file)}")
    if not dataset.issues:
        typer.echo("nothing odd")
        return
    headings = ("oddity", "lost", "where", "rows", "what was done", "for example")
    rows = (
        (
            code,
            code.cost,
            str(len(places)),
            str(sum(place.count for place in places)),
            code.action,
            Text(_examples(places)),
        )
        for code, places in dataset.issues_by_code.items()
    )
    typer.echo()
    table = table_of([Column(heading, overflow="fold") for heading in headings], rows)
    console_of(_PIPE_WIDTH).print(table)
    for line in (*_hint_lines(dataset), *_label_lines(dataset.issues)):
        typer.echo(line)


def _columns(file: LabelFile) -> str:
    """Return which columns of a label file are the identifier, items, total and groups."""
    columns = {meaning: _shown(name.strip()) for meaning, name in file.columns.items()}
    items = [columns.pop(item) for item in Item if item in columns]
    named = [f"{meaning.replace('_', ' ')} {name}" for meaning, name in columns.items()]
    groups = ", ".join(_shown(name.strip()) for name in file.kept)
    told = [
        *named,
        f"items {', '.join(items)}" if items else "",
        f"groups {groups}" if groups else "",
    ]
    return "; ".join(filter(None, told))


def _hint_lines(dataset: Dataset) -> Iterator[str]:
    """Yield what to do, each sentence once; where no text is read, first where texts may lie."""
    has_texts = len(dataset.unreadable) < len(dataset.units)
    ordered = sorted(
        dataset.issues_by_code.items(),
        key=lambda one: has_texts or one[0] is not IssueCode.TEXTS_IN_TABLE,
    )
    hints = dict.fromkeys(
        f"{code}: {place.hint}" if len(places) > 1 else f"{code} in {_at(place)}: {place.hint}"
        for code, places in ordered
        for place in places
        if place.hint
    )
    if hints:
        yield "\nwhat to do:"
    yield from (f"  {_printable(hint)}" for hint in hints)


def _label_lines(issues: Sequence[DataIssue]) -> Iterator[str]:
    """Yield the labels of transcripts in which the participant is not identified."""
    labelled = [place for place in issues if place.labels]
    if labelled:
        yield "\nlabels without a known speaker:"
    for place in labelled[:_LABELLED_SHOWN]:
        yield f"  {_at(place)}  {', '.join(map(_shown, place.labels))}"
    if len(labelled) > _LABELLED_SHOWN:
        yield f"  and {len(labelled) - _LABELLED_SHOWN} more; --json has all"


def _shown(label: str) -> str:
    """Return a label, unless it is as long as a sentence: words that were said are not printed."""
    words = len(label.split())
    return _printable(label) if words <= _LONGEST_NAME else f"({words} words)"


def _examples(places: Sequence[DataIssue]) -> str:
    shown = " ".join(map(_at, places[:_PLACES_SHOWN]))
    more = len(places) - _PLACES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _at(place: DataIssue) -> str:
    return _printable(place.where) + (f":{place.line}" if place.line else "")


def _printable(name: str) -> str:
    """Return a name as it is, or escaped where it holds what would act on a terminal."""
    return name if name.isprintable() else ascii(name)
