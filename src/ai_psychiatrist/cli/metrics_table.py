"""The figures of a run, and how runs differ, for people to read in a terminal."""

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console, RenderableType
from rich.constrain import Constrain
from rich.table import Column, Table
from rich.text import Text

from ai_psychiatrist.cli.console import console_of, numbers, plain, table_of
from ai_psychiatrist.evaluation.measuring import ComparedRuns, Measured
from ai_psychiatrist.evaluation.metrics.run_metrics import RunMetrics, Scale
from ai_psychiatrist.evaluation.reading_list import to_read_in_words
from ai_psychiatrist.evaluation.report.figure_rows import (
    DifferenceRow,
    FigureRow,
    GroupTables,
    RowGroup,
    differences_of,
    group_tables,
)
from ai_psychiatrist.evaluation.report.groups import evidence_of, headline_of, items_of
from ai_psychiatrist.evaluation.report.sentences import (
    calls_in_words,
    cost_in_words,
    failure_in_words,
    failures_in_words,
    reading_of,
)
from ai_psychiatrist.evaluation.report.unit_rows import (
    CHANGE_COLUMNS,
    ERROR_COLUMNS,
    change_row,
    changes_note,
    error_row,
    errors_note,
)
from ai_psychiatrist.evaluation.report.wording import amount
from ai_psychiatrist.evaluation.report.write import MOST_ROWS

_PIPE_WIDTH = 120
_TEXT_WIDTH = 96


def print_metrics(measured: Measured, console: Console | None = None) -> None:
    """Print every figure with its interval and n, or why it is not defined."""
    out, metrics = console or console_of(_PIPE_WIDTH), measured.metrics
    groups = headline_of(metrics)
    for paragraph in reading_of(metrics, groups, measured.provenance):
        _print(out, _paragraph(paragraph), "")
    _print(out, _figures((*groups, *items_of(metrics), *evidence_of(metrics))), *_account(metrics))
    if measured.worst is not None and measured.worst.units:
        rows = map(error_row, measured.worst.units)
        _print(out, *_units("Largest errors", errors_note(measured.worst), ERROR_COLUMNS, rows))
    if measured.subgroups is not None:
        _print(out, *_groups(group_tables(measured.subgroups)))
    print_differences(measured.comparisons, out)
    out.print()
    # In one line, however narrow the window is: ids are copied from it.
    line = Text(plain(to_read_in_words(measured.provenance.readings)), style="bold")
    out.print(line, soft_wrap=True)


def print_differences(comparisons: Sequence[ComparedRuns], console: Console | None = None) -> None:
    """Print how runs differ, what they were made with that differs, and what calls that cost."""
    for compared in comparisons:
        _print(console or console_of(_PIPE_WIDTH), *_differences(compared))


def _print(out: Console, *parts: RenderableType) -> None:
    for part in parts:
        out.print(part)


def _paragraph(text: str) -> Constrain:
    return Constrain(Text(plain(text)), _TEXT_WIDTH)


def _differences(compared: ComparedRuns) -> Iterator[RenderableType]:
    names = {"first": plain(str(compared.first)), "second": plain(str(compared.second))}
    found = differences_of(compared.found, **names)
    yield from ("", _paragraph(found.note), "", _difference_table(found.rows))
    changes = compared.found.unit_changes
    if compared.found.units["shared_labelled"]:
        rows = map(change_row, changes.most_changed)
        yield from _units("Units that changed most", changes_note(changes), CHANGE_COLUMNS, rows)
    yield from ("", Text(calls_in_words(compared.found)))
    if compared.made_otherwise:
        yield Text("Made otherwise:")
    for name, (first, second) in compared.made_otherwise.items():
        yield Text(plain(f"  {name}: {first} → {second}"))


def _figures(groups: Iterable[RowGroup[FigureRow]]) -> Table:
    def rows() -> Iterator[Sequence[Text]]:
        for group in groups:
            yield ()
            yield (Text(group.title, style="bold"),)
            yield from ((_name(row, indent="  "), *_cells(row)) for row in group.rows)

    return table_of(
        ["Figure", *numbers("Value"), "95 % interval", *numbers("n")], rows(), header_style="dim"
    )


def _difference_table(rows: Iterable[DifferenceRow]) -> Table:
    return table_of(
        [
            "Difference",
            *numbers("First", "Second", "Second − first"),
            "95 % interval",
            *numbers("n"),
            "Reading",
        ],
        ([_name(row), *row.both, *_cells(row), row.verdict] for row in rows),
        header_style="dim",
    )


def _units(
    title: str, note: str, columns: Iterable[str], rows: Iterable[Sequence[str]]
) -> Iterator[RenderableType]:
    """Yield units as a table."""
    headings = [
        Column(name.removeprefix("#"), justify="right" if name.startswith("#") else "left")
        for name in columns
    ]
    yield from ("", Text(title, style="bold"), _paragraph(note))
    cells = [[Text(plain(cell)) for cell in row] for row in rows]
    if cells:
        yield table_of(headings, cells, header_style="dim")


def _name(row: FigureRow, indent: str = "") -> Text:
    note = f"\n{indent}  {row.note}" if row.note else ""
    return Text(f"{indent}{row.name}").append(note, style="dim")


def _cells(row: FigureRow) -> tuple[Text, Text, Text]:
    count = Text(row.count)
    if row.value is None:
        return Text("–"), Text(row.spoken, style="yellow"), count
    return Text(row.value, style="bold"), Text(row.aside, style="" if row.span else "yellow"), count


def _account(metrics: RunMetrics) -> Iterator[RenderableType]:
    yield from ("", _paragraph(failures_in_words(metrics)))
    for kind in list(metrics.parts("failures", "kinds"))[:MOST_ROWS]:
        share = amount(kind.figure("rate").value or 0.0, Scale.SHARE)
        line = f"  {failure_in_words(kind)}: {share}, units {kind.count('units')}"
        yield Text(plain(line), style="bold red" if kind.count("is_frequent") else "")
    yield _paragraph(cost_in_words(metrics))


def _groups(found: GroupTables) -> Iterator[RenderableType]:
    """Yield the figures of groups of people, and how the groups differ."""
    yield from ("", _paragraph(found.summary))
    for one in found.figures:
        if one.rows:
            yield _figures([RowGroup(plain(one.title), one.rows)])
        else:
            yield Text(plain(f"\n{one.title}. {one.note}"))
    for other in found.differences:
        yield from ("", Text(plain(f"{other.title}. {other.note}".strip()), style="bold"))
        if other.rows:
            yield _difference_table(other.rows)
