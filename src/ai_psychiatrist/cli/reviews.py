"""The `reviews` commands: ratings of other programs, agreement, gold scores, and labels."""

from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from ai_psychiatrist.access.sessions import local_rater
from ai_psychiatrist.cli.command_app import CommandGroup
from ai_psychiatrist.cli.console import WIDE, console_of, numbers, plain, print_json, table_of
from ai_psychiatrist.cli.options import JsonOption
from ai_psychiatrist.cli.stores import TenantOption, audited, known_store, opened_stores
from ai_psychiatrist.domain.access import LOCAL
from ai_psychiatrist.domain.errors import InputError, NotFound, RequestConflict
from ai_psychiatrist.domain.review import ReviewPhase
from ai_psychiatrist.evaluation.measuring import require_extra
from ai_psychiatrist.infrastructure.private_files import write_new, writing_to
from ai_psychiatrist.results.tables import Cell, TableFormat, written
from ai_psychiatrist.reviews.adjudication import adjudicate
from ai_psychiatrist.reviews.agreed import agreed
from ai_psychiatrist.reviews.agreement_result import AGREEMENT_COLUMNS, agreement_rows
from ai_psychiatrist.reviews.labels import LABEL_COLUMNS, LabelSource, labels_of
from ai_psychiatrist.reviews.rating_files import RatingFormat, read_decisions, read_ratings
from ai_psychiatrist.reviews.rating_import import import_ratings

_SHOWN_TEXTS: Final = ("section", "compared", "first", "second", "figure")
_SHOWN_NUMBERS: Final = ("value", "low", "high", "n")
_SHOWN: Final = (*_SHOWN_TEXTS, *_SHOWN_NUMBERS, "reason")

reviews_app = CommandGroup(
    help="Import ratings, measure agreement, decide gold scores, and export them as labels.",
    epilog="""
Examples:

  ai-psychiatrist reviews import ratings.csv

  ai-psychiatrist reviews import spans.json --format label-studio --scores scores.csv

  ai-psychiatrist reviews agreement --csv > agreement.csv

  ai-psychiatrist reviews adjudicate decisions.csv --by senior-rater

  ai-psychiatrist reviews labels --out labels.csv

A server may be running. Exit status: 0 done, 2 bad input or settings; nothing of a file is taken
in then.
""",
)


@reviews_app.command("import")
def import_reviews(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Ratings, or marked words.")],
    *,
    rating_format: Annotated[
        RatingFormat, typer.Option("--format", help="What wrote it.")
    ] = RatingFormat.CSV,
    scores: Annotated[
        Path | None,
        typer.Option("--scores", metavar="FILE", help="A CSV of scores by the same raters."),
    ] = None,
    are_seen: Annotated[
        bool, typer.Option("--seen", help="The raters had been shown the program's scores.")
    ] = False,
    tenant: TenantOption = LOCAL.tenant,
) -> None:
    """Store ratings made elsewhere, if their words are found in the transcripts.

    A file that was taken in before changes nothing. Raters are called import:NAME.
    """
    with opened_stores() as stores:
        store = known_store(stores, tenant)
        entries = read_ratings(file, rating_format)
        entries += [] if scores is None else read_ratings(scores, RatingFormat.CSV)
        phase = ReviewPhase.SEEN if are_seen else ReviewPhase.BLIND
        with audited(stores, tenant, "ratings_imported"):
            found = import_ratings(store, entries, phase=phase)
    typer.echo(f"ratings stored: {found.stored}, there already: {found.were_there}")


@reviews_app.command("agreement")
def show_agreement(
    *,
    as_json: JsonOption = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print a row for each figure.")] = False,
    tenant: TenantOption = LOCAL.tenant,
) -> None:
    """Show how far raters agree with one another and with the program, as /v1/agreement does.

    The table has the figures over all items; --json and --csv have those of each item as well.
    """
    if as_json and as_csv:
        raise InputError("choose one of --json and --csv", field="--csv")
    require_extra()
    with opened_stores() as stores:
        store = known_store(stores, tenant)
        with audited(stores, tenant, "agreement_seen"):
            found = agreed(store, replace(LOCAL, tenant=tenant))
            names = store.person_names()
    if as_json:
        print_json(found.figures.model_dump(mode="json"))
        return
    rows = list(agreement_rows(found.figures, found.names, names))
    if as_csv:
        for line in written(rows, AGREEMENT_COLUMNS, TableFormat.CSV):
            typer.echo(line, nl=False)
        return
    shown = (row for row in rows if row["item"] == "all" and row["n"])
    cells = ([_shown(row[name]) for name in _SHOWN] for row in shown)
    console_of(WIDE).print(
        table_of([*_SHOWN_TEXTS, *numbers(*_SHOWN_NUMBERS), "reason"], cells, header_style="dim")
    )
    typer.echo(f"rated cases: {found.figures.cases}")
    if found.figures.withheld:
        typer.echo(
            f"left out until you have committed your ratings of them: {found.figures.withheld}"
        )


def _shown(cell: Cell) -> str:
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return "" if cell is None else plain(str(cell))


@reviews_app.command("adjudicate")
def adjudicate_reviews(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="CSV: assessment_id, item, score and reason."),
    ],
    *,
    author: Annotated[str, typer.Option("--by", metavar="NAME", help="Who decided.")],
    tenant: TenantOption = LOCAL.tenant,
) -> None:
    """Add gold scores where raters differ; a correction is added, and counts from then on.

    Items that all raters of an assessment scored alike may be left out.
    """
    with opened_stores() as stores:
        store = known_store(stores, tenant)
        principal = local_rater(author)
        decisions = sorted(read_decisions(file), key=attrgetter("assessment_id"))
        by_record = [
            (one, list(rows)) for one, rows in groupby(decisions, key=attrgetter("assessment_id"))
        ]
        with audited(stores, tenant, "adjudicated"), store.database.writing():
            for record_id, rows in by_record:
                try:
                    adjudicate(store, record_id, principal, [one.rating for one in rows])
                except (InputError, NotFound, RequestConflict) as error:
                    msg = f"the assessment of {rows[0].place}: {error}; nothing was stored"
                    raise InputError(msg, field="FILE") from None
    typer.echo(f"assessments with gold scores: {len(by_record)}")


@reviews_app.command("labels")
def write_labels(
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A new CSV.")],
    source: Annotated[
        LabelSource, typer.Option("--source", help="Whose scores are labels.")
    ] = LabelSource.ADJUDICATED,
    rater: Annotated[
        str | None, typer.Option("--rater", metavar="ID", help="Of --source single: whose.")
    ] = None,
    named_by: Annotated[
        Literal["assessment", "subject"],
        typer.Option("--by", help="What the column id names: it has to match the dataset's units."),
    ] = "assessment",
    tenant: TenantOption = LOCAL.tenant,
) -> None:
    """Write the scores of people as a label file for `evaluate run` and `evaluate metrics`.

    Gold scores come first; other items have a label where all who rated blind say the same.
    """
    with opened_stores() as stores:
        store = known_store(stores, tenant)
        with audited(stores, tenant, "labels_exported"), writing_to(out, field="--out"):
            found = labels_of(store, source, rater=rater, by_subject=named_by == "subject")
            write_new(out, written(found.rows, LABEL_COLUMNS, TableFormat.CSV))
    counts = ", ".join(f"{count} of {name}" for name, count in sorted(found.sources.items()))
    typer.echo(f"labelled assessments: {len(found.rows)}" + (f" ({counts})" if counts else ""))
    if found.differing:
        typer.echo(f"items without a label, since raters differ: {found.differing}")
    if found.seen:
        typer.echo(f"ratings left out, made after the program's scores were seen: {found.seen}")
