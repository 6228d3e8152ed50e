"""The commands that check a dataset and make up a synthetic one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ai_psychiatrist.cli.dataset_options import (
    CodesOption,
    DatasetArgument,
    DatasetChoice,
    Interruption373Option,
    InterviewerLabels,
    KindOption,
    ParticipantLabels,
    SpeakersOption,
    with_labels,
)
from ai_psychiatrist.cli.exits import ExitCode, refusing_bad_input
from ai_psychiatrist.cli.settings_source import quiet, read_settings
from ai_psychiatrist.evaluation.datasets.dataset import SpeakerFilter
from ai_psychiatrist.services.transcripts.formats.daic_woz import CodedLines, Interruption373

if TYPE_CHECKING:
    from ai_psychiatrist.evaluation.datasets.check import DatasetCheck, OddityGroup

datasets_app = typer.Typer(
    name="datasets",
    help="Check datasets of interviews, and make up a synthetic one.",
    no_args_is_help=True,
    rich_markup_mode=None,
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


class FormChoice(StrEnum):
    """The layouts that can be made."""

    DAIC_WOZ = "daic-woz"
    E_DAIC = "e-daic"


@datasets_app.command(epilog=CHECK_EXAMPLES)
def check(
    dataset: DatasetArgument,
    *,
    speakers: SpeakersOption = SpeakerFilter.BOTH,
    participant: ParticipantLabels = None,
    interviewer: InterviewerLabels = None,
    kind: KindOption = None,
    interruption_373: Interruption373Option = Interruption373.OFFICIAL,
    codes: CodesOption = CodedLines.TEXT,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Read a whole dataset and list what is odd about it and what was done."""
    with refusing_bad_input():
        from ai_psychiatrist.evaluation.datasets.check import check_of_dataset  # noqa: PLC0415

        known = quiet(read_settings()).transcript.labels
        choice = DatasetChoice(
            path=dataset,
            speakers=speakers,
            kind=kind,
            interruption_373=interruption_373,
            codes=codes,
            labels=with_labels(known, participant, interviewer),
        )
        with _progress("reading") as on_progress:
            found = check_of_dataset(choice.opened(on_progress))
    _print_json(found) if as_json else _print_table(found)
    raise typer.Exit(ExitCode.COMPLETE if found.is_whole else ExitCode.PARTIAL)


@datasets_app.command(epilog=MAKE_EXAMPLES)
def make(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A new folder.", show_default=False)],
    *,
    units: Annotated[int, typer.Option(help="How many participants.")] = 60,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 0,
    form: Annotated[FormChoice, typer.Option(help="The layout.")] = FormChoice.DAIC_WOZ,
) -> None:
    """Make up a dataset with every known quirk; for demos and tests, never for accuracy."""
    with refusing_bad_input():
        from ai_psychiatrist.evaluation.datasets.synthetic.generator import (  # noqa: PLC0415
            DatasetRecipe,
            make_dataset,
        )

        recipe = DatasetRecipe(units=units, seed=seed, form=form.value)
        with _progress("writing") as on_progress:
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
        typer.Option("--of", metavar="SPLIT", help="Draw from these alone; a name or a file."),
    ] = None,
) -> None:
    """Draw participants with all item labels into parts of like severities, a file for each."""
    with refusing_bad_input():
        from ai_psychiatrist.evaluation.datasets.splits import (  # noqa: PLC0415
            drawn_splits,
            write_splits,
        )

        choice = DatasetChoice(
            path=dataset, kind=kind, split=of, labels=quiet(read_settings()).transcript.labels
        )
        with _progress("reading") as on_progress:
            splits = drawn_splits(choice.opened(on_progress), _sizes(part), seed=seed)
        write_splits(out, splits)
    for name, members in splits.parts.items():
        bands = ", ".join(str(count) for count in splits.severities[name].values())
        typer.echo(f"{name}: {len(members)} participants, by severity {bands}")
    typer.echo(f"in no part: {splits.left_over}")


def _sizes(parts: list[str]) -> dict[str, int]:
    """Read names and sizes. Raises `InputError` for what is none, and for a name given twice."""
    from ai_psychiatrist.domain.errors import InputError  # noqa: PLC0415
    from ai_psychiatrist.evaluation.datasets.identifiers import split_name  # noqa: PLC0415

    sizes: dict[str, int] = {}
    for part in parts:
        name, _, size = part.partition("=")
        is_number = size.isascii() and size.isdigit() and 0 < len(size) <= _MOST_DIGITS
        if split_name(name) is None or not is_number or int(size) == 0 or name in sizes:
            msg = f"--part {part!r}: write each part once, as NAME=SIZE, such as train=58"
            raise InputError(msg, field="--part")
        sizes[name] = int(size)
    return sizes


@contextmanager
def _progress(doing: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on a terminal, on the error stream, and nothing elsewhere."""
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(doing, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _print_json(found: "DatasetCheck") -> None:
    import json  # noqa: PLC0415

    oddities = [
        {
            "code": group.code.value,
            "cost": group.cost.value,
            "action": group.action,
            "places": [
                {"where": place.where, "line": place.line, "rows": place.count}
                | ({"labels": list(map(_shown, place.labels))} if place.labels else {})
                for place in group.places
            ],
        }
        for group in found.groups
    ]
    document = {
        "kind": found.kind,
        "digest": found.digest,
        "speakers": found.speakers,
        "not_read": dict(found.not_read),
        "units": found.units,
        "readable_units": found.readable_units,
        "labelled_units": found.labelled_units,
        "units_with_items": found.units_with_items,
        "splits": dict(found.splits),
        "is_whole": found.is_whole,
        "oddities": oddities,
    }
    typer.echo(json.dumps(document, indent=2, allow_nan=False))


def _print_table(found: "DatasetCheck") -> None:
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    splits = ", ".join(f"{name} {count}" for name, count in found.splits.items()) or "none"
    lines = {
        "kind": found.kind,
        "units": f"{found.units}, {found.readable_units} with a text (speakers: {found.speakers})",
        "labels": f"{found.labelled_units}, {found.units_with_items} with all eight items",
        "splits": splits,
        **({"unread": _unread(found)} if found.not_read else {}),
        "digest": found.digest,
    }
    for name, value in lines.items():
        typer.echo(f"{name:<8}{_printable(value)}")
    if not found.groups:
        typer.echo("nothing odd")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("oddity", "lost", "where", "rows", "what was done", "for example"):
        table.add_column(heading, overflow="fold")
    for group in found.groups:
        cells = (group.code.value, group.cost.value, str(len(group.places)), str(group.rows))
        table.add_row(*cells, group.action, Text(_places(group)))
    typer.echo()
    console = Console()
    if not console.is_terminal:
        console = Console(width=_PIPE_WIDTH)
    console.print(table)
    _print_labels(found)


def _unread(found: "DatasetCheck") -> str:
    return f"{sum(found.not_read.values())} files or lines that may be interviews"


def _print_labels(found: "DatasetCheck") -> None:
    """List the labels of transcripts of which nobody has said who the participant is."""
    labelled = [place for group in found.groups for place in group.places if place.labels]
    if labelled:
        typer.echo("\nlabels of which nobody has said whose they are:")
    for place in labelled[:_LABELLED_SHOWN]:
        at = f":{place.line}" if place.line else ""
        typer.echo(f"  {_printable(place.where)}{at}  {', '.join(map(_shown, place.labels))}")
    if len(labelled) > _LABELLED_SHOWN:
        typer.echo(f"  and {len(labelled) - _LABELLED_SHOWN} more; --json has all")


def _shown(label: str) -> str:
    """Return a label, unless it is as long as a sentence: words that were said are not printed."""
    words = len(label.split())
    return _printable(label) if words <= _LONGEST_NAME else f"({words} words)"


def _places(group: "OddityGroup") -> str:
    shown = [
        _printable(place.where) + (f":{place.line}" if place.line else "")
        for place in group.places[:_PLACES_SHOWN]
    ]
    more = len(group.places) - len(shown)
    return " ".join(shown) + (f" and {more} more" if more else "")


def _printable(name: str) -> str:
    """Return a name as it is, or escaped where it holds what would act on a terminal."""
    return name if name.isprintable() else ascii(name)
